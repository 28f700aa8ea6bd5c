# SPDX-License-Identifier: BSD-3-Clause
"""Starts of flights on an identified plant, as their seeds draw it."""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math.random_streams import uniforms
from iap_description.vehicles.arm import Arm
from iap_physics.identified.dynamics import JOINTS
from iap_simulation.arm.scenario import ArmScenario

STREAM = "arm/start"


def drawn_starts(scenario: ArmScenario, arm: Arm, seeds: Integers) -> tuple[Array, Array]:
    """Poses (n, 4), position [m] and heading [rad], and joint angles (n, 3) [rad] of flights with seeds (n,).

    Raises:
        BadInput: a joint's start, or what may be drawn, is beyond its limits.
    """
    start, draw = scenario.start, scenario.draw
    _check_joints(start.joints_deg, draw.joints_deg, arm)
    dice = uniforms(seeds, STREAM, 4 + JOINTS)
    place = np.array([*start.position, np.deg2rad(start.yaw_deg)])
    spread = np.array([*draw.position, np.deg2rad(draw.yaw_deg)])
    middle, wide = np.deg2rad(start.joints_deg), np.deg2rad(draw.joints_deg)
    return place + spread * dice[:, :4], middle + wide * dice[:, 4:]


def _check_joints(joints_deg: tuple[float, ...], spread_deg: float, arm: Arm) -> None:
    low, high = arm.limits
    key = "start.joints_deg, draw.joints_deg" if spread_deg else "start.joints_deg"
    for joint, middle, least, most in zip(arm.joints, joints_deg, low, high, strict=True):
        for angle in np.deg2rad([middle - spread_deg, middle + spread_deg]):
            if not least <= angle <= most:
                raise BadInput(
                    f"{key}: {joint.name} at {np.rad2deg(angle):.1f} deg is beyond its limits,"
                    f" {np.rad2deg(least):.1f} to {np.rad2deg(most):.1f}"
                )
