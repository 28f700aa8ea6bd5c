# SPDX-License-Identifier: BSD-3-Clause
"""Flights of platforms with an arm that an identified plant flies: scenario, loop, judgement, run folder."""
