# SPDX-License-Identifier: BSD-3-Clause
"""The sub-aircraft: numbers of a quadrotor, or of up to four rotors of a larger multirotor."""

import math
from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Mass, NonNegative3, Positive, Real
from iap_description.geometry.shapes import BodyShapes, Surface
from iap_description.vehicles.mount import Mount
from iap_description.vehicles.ports import Port
from iap_description.vehicles.rotor import ARM, UP, Rotor, RotorModel, RotorTilt

ROTORS = 4  # most that an aircraft has, and what commands and messages have room for


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

    mass: Mass  # [kg]
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


PortName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
CONDITION = 1e6  # of a mixer whose rows are of length 1; a usual one has 1


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
    collision: BodyShapes
    visual: BodyShapes
    propeller: BodyShapes  # what turns, in the rotor's own frame
    landing_gear: BodyShapes  # seen and touched, where the aircraft flies alone
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
        positions = np.array([rotor.position[:2] for rotor in self.rotors])
        if len({rotor.spin for rotor in self.rotors}) == 1:
            reason = f"all spin {self.rotors[0].spin}"
        elif np.linalg.matrix_rank(positions - positions.mean(axis=0)) < 2:
            reason = "they stand on one line or at one place"
        else:
            reason = "those that spin alike must stand across from each other"
        raise ValueError(f"key 'rotors': they cannot turn the aircraft about every axis: {reason}")

    @property
    def turns_itself(self) -> bool:
        """True if its rotors alone turn it about every axis; fewer than four need those of others on the same body."""
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
        """True if rotors tilt, or push along another axis than z."""
        return self.tilt is not None or any(rotor.direction != UP for rotor in self.rotors)


def _padded(columns: Sequence[ArrayLike], count: int) -> Array:
    """(6, count) of columns (6,), the last of zeros."""
    out = np.zeros((6, count))
    out[:, : len(columns)] = np.array(columns).T
    return out
