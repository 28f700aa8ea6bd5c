# SPDX-License-Identifier: BSD-3-Clause
r"""Stability of an arm's servos at the time step that they act in.

Servos act explicitly: their torque is that of the last step's coordinates and velocities. With M the joints' inertia
while the platform is at rest, K_p and K_v the diagonal gains, and steps h of the semi-implicit Euler method of engines,

.. math:: v^+ = v - h M^{-1} (K_v v + K_p q), \qquad q^+ = q + h v^+

has an eigenvalue at -1 where :math:`4 M x = (2 h K_v + h^2 K_p) x`, and beyond that joints rattle with growing
amplitude: for one joint without k_p that is k_v h > 2 M.
"""

import math

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.serial_chain import REVOLUTE, new_frames, walk

BOUND = 4.0  # of the eigenvalue problem above


def joint_inertia(arm: MountedArm, q: Array) -> Array:
    """M (n, n) [kg m^2], [kg m], [kg] of an arm's joints at coordinates (n,), while its platform is at rest."""
    chain, n = arm.chain, len(q)
    frames, M = new_frames(n), np.zeros((n, n))
    walk(chain, np.zeros(3), np.eye(3), q, frames)
    turns = (chain.kinds == REVOLUTE)[:, None]
    for i, link in enumerate(arm.links):
        R, carries = frames.rotations[i], (np.arange(n) <= i)[:, None]
        com = frames.points[i] + R @ link.com
        shift = np.where(turns, np.cross(frames.axes, com - frames.points), frames.axes) * carries
        turn = frames.axes * (turns & carries)
        M += link.mass * shift @ shift.T + turn @ R @ link.inertia @ R.T @ turn.T
    return M


def check_servos(vehicle: str, arm: MountedArm, dt: float) -> None:
    """Refuse servos that rattle with the arm at home.

    Args:
        vehicle: its name.
        arm: of it.
        dt: time step [s].

    Raises:
        BadInput: a gain is too large for the step.
    """
    motors = arm.record.motors
    damping = [m.viscous + m.velocity_gain * (m.mode != "torque") for m in motors]
    springs = [m.position_gain * (m.mode == "position") for m in motors]
    pull = 2.0 * dt * np.diag(damping) + dt**2 * np.diag(springs)
    values, shapes = np.linalg.eig(np.linalg.solve(joint_inertia(arm, arm.record.home_pose), pull))
    worst = int(np.argmax(values.real))
    share = float(values[worst].real) / BOUND
    if share < 1.0:
        return
    i = int(np.argmax(np.abs(shapes[:, worst]) * np.sqrt(np.diag(pull))))
    raise BadInput(
        f"vehicle '{vehicle}': key 'arm.motors.{i}.velocity_gain': {motors[i].velocity_gain:g} makes joints rattle"
        f" in steps of {1e3 * dt:g} ms: it may be {1.0 / share:.2g} of that, or 'rates.physics_hz' at least"
        f" {math.ceil(share / dt):g}"
    )
