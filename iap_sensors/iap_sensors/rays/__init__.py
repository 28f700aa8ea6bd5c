# SPDX-License-Identifier: BSD-3-Clause
"""Rays through worlds: lines of sight, lidars, and depth cameras, of one world or of many."""
