# SPDX-License-Identifier: BSD-3-Clause
"""Runs: from a scenario to a run folder; logs, images and videos of one."""
