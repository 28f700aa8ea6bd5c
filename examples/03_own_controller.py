# SPDX-License-Identifier: BSD-3-Clause
"""Your own controller: a PD law in thirty lines flies a quadrotor to a goal.

You see the distance to the goal every half second. The law gives thrust and attitude, as an autopilot takes them.
Run it with: python examples/03_own_controller.py
"""

import sys

import numpy as np

from iap_description.states import Command, P, V
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_simulation import Simulation

SECONDS = 4.0 if "--quick" in sys.argv else 8.0
GOAL = np.array([1.0, -0.5, 2.0])  # [m] in the world, z upwards
K_P, K_D = 4.0, 3.2  # [1/s^2], [1/s]
GRAVITY = 9.81  # [m/s^2]
MASS = sum(body.mass for body in Assembly.of(load_platform("f450")).bodies)  # [kg]


def attitude_of(thrust_W):
    """The attitude (x, y, z, w) whose upward axis points along a thrust, with the nose along x."""
    up = thrust_W / np.linalg.norm(thrust_W)
    left = np.cross(up, [1.0, 0.0, 0.0])
    left /= np.linalg.norm(left)
    R = np.column_stack([np.cross(left, up), left, up])
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    x, y, z = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w)
    return [x, y, z, w]


def control(state):
    """The command at a state (position, attitude, velocity, rates)."""
    acceleration = K_P * (GOAL - state[P]) - K_D * state[V]
    thrust_W = MASS * (acceleration + [0.0, 0.0, GRAVITY])
    command = Command.zeros(1)
    command.thrust[0] = np.linalg.norm(thrust_W)
    command.q_WB[0] = attitude_of(thrust_W)
    return command


# `step` flies one control period. Without a command the scenario's own controller flies.
with Simulation.of("hover", platform="f450") as simulation:
    state, shown = simulation.state[0], 0.0
    while simulation.t < SECONDS:
        state = simulation.step(control(state))[0]
        if simulation.t >= shown:
            print(f"{simulation.t:4.1f} s: {1e3 * np.linalg.norm(GOAL - state[P]):7.1f} mm to go")
            shown += 0.5
