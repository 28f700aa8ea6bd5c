# SPDX-License-Identifier: BSD-3-Clause
r"""A magnetometer: the Earth's field in its axes, with noise, a constant error (hard iron) and a walk.

A sample is :math:`\tilde m = R^T m_W + b + w + \sigma n` along every axis. The error b is drawn once a flight. The walk
w has a density in T/sqrt(s): a sensor that warms up, and currents nearby. The noise n is white. A resolution rounds the
sum.

Presets are read from ``data/magnetometer/NAME.yaml``.
"""

import math
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.record import ExtendedRecord, Presets
from iap_description.config.values import Degrees, Hertz, NonNegative, Positive
from iap_description.math import so3

PRESETS = Presets(Path(__file__).parents[1] / "data" / "magnetometer", "magnetometer")


class MagnetometerSpec(ExtendedRecord):
    """A magnetometer and the field that it is in."""

    LATER: ClassVar[tuple[str, ...]] = ("walk", "resolution")

    rate: Hertz  # [Hz]
    strength: Positive  # of the field [T]
    inclination_deg: Annotated[float, Field(strict=True, gt=-90.0, lt=90.0)]  # dip below level
    declination_deg: Degrees  # of magnetic north from true north, towards east
    noise: NonNegative  # standard deviation of a sample, per axis [T]
    bias: NonNegative  # standard deviation of the constant error, per axis [T]
    walk: NonNegative = 0.0  # density of the random walk, per axis [T/sqrt(s)]
    resolution: NonNegative = 0.0  # step of its numbers [T]; 0: none

    @property
    def field_W(self) -> Array:
        """(3,) the field in `map`, ENU [T]."""
        dip, east = math.radians(self.inclination_deg), math.radians(self.declination_deg)
        level = math.cos(dip)
        direction = level * math.sin(east), level * math.cos(east), -math.sin(dip)
        return self.strength * np.array(direction)


class Magnetometer:
    """One magnetometer.

    Args:
        spec: what it is.
        rng: its own generator.
        rate: of its samples, as the control instants allow it [Hz]; None is that of the record.
    """

    def __init__(
        self, spec: MagnetometerSpec, rng: np.random.Generator, rate: float | None = None
    ) -> None:
        self._spec, self._field_W = spec, spec.field_W
        self._step = spec.walk / math.sqrt(rate or spec.rate)
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator, which draws the constant error."""
        self._rng = rng
        self._off = self._spec.bias * rng.standard_normal(3)

    def measure(self, q_WS: Array) -> Array:
        """The field (3,) [T] in the axes of a sensor whose attitude is `q_WS` (4,), xyzw."""
        field_S = so3.rotate(so3.conjugate(q_WS), self._field_W)
        value = np.asarray(field_S + self._off + self._spec.noise * self._rng.standard_normal(3))
        if self._step:
            self._off = self._off + self._step * self._rng.standard_normal(3)
        size = self._spec.resolution
        return size * np.rint(value / size) if size else value
