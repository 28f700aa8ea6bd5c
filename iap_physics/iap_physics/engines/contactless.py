# SPDX-License-Identifier: BSD-3-Clause
"""Common part of engines without contact: nothing touches, and no joints are added in flight."""

from typing import NoReturn

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import IapError
from iap_physics.engines.engine import JOINT_FORCE, Contact, Engine


class ContactlessEngine(Engine):
    """An engine of vehicles that pass through everything.

    Attributes:
        refusal: the line on what it has not, with a place for that.
    """

    refusal: str

    def _refuse(self, what: str) -> NoReturn:
        raise IapError(self.refusal.format(what))

    def contacts(self) -> list[Contact]:
        """No contact."""
        return []

    def contact_wrench(self, row: int) -> Array:
        """Zero."""
        return np.zeros(6)

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Refuse: there are no shapes."""
        self._refuse("has no shapes to cast rays at")

    def add_joint(
        self,
        body_a: int,
        body_b: int,
        p_AJ_A: Array,
        p_BJ_B: Array,
        *,
        type: str = "spherical",
        max_force: float = JOINT_FORCE,
        q_AB: Array | None = None,
    ) -> int:
        """Refuse: its joints are those of the assemblies."""
        self._refuse("cannot add joints in flight")

    def remove_joint(self, handle: int) -> None:
        """Refuse: there are none."""
        self._refuse("cannot remove joints in flight")

    def let_pass(self, body_a: int, body_b: int, *, passes: bool) -> None:
        """Refuse."""
        self._refuse("has no shapes")

    def joint_wrench(self, handle: int) -> Array:
        """Refuse: there are none."""
        self._refuse("has no joints added in flight")

    def close(self) -> None:
        """Nothing is held."""
