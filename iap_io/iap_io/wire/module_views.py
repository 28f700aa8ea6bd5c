# SPDX-License-Identifier: BSD-3-Clause
"""The messages between modules, their coordinator and their latches as arrays, like those of `message_views`."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.vehicles.latching import Hold
from iap_io.wire.cdr import MessageLayout, decoded, message
from iap_io.wire.message import Message
from iap_io.wire.message_views import ReferenceMessage

ROLES, STATES = 3, 7  # numbers of roles, and of states of joints
Numbers = NDArray[np.integer]


class ModuleReferenceMessage(ReferenceMessage):
    """ModuleReference: what a module shall do, and how its law flies.

    Attributes:
        feed_forward_P: (6,) added to the law's wrench about P's origin, in P [N, N m].
    """

    TYPE = "iap_msgs/msg/ModuleReference"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self._role = self.view("role")
        self.feed_forward_P: Array = self.view("feed_forward")

    @property
    def role(self) -> int:
        """Number of its role.

        Raises:
            BadInput: there is none such.
        """
        if int(self._role) >= ROLES:
            raise BadInput(f"role {self._role} is none of 0 to {ROLES - 1}")
        return int(self._role)

    def put_role(self, role: int, feed_forward_P: Array) -> None:
        """Set the role and the feed-forward (6,)."""
        self._role[()], self.feed_forward_P[:] = role, feed_forward_P


class JointStates(NamedTuple):
    """The states in a ModuleJoints, of m joints and n modules.

    Attributes:
        states: (m,) of the joints' machines, numbers in their order in `iap_control.modules.joint_machine.JointState`.
        holds: (m,) what latches shall hold, numbers of `Hold`.
        returns: (m,) approaches that were lost since a joint was last told to join.
        failed: (m,) 1 where that has ended in an emergency.
        led_by: (n,) number of the module that leads each one's structure.
        lost: (n,) 1 from when a module obeys no more.
        steps_done: of the mission.
    """

    states: Numbers
    holds: Numbers
    returns: Numbers
    failed: Numbers
    led_by: Numbers
    lost: Numbers
    steps_done: int


class ModuleJointsMessage(Message):
    """ModuleJoints: what modules and the joints between them do, and what latches shall hold.

    Attributes:
        names: of the joints.
        holds: of each, numbers of `Hold`.
    """

    TYPE = "iap_msgs/msg/ModuleJoints"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        content = decoded(layout.template.tobytes(), self.TYPE)
        self.names: list[str] = list(content.names)
        self._parts = {name: self.view(name) for name in JointStates._fields}
        self.holds: NDArray[np.uint8] = self._parts["holds"]
        joints, modules = len(self.names), len(content.modules)
        for name, values in self._parts.items():
            count = modules if name in ("led_by", "lost") else joints
            if name != "steps_done" and len(values) != count:
                raise BadInput(f"{name}: {len(values)} numbers, {count} are expected")

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        leaders: Sequence[str],
        followers: Sequence[str],
        modules: Sequence[str],
    ) -> Self:
        """The message of joints by their names and vehicles, and of all vehicles."""
        of_joints, of_modules = (np.zeros(len(each), np.uint8) for each in (names, modules))
        return cls._of(
            names=list(names),
            leaders=list(leaders),
            followers=list(followers),
            states=of_joints,
            holds=of_joints,
            returns=np.zeros(len(names), np.uint32),
            failed=of_joints,
            modules=list(modules),
            led_by=of_modules,
            lost=of_modules,
        )

    def put(self, joint_states: JointStates) -> None:
        """Set all that it says."""
        for mine, values in zip(self._parts.values(), joint_states, strict=True):
            mine[...] = values

    @property
    def joint_states(self) -> JointStates:
        """A copy of what it says.

        Raises:
            BadInput: a number is none of a state, of `Hold`, or of a module.
        """
        parts: dict[str, Any] = {name: values.copy() for name, values in self._parts.items()}
        reported = JointStates(**{**parts, "steps_done": int(parts["steps_done"])})
        limits = {"states": STATES, "holds": len(Hold), "led_by": len(reported.led_by)}
        for name, limit in limits.items():
            largest = int(max(getattr(reported, name), default=0))
            if largest >= max(limit, 1):
                raise BadInput(f"{name}: {largest} is none of 0 to {limit - 1}")
        return reported

    @property
    def requested_holds(self) -> dict[str, Hold]:
        """The requested holds, by the joints' names.

        Raises:
            BadInput: a number is none of `Hold`.
        """
        if len(self.holds) and self.holds.max() >= len(Hold):
            raise BadInput(f"holds: {int(self.holds.max())} is none of 0 to {len(Hold) - 1}")
        return {name: Hold(int(h)) for name, h in zip(self.names, self.holds, strict=True)}


class JointWrenchesMessage(Message):
    """JointWrenches: what the joints between modules bear.

    Attributes:
        names: of the joints.
        wrenches: (m, 6) on each joint's follower about the joint's place, the leader's axes [N, N m].
    """

    TYPE = "iap_msgs/msg/JointWrenches"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self.names: list[str] = list(decoded(layout.template.tobytes(), self.TYPE).names)
        self.wrenches: Array = self.view("wrenches").reshape(-1, 6)
        if len(self.wrenches) != len(self.names):
            raise BadInput(f"wrenches: {len(self.wrenches)}, names of {len(self.names)} joints")

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """The message of joints by their names."""
        return cls._of(
            names=list(names), wrenches=[message("geometry_msgs/msg/Wrench") for _ in names]
        )

    def borne(self, joints: Sequence[str]) -> Array:
        """A copy of the wrenches (m, 6) of joints by their names.

        Raises:
            BadInput: it is of others.
        """
        if self.names != list(joints):
            known = ", ".join(joints)
            raise BadInput(f"names: {', '.join(self.names) or 'none'}; the joints are {known}")
        return self.wrenches.copy()
