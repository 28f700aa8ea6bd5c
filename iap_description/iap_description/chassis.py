# SPDX-License-Identifier: BSD-3-Clause
"""The frame that carries the joints: tubes, posts and landing gear as shapes, laid out from the joints themselves."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.aircraft import Rgba, Shape
from iap_description.config import Positive, Real, Record, Vec3

Array = NDArray[np.float64]
_NEARBY = 1e-6  # [m] a stretch shorter than this is none


class Chassis(Record):
    """How a central body's frame is built. Tubes lie level; from each tube's end a post rises to the joint's ball.

    A tube reaches its aircraft along that aircraft's nearer body axis, between the propellers; the way from the centre to that
    line is a tube across it. Under the last tube stands a leg with a skid across.
    """

    level: Real  # height of the tubes' axes in P [m]
    tube_radius: Positive  # [m]
    post_radius: Positive  # [m], also of the landing gear
    leg_at: Positive  # where along the last tube the leg meets the ground, 1 = under the joint
    skid_length: Positive  # [m]
    color: tuple[Real, Real, Real, Real]  # of tubes and posts
    metal: tuple[Real, Real, Real, Real]  # of clamps and balls
    rubber: tuple[Real, Real, Real, Real]  # of the skids' feet


def chassis_shapes(
    chassis: Chassis, joints: Sequence[tuple[Vec3, float]], ground_clearance: float
) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """The frame's visual and collision shapes in P.

    Args:
        chassis: how it is built.
        joints: position in P [m] and yaw in P [rad] of every aircraft.
        ground_clearance: height of the origin of P above the ground on which the feet stand [m].
    """
    visual: list[Shape] = []
    collision: list[Shape] = []
    for position, yaw in joints:
        joint = np.array(position)
        end = np.array([*position[:2], chassis.level])
        start, bend = np.array([0.0, 0.0, chassis.level]), _bend(end, yaw)
        tubes = [
            _rod(a, b, chassis.tube_radius, chassis.color)
            for a, b in ((start, bend), (bend, end))
            if _apart(a, b)
        ]
        gear = _landing_gear(chassis, bend, end, ground_clearance) if _apart(bend, end) else []
        visual += [*tubes, *gear, *_post(chassis, end, joint)]
        collision += [*tubes, *gear]
    return tuple(visual), tuple(collision)


def _bend(end: Array, yaw: float) -> Array:
    """Where the way from the centre turns into the aircraft's body axis, x or y, that points more to the centre."""
    x = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    y = np.array([-x[1], x[0], 0.0])
    axis = x if abs(end @ x) >= abs(end @ y) else y
    return end - (end @ axis) * axis


def _post(chassis: Chassis, end: Array, joint: Array) -> list[Shape]:
    """A clamp on the tube's end, the post and its ball."""
    grip = 1.5 * chassis.tube_radius
    up = np.array([0.0, 0.0, grip])
    shapes = [
        _rod(end - up, end + up, grip, chassis.metal),
        Shape(
            shape="sphere",
            radius=2.0 * chassis.post_radius,
            position=_vec3(joint),
            color=chassis.metal,
        ),
    ]
    return (
        [*shapes, _rod(end, joint, chassis.post_radius, chassis.metal)]
        if _apart(end, joint)
        else shapes
    )


def _landing_gear(
    chassis: Chassis, bend: Array, end: Array, ground_clearance: float
) -> list[Shape]:
    """A leg from the tube outwards to a skid, and the feet at the skid's ends, whose spheres touch the ground."""
    r = chassis.post_radius
    foot_radius = 1.5 * r
    along = end - bend
    across = np.array([-along[1], along[0], 0.0]) / np.linalg.norm(along)
    hip = bend + (chassis.leg_at - 0.15) * along
    middle = bend + chassis.leg_at * along
    middle[2] = foot_radius - ground_clearance
    half = 0.5 * chassis.skid_length * across
    feet = [
        Shape(
            shape="sphere", radius=foot_radius, position=_vec3(middle + side), color=chassis.rubber
        )
        for side in (half, -half)
    ]
    return [
        _rod(hip, middle, r, chassis.color),
        _rod(middle - half, middle + half, r, chassis.color),
        *feet,
    ]


def _rod(a: Array, b: Array, radius: float, color: Rgba) -> Shape:
    """A cylinder from a to b."""
    d = b - a
    tilt, azimuth = math.atan2(math.hypot(d[0], d[1]), d[2]), math.atan2(d[1], d[0])
    return Shape(
        shape="cylinder",
        radius=radius,
        length=float(np.linalg.norm(d)),
        position=_vec3(0.5 * (a + b)),
        rpy_deg=(0.0, math.degrees(tilt), math.degrees(azimuth)),
        color=color,
    )


def _apart(a: Array, b: Array) -> bool:
    return float(np.linalg.norm(b - a)) > _NEARBY


def _vec3(v: Array) -> Vec3:
    return (float(v[0]), float(v[1]), float(v[2]))
