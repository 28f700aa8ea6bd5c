# SPDX-License-Identifier: BSD-3-Clause
"""Modules of a scenario that dock in flight: the coordinator in the loop, outcome and scores."""
