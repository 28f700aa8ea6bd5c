# SPDX-License-Identifier: BSD-3-Clause
"""An arm on a platform's central body: its chain and masses as kernels take them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.geometry.shapes import Shape, Surface
from iap_description.math import so3
from iap_description.vehicles.aircraft import inertia_matrix
from iap_description.vehicles.arm import Arm, ArmLink
from iap_description.vehicles.chain_inertia import Bodies, Composite, composite
from iap_description.vehicles.serial_chain import Chain, tip_pose
from iap_description.vehicles.tool import Tool


@dataclass(frozen=True)
class LinkBody:
    """A link with what is fixed to it, in the frame of its joint."""

    name: str
    mass: float  # [kg]
    com: Array  # (3,) [m]
    inertia: Array  # (3, 3) about the CoM [kg m^2]
    collision: tuple[Shape, ...]
    visual: tuple[Shape, ...]
    surface: Surface | None = None  # that of its tool; None: as the world's


@dataclass(frozen=True)
class MountedArm:
    """An arm with bodies, in the frame P of a platform.

    Attributes:
        record: the arm; its base counts from the origin of the frame F of the platform's file.
        p_FP_F: (3,) origin of P in F [m].
    """

    record: Arm
    p_FP_F: Array

    def moved(self, p_PC_P: Array) -> Self:
        """The same arm where the origin of P has gone to (3,) in P [m]."""
        return replace(self, p_FP_F=self.p_FP_F + p_PC_P)

    @cached_property
    def chain(self) -> Chain:
        """The arm's kinematics from P."""
        chain = self.record.chain()
        origins = chain.origins.copy()
        origins[0] -= self.p_FP_F
        return chain._replace(origins=origins)

    def tip_P(self, q: Array) -> Array:
        """(3,) the end effector in P with the joints at coordinates (n,) [m]."""
        return tip_pose(self.chain, np.zeros(3), np.eye(3), q)[0]

    @cached_property
    def links(self) -> tuple[LinkBody, ...]:
        """Its links from the platform outwards, the last one with the tool."""
        names = [f"arm_{joint.name}_link" for joint in self.record.joints]
        links = [_link(name, link) for name, link in zip(names, self.record.links, strict=True)]
        if self.record.tool is not None:
            links[-1] = _with_tool(links[-1], self.record.tool, np.array(self.record.tip))
        return tuple(links)

    @cached_property
    def bodies(self) -> Bodies:
        """Its masses, without the platform's."""
        return self.bodies_with(0.0, np.zeros((3, 3)))

    def bodies_with(self, mass: float, inertia: Array) -> Bodies:
        """Its masses behind a platform of that mass [kg] and inertia (3, 3) about P's origin, its CoM [kg m^2]."""
        return Bodies(
            np.array([mass, *(link.mass for link in self.links)]),
            np.array([np.zeros(3), *(link.com for link in self.links)]),
            np.array([inertia, *(link.inertia for link in self.links)]),
        )

    @cached_property
    def at_home(self) -> Composite:
        """The arm alone as one rigid body in its home pose, axes of P."""
        return composite(self.chain, self.bodies, np.eye(3), self.record.home_pose)


def _link(name: str, link: ArmLink) -> LinkBody:
    inertia = inertia_matrix(link.inertia)
    return LinkBody(name, link.mass, np.array(link.com), inertia, link.collision, link.visual)


def _with_tool(link: LinkBody, tool: Tool, base: Array) -> LinkBody:
    """A link with a tool that is placed from a point (3,) of it [m]."""
    mass = link.mass + tool.mass
    middle = base + tool.point(0.5 * tool.length)
    apart = so3.hat(middle - link.com)
    x, y, z = base.tolist()
    placed = tool.model_copy(update={"position": tuple(np.add(tool.position, (x, y, z)).tolist())})
    return replace(
        link,
        mass=mass,
        com=(link.mass * link.com + tool.mass * middle) / mass,
        inertia=link.inertia + tool.inertia - link.mass * tool.mass / mass * apart @ apart,
        collision=(*link.collision, *placed.collision),
        visual=(*link.visual, *placed.visual),
        surface=tool.surface,
    )
