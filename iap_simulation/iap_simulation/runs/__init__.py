# SPDX-License-Identifier: BSD-3-Clause
"""Runs: from a scenario to a run folder, and what is made of one."""
