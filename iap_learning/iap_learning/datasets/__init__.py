# SPDX-License-Identifier: BSD-3-Clause
"""Flown episodes as data sets: collected, and written and read in Minari's format."""
