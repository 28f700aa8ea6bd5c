# SPDX-License-Identifier: BSD-3-Clause
"""Joints that are added in flight: PyBullet's constraints between bodies.

What was found out about PyBullet 3.2.7 and is relied on here:

- A constraint's points and attitudes are in the principal axes of its bodies.
- Its limit counts for each world axis of the force, and for each of the torque by the same number; it is turned into an
  impulse by the length of a step at the time when it is set.
- The state of a constraint gives what its rows have borne in the last step on its first body: the force along world
  axes, then the torque about the axes of the constraint's frame on that body.
- Saved states hold no constraints: they are made anew when one is restored.
"""

from dataclasses import dataclass, field

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import IapError
from iap_description.math import so3
from iap_physics.engines.engine import WORLD, AddedJoint
from iap_physics.engines.pybullet.client import Handle, bullet

KeptJoints = tuple[tuple[int, AddedJoint], ...]
PassingPairs = frozenset[frozenset[int]]
KINDS = {"spherical": bullet.JOINT_POINT2POINT, "fixed": bullet.JOINT_FIXED}


@dataclass
class AddedJoints:
    """The joints of a world that were added in flight.

    Attributes:
        client: PyBullet's.
        handles: PyBullet's body and link of every state row.
        q_BC: (bodies, 4) attitude of each body's principal axes C in the body.
        others: PyBullet's body and link of objects and of arms' last links, by their codes, and the pose of their
            principal axes in their frames.
        made: of every joint, by its handle, PyBullet's number and what it is.
    """

    client: int
    handles: list[Handle]
    q_BC: Array
    others: dict[int, tuple[Handle, Array, Array]] = field(default_factory=dict)
    made: dict[int, tuple[int, AddedJoint]] = field(default_factory=dict)
    _count: int = 0

    def add(self, joint: AddedJoint) -> int:
        """Make a joint; returns its handle."""
        self._count += 1
        self.made[self._count] = self._make(joint), joint
        return self._count

    def remove(self, handle: int) -> None:
        """Take a joint away.

        Raises:
            IapError: there is no such joint.
        """
        self._number(handle, "remove_joint")
        number, _ = self.made.pop(handle)
        bullet.removeConstraint(number, physicsClientId=self.client)

    def wrench(self, handle: int, q_WA: Array) -> Array:
        """(6,) what a joint bore in the last step, see `Engine.joint_wrench`; q_WA (4,) is its body a's attitude."""
        number = self._number(handle, "joint_wrench")
        rows = bullet.getConstraintState(number, physicsClientId=self.client)
        wrench = np.zeros(6)
        wrench[:3] = rows[:3]
        if len(rows) > 3:
            q_WJ = so3.multiply(q_WA, self.made[handle][1].q_AB)
            wrench[3:] = so3.rotate(q_WJ, np.array(rows[3:6]))
        return wrench

    def body_a(self, handle: int) -> int:
        """State row of a joint's body a."""
        self._number(handle, "joint_wrench")
        return self.made[handle][1].bodies[0]

    @property
    def held(self) -> KeptJoints:
        """All joints with their handles."""
        return tuple((handle, joint) for handle, (_, joint) in self.made.items())

    def hold(self, held: KeptJoints) -> None:
        """Make these anew, and no others."""
        for handle in list(self.made):
            self.remove(handle)
        self.made = {handle: (self._make(joint), joint) for handle, joint in held}

    def _make(self, joint: AddedJoint) -> int:
        a, b = joint.bodies
        frames = [self._in_principal_axes(a, joint.p_AJ_A, joint.q_AB)]
        frames.append(self._in_principal_axes(b, joint.p_BJ_B, so3.IDENTITY))
        (p_a, q_a), (p_b, q_b) = frames
        number = bullet.createConstraint(
            *self._handle(a),
            *((-1, -1) if b == WORLD else self._handle(b)),
            KINDS[joint.type],
            [0.0, 0.0, 0.0],
            p_a,
            p_b,
            q_a,
            q_b,
            physicsClientId=self.client,
        )
        self._limit(number, joint)
        return int(number)

    def limit(self) -> None:
        """Tell PyBullet all limits once more, after the length of a step has changed."""
        for number, joint in self.made.values():
            self._limit(number, joint)

    def _limit(self, number: int, joint: AddedJoint) -> None:
        bullet.changeConstraint(number, maxForce=joint.max_force, physicsClientId=self.client)

    def _in_principal_axes(
        self, row: int, p_B: Array, q_BJ: Array
    ) -> tuple[list[float], list[float]]:
        """A frame J on a body, as PyBullet has it."""
        if row == WORLD:
            return p_B.tolist(), q_BJ.tolist()
        if row in self.others:
            _, p_BC, q_BC = self.others[row]
            back = so3.conjugate(q_BC)
            return so3.rotate(back, p_B - p_BC).tolist(), so3.multiply(back, q_BJ).tolist()
        back = so3.conjugate(self.q_BC[row])
        return so3.rotate(back, p_B).tolist(), so3.multiply(back, q_BJ).tolist()

    def _handle(self, row: int) -> Handle:
        return self.others[row][0] if row in self.others else self.handles[row]

    def _number(self, handle: int, asker: str) -> int:
        if handle not in self.made:
            raise IapError(f"{asker}: there is no joint {handle}")
        return self.made[handle][0]


@dataclass
class CollisionFilter:
    """The bodies of a world, by their rows, that pass each other.

    Attributes:
        client: PyBullet's.
        handles: PyBullet's body and link of every state row.
        pairs: that pass.
    """

    client: int
    handles: list[Handle]
    pairs: PassingPairs = frozenset()

    def let(self, rows: tuple[int, int], *, passes: bool) -> None:
        """Let two bodies pass each other, or meet again."""
        pair = frozenset(rows)
        self.pairs = self.pairs | {pair} if passes else self.pairs - {pair}
        (a, link_a), (b, link_b) = (self.handles[row] for row in rows)
        bullet.setCollisionFilterPair(
            a, b, link_a, link_b, int(not passes), physicsClientId=self.client
        )

    def hold(self, pairs: PassingPairs) -> None:
        """Let these pass each other, and no others."""
        for pair in self.pairs ^ pairs:
            a, b = pair
            self.let((a, b), passes=pair in pairs)
