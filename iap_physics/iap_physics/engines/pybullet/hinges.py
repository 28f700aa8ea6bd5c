# SPDX-License-Identifier: BSD-3-Clause
"""Objects that turn about hinges in PyBullet: a base without mass or shape at the axis, and one link.

What was found out about PyBullet 3.2.7 and is relied on here:

- A base without mass stands still, and its link, where it has a mass, turns.
- A joint's motor that wants no velocity is Coulomb friction: its torque is what holds the joint, up to the motor's own.
  PyBullet keeps the impulse of a step, so that another length of it asks for the motor anew.
- changeDynamics gives a joint of createMultiBody its stops.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.world.hinge import Hinge
from iap_description.world.objects import WorldObject
from iap_physics.engines.pybullet.client import Handle, bullet

LEAF = 0  # the link


def make(client: int, item: WorldObject, hinge: Hinge, shape: int, frame: Array) -> Handle:
    """The body and link of an object at its start.

    Args:
        client: PyBullet's.
        item: what it is.
        hinge: its own.
        shape: PyBullet's collision shape, whose origin is at the axis.
        frame: (7,) CoM in O [m], and attitude of the principal axes.
    """
    at, point = {"physicsClientId": client}, np.array(hinge.point)
    body = bullet.createMultiBody(
        0.0,
        basePosition=(item.position + so3.rotate(item.q_WO, point)).tolist(),
        baseOrientation=item.q_WO.tolist(),
        linkMasses=[item.mass],
        linkCollisionShapeIndices=[shape],
        linkVisualShapeIndices=[-1],
        linkPositions=[[0.0, 0.0, 0.0]],
        linkOrientations=[[0.0, 0.0, 0.0, 1.0]],
        linkInertialFramePositions=[(frame[:3] - point).tolist()],
        linkInertialFrameOrientations=[frame[3:].tolist()],
        linkParentIndices=[0],
        linkJointTypes=[bullet.JOINT_REVOLUTE],
        linkJointAxis=[hinge.direction.tolist()],
        **at,
    )
    least, largest = np.deg2rad(hinge.limits_deg).tolist()
    limits = {"jointLowerLimit": least, "jointUpperLimit": largest}
    bullet.changeDynamics(body, LEAF, jointDamping=0.0, **limits, **at)
    return body, LEAF


def rub(client: int, items: Sequence[WorldObject], handles: Sequence[Handle]) -> None:
    """Let friction act, in steps of the present length."""
    for item, handle in zip(items, handles, strict=True):
        if item.hinge is not None:
            motor = {"targetVelocity": 0.0, "force": item.hinge.friction}
            control: Any = bullet.VELOCITY_CONTROL
            bullet.setJointMotorControl2(*handle, control, **motor, physicsClientId=client)


def push(client: int, items: Sequence[WorldObject], handles: Sequence[Handle]) -> None:
    """Let springs and dampers act in the next step."""
    for item, (body, link) in zip(items, handles, strict=True):
        if item.hinge is not None:
            angle, rate = bullet.getJointState(body, link, client)[:2]
            torque = item.hinge.resistance(angle, rate)
            control: Any = bullet.TORQUE_CONTROL
            bullet.setJointMotorControl2(body, link, control, force=torque, physicsClientId=client)


def read(client: int, item: WorldObject, hinge: Hinge, handle: Handle) -> Array:
    """(13,) state row of the frame O."""
    angle, rate = bullet.getJointState(*handle, client)[:2]
    return hinge.row(np.array(item.position), item.q_WO, angle, rate)
