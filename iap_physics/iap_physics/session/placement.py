# SPDX-License-Identifier: BSD-3-Clause
"""Puts vehicles of a session elsewhere while its time stands still."""

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_physics.session.session import Session


def obstacle_to_placement(session: Session) -> str:
    """Why vehicles cannot be put elsewhere; empty where they can.

    A new start of the engine parts what latches hold, and brings moving objects back to where they began.
    """
    spec = session.spec
    if session.is_broken:
        return f"the flight is over: {session.failure}"
    if spec.latches or spec.modules is not None or spec.gripper is not None:
        return "vehicles that latch or carry something cannot be put elsewhere"
    if spec.identified is not None:
        return "an identified plant cannot be put elsewhere"
    if any(
        each.mass is not None or each.motion is not None for each in spec.world.objects.values()
    ):
        return "not beside objects that move"
    if any(vehicle.platform.arm is not None for vehicle in spec.vehicles):
        return "vehicles with an arm cannot be put elsewhere"
    return ""


def moved(x: Array, pose: Array | None, twist: Array | None) -> Array:
    """State rows (bodies, 13) of a vehicle that is moved as one rigid body.

    Args:
        x: its present rows; the first is that of the central body.
        pose: (7,) of the central body in `map`, position [m] and quaternion xyzw; None: where it is. Velocities turn
            with the vehicle.
        twist: (6,) of the central body in `map`, of all bodies as of one rigid body [m/s, rad/s]; None: as they are.
    """
    out = x.copy()
    if pose is not None:
        turn = so3.multiply(pose[Q], so3.conjugate(x[0, Q]))
        out[:, P] = pose[P] + so3.rotate(turn, x[:, P] - x[0, P])
        out[:, Q] = so3.multiply(turn, x[:, Q])
        out[:, V], out[:, W] = so3.rotate(turn, x[:, V]), so3.rotate(turn, x[:, W])
    if twist is not None:
        out[:, V] = twist[:3] + np.cross(twist[3:], out[:, P] - out[0, P])
        out[:, W] = twist[3:]
    return out


def place(session: Session, rows: Array) -> None:
    """Put all bodies of a session elsewhere at its present time; rotors go on turning.

    Args:
        session: that stands still.
        rows: (bodies, 13) states of all bodies.

    Raises:
        BadInput: they cannot be there; everything stays as it was then.
    """
    reason = obstacle_to_placement(session)
    if reason:
        raise BadInput(reason)
    plant = session.plant
    ticks, before = plant.ticks.copy(), plant.engine.state().copy()
    rpm = [each.rpm.copy() for each in plant.propulsion]
    tilt = [each.tilt.copy() for each in plant.propulsion]
    try:
        plant.reset(rows[None], rpm, None, tilt=tilt)
    except BadInput:
        plant.reset(before, rpm, None, tilt=tilt)
        raise
    finally:
        plant.ticks[:] = ticks
    for i in range(len(session.spec.vehicles)):
        plant.set_estimate(i, None)
    session.measure()
