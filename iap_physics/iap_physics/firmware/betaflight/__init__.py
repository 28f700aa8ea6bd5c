# SPDX-License-Identifier: BSD-3-Clause
"""Betaflight in lockstep with the physics: its packets, its settings, and the library that holds its clock."""
