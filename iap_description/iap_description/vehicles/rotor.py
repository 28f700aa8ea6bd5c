# SPDX-License-Identifier: BSD-3-Clause
"""Rotors of an aircraft: where they are, how they tilt, and what they give."""

import math
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Position, Positive, Vec3
from iap_description.math import so3

UP = (0.0, 0.0, 1.0)
ARM = 1e-6  # least length of a tilt's axis and of a direction [m]
THRUST = 1e-6, 1e9  # smallest and largest thrust that a rotor may have at rpm_max [N]


class Rotor(Record):
    """One rotor in the aircraft's frame."""

    position: Position  # [m] from the aircraft's CoM
    spin: Literal["ccw", "cw"]  # seen from above; a ccw rotor pushes the airframe clockwise
    direction: Vec3 = UP  # of its thrust, of any length; of one that tilts at no tilt
    arm: Vec3 | None = None  # axis of its tilt, across z; None: from the CoM's z axis to the rotor

    @model_validator(mode="after")
    def _has_a_direction(self) -> Self:
        if np.linalg.norm(self.direction) < ARM:
            raise ValueError(f"key 'direction': {list(self.direction)} is none")
        return self

    @property
    def axis(self) -> Array:
        """(3,) unit vector along its arm, about which it tilts."""
        x, y, _ = self.position if self.arm is None else self.arm
        return np.array([x, y, 0.0]) / math.hypot(x, y)

    @property
    def ahead(self) -> Array:
        """(3,) unit vector along its thrust."""
        return np.array(self.direction) / np.linalg.norm(self.direction)

    @property
    def sideways(self) -> Array:
        """(3,) direction of the thrust where the rotor has tilted by +90 deg about its arm, -t of `RotorTilt`."""
        x, y, _ = self.axis
        return np.array([y, -x, 0.0])

    def attitude(self, tilt: float = 0.0) -> Array:
        """(4,) of its disc, whose z axis is the thrust's, in the aircraft's frame at a tilt [rad], xyzw."""
        x, y, z = self.ahead
        leant = math.atan2(math.hypot(x, y), z)
        across = np.array([-y, x, 0.0]) if math.hypot(x, y) > ARM else np.array([1.0, 0.0, 0.0])
        lean = so3.quaternion_exp(leant * across / np.linalg.norm(across))
        return lean if tilt == 0.0 else so3.multiply(so3.quaternion_exp(tilt * self.axis), lean)

    def column(self, direction: Array, torque_ratio: float) -> Array:
        """(6,) force and torque about the CoM of a unit of thrust along a direction, drag torque included."""
        drag = torque_ratio * (-1.0 if self.spin == "ccw" else 1.0)
        return np.array([*direction, *(np.cross(self.position, direction) + drag * direction)])


class RotorTilt(Record):
    r"""The mechanism that tilts all rotors of an aircraft, each about its own arm, by an angle b within the limit.

    With the arm's azimuth a and t = (-sin a, cos a, 0), the thrust of beatle eqs. (1), (13), (14) is
    L = T (-sin b t + cos b z): b = 0 is up. (Printed, the angle is measured from the horizontal.)
    """

    limit_deg: Annotated[float, Field(strict=True, gt=0.0, le=180.0)]  # either way [deg]
    rate: Positive  # largest [rad/s]
    time_constant: Positive  # of the servo's lag [s]

    @property
    def limit(self) -> float:
        """Largest angle [rad]."""
        return math.radians(self.limit_deg)


class RotorModel(Record):
    """The model that all rotors of an aircraft share."""

    thrust_coefficient: Positive  # of the rotor alone [N/rpm^2]
    thrust_factor: Annotated[float, Field(strict=True, gt=0.0, le=1.0)] = (
        1.0  # what the airframe leaves of it
    )
    torque_ratio: Positive  # drag torque per thrust, c_m / c_f [m]
    rpm_min: NonNegative  # [rpm]
    rpm_max: Annotated[float, Field(strict=True, gt=0.0, le=1e6)]  # [rpm]
    time_constant_up: Positive  # [s]
    time_constant_down: Positive  # [s]

    @model_validator(mode="after")
    def _range_is_open(self) -> Self:
        if self.rpm_min >= self.rpm_max:
            raise ValueError(f"key 'rpm_min': {self.rpm_min} is not below rpm_max {self.rpm_max}")
        thrust = self.c_f * self.rpm_max**2
        if not THRUST[0] <= thrust <= THRUST[1]:
            raise ValueError(
                f"key 'thrust_coefficient': a rotor's thrust at rpm_max is {thrust:.3g} N,"
                f" not between {THRUST[0]:g} and {THRUST[1]:g}"
            )
        return self

    @property
    def c_f(self) -> float:
        """Thrust per speed squared of a rotor in its airframe [N/rpm^2]."""
        return self.thrust_factor * self.thrust_coefficient
