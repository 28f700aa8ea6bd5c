# SPDX-License-Identifier: BSD-3-Clause
"""Plots and pictures of runs."""
