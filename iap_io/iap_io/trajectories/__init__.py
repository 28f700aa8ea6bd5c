# SPDX-License-Identifier: BSD-3-Clause
"""Recorded trajectories and commands of any origin: bags, CSV, EuRoC, TUM."""
