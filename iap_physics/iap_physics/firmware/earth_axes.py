# SPDX-License-Identifier: BSD-3-Clause
"""Attitudes in the axes of PX4 and ArduPilot: the world's north, east, down, and the body's forward, right, down."""

import math

from iap_physics.firmware.firmware import Four

SQRT_HALF = math.sqrt(0.5)


def to_ned(q_WB: Four) -> Four:
    """Attitude w x y z of body axes forward, right, down to north, east, down, of one of `map` (ENU, xyzw)."""
    x, y, z, w = q_WB
    # Turns of half a circle about (1, 1, 0) / sqrt 2 in the world and about x in the body.
    return (SQRT_HALF * (w + z), SQRT_HALF * (x + y), SQRT_HALF * (x - y), SQRT_HALF * (w - z))
