# SPDX-License-Identifier: BSD-3-Clause
"""The frame that carries the joints: tubes, posts and landing gear, laid out from the joints."""

import math
from functools import lru_cache

import numpy as np

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Length, Positive, Real, Vec3
from iap_description.geometry.shapes import Rgba, Shape

_NEARBY = 1e-6  # [m] a stretch shorter than this is none


class Chassis(Record):
    """The frame of a central body: level tubes, each with a post to its joint's ball.

    A tube reaches its aircraft along that aircraft's nearer body axis, between the propellers; the
    way from the centre to that line is a tube across it. Under the last tube stands a leg with a
    skid across.
    """

    level: Real  # height of the tubes' axes in P [m]
    tube_radius: Length  # [m]
    post_radius: Length  # [m], also of the landing gear
    leg_at: Positive  # where along the last tube the leg meets the ground, 1 = under the joint
    skid_length: Length  # [m]
    color: Rgba  # of tubes and posts
    metal: Rgba  # of clamps and balls
    rubber: Rgba  # of the skids' sleeves


@lru_cache(maxsize=64)  # for batches make each world's vehicle anew
def chassis_shapes(
    chassis: Chassis, joints: tuple[tuple[Vec3, float], ...], ground_clearance: float
) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """The frame's visual and collision shapes in P.

    Args:
        chassis: how it is built.
        joints: position in P [m] and yaw in P [rad] of every aircraft.
        ground_clearance: height of the origin of P above the ground that the sleeves stand on [m].
    """
    visual: list[Shape] = []
    collision: list[Shape] = []
    for position, yaw in joints:
        start, end = np.array([0.0, 0.0, chassis.level]), np.array([*position[:2], chassis.level])
        bend = _bend(end, yaw)
        parts = _tube(chassis, start, bend) + _tube(chassis, bend, end)
        if _apart(bend, end):
            parts += _landing_gear(chassis, bend, end, ground_clearance)
        visual += parts + _post(chassis, end, np.array(position))
        collision += parts
    return tuple(visual), tuple(collision)


def _bend(end: Array, yaw: float) -> Array:
    """The point where the way from the centre turns into the aircraft's axis that points to it more."""
    x = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    y = np.array([-x[1], x[0], 0.0])
    axis = x if abs(end @ x) >= abs(end @ y) else y
    return end - (end @ axis) * axis


def _tube(chassis: Chassis, a: Array, b: Array) -> list[Shape]:
    return [_rod(a, b, chassis.tube_radius, chassis.color)] if _apart(a, b) else []


def _post(chassis: Chassis, end: Array, joint: Array) -> list[Shape]:
    """A clamp on the tube's end, the post and its ball."""
    grip = 1.5 * chassis.tube_radius
    up = np.array([0.0, 0.0, grip])
    clamp = _rod(end - up, end + up, grip, chassis.metal)
    post = [_rod(end, joint, chassis.post_radius, chassis.metal)] if _apart(end, joint) else []
    radius, place = 2.0 * chassis.post_radius, _vec3(joint)
    ball = Shape(shape="sphere", radius=radius, position=place, color=chassis.metal)
    return [clamp, *post, ball]


def _landing_gear(
    chassis: Chassis, bend: Array, end: Array, ground_clearance: float
) -> list[Shape]:
    """A leg from the tube outwards to a skid, whose sleeves at both ends touch the ground."""
    r = chassis.post_radius
    sleeve_radius = 1.5 * r
    along = end - bend
    across = np.array([-along[1], along[0], 0.0]) / np.linalg.norm(along)
    hip = bend + (chassis.leg_at - 0.15) * along
    middle = bend + chassis.leg_at * along
    middle[2] = sleeve_radius - ground_clearance
    half = 0.5 * chassis.skid_length * across
    return [
        _rod(hip, middle, r, chassis.color),
        _rod(middle - half, middle + half, r, chassis.color),
        _rod(middle - half, middle - 0.8 * half, sleeve_radius, chassis.rubber),
        _rod(middle + 0.8 * half, middle + half, sleeve_radius, chassis.rubber),
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
