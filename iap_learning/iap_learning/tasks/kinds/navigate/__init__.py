# SPDX-License-Identifier: BSD-3-Clause
"""Agents that fly through obstacles without learning: by the field, by its motions, or by what a depth camera sees."""
