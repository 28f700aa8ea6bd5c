# SPDX-License-Identifier: BSD-3-Clause
"""Firmware of real autopilots in the loop: what each speaks, its process, and how it is made ready for flight."""
