# SPDX-License-Identifier: BSD-3-Clause
"""The sub-aircraft: numbers of a quadrotor, or of up to four rotors of a larger multirotor."""

import math
from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import NonNegative, NonNegative3, Positive, Real, Record, Vec3
from iap_description.geometry.shapes import BodyShape, Surface
from iap_description.math import so3
from iap_description.vehicles.mount import Mount
from iap_description.vehicles.ports import Port

UP = (0.0, 0.0, 1.0)
ROTORS = 4  # most that an aircraft has, and what commands and messages have room for
ARM = 1e-6  # least length of a tilt's axis and of a direction [m]


class Drag(Record):
    """Aerodynamic drag of a body, per body axis: f = -(linear + quadratic |v|) v of the relative air speed."""

    linear: NonNegative3  # [N/(m/s)]
    quadratic: NonNegative3  # [N/(m/s)^2]


def principal_moments(inertia: tuple[float, ...]) -> Array:
    """Principal moments (3,) [kg m^2] of (ixx, iyy, izz) or (ixx, iyy, izz, ixy, ixz, iyz)."""
    return np.asarray(np.linalg.eigvalsh(inertia_matrix(inertia)), dtype=np.float64)


def inertia_matrix(inertia: tuple[float, ...]) -> Array:
    """Inertia (3, 3) [kg m^2] of (ixx, iyy, izz) or (ixx, iyy, izz, ixy, ixz, iyz)."""
    ixx, iyy, izz = inertia[:3]
    ixy, ixz, iyz = inertia[3:] if len(inertia) == 6 else (0.0, 0.0, 0.0)
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def obey_triangle_inequality(a: float, b: float, c: float) -> bool:
    """Tell if a body may have principal moments a <= b <= c [kg m^2]: c is at most the sum of the others."""
    return a + b >= c * (1.0 - 1e-9)


class Inertial(Record):
    """Mass and inertia about the body's CoM in body axes.

    A physics engine silently zeroes an inertia that no mass distribution can have, so it is refused here.
    """

    mass: Positive  # [kg]
    inertia: tuple[Real, Real, Real] | tuple[Real, Real, Real, Real, Real, Real]  # [kg m^2]

    @model_validator(mode="after")
    def _is_physical(self) -> Self:
        a, b, c = principal_moments(self.inertia)
        if a <= 0.0:
            raise ValueError(
                f"key 'inertia': principal moments must be positive, are {a:.4g}, {b:.4g}, {c:.4g}"
            )
        if not obey_triangle_inequality(a, b, c):
            raise ValueError(
                f"key 'inertia': breaks the triangle inequality, {a:.4g} + {b:.4g} < {c:.4g} kg m^2"
            )
        return self


