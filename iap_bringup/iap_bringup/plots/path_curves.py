# SPDX-License-Identifier: BSD-3-Clause
"""Curves of an end effector that follows a path by velocity commands."""

from typing import NamedTuple

import numpy as np

from iap_control.arm.tip_velocities import TipVelocities
from iap_control.laws.end_effector import level, task_pose
from iap_description.arrays import Array
from iap_description.math.kernels import yaw_of
from iap_description.states import P, Q, V, W
from iap_io.runs.run_folder import VehicleRun
from iap_simulation.scenario.scenario import Scenario


class PathCurves(NamedTuple):
    """A flight, one row for every control instant.

    Attributes:
        t: (K,) [s].
        p_WP_W: (K, 3) platform's position [m].
        q: (K, 3) joint angles [rad].
        v: (K, 7) velocities.
        command: (K, 7) what the plant was commanded from then on.
        r: (K, 4) end effector's position [m] and heading [rad].
        r_d: (K, 4) what they should be.
    """

    t: Array
    p_WP_W: Array
    q: Array
    v: Array
    command: Array
    r: Array
    r_d: Array


def path_curves(scenario: Scenario, vehicle: VehicleRun) -> PathCurves | None:
    """The curves of a recorded flight; None without a path."""
    motion, arm = scenario.vehicles[0].arm.motion, scenario.vehicles[0].platform.arm
    c = vehicle.columns
    if not isinstance(motion, TipVelocities) or arm is None or c.arm is None or not len(c.t):
        return None
    x, chain = c.x[:, 0], arm.chain()
    yaws = np.array([yaw_of(q) for q in x[:, Q]])
    rows = zip(x, yaws, c.arm.q, strict=True)
    lead = scenario.vehicles[0].start.lead_in
    return PathCurves(
        c.t,
        x[:, P],
        c.arm.q,
        _velocities(yaws, x[:, V], x[:, W], c.arm.v),
        np.hstack([c.wrench_P[:, [0, 1, 2, 5]], c.arm.target[:, 1]]),
        np.array([task_pose(chain, row[P], yaw, q) for row, yaw, q in rows]),
        motion.path.at(c.t - lead)[0],
    )


def _velocities(yaws: Array, v_W: Array, w_W: Array, rates: Array) -> Array:
    """(K, 7) velocities along the headings' axes, yaw rates and joint rates."""
    u = np.array([level(yaw).T @ v for yaw, v in zip(yaws, v_W, strict=True)])
    return np.hstack([u, w_W[:, 2:], rates])
