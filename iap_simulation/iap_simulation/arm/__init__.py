# SPDX-License-Identifier: BSD-3-Clause
"""Flights of an arm on an identified plant: scenario, loop, figures, run folder."""
