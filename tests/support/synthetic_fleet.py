# SPDX-License-Identifier: BSD-3-Clause
"""A made-up crew: how it moves, what it carries, how good its sensors are and what is around it."""

from dataclasses import dataclass

import numpy as np
from analytic_motion import AnalyticMotion, Waves

from iap_description.math import so3
from iap_estimation.virpo.factors.camera import StereoRig
from iap_estimation.virpo.fleet import AircraftModel, Fleet

GRAVITY = 9.81
FOCAL = 320.0  # [px]
ANCHORS = np.array([[8, 6, 0.5], [-8, 6, 5.0], [-8, -6, 0.5], [8, -6, 5.0]], dtype=float)


@dataclass(frozen=True)
class Noise:
    """Standard deviations of what the sensors add; all zero by default.

    Attributes:
        gyro, accel, gyro_walk, accel_walk: densities, as of `Craft.noise`.
        gyro_bias, accel_bias: of the biases at the start [rad/s], [m/s^2].
        pixels: of a tracked coordinate [px].
        outliers: share of wild views.
        losses: share of tracks that end at a frame.
        range: of one range [m].
        tilt: of the central body's roll and pitch [rad].
    """

    gyro: float = 0.0
    accel: float = 0.0
    gyro_walk: float = 0.0
    accel_walk: float = 0.0
    gyro_bias: float = 0.0
    accel_bias: float = 0.0
    pixels: float = 0.0
    outliers: float = 0.0
    losses: float = 0.0
    range: float = 0.0
    tilt: float = 0.0


NONE = Noise()
TABLE_VI = Noise(
    gyro=0.0015,
    accel=0.02,
    gyro_walk=1.4e-5 * 200**0.5,
    accel_walk=1.4e-3 * 200**0.5,
    gyro_bias=0.003,
    accel_bias=0.03,
    pixels=1.0,
    outliers=0.01,
    losses=0.02,
    range=0.7071,
    tilt=0.01,
)
BELIEVED = (
    0.0015,
    0.02,
    1.4e-5 * 200**0.5,
    1.4e-3 * 200**0.5,
    0.0,
)  # noise a fleet is made with


def figure_eight(rest: float = 0.0) -> AnalyticMotion:
    """A helical figure-eight of 6 x 3.6 x 1.4 m amplitude, up to 2.5 m/s, after some time at rest."""
    place = Waves(
        (0, 0, 3),
        (((6, 0, 0), 0.26, (0, 0, 0)), ((0, 3.6, 1.35), 0.52, (0, 0, 0.4))),
    )
    angles = Waves(
        (0, 0, 0), (((0.07, 0.06, 0), 1.1, (0, 1, 0)), ((0.0, 0.02, 0.2), 0.4, (0, 2, 0.5)))
    )
    return AnalyticMotion(place, angles, rest, 2.0 if rest > 0.0 else 0.0)


def tilts(aircraft: int) -> Waves:
    """Rotation of an aircraft under its joint: up to 10 deg, its yaw slowly."""
    first = ((0.1, 0.08, 0.1), 0.9 + 0.15 * aircraft, (aircraft, 1 + aircraft, 0))
    second = ((0.05, 0.06, 0.05), 2.3, (0, 2 + aircraft, aircraft))
    return Waves((0, 0, 0), (first, second))


def rig(yaw: float, baseline: float = 0.12, ahead: float = 0.198) -> StereoRig:
    """A rectified pair that looks along an azimuth of the body [rad]."""
    forward = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], dtype=float)
    turn = so3.matrix_from_euler(np.array([0.0, 0.0, yaw]))
    q = so3.quaternion_from_matrix(turn @ forward)
    places = [turn @ [ahead, half * baseline, 0.0] for half in (0.5, -0.5)]
    return StereoRig.of(np.array([q, q]), np.array(places), focal=FOCAL, pixels=1.0)


def fleet_of(
    aircraft: int = 3, antenna: tuple = (0.0, 0.0, 0.0), joint: tuple = (0.0, 0.0, 0.0)
) -> Fleet:
    """Aircraft on a circle of 0.48 m, their cameras outward and 0.07 m below the central body."""
    yaws = 2.0 * np.pi * np.arange(aircraft) / aircraft
    d = np.stack([0.48 * np.cos(yaws), 0.48 * np.sin(yaws), np.full(aircraft, -0.07)], -1)
    members = (
        AircraftModel(
            f"drone_{i + 1}", rig(yaw), np.array(BELIEVED), np.array(antenna), np.array(joint)
        )
        for i, yaw in enumerate(yaws)
    )
    return Fleet(tuple(members), d, gravity=GRAVITY)


def room(points: int, seed: int = 0) -> np.ndarray:
    """Points (n, 3) on the walls, floor and ceiling of a hall of 24 x 18 x 8 m."""
    rng = np.random.default_rng(seed)
    p = rng.uniform([-12, -9, 0], [12, 9, 8], (points, 3))
    wall = rng.choice(6, points, p=[0.22, 0.22, 0.22, 0.22, 0.06, 0.06])
    side = np.array([[-12, 12], [-9, 9], [0, 8]], dtype=float)
    p[np.arange(points), wall // 2] = side[wall // 2, wall % 2]
    return p
