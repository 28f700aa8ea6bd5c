# SPDX-License-Identifier: BSD-3-Clause
r"""Latches: when a probe in a socket is caught, and what holds it.

With the frames E at the probe's end and M in the socket's mouth, both with x out of their aircraft, and d from M to E,

.. math::
    depth = -d \cdot x_M, \qquad radius = |d + depth\, x_M|, \qquad \cos(angle) = -x_E \cdot x_M,

and the closing speed is the growth of the depth as the socket sees it. An object that stands in the world and has a
face is a socket, too: M is then its frame O, whose x axis is out of the face.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Flag, Length, NonNegative, Positive
from iap_description.math import euler
from iap_description.math.kernels import (
    Vec,
    add,
    cross,
    dot,
    formula,
    norm,
    quat_at,
    rotate,
    scale,
    sub,
    vec_at,
)
from iap_description.vehicles.mount import Mount
from iap_description.vehicles.ports import Port, Probe, Socket
from iap_description.world.objects import WorldObject

NAME = r"[A-Za-z][A-Za-z0-9_]*"
PORT = r"/[a-z][a-z0-9_]*"
PortPath = Annotated[str, Field(pattern=f"^{NAME}{PORT}$")]
SocketPath = Annotated[str, Field(pattern=f"^{NAME}({PORT})?$")]
Ends = Mapping[str, Port | Mount]  # what latches hold on a central body, by name


class FaceCatch(Record):
    """Further conditions of a latch whose socket is an object's face, and what it bears.

    It decides once, where the probe touches the face: what it does not catch there it does not catch before the probe
    has left it.
    """

    least_speed: NonNegative  # of closing, at least [m/s]
    slip: Positive  # along the face, at most [m/s]
    turn_rate: Positive  # of the probe's body, at most [rad/s]
    max_torque: Positive  # about the probe's end, to a larger one the lock gives way [N m]
    stops_rotors: Flag  # whether the rotors of the probe's vehicle idle while it is locked


class Latch(Record):
    """A pair of ports that lock, as VEHICLE/PORT; the two vehicles carry them on their central bodies.

    It catches the probe when all of depth, radius, angle and closing speed allow. A damper then takes the relative
    motion away, and a rigid joint locks what is left, until the latch is released or pulled apart.
    """

    probe: PortPath  # VEHICLE/tool is the tip of its tool
    socket: SocketPath  # or the name of an object that stands and has a face
    depth: Length  # at least [m]
    radius: Length  # at most [m]
    angle_deg: Positive  # at most
    speed: Positive  # at most [m/s], also away from each other
    damping: Positive  # of the probe in the socket before it is locked [N s/m]
    turn_damping: Positive  # [N m s/rad]
    max_force: Positive  # to a larger force the lock gives way, and is open [N]
    release: NonNegative | None = None  # when it is opened [s]; None: it is not
    face: FaceCatch | None = None  # of a face, and of nothing else

    @property
    def vehicles(self) -> tuple[str, ...]:
        """Names of the vehicles that it holds: that of the probe, and that of the socket unless this is an object."""
        return tuple(path.split("/")[0] for path in (self.probe, self.socket) if "/" in path)


class PortFrame(NamedTuple):
    """Place (3,) and outward axis (3,) of a port in its body's frame."""

    position: Array
    axis: Array

    @classmethod
    def of(cls, port: Port | Mount, p_FB_F: Array) -> Self:
        """The frame of a port on a body whose frame has its origin at (3,) in that of the aircraft's file [m]."""
        R_BT = euler.matrix_from_rpy_deg(port.rpy_deg)
        return cls(np.array(port.position) - p_FB_F, np.ascontiguousarray(R_BT[:, 0]))

    @classmethod
    def of_face(cls) -> Self:
        """The frame of an object's face in the object."""
        return cls(np.zeros(3), np.array([1.0, 0.0, 0.0]))


class Approach(NamedTuple):
    """Pose of a probe in a socket, see the module.

    Attributes:
        depth: [m].
        radius: [m].
        angle: between the axes [rad].
        closing: speed [m/s].
    """

    depth: float
    radius: float
    angle: float
    closing: float


