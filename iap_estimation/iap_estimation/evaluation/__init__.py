# SPDX-License-Identifier: BSD-3-Clause
"""Errors of trajectories, Allan deviation, dead reckoning."""
