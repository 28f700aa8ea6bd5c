# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of actuation: one module for each, with its law, its allocation and its limits."""
