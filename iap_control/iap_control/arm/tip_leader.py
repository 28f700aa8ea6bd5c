# SPDX-License-Identifier: BSD-3-Clause
"""Protocol of leaders of a platform and its arm together, by their present state."""

from typing import NamedTuple, Protocol

from iap_description.arrays import Array, Integers
from iap_description.signals import Reference


class ArmTargets(NamedTuple):
    """References of joints and platform from a control instant on.

    Attributes:
        q: (n,) joint coordinates [rad], [m].
        v: (n,) their velocities.
        a: (n,) their accelerations.
        reference: of the platform, in place of its own.
    """

    q: Array
    v: Array
    a: Array
    reference: Reference


class TipLeader(Protocol):
    """Leads a platform and its arm; a motion of `iap_control.arm.motions` with a method ``guide`` makes one."""

    @property
    def clipped(self) -> Integers:
        """(n,) commands of joints that were beyond their limits, and cut."""

    def reset(self) -> None:
        """A flight begins."""

    def tip_reference(self, t: float) -> Array | None:
        """(3,) where the end effector should be at a time [s]; None where nothing is asked of it."""

    def __call__(
        self, k: int, x: Array, q: Array, v: Array, reference: Reference
    ) -> ArmTargets | None:
        """The references of platform and joints; None leaves both to the scenario.

        Args:
            k: number of the control instant.
            x: (13,) what is known of the central body.
            q: (n,) measured joint coordinates.
            v: (n,) their velocities.
            reference: of the scenario.
        """
