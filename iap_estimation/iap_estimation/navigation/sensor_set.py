# SPDX-License-Identifier: BSD-3-Clause
"""The sensors by which a vehicle localises itself, and the state rows of the bodies that carry them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.sensor_info import ImuInfo, SensorInfo
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.joint_types import JointType
from iap_estimation.navigation.attitude_predictor import AttitudePredictor
from iap_estimation.navigation.fleet_data import AircraftData, CentreData, fleet_of
from iap_estimation.navigation.reading_adapter import (
    AircraftSensors,
    aircraft_data_of,
    centre_of,
    sensors_of_body,
)
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate
from iap_estimation.virpo.spec import VirpoSpec


class UnitMount:
    """Mount of an inertial unit I on its body B.

    Args:
        p_BI_B: (3,) its place [m].
        q_BI: (4,) its attitude.
    """

    def __init__(self, p_BI_B: Array, q_BI: Array) -> None:
        self._p_BI_B, self._q_BI = p_BI_B, q_BI
        self._q_IB = so3.conjugate(q_BI)
        self._p_IB_I = -so3.rotate(self._q_IB, p_BI_B)

    def body(self, unit: Estimate, t: float, out: Array) -> None:
        """State row (13,) of the body at a time that is no earlier than the estimate's -> out."""
        w_W = so3.rotate(unit.q_WB, unit.w_B)
        arm_W = so3.rotate(unit.q_WB, self._p_IB_I)
        out[P], out[Q] = unit.p_WB_W + arm_W, so3.multiply(unit.q_WB, self._q_IB)
        out[V], out[W] = unit.v_WB_W + np.cross(w_W, arm_W), w_W
        move_on(out, t - unit.t)

    def unit(self, row: Array) -> Array:
        """Place, attitude, velocity and biases of zero (16,) of the unit on a body with a state row (13,)."""
        arm_W = so3.rotate(row[Q], self._p_BI_B)
        v_W = row[V] + np.cross(row[W], arm_W)
        return np.concatenate([row[P] + arm_W, so3.multiply(row[Q], self._q_BI), v_W, np.zeros(6)])


def move_on(row: Array, span: float) -> None:
    """Move a state row (13,) on as its twist says [s]."""
    if span > 0.0:
        row[P] += span * row[V]
        row[Q] = so3.normalized(so3.multiply(so3.quaternion_exp(span * row[W]), row[Q]))


def centre_row(aircraft: Array, d: Array, q_WP: Array, w_P: Array) -> Array:
    """State row (13,) of the central body P, whose joints are at the aircraft's origins.

    Args:
        aircraft: (A, 13) state rows.
        d: (A, 3) places of their joints in P [m].
        q_WP: (4,) its attitude.
        w_P: (3,) its angular velocity [rad/s].
    """
    row = np.empty(STATE_SIZE)
    w_W, middle_W = so3.rotate(q_WP, w_P), so3.rotate(q_WP, d.mean(axis=0))
    row[P], row[Q] = aircraft[:, P].mean(axis=0) - middle_W, q_WP
    row[V], row[W] = aircraft[:, V].mean(axis=0) - np.cross(w_W, middle_W), w_W
    return row


@dataclass(frozen=True, eq=False)
class SensorSet:
    """The sensors of one vehicle that count.

    Attributes:
        name: of the vehicle.
        bodies: number of its bodies.
        rows: index of each aircraft's body.
        carried: sensors of each aircraft.
        aircraft: the aircraft as data sets have them.
        mounts: of their inertial units.
        central: inertial unit of the central body; None where there is no such body.
        centre: the central body; None where there is none.
        gravity: [m/s^2].
    """

    name: str
    bodies: int
    rows: list[int]
    carried: tuple[AircraftSensors, ...]
    aircraft: tuple[AircraftData, ...]
    mounts: tuple[UnitMount, ...]
    central: ImuInfo | None
    centre: CentreData | None
    gravity: float

    @classmethod
    def of(cls, assembly: Assembly, sensors: Sequence[SensorInfo], gravity: float) -> Self:
        """The sensor set of a vehicle.

        Args:
            assembly: the vehicle; its name and its bodies' are those of the sensors' parent frames.
            sensors: those of the vehicle; others may be among them.
            gravity: [m/s^2].

        Raises:
            BadInput: an aircraft has no stereo pair or no inertial unit, or its joint is not at its CoM.
        """
        for i, joint in enumerate(assembly.joints):
            check_joint(f"vehicle '{assembly.name}'", i, joint.kind, joint.p_CJ_C)
        names = [body.name for body in assembly.bodies]
        carried = [_of_aircraft(assembly, body, sensors) for body in assembly.aircraft]
        pairs = zip(assembly.aircraft, carried, strict=True)
        aircraft = tuple(
            aircraft_data_of(names[body], group, assembly.name) for body, group in pairs
        )
        on_centre = sensors_of_body(f"{assembly.name}/{names[0]}", sensors)
        central = on_centre.imu if assembly.joints and on_centre is not None else None
        d = assembly.p_PB_P[list(assembly.aircraft)]
        mounts = (
            UnitMount(np.array(group.imu.p_BS_B), np.array(group.imu.q_BS)) for group in carried
        )
        return cls(
            assembly.name,
            len(names),
            list(assembly.aircraft),
            tuple(carried),
            aircraft,
            tuple(mounts),
            central,
            centre_of(d, central) if assembly.joints else None,
            gravity,
        )

    def fill_rows(
        self, estimates: Sequence[Estimate], centre: AttitudePredictor, t: float, out: Array
    ) -> None:
        """Write the rows (bodies, 13) of a time [s] that the aircraft's estimates and the centre's attitude give."""
        for estimate, mount, row in zip(estimates, self.mounts, self.rows, strict=True):
            mount.body(estimate, t, out[row])
        if self.centre is not None:
            out[0] = centre_row(out[self.rows], self.centre.d, centre.q_WB, centre.w_B)

    def fleet(self, spec: VirpoSpec) -> Fleet:
        """As an estimator with these settings knows it."""
        return fleet_of(self.aircraft, self.centre, spec, self.gravity)


def check_joint(source: str, number: int, kind: JointType, p_CJ_C: ArrayLike) -> None:
    """Refuse a joint that is not at its aircraft's CoM, or turns about one or two axes, unlike what the methods take.

    Raises:
        BadInput: naming the key, in a source's platform.
    """
    if kind.is_free and not kind.turns_freely:
        raise BadInput(
            f"{source}: key 'platform.joints.{number}.type': methods of localisation take spherical and fixed joints"
        )
    if np.any(p_CJ_C):
        raise BadInput(
            f"{source}: key 'platform.joints.{number}.offset': methods of localisation take joints at the"
            " aircraft's CoM"
        )


def _of_aircraft(assembly: Assembly, body: int, sensors: Sequence[SensorInfo]) -> AircraftSensors:
    name = assembly.bodies[body].name
    mounted = sensors_of_body(f"{assembly.name}/{name}", sensors)
    if mounted is None or mounted.cameras is None:
        raise BadInput(
            f"vehicle '{assembly.name}': {name} has no inertial unit, or not one stereo pair"
        )
    return mounted
