# SPDX-License-Identifier: BSD-3-Clause
"""The control instants that a sensor samples, and the rates that steps allow."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Sampling:
    """Every so many control instants, beginning with the first.

    Attributes:
        every: number of control periods between samples.
        rate: that it comes to [Hz].
        note: a sentence for the user where that is not what was asked for, else empty.
    """

    every: int
    rate: float
    note: str

    @classmethod
    def of(cls, requested: float, control_hz: float, what: str) -> Self:
        """The nearest to a rate [Hz] that control instants allow; `what` names the sensor in the note."""
        rate, every = nearest_rate(requested, control_hz)
        note = "" if rate == requested else f"{what}: {rate:.4g} Hz instead of {requested:.4g} Hz"
        return cls(every, rate, f"{note}, one of every {every} control steps" if note else "")

    def is_due(self, k: int) -> bool:
        """True if there is a sample at control instant k."""
        return k % self.every == 0


def nearest_rate(requested: float, steps_hz: float) -> tuple[float, int]:
    """The rate nearest to `requested` [Hz] at which every n-th step is sampled, and n.

    Args:
        requested: rate that is asked for [Hz].
        steps_hz: rate of the steps [Hz].
    """
    fewer = max(1, int(steps_hz / requested))
    return min(
        ((steps_hz / n, n) for n in (fewer, fewer + 1)), key=lambda pair: abs(pair[0] - requested)
    )
