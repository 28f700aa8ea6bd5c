# SPDX-License-Identifier: BSD-3-Clause
"""ArduPilot in lockstep with the physics: its JSON states, its pulses, and its sticks."""
