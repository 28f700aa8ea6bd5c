# SPDX-License-Identifier: BSD-3-Clause
"""Damaged files and options of every kind, tried on every command."""
