# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps: a scenario flown for many values of its keys and many seeds, on many processors."""
