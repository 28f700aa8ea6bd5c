# SPDX-License-Identifier: BSD-3-Clause
"""Which control instants a sensor samples."""

from dataclasses import dataclass
from typing import Self

from iap_sensors.rates import nearest_rate


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
    def of(cls, wanted: float, control_hz: float, what: str) -> Self:
        """The nearest to a rate [Hz] that control instants allow; `what` names the sensor in the note."""
        rate, every = nearest_rate(wanted, control_hz)
        note = "" if rate == wanted else f"{what}: {rate:.4g} Hz instead of {wanted:.4g} Hz"
        return cls(every, rate, f"{note}, one of every {every} control steps" if note else "")

    def is_due(self, k: int) -> bool:
        """Whether there is a sample at control instant k."""
        return k % self.every == 0
