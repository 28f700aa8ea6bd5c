# SPDX-License-Identifier: BSD-3-Clause
r"""A barometer: the pressure of the standard atmosphere at its height, with an offset, a walk and white noise.

A sample is :math:`\tilde p = p(h) + b + w + \sigma n` of the pressure p(h) (`iap_description.math.atmosphere`). The
offset b is drawn once a flight. The walk w has a density in Pa/sqrt(s): weather, and a sensor that warms up. The noise
n is white. A resolution rounds the sum.

Presets are read from ``data/barometer/NAME.yaml``.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.record import Presets, Record
from iap_description.config.values import Hertz, NonNegative
from iap_description.math.atmosphere import standard_pressure
from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import ScalarReading, SensorSource
from iap_description.sensors.sensor_info import OtherSensorInfo
from iap_io.sensor_messages.scalar_codec import PressureCodec
from iap_sensors.mounted.mounted_sensors import MountedSensors, RayCaster

PRESETS = Presets(Path(__file__).parents[1] / "data" / "barometer", "barometer")


class BarometerSpec(Record):
    """A barometer."""

    mount: str  # of the aircraft
    rate: Hertz  # [Hz]
    altitude: Annotated[
        float, Field(strict=True, ge=-1000.0, le=11_000.0)
    ]  # of the origin of `map` above the sea [m]
    noise: NonNegative  # white, standard deviation of a sample [Pa]
    walk: NonNegative  # density of the random walk [Pa/sqrt(s)]
    bias: NonNegative  # standard deviation of the offset [Pa]
    resolution: NonNegative  # [Pa]


class Barometer:
    """One barometer with what it is off.

    Args:
        source: its topic and frame.
        spec: what it is.
        rate: of its samples [Hz].
        rng: its own generator.
    """

    def __init__(
        self, source: SensorSource, spec: BarometerSpec, rate: float, rng: np.random.Generator
    ) -> None:
        self.source, self._spec, self._rng = source, spec, rng
        self._step = spec.walk / math.sqrt(rate)
        self._off = spec.bias * float(rng.standard_normal())

    def measure(self, true: float) -> float:
        """A sample [Pa] of a true pressure."""
        white, step = self._rng.standard_normal(2)
        value = true + self._off + self._spec.noise * white
        self._off += self._step * step
        size = self._spec.resolution
        return float(size * round(value / size) if size else value)


class Barometers(MountedSensors):
    """The barometers of one vehicle, one on each aircraft."""

    KEY, SPEC, PRESETS = "barometer", BarometerSpec, PRESETS

    def start(self, mounts: Sequence[tuple[SensorMount, np.random.Generator]]) -> None:
        """Make a barometer on each mount."""
        rate = self.sampling.rate
        self._units = [Barometer(mount.source, self.spec, rate, rng) for mount, rng in mounts]

    def measure(
        self,
        t: float,
        p_WS_W: Array,
        q_WS: Array,  # noqa: ARG002 - air presses from all sides
        rays: RayCaster | None,  # noqa: ARG002 - it needs none
    ) -> list[ScalarReading]:
        """One pressure of each aircraft [Pa]."""
        true = standard_pressure(self.spec.altitude + p_WS_W[:, 2])
        rows = zip(self._units, true.tolist(), strict=True)
        return [ScalarReading(unit.source, t, unit.measure(value)) for unit, value in rows]

    def info(self, fields: dict[str, Any]) -> OtherSensorInfo:
        """The description of one barometer."""
        codec = f"{PressureCodec.__module__}:{PressureCodec.__name__}"
        values = {
            "deviation": self.spec.noise,
            "walk": self.spec.walk,
            "altitude": self.spec.altitude,
        }
        return OtherSensorInfo(**fields, codec=codec, values=values)
