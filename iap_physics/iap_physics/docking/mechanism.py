# SPDX-License-Identifier: BSD-3-Clause
"""Probe and socket as surfaces of revolution, as compiled contact takes them."""

from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.geometry.shapes import Surface
from iap_description.vehicles.latch import PortFrame
from iap_description.vehicles.ports import Probe, Socket

POINTS = 2.0  # contact points that engines find where polygons stand for two round things


class Mechanism(NamedTuple):
    """Probe and socket as the kernel takes them.

    Attributes:
        probe: frame at the probe's end.
        socket: frame in the socket's mouth.
        along: (n,) distances from the probe's end [m].
        radii: (n,) the probe's radius there [m].
        flange: radius of its flange [m].
        bore: radius of the socket [m].
        rim: outer radius of its mouth [m].
        depth: of the socket [m].
        stiffness: of a place that touches [N/m].
        damping: [N s/m].
        friction: coefficient.
        reach: distance of the bodies' CoMs beyond which nothing touches [m].
    """

    probe: PortFrame
    socket: PortFrame
    along: Array
    radii: Array
    flange: float
    bore: float
    rim: float
    depth: float
    stiffness: float
    damping: float
    friction: float
    reach: float

    @classmethod
    def of(cls, probe: Probe, socket: Socket, surfaces: tuple[Surface, Surface]) -> Self:
        """Mechanism of two ports and their aircraft's surfaces, which are springs in series and dampers side by side.

        Raises:
            ValueError: a surface is rigid.
        """
        compliance, damping = 0.0, 0.0
        for surface in surfaces:
            if surface.stiffness is None or surface.damping is None:
                raise ValueError("key 'surface.stiffness': docking in batches needs soft surfaces")
            compliance += 1.0 / surface.stiffness
            damping += surface.damping
        along, radii = np.array(probe.profile).T
        return cls(
            PortFrame.of(probe, np.zeros(3)),
            PortFrame.of(socket, np.zeros(3)),
            np.ascontiguousarray(along),
            np.ascontiguousarray(radii),
            probe.flange,
            socket.radius,
            socket.radius + socket.wall,
            socket.depth,
            POINTS / compliance,
            POINTS * damping,
            float(np.sqrt(surfaces[0].friction * surfaces[1].friction)),
            float(np.linalg.norm(probe.position) + np.linalg.norm(socket.position)) + probe.flange,
        )
