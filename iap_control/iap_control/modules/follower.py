# SPDX-License-Identifier: BSD-3-Clause
"""A module's law under its coordinator."""

from typing import Self

from iap_control.controllers.controller import Controller, PlatformController
from iap_control.interaction.wrench_control import WrenchControl
from iap_control.modules.exchange import ModuleRole
from iap_description.arrays import Array
from iap_description.errors import BadInput


class RoleControl:
    """A module's law as its role has it: a follower's integral stands still, and is what it was once it flies alone.

    Args:
        controller: of the module.
        law: of it.
        replaces: whether feed-forward stands in place of the integral; without compensation all keep theirs.
    """

    def __init__(
        self, controller: PlatformController, law: WrenchControl, *, replaces: bool
    ) -> None:
        self._controller, self._law, self._replaces = controller, law, replaces
        self.reset()

    @classmethod
    def of(cls, name: str, controller: Controller, *, replaces: bool) -> Self:
        """The follower that a module's controller makes.

        Raises:
            BadInput: its law takes no feed-forward.
        """
        if not isinstance(controller, PlatformController) or not isinstance(
            controller.law, WrenchControl
        ):
            raise BadInput(f"key 'modules': '{name}' is flown by a law that takes no feed-forward")
        return cls(controller, controller.law, replaces=replaces)

    def reset(self) -> None:
        """Fly alone, as at the start."""
        self._role, self._before = ModuleRole.SEPARATED, self._law.integral.copy()

    def take(self, role: ModuleRole, feed_forward_P: Array) -> None:
        """Fly in a role with a feed-forward (6,)."""
        if self._role == ModuleRole.SEPARATED and role != ModuleRole.SEPARATED:
            self._before = self._law.integral.copy()
        if self._replaces and self._role == ModuleRole.FOLLOWER and role == ModuleRole.SEPARATED:
            self._law.integral[:] = self._before
        self._role = role
        self._law.integrates = role != ModuleRole.FOLLOWER or not self._replaces
        self._controller.feed_forward_P = feed_forward_P.copy()