class Rotor(Record):
    """One rotor in the aircraft's frame."""

    position: Vec3  # [m] from the aircraft's CoM
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
    r"""What tilts all rotors of an aircraft, each about its own arm, by an angle b within the limit.

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


PortName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
THRUST = 1e-6, 1e9  # smallest and largest thrust that a rotor may have at rpm_max [N]
CONDITION = 1e6  # of a mixer whose rows are of length 1; a usual one has 1


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


class Aircraft(Inertial):
    """A quadrotor, or a group of fewer rotors of a multirotor's body; its frame is FLU at its CoM.

    It is vectored where rotors tilt, or do not push along z.
    """

    name: str
    description: str
    rotor: RotorModel
    rotors: Annotated[tuple[Rotor, ...], Field(min_length=1, max_length=ROTORS)]
    tilt: RotorTilt | None = None  # of the rotors; None: they are fixed
    tilt_max_deg: Positive  # largest commanded angle between body z and the vertical
    drag: Drag
    mounts: dict[str, Mount]
    collision: tuple[BodyShape, ...]
    visual: tuple[BodyShape, ...]
    propeller: tuple[BodyShape, ...]  # what turns, in the rotor's own frame
    landing_gear: tuple[BodyShape, ...]  # seen and touched, where the aircraft flies alone
    ports: dict[PortName, Port] = {}  # for docking; each is a mount of that name, too
    surface: Surface | None = None  # of the whole aircraft; None: as the world's

    @model_validator(mode="after")
    def _ports_have_names_of_their_own(self) -> Self:
        for name in self.ports:
            if name in self.mounts:
                raise ValueError(f"key 'ports': '{name}' is a mount already")
        return self

    @model_validator(mode="after")
    def _can_tilt(self) -> Self:
        """Refuse arms of rotors that do not tilt, and those that give the tilt no axis across z."""
        for i, rotor in enumerate(self.rotors):
            if self.tilt is None and rotor.arm is not None:
                raise ValueError(
                    f"key 'rotors.{i}.arm': the rotors do not tilt, there is no key 'tilt'"
                )
            x, y, z = rotor.arm or (*rotor.position[:2], 0.0)
            if self.tilt is not None and (math.hypot(x, y) < ARM or z != 0.0):
                raise ValueError(
                    f"key 'rotors.{i}.arm': an axis across z is needed, is {[x, y, z]}"
                )
            if self.tilt is not None and rotor.direction != UP:
                raise ValueError(
                    f"key 'rotors.{i}.direction': a rotor that tilts is up at no tilt"
                )
        return self

    @model_validator(mode="after")
    def _can_be_steered(self) -> Self:
        """Refuse four rotors whose thrusts do not give any lift and any three torques; fewer never do."""
        if not self.turns_itself:
            return self
        mixer = self.wrench_of_rotor_thrusts[2:]
        sizes = np.linalg.norm(mixer, axis=1, keepdims=True)
        if sizes.min() > 0.0 and np.linalg.cond(mixer / sizes) < CONDITION:
            return self
        places = np.array([rotor.position[:2] for rotor in self.rotors])
        if len({rotor.spin for rotor in self.rotors}) == 1:
            reason = f"all spin {self.rotors[0].spin}"
        elif np.linalg.matrix_rank(places - places.mean(axis=0)) < 2:
            reason = "they stand on one line or at one place"
        else:
            reason = "those that spin alike must stand across from each other"
        raise ValueError(f"key 'rotors': they cannot turn the aircraft about every axis: {reason}")

    @property
    def turns_itself(self) -> bool:
        """Whether its rotors alone turn it about every axis; fewer than four need those of others on the same body."""
        return len(self.rotors) == ROTORS

    @property
    def presence(self) -> Array:
        """(4,) 1 for each of its rotors, 0 where commands and messages have room for one that it does not have."""
        return np.array([float(k < len(self.rotors)) for k in range(ROTORS)])

    @property
    def mix(self) -> Array:
        """(4, 4) thrusts of rotors [N] for a collective thrust and three torques; a row of zeros where there is none.

        Fewer than four rotors leave the torque about z to others and make the rest as nearly as they can.
        """
        count = len(self.rotors)
        made = self.wrench_of_rotor_thrusts[2:, :count]
        out = np.zeros((ROTORS, 4))
        if self.turns_itself:
            out[:] = np.linalg.inv(made)
        else:
            out[:count, :3] = np.linalg.pinv(made[:3])
        return out

    @property
    def thrust_limits(self) -> tuple[float, float]:
        """Smallest and largest collective thrust [N]."""
        c_f = len(self.rotors) * self.rotor.c_f
        return c_f * self.rotor.rpm_min**2, c_f * self.rotor.rpm_max**2

    @property
    def tilt_max(self) -> float:
        """Largest commanded tilt [rad]."""
        return math.radians(self.tilt_max_deg)

    @property
    def wrench_of_rotor_thrusts(self) -> Array:
        """(6, 4) map from the rotors' thrusts [N], of four, to [force; torque] in the aircraft's frame."""
        columns = []
        for rotor in self.rotors:
            if rotor.direction != UP:
                columns.append(rotor.column(rotor.ahead, self.rotor.torque_ratio).tolist())
                continue
            x, y, _ = rotor.position
            drag = self.rotor.torque_ratio * (-1.0 if rotor.spin == "ccw" else 1.0)
            columns.append([0.0, 0.0, 1.0, y, -x, drag])
        return _padded(columns, ROTORS)

    @property
    def wrench_of_tilted_thrusts(self) -> Array:
        """(6, 8) map to [force; torque] in the aircraft's frame from each rotor's T cos b and T sin b in turn [N].

        The columns of T sin b are zero where rotors do not tilt.

        Eqs. (3), (4) of beatle: f = sum L_i, tau = sum (p_i x L_i - c s_i L_i), s = 1 for a ccw rotor. The 6 x 12 map
        of eqs. (9)-(12) as printed has a column along each arm as well, along which no rotor pushes.
        """
        ratio, columns = self.rotor.torque_ratio, []
        for rotor in self.rotors:
            across = np.zeros(3) if self.tilt is None else rotor.sideways
            columns += [rotor.column(rotor.ahead, ratio), rotor.column(across, ratio)]
        return _padded(columns, 2 * ROTORS)

    @property
    def is_vectored(self) -> bool:
        """Whether rotors tilt, or push along another axis than z."""
        return self.tilt is not None or any(rotor.direction != UP for rotor in self.rotors)


def _padded(columns: Sequence[ArrayLike], count: int) -> Array:
    """(6, count) of columns (6,), the last of zeros."""
    out = np.zeros((6, count))
    out[:, : len(columns)] = np.array(columns).T
    return out
