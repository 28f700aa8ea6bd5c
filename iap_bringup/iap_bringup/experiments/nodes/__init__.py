# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of the nodes as separate processes."""
