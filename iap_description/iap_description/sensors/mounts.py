# SPDX-License-Identifier: BSD-3-Clause
"""Mounts of sensors on bodies, with their topics and frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_description.math.kernels import add, put_row, put_row4, qmul, quat_at, rotate, vec_at
from iap_description.sensors.readings import SensorSource
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.urdf import mount_frame

Q_SC = np.array([-0.5, 0.5, -0.5, 0.5])  # of a camera's optical frame in its mount's, xyzw
BASE = "base_link"
IMU = "imu"  # name of the mounts and topics of inertial units


@dataclass(frozen=True)
class SensorMount:
    """A mount with a sensor on it.

    Attributes:
        source: the sensor's topic and frame.
        body: index of the body within its vehicle.
        p_BS_B: (3,) the sensor's place on its body [m].
        q_BS: (4,) its attitude there, xyzw.
    """

    source: SensorSource
    body: int
    p_BS_B: Array
    q_BS: Array


def sensor_mount(
    assembly: Assembly, body: int, mount: str, topic: str, *, key: str
) -> SensorMount:
    """A sensor on a mount of a body.

    Args:
        assembly: the vehicle.
        body: index of the body.
        mount: name of the mount.
        topic: of the sensor, under the body's own, such as ``imu``.
        key: of the configuration that asks for it, for the error.

    Raises:
        BadInput: the body has no such mount.
    """
    one = assembly.bodies[body]
    if mount not in one.mounts:
        there = ", ".join(one.mounts) or "none"
        raise BadInput(f"key '{key}': {one.name} has no mount '{mount}' (mounts: {there})")
    place = one.mounts[mount]
    turned = euler.matrix_from_rpy_deg(place.rpy_deg)
    source = SensorSource(
        f"{space(assembly, body)}/{topic}", f"{assembly.name}/{mount_frame(one.name, mount)}"
    )
    return SensorMount(source, body, np.array(place.position), so3.quaternion_from_matrix(turned))


def mounts_on_aircraft(assembly: Assembly, mount: str, topic: str) -> list[SensorMount]:
    """A sensor on the same mount of every aircraft; its topic is also its key under ``sensors``.

    Raises:
        BadInput: an aircraft has no such mount.
    """
    key = f"sensors.{topic}.mount"
    return [sensor_mount(assembly, body, mount, topic, key=key) for body in assembly.aircraft]


def imu_mounts(assembly: Assembly) -> list[SensorMount]:
    """The mounts of a vehicle's inertial units: on the centre first, then on every aircraft.

    Raises:
        BadInput: a body has no mount for one.
    """
    bodies = sorted({0, *assembly.aircraft})
    return [sensor_mount(assembly, body, IMU, IMU, key="sensors.imu") for body in bodies]


def displacements(dice: Array, position: float, tilt_deg: float) -> tuple[Array, Array]:
    """Shifts (..., 3) [m] and turns (..., 4) of sensors on their mounts, of numbers (..., 6) in [-1, 1).

    Args:
        dice: the numbers.
        position: half-width of the shift, per axis [m].
        tilt_deg: half-width of the turn, per axis.
    """
    return position * dice[..., :3], so3.quaternion_exp(np.deg2rad(tilt_deg) * dice[..., 3:])


def space(assembly: Assembly, body: int) -> str:
    """The namespace of a body's topics: those of the central one in the vehicle's own namespace."""
    name = assembly.bodies[body].name
    return f"/{assembly.name}" if name == BASE else f"/{assembly.name}/{name}"


def mount_fields(assembly: Assembly, mount: SensorMount) -> dict[str, Any]:
    """The fields of `iap_description.sensors.sensor_info.SensorInfo` that a mount gives."""
    return {
        "topic": mount.source.topic,
        "frame": mount.source.frame,
        "parent": f"{assembly.name}/{assembly.bodies[mount.body].name}",
        "p_BS_B": tuple(mount.p_BS_B.tolist()),
        "q_BS": tuple(mount.q_BS.tolist()),
    }


def mount_poses(mounts: Sequence[SensorMount], x: Array) -> tuple[Array, Array]:
    """Positions (n, 3) [m] and attitudes (n, 4) of sensors in `map`, from their vehicle's rows (bodies, 13)."""
    p_WS_W, q_WS = np.empty((len(mounts), 3)), np.empty((len(mounts), 4))
    for i, each in enumerate(mounts):
        _put_pose(x[each.body], each.p_BS_B, each.q_BS, i, p_WS_W, q_WS)
    return p_WS_W, q_WS


@njit(cache=True)
def poses_on(x: Array, p_BS_B: Array, q_BS: Array) -> tuple[Array, Array]:
    """Positions (n, 3) [m] and attitudes (n, 4) in `map` of sensors on bodies with state rows (n, 13).

    Args:
        x: state rows.
        p_BS_B: (n, 3) places of the sensors on their bodies [m].
        q_BS: (n, 4) attitudes there.
    """
    p_WS_W, q_WS = np.empty((len(x), 3)), np.empty((len(x), 4))
    for i in range(len(x)):
        _put_pose(x[i], p_BS_B[i], q_BS[i], i, p_WS_W, q_WS)
    return p_WS_W, q_WS


@njit(cache=True)
def _put_pose(row: Array, p_BS_B: Array, q_BS: Array, i: int, p_WS_W: Array, q_WS: Array) -> None:
    """Write into rows i where a sensor is on a body with a state row (13,)."""
    q = quat_at(row, 3)
    put_row(p_WS_W, i, add(vec_at(row, 0), rotate(q, vec_at(p_BS_B, 0))))
    put_row4(q_WS, i, qmul(q, quat_at(q_BS, 0)))


def optical(q_WS: Array) -> Array:
    """Attitudes q_WC (..., 4) of the cameras on mounts with attitudes (..., 4)."""
    return so3.multiply(q_WS, Q_SC)
