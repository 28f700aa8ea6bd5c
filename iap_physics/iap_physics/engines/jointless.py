# SPDX-License-Identifier: BSD-3-Clause
"""Common part of engines in which nothing is joined in flight."""

from typing import NoReturn

from iap_description.arrays import Array
from iap_description.errors import IapError
from iap_physics.engines.engine import JOINT_FORCE, Engine


class JointlessEngine(Engine):
    """An engine whose joints are those of the assemblies.

    Attributes:
        refusal: the line on what it has not, with a place for that.
    """

    refusal: str

    def _refuse(self, what: str) -> NoReturn:
        raise IapError(self.refusal.format(what))

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
        self._refuse("lets nothing pass in flight")

    def joint_wrench(self, handle: int) -> Array:
        """Refuse: there are none."""
        self._refuse("has no joints added in flight")

    def close(self) -> None:
        """Nothing is held."""
