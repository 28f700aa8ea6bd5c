# SPDX-License-Identifier: BSD-3-Clause
"""Adapters: tasks in many worlds as other libraries of learning take them, one module each; they are extras."""
