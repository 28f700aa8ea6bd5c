# SPDX-License-Identifier: BSD-3-Clause
"""Agents that fly through obstacles without learning: by the whole field, or by what a depth camera sees of it."""
