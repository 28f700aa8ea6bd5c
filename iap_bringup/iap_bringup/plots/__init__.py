# SPDX-License-Identifier: BSD-3-Clause
"""Plots of runs, of sweeps and of training: one table, one function for each."""
