# SPDX-License-Identifier: BSD-3-Clause
"""Headings of a block's aircraft; the formulas are those of `iap_control.headings`."""

import math

from iap_control.batch.layout import AIRCRAFT, PLATFORM, PLATFORM_ROW, aircraft_row
from iap_control.headings import FOLLOW, REFERENCE
from iap_description.arrays import Array
from iap_description.math.kernels import choose, chosen4, formula, yaw_parts
from iap_description.math.lanes import Index, Lanes, get, get4, set1
from iap_description.states import REF_Q, Level

POSE = int(Level.POSE)
TARGET_Q = PLATFORM.reference + REF_Q.start


@formula
def head(block: Array, first: int, mode: int, mount_yaw: Array, lanes: Lanes) -> None:
    """Headings of the aircraft, of platforms of `first` rows."""
    for lane in range(lanes[0], lanes[1]):
        is_pose = get(block, PLATFORM_ROW, PLATFORM.level, lane) == POSE
        q = get4(block, PLATFORM_ROW, PLATFORM.q, lane)
        q = chosen4(is_pose, get4(block, PLATFORM_ROW, TARGET_Q, lane), q)
        sine, cosine = yaw_parts(q)
        set1(block, PLATFORM_ROW, PLATFORM.yaw_sine, lane, sine)
        set1(block, PLATFORM_ROW, PLATFORM.yaw_cosine, lane, cosine)
    if mode != REFERENCE:
        for lane in range(lanes[0], lanes[1]):
            sine = get(block, PLATFORM_ROW, PLATFORM.yaw_sine, lane)
            cosine = get(block, PLATFORM_ROW, PLATFORM.yaw_cosine, lane)
            set1(block, PLATFORM_ROW, PLATFORM.platform_yaw, lane, math.atan2(sine, cosine))
    for n in range(len(mount_yaw)):
        _head_one(block, aircraft_row(first, n), mode, mount_yaw[n], lanes)
    for lane in range(lanes[0], lanes[1]):
        set1(block, PLATFORM_ROW, PLATFORM.has_headings, lane, 1.0)


@formula
def _head_one(block: Array, a: Index, mode: int, mount_yaw: float, lanes: Lanes) -> None:
    """Heading of one aircraft."""
    for lane in range(lanes[0], lanes[1]):
        has_headings = get(block, PLATFORM_ROW, PLATFORM.has_headings, lane) > 0.0
        mounted = mount_yaw + get(block, PLATFORM_ROW, PLATFORM.platform_yaw, lane)
        last = get(block, a, AIRCRAFT.heading, lane)
        free = choose((mode == FOLLOW) | (not has_headings), mounted, last)
        reference = get(block, a, AIRCRAFT.reference_heading, lane)
        set1(block, a, AIRCRAFT.heading, lane, choose(mode == REFERENCE, reference, free))
