# SPDX-License-Identifier: BSD-3-Clause
"""Worlds to be touched, and how tests hold a platform in them by plain springs."""

from dataclasses import dataclass

import numpy as np

from iap_description.config.record import validate
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import Platform, platform_tree
from iap_description.world.world import World
from iap_physics.engines.joints import joined_rows

RIGID = {"friction": 0.4, "restitution": 0.0}
SOFT = {"friction": 0.4, "restitution": 0.0, "stiffness": 3000.0, "damping": 60.0}
ROD = {
    "type": "rod",
    "length": 1.0,
    "radius": 0.03,
    "tip": {"type": "sphere", "radius": 0.03},
    "position": [0.0, 0.0, 0.0],
    "rpy_deg": [0.0, 0.0, 180.0],
    "surface": RIGID,
}


def world_of(ground=True, **objects):
    tree = {name: {"surface": RIGID, **item} for name, item in objects.items()}
    return validate(World, {"ground": ground, "objects": tree}, source="test")


def tooled(tool, platform="three_star", name="iap"):
    """The assembly of a platform with a tool."""
    tree, source = platform_tree(platform)
    return Assembly.of(validate(Platform, {**tree, "tool": tool}, source=source), name)


def base_row(p, q=(0.0, 0.0, 0.0, 1.0), v=(0.0, 0.0, 0.0)):
    return np.array([*p, *q, *v, 0.0, 0.0, 0.0])


def momenta(assembly, x):
    """Linear momentum, angular momentum about the CoM of all bodies, and that CoM."""
    masses = np.array([body.mass for body in assembly.bodies])[:, None]
    com, velocity = ((masses * x[:, part]).sum(axis=0) / masses.sum() for part in (P, V))
    spin = np.cross(x[:, P] - com, masses * (x[:, V] - velocity)).sum(axis=0)
    for body, row in zip(assembly.bodies, x, strict=True):
        R = so3.matrix_from_quaternion(row[Q])
        spin += R @ body.inertia @ R.T @ row[W]
    return masses.sum() * velocity, spin, com


@dataclass
class Springs:
    """Wrenches that carry the weight, keep the aircraft level and pull the centre to a pose."""

    assembly: Assembly
    start: np.ndarray
    k_p: float = 40.0  # [N/m]
    k_R: float = 20.0  # [N m/rad]

    def __call__(self, x, target):
        """(1, bodies, 6) for rows (bodies, 13) and a target row (13,)."""
        wrenches = np.zeros((1, len(x), 6))
        wrenches[0, :, 2] = [9.81 * body.mass for body in self.assembly.bodies]
        turn = so3.quaternion_log(so3.multiply(x[1:, Q], so3.conjugate(self.start[1:, Q])))
        wrenches[0, 1:, 3:] = -2.0 * turn - 0.3 * x[1:, W]
        wrenches[0, 0, :3] += self.k_p * (target[P] - x[0, P]) + 30.0 * (target[V] - x[0, V])
        turn = so3.quaternion_log(so3.multiply(x[0, Q], so3.conjugate(target[Q])))
        wrenches[0, 0, 3:] = -self.k_R * turn - 3.0 * x[0, W]
        return wrenches


def level_start(assembly, p, q=(0.0, 0.0, 0.0, 1.0), v=(0.0, 0.0, 0.0)):
    """Rows (bodies, 13) of a platform whose aircraft are level relative to it."""
    return joined_rows(assembly, base_row(p, q, v))
