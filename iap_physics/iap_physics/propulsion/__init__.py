# SPDX-License-Identifier: BSD-3-Clause
"""Propulsion: autopilots and rotors, between commands and wrenches."""
