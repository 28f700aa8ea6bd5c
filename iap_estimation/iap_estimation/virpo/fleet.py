# SPDX-License-Identifier: BSD-3-Clause
"""The fleet to localise: aircraft with their sensors, and their joints."""

from dataclasses import dataclass, field

import numpy as np

from iap_description.arrays import Array
from iap_description.earth import GRAVITY
from iap_estimation.virpo.factors.camera import StereoRig


@dataclass(frozen=True, eq=False)
class AircraftModel:
    """One aircraft; its body B is its inertial unit.

    Attributes:
        name: such as ``drone_1``.
        rig: its cameras; None where it has none.
        noise: (5,) densities: gyroscope [rad/s/sqrt(Hz)], accelerometer [m/s^2/sqrt(Hz)], walks of their
            biases [rad/s^2/sqrt(Hz)], [m/s^3/sqrt(Hz)], and of the gyroscope for every rad/s [1/sqrt(Hz)], see
            `iap_estimation.virpo.factors.preintegration`.
        p_BA_B: (3,) place of its UWB antenna [m].
        p_BJ_B: (3,) place of its joint [m].
    """

    name: str
    rig: StereoRig | None
    noise: Array
    p_BA_B: Array = field(default_factory=lambda: np.zeros(3))
    p_BJ_B: Array = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True, eq=False)
class Fleet:
    """All aircraft of one platform.

    Attributes:
        aircraft: the aircraft.
        d: (A, 3) places of their joints on the central body B0 [m]; None where nothing joins them.
        turn_noise: (3,) densities of the central gyroscope and of its bias's walk, and of the first for every rad/s.
        tilt_deviation: standard deviation of the central body's roll and pitch [rad].
        gravity: [m/s^2].
        force_noise: (2,) densities of the central accelerometer and of its bias's walk.
        p_B0I_B0: (3,) place of the central inertial unit [m].
    """

    aircraft: tuple[AircraftModel, ...]
    d: Array | None = None
    turn_noise: Array = field(default_factory=lambda: np.array([0.0015, 0.0002, 0.0]))
    tilt_deviation: float = 0.01
    gravity: float = GRAVITY
    force_noise: Array = field(default_factory=lambda: np.array([0.02, 0.02]))
    p_B0I_B0: Array = field(default_factory=lambda: np.zeros(3))

    def alone(self, aircraft: int) -> "Fleet":
        """One of them by itself."""
        return Fleet((self.aircraft[aircraft],), gravity=self.gravity)
