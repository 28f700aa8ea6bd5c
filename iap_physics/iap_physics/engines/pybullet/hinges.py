# SPDX-License-Identifier: BSD-3-Clause
"""Objects that turn about hinges in PyBullet: a base without mass or shape at the axis, and links.

One link is the object, and each other one an object that it carries.

What was found out about PyBullet 3.2.7 and is relied on here:

- A base without mass stands still, and its link, where it has a mass, turns.
- A joint's motor that wants no velocity is Coulomb friction: its torque is what holds the joint, up to the motor's own.
  PyBullet keeps the impulse of a step, so that another length of it asks for the motor anew.
- changeDynamics gives a joint of createMultiBody its stops.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.world.hinge import Hinge, latch_torque
from iap_description.world.objects import WorldObject
from iap_physics.engines.pybullet.client import Handle, bullet


class Leaf(NamedTuple):
    """An object that turns, ready for PyBullet.

    Attributes:
        item: what it is.
        hinge: its own.
        shape: PyBullet's collision shape, whose origin is at the axis.
        frame: (7,) CoM in O [m], and attitude of the principal axes.
    """

    item: WorldObject
    hinge: Hinge
    shape: int
    frame: Array

    @property
    def axis_W(self) -> Array:
        """(3,) the axis' point at the start [m]."""
        point = so3.rotate(self.item.q_WO, np.array(self.hinge.point))
        return np.asarray(self.item.position + point)

    @property
    def center(self) -> Array:
        """(3,) CoM from the axis' point, in O [m]."""
        return self.frame[:3] - np.array(self.hinge.point)


def make(client: int, leaf: Leaf, carried: Sequence[Leaf]) -> list[Handle]:
    """Body and links of an object that turns about an axis of the world, and of those that it carries, at the start."""
    at, leaves = {"physicsClientId": client}, [leaf, *carried]
    to_leaf = so3.conjugate(leaf.item.q_WO)
    places = [so3.rotate(to_leaf, each.axis_W - leaf.axis_W) for each in leaves]
    turns = [so3.multiply(to_leaf, each.item.q_WO) for each in leaves]
    body = bullet.createMultiBody(
        0.0,
        basePosition=leaf.axis_W.tolist(),
        baseOrientation=leaf.item.q_WO.tolist(),
        linkMasses=[each.item.mass for each in leaves],
        linkCollisionShapeIndices=[each.shape for each in leaves],
        linkVisualShapeIndices=[-1] * len(leaves),
        linkPositions=[place.tolist() for place in places],
        linkOrientations=[turn.tolist() for turn in turns],
        linkInertialFramePositions=[each.center.tolist() for each in leaves],
        linkInertialFrameOrientations=[each.frame[3:].tolist() for each in leaves],
        linkParentIndices=[0] + [1] * len(carried),  # the base has 0
        linkJointTypes=[bullet.JOINT_REVOLUTE] * len(leaves),
        linkJointAxis=[each.hinge.direction.tolist() for each in leaves],
        **at,
    )
    for link, each in enumerate(leaves):
        least, largest = np.deg2rad(each.hinge.limits_deg).tolist()
        limits = {"jointLowerLimit": least, "jointUpperLimit": largest}
        bullet.changeDynamics(body, link, jointDamping=0.0, **limits, **at)
    return [(body, link) for link in range(len(leaves))]


def rub(client: int, items: Sequence[WorldObject], handles: Sequence[Handle]) -> None:
    """Let friction act, in steps of the present length."""
    for item, handle in zip(items, handles, strict=True):
        if item.hinge is not None:
            motor = {"targetVelocity": 0.0, "force": item.hinge.friction}
            control: Any = bullet.VELOCITY_CONTROL
            bullet.setJointMotorControl2(*handle, control, **motor, physicsClientId=client)


def push(client: int, objects: Mapping[str, WorldObject], handles: Sequence[Handle]) -> None:
    """Let springs, dampers and latches act in the next step."""
    for item, (body, link) in zip(objects.values(), handles, strict=True):
        if item.hinge is not None:
            angle, rate = bullet.getJointState(body, link, client)[:2]
            torque, latch = item.hinge.resistance(angle, rate), item.hinge.latch
            if latch is not None:
                lever = bullet.getJointState(*handles[list(objects).index(latch.lever)], client)[0]
                torque += latch_torque(latch.numbers, angle, rate, lever)
            control: Any = bullet.TORQUE_CONTROL
            bullet.setJointMotorControl2(body, link, control, force=torque, physicsClientId=client)


def read(client: int, item: WorldObject, hinge: Hinge, handle: Handle) -> Array:
    """(13,) state row of the frame O."""
    angle, rate = bullet.getJointState(*handle, client)[:2]
    return hinge.row(np.array(item.position), item.q_WO, angle, rate)