@formula
def velocity_at(x: Array, p_W: Vec) -> Vec:
    """Velocity [m/s] of the point of a body, of state row (13,), that is at a place [m]."""
    return add(vec_at(x, 7), cross(vec_at(x, 10), sub(p_W, vec_at(x, 0))))


@formula
def place_of(x: Array, p_B: Array) -> Vec:
    """Place in `map` [m] of a point (3,) of a body of state row (13,)."""
    return add(vec_at(x, 0), rotate(quat_at(x, 3), vec_at(p_B, 0)))


@formula
def approach(x_p: Array, x_s: Array, probe: PortFrame, socket: PortFrame) -> Approach:
    """The pose of the probe of a body of state row (13,) in the socket of another."""
    E, M = place_of(x_p, probe.position), place_of(x_s, socket.position)
    out = rotate(quat_at(x_s, 3), vec_at(socket.axis, 0))
    d = sub(E, M)
    depth = -dot(d, out)
    along = rotate(quat_at(x_p, 3), vec_at(probe.axis, 0))
    cosine = min(max(-dot(along, out), -1.0), 1.0)
    slip = sub(velocity_at(x_p, E), velocity_at(x_s, E))
    return Approach(depth, norm(add(d, scale(depth, out))), math.acos(cosine), -dot(slip, out))


@formula
def slip_of(x_p: Array, x_s: Array, probe: PortFrame, socket: PortFrame) -> float:
    """Speed [m/s] of a probe's end across the axis of its socket; arguments as of `approach`."""
    E = place_of(x_p, probe.position)
    out = rotate(quat_at(x_s, 3), vec_at(socket.axis, 0))
    v = sub(velocity_at(x_p, E), velocity_at(x_s, E))
    return norm(sub(v, scale(dot(v, out), out)))


@formula
def is_caught(pose: Approach, depth: float, radius: float, angle: float, speed: float) -> bool:
    """Tell if a latch of such numbers, as those of `Latch` but the angle in radians, catches the probe."""
    return (
        pose.depth >= depth
        and pose.radius <= radius
        and pose.angle <= angle
        and abs(pose.closing) <= speed
    )


def check_ports(
    name: str, latch: Latch, ends: Mapping[str, Ends], objects: Mapping[str, WorldObject]
) -> None:
    """Refuse a latch whose ports are not there, of the wrong kind, or on one vehicle.

    Args:
        name: of the latch.
        latch: to check.
        ends: of every vehicle's central body, by the vehicle's name.
        objects: of the world.

    Raises:
        ValueError: naming the key.
    """
    _check_end(f"latches.{name}.probe", latch.probe, (Probe, Mount), ends)
    if "/" in latch.socket:
        _check_end(f"latches.{name}.socket", latch.socket, (Socket,), ends)
    else:
        _check_face(f"latches.{name}.socket", latch.socket, objects)
    if ("/" in latch.socket) != (latch.face is None):
        raise ValueError(
            f"key 'latches.{name}.face': an object as a socket needs it, and a port has none"
        )
    if len(set(latch.vehicles)) < len(latch.vehicles):
        raise ValueError(f"key 'latches.{name}': a vehicle does not dock with itself")


def _check_end(
    key: str, path: str, kinds: tuple[type[Any], ...], ends: Mapping[str, Ends]
) -> None:
    vehicle, port = path.split("/")
    if vehicle not in ends:
        raise ValueError(f"key '{key}': no vehicle '{vehicle}' (here: {', '.join(ends)})")
    if port not in ends[vehicle]:
        there = ", ".join(ends[vehicle]) or "none"
        raise ValueError(f"key '{key}': '{vehicle}' has no port '{port}' (ports: {there})")
    if not isinstance(ends[vehicle][port], kinds):
        raise ValueError(f"key '{key}': '{path}' is no {key.split('.')[-1]}")


def _check_face(key: str, name: str, objects: Mapping[str, WorldObject]) -> None:
    such = [each for each, item in objects.items() if item.HAS_FACE and not item.moves]
    if name not in such:
        there = ", ".join(such) or "none"
        raise ValueError(
            f"key '{key}': no object '{name}' that stands and has a face (such: {there})"
        )
