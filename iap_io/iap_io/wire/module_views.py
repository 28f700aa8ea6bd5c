# SPDX-License-Identifier: BSD-3-Clause
"""The messages between modules, their coordinator and their latches as arrays, like those of `message_views`."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.latching import Hold
from iap_io.wire.cdr import Layout, decoded
from iap_io.wire.message_views import Message, ReferenceMessage

ROLES = 3  # numbers of roles


class ModuleReferenceMessage(ReferenceMessage):
    """ModuleReference: what a module shall do, and how its law flies.

    Attributes:
        feed_forward_P: (6,) added to the law's wrench about P's origin, in P [N, N m].
    """

    TYPE = "iap_msgs/msg/ModuleReference"

    def __init__(self, layout: Layout) -> None:
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


class ModuleJointsMessage(Message):
    """ModuleJoints: what the joints between modules do, and their latches shall hold.

    Attributes:
        names: of the joints.
        states: of each joint's machine, numbers in their order in `iap_control.modules.joint_machine.State`.
        holds: of each, numbers of `Hold`.
    """

    TYPE = "iap_msgs/msg/ModuleJoints"

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        content = decoded(layout.template.tobytes(), self.TYPE)
        self.names: list[str] = list(content.names)
        self.states: NDArray[np.uint8] = self.view("states")
        self.holds: NDArray[np.uint8] = self.view("holds")
        if len(self.holds) != len(self.names):
            raise BadInput(f"holds: of {len(self.holds)} joints, names of {len(self.names)}")

    @classmethod
    def of(cls, names: Sequence[str], leaders: Sequence[str], followers: Sequence[str]) -> Self:
        """The message of joints by their names and vehicles."""
        zeros = np.zeros(len(names), np.uint8)
        return cls._of(
            names=list(names),
            leaders=list(leaders),
            followers=list(followers),
            states=zeros,
            holds=zeros,
        )

    @property
    def wanted(self) -> dict[str, Hold]:
        """What shall hold, by the joints' names.

        Raises:
            BadInput: a number is none of `Hold`.
        """
        if len(self.holds) and self.holds.max() >= len(Hold):
            raise BadInput(f"holds: {int(self.holds.max())} is none of 0 to {len(Hold) - 1}")
        return {name: Hold(int(h)) for name, h in zip(self.names, self.holds, strict=True)}
