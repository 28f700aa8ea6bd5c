# SPDX-License-Identifier: BSD-3-Clause
"""Rigid bodies as plain data, and how those of a platform are made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np

from iap_description.arrays import Array
from iap_description.geometry.shapes import Shape, Surface
from iap_description.math import so3
from iap_description.vehicles.aircraft import Aircraft, Drag, inertia_matrix
from iap_description.vehicles.chassis import chassis_shapes
from iap_description.vehicles.mount import Mount
from iap_description.vehicles.platform import Center, Platform
from iap_description.vehicles.ports import Port
from iap_description.vehicles.rotor import Rotor, RotorTilt
from iap_description.vehicles.tool import TOOL, Tool

PlacedPart = TypeVar("PlacedPart", Shape, Mount)
UPRIGHT = np.zeros(4)  # tilts of rotors [rad]


@dataclass(frozen=True)
class Body:
    """A rigid body whose frame has its origin at the CoM."""

    name: str
    mass: float  # [kg]
    inertia: Array  # (3, 3) [kg m^2] about the CoM, body axes
    drag: Drag
    collision: tuple[Shape, ...] = ()
    visual: tuple[Shape, ...] = ()
    mounts: Mapping[str, Mount] = field(default_factory=dict)
    rotors: tuple[Rotor, ...] = ()
    tilt: RotorTilt | None = None  # of the rotors, about their arms
    propeller: tuple[Shape, ...] = ()  # of each rotor, in the rotor's frame
    surface: Surface | None = None  # None: as the world's

    def propellers(self, tilts: Array = UPRIGHT) -> tuple[Shape, ...]:
        """Visible shapes of its rotors, in its own frame, at tilts [rad], of which one for each rotor counts."""
        return tuple(
            shape.moved(np.array(rotor.position), rotor.attitude(tilt))
            for rotor, tilt in zip(self.rotors, tilts.tolist(), strict=False)
            for shape in self.propeller
        )


def body_of(part: Aircraft | Center, name: str) -> Body:
    """The body of an aircraft or of a central body, under a name."""
    inertia = inertia_matrix(part.inertia)
    body = Body(name, part.mass, inertia, part.drag, part.collision, part.visual, part.mounts)
    if isinstance(part, Aircraft):
        body = replace(body, rotors=part.rotors, propeller=part.propeller, surface=part.surface)
        body = replace(body, tilt=part.tilt)
        return _with_ports(body, part.ports)
    return body


def _with_ports(body: Body, ports: Mapping[str, Port]) -> Body:
    """A body with its docking ports, whose mass is the body's already."""
    shapes = [_shapes(port) for port in ports.values()]
    return replace(
        body,
        collision=(*body.collision, *(each for touched, _ in shapes for each in touched)),
        visual=(*body.visual, *(each for _, visible in shapes for each in visible)),
        mounts={**body.mounts, **{name: port.mount for name, port in ports.items()}},
    )


@lru_cache(maxsize=64)
def _shapes(port: Port) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Collision and visual shapes of a port: hulls take ten milliseconds to make."""
    return port.collision, port.visual


def central_body(platform: Platform) -> Body:
    """The central body with its chassis, or the aircraft that flies alone, on its own landing gear."""
    center = platform.center
    body = body_of(center or platform.aircraft, "base_link")
    if center is None:
        gear = platform.aircraft.landing_gear
        return replace(body, collision=(*body.collision, *gear), visual=(*gear, *body.visual))
    if center.chassis is None:
        return body
    positions = tuple((joint.position, math.radians(joint.yaw_deg)) for joint in platform.joints)
    visible, touched = chassis_shapes(center.chassis, positions, platform.ground_clearance)
    return replace(body, visual=(*body.visual, *visible), collision=(*body.collision, *touched))


def with_tool(body: Body, tool: Tool) -> Body:
    """A body with a tool: mass and inertia about the CoM of both, shapes still from the body's own CoM."""
    mass = body.mass + tool.mass
    inertia = body.inertia + tool.inertia
    if tool.mass > 0.0:
        d = so3.hat(tool.point(0.5 * tool.length))  # between the two CoMs, parallel axes
        inertia -= body.mass * tool.mass / mass * d @ d
    return replace(
        body,
        mass=mass,
        inertia=inertia,
        collision=(*body.collision, *tool.collision),
        visual=(*body.visual, *tool.visual),
        mounts={**body.mounts, TOOL: tool.mount},
        surface=tool.surface or body.surface,
    )


def shifted(body: Body, by: Array) -> Body:
    """A central body with its shapes and mounts moved by (3,) [m]."""
    if not by.any():
        return body

    def there(part: PlacedPart) -> PlacedPart:
        x, y, z = np.add(part.position, by).tolist()
        return part.model_copy(update={"position": (x, y, z)})

    return replace(
        body,
        collision=tuple(map(there, body.collision)),
        visual=tuple(map(there, body.visual)),
        mounts={name: there(mount) for name, mount in body.mounts.items()},
    )
