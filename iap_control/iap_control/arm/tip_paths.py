# SPDX-License-Identifier: BSD-3-Clause
"""Paths of an end effector."""

from typing import Self

import numpy as np
from pydantic import model_validator

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.config.record import Record
from iap_description.config.values import Degrees, NonNegative, Real


class Harmonic(Record):
    """offset + amplitude sin(rate t + phase)."""

    offset: Real
    amplitude: Real
    rate: NonNegative  # [rad/s]
    phase_deg: Degrees

    @model_validator(mode="after")
    def _is_plausible(self) -> Self:
        farthest = abs(self.offset) + abs(self.amplitude)
        fastest = abs(self.amplitude) * self.rate
        if max(farthest, fastest) > MAX_SI_NUMBER:
            raise ValueError(
                f"a position or velocity is beyond {MAX_SI_NUMBER:g} m or m/s: offset, amplitude and rate give"
                f" {farthest:g} and {fastest:g}"
            )
        return self

    def at(self, t: Array) -> tuple[Array, Array]:
        """Values and rates of change at times (T,) [s]."""
        phase = self.rate * t + np.deg2rad(self.phase_deg)
        return (
            self.offset + self.amplitude * np.sin(phase),
            self.amplitude * self.rate * np.cos(phase),
        )


class PathOfTip(Record):
    """A path of the end effector."""

    x: Harmonic  # [m]
    y: Harmonic
    z: Harmonic
    heading: Harmonic  # [rad]

    def at(self, t: Array) -> tuple[Array, Array]:
        """r_d and its rates of change, (T, 4) each, at times (T,) [s]."""
        both = [axis.at(t) for axis in (self.x, self.y, self.z, self.heading)]
        return np.stack([r for r, _ in both], -1), np.stack([dr for _, dr in both], -1)
