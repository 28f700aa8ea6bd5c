# SPDX-License-Identifier: BSD-3-Clause
r"""Latches: when a probe in a socket is caught, and what holds it.

With the frames E at the probe's end and M in the socket's mouth, both with x out of their aircraft, and d from M to E,

.. math::
    depth = -d \cdot x_M, \qquad radius = |d + depth\, x_M|, \qquad \cos(angle) = -x_E \cdot x_M,

and the closing speed is the growth of the depth as the socket sees it.
"""

import math
from typing import Annotated, NamedTuple, Self

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.record import NonNegative, Positive, Record
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
from iap_description.vehicles.ports import Port, Probe, Socket

PortPath = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*/[a-z][a-z0-9_]*$")]


class Latch(Record):
    """A pair of ports that lock, as VEHICLE/PORT; the two vehicles carry them on their central bodies.

    It catches the probe when all of depth, radius, angle and closing speed allow. A damper then takes the relative
    motion away, and a rigid joint locks what is left, until the latch is released or pulled apart.
    """

    probe: PortPath
    socket: PortPath
    depth: Positive  # at least [m]
    radius: Positive  # at most [m]
    angle_deg: Positive  # at most
    speed: Positive  # at most [m/s], also away from each other
    damping: Positive  # of the probe in the socket before it is locked [N s/m]
    turn_damping: Positive  # [N m s/rad]
    max_force: Positive  # to a larger force the lock gives way, and is open [N]
    release: NonNegative | None = None  # when it is opened [s]; None: it is not


class PortFrame(NamedTuple):
    """Place (3,) and outward axis (3,) of a port in its body's frame."""

    position: Array
    axis: Array

    @classmethod
    def of(cls, port: Port, p_FB_F: Array) -> Self:
        """The frame of a port on a body whose frame has its origin at (3,) in that of the aircraft's file [m]."""
        return cls(np.array(port.position) - p_FB_F, np.ascontiguousarray(port.R_BT[:, 0]))


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
def is_caught(pose: Approach, depth: float, radius: float, angle: float, speed: float) -> bool:
    """Tell if a latch of such numbers, as those of `Latch` but the angle in radians, catches the probe."""
    return (
        pose.depth >= depth
        and pose.radius <= radius
        and pose.angle <= angle
        and abs(pose.closing) <= speed
    )


def check_ports(name: str, latch: Latch, ports: dict[str, dict[str, Port]]) -> None:
    """Refuse a latch whose ports are not there, of the wrong kind, or on one vehicle.

    Args:
        name: of the latch.
        latch: to check.
        ports: of every vehicle's central body, by the vehicle's name.

    Raises:
        ValueError: naming the key.
    """
    for key, kind in (("probe", Probe), ("socket", Socket)):
        path = getattr(latch, key)
        vehicle, port = path.split("/")
        if vehicle not in ports:
            there = ", ".join(ports)
            raise ValueError(f"key 'latches.{name}.{key}': no vehicle '{vehicle}' (here: {there})")
        if port not in ports[vehicle]:
            there = ", ".join(ports[vehicle]) or "none"
            raise ValueError(
                f"key 'latches.{name}.{key}': '{vehicle}' has no port '{port}' (ports: {there})"
            )
        if not isinstance(ports[vehicle][port], kind):
            raise ValueError(f"key 'latches.{name}.{key}': '{path}' is no {key}")
    if latch.probe.split("/")[0] == latch.socket.split("/")[0]:
        raise ValueError(f"key 'latches.{name}': a vehicle does not dock with itself")
