# SPDX-License-Identifier: BSD-3-Clause
"""Two aircraft with docking ports, weightless and without rotors, for tests of joints, latches and contact."""

import numpy as np

from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.latch import Latch
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.make import make_engine

WEIGHTLESS = World(ground=False, gravity=0.0)
SOCKET, PROBE = np.array([0.0, -0.446, -0.03]), np.array([0.0, 0.3945, -0.03])  # ports [m]
LATCH = {
    "probe": "chaser/probe",
    "socket": "target/socket",
    "depth": 0.115,
    "radius": 0.02,
    "angle_deg": 11.0,
    "speed": 0.5,
    "damping": 100.0,
    "turn_damping": 1.0,
    "max_force": 60.0,
}


def move(rows, wrenches, body, dt):
    """Let wrenches (n, 6) about the CoM move rows (n, 13) of equal bodies for a time [s], semi-implicit Euler."""
    for row, wrench in zip(rows, wrenches, strict=True):
        R = so3.matrix_from_quaternion(row[Q])
        row[V] += dt * wrench[:3] / body.mass
        spin = R @ body.inertia @ R.T
        row[W] += dt * np.linalg.solve(spin, wrench[3:] - np.cross(row[W], spin @ row[W]))
        row[P] += dt * row[V]
        row[Q] = so3.multiply(so3.quaternion_exp(dt * row[W]), row[Q])


def latch(**changes):
    return Latch.model_validate({**LATCH, **changes})


def platform():
    return load_platform("f450_dock")


def assemblies(*, shapes=True):
    both = [Assembly.of(platform(), name) for name in ("target", "chaser")]
    return both if shapes else [each.without_shapes() for each in both]


def start(depth=-0.1, aside=(0.0, 0.0), speed=0.0, turn=(0.0, 0.0, 0.0)):
    """States (1, 2, 13): the probe's end so deep in the socket, off its axis along x and z [m], and closing [m/s]."""
    x = np.zeros((1, 2, 13))
    x[0, 0, P] = [0.0, 0.0, 5.0]
    x[0, :, Q] = [0.0, 0.0, 0.0, 1.0]
    x[0, 1, Q] = so3.quaternion_exp(np.array(turn))
    end = x[0, 0, P] + SOCKET + [aside[0], depth, aside[1]]
    x[0, 1, P] = end - so3.rotate(x[0, 1, Q], PROBE)
    x[0, 1, V] = [0.0, speed, 0.0]
    return x


def engine(name, x, *, shapes=True):
    made = make_engine(name)
    made.load(WEIGHTLESS, assemblies(shapes=shapes))
    made.reset(x)
    return made


def momentum(x):
    """(6,) linear momentum and angular momentum about the origin of both (2, 13)."""
    body = assemblies()[0].bodies[0]
    total = np.zeros(6)
    for row in x:
        R = so3.matrix_from_quaternion(row[Q])
        total[:3] += body.mass * row[V]
        total[3:] += np.cross(row[P], body.mass * row[V]) + R @ body.inertia @ R.T @ row[W]
    return total
