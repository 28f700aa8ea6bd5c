# SPDX-License-Identifier: BSD-3-Clause
"""Fail-safe of a vehicle that flies on an estimate: once that is lost, it comes down, or stays, level in its place."""

import math
from typing import Literal

from iap_control.references.landing import Descent
from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import Positive
from iap_description.signals import EstimateHealth, Reference
from iap_description.states import REF_FIXED


class Failsafe(Record):
    """Limits beyond which the estimate that a vehicle flies on is lost, and its action then."""

    blind: Positive  # without tracks, and without ranges where the method uses them [s]
    deviation: Positive  # of its place, as the estimator states it [m]
    silence: Positive  # without an update [s]
    action: Literal["land", "hold"]
    descent: Positive  # speed of a landing [m/s]


def reason_of(health: EstimateHealth, limits: Failsafe) -> str:
    """Why an estimate is lost; empty where it is not."""
    if health.blind > limits.blind:
        return f"nothing seen for {health.blind:.1f} s"
    if health.deviation > limits.deviation:
        return f"uncertain by {health.deviation:.2f} m"
    if health.age > limits.silence:
        return f"no update for {health.age:.1f} s"
    return ""


class EstimateFailsafe:
    """Gives the reference in place of the flight's once the estimate is lost.

    An estimate that is lost stays so: what it says afterwards may be sure of itself again, and wrong.

    Args:
        spec: when an estimate counts as lost, and what then.

    Attributes:
        reason: why it is lost; empty while it is not.
        lost_at: since when [s]; NaN while it is not.
    """

    def __init__(self, spec: Failsafe) -> None:
        self._spec = spec
        self.reset()

    def reset(self) -> None:
        """A new flight."""
        self.reason, self.lost_at = "", math.nan
        self._descent: Descent | None = None
        self._t = math.inf  # of the last state

    def judge(self, t: float, health: EstimateHealth) -> bool:
        """Judge what the estimator says of itself at a time [s]; whether that is how it was lost."""
        return self._lose(t, reason_of(health, self._spec))

    def _lose(self, t: float, reason: str) -> bool:
        if self.reason or not reason:
            return False
        self.reason, self.lost_at = reason, t
        return True

    def reference(self, t: float, x: Array, reference: Reference) -> Reference:
        """The reference to be tracked at a time [s]; the estimate is lost, too, where the last state is too old.

        Args:
            t: simulation time [s].
            x: (13,) what the vehicle believes of its central body.
            reference: what the flight asks for, with the aircraft's headings.
        """
        if t - self._t > self._spec.silence:
            self._lose(t, f"no state for {t - self._t:.1f} s")
        self._t = t
        if not self.reason:
            return reference
        if self._descent is None:
            speed = self._spec.descent if self._spec.action == "land" else 0.0
            self._descent = Descent(t, x, reference.row[REF_FIXED:], speed)
        return self._descent(t)

    @property
    def is_landing(self) -> bool:
        """True if it is on its way down, so that it may touch the ground."""
        return bool(self.reason) and self._spec.action == "land"

    @property
    def text(self) -> str:
        """Sentence for the user; empty while nothing is lost."""
        return f"estimate lost at {self.lost_at:.2f} s, {self.reason}" if self.reason else ""
