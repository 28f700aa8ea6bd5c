# SPDX-License-Identifier: BSD-3-Clause
"""Flying by hand: joystick and keyboard."""
