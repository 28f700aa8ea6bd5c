# SPDX-License-Identifier: BSD-3-Clause
r"""A satellite receiver: latitude, longitude and altitude, off by what drifts over minutes and by white noise.

The drift of each axis (orbits, clocks, atmosphere) is first-order Gauss-Markov of a deviation :math:`\sigma` and a
correlation time :math:`\tau` [Gelb, "Applied Optimal Estimation", 1974, 2.2]:

.. math:: d_{k+1} = \varphi d_k + \sigma \sqrt{1 - \varphi^2}\, w_k, \quad \varphi = e^{-\Delta / \tau} .

It begins as drawn from its own distribution. A circle of equal probability (CEP) is 1.1774 deviations of an axis wide.

Presets are read from ``data/gnss/NAME.yaml``.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.record import Presets, Record
from iap_description.config.values import Hertz, NonNegative, Positive, Real
from iap_description.math.geodesy import Geodetic, geodetic
from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import FixReading, SensorSource
from iap_description.sensors.sensor_info import OtherSensorInfo
from iap_io.sensor_messages.fix_codec import FixCodec
from iap_sensors.mounted.mounted_sensors import MountedSensors, RayCaster

PRESETS = Presets(Path(__file__).parents[1] / "data" / "gnss", "GNSS")


class Datum(Record):
    """The place of the origin of `map`, whose axes are east, north and up there."""

    latitude_deg: Annotated[float, Field(strict=True, ge=-90.0, le=90.0)]
    longitude_deg: Annotated[float, Field(strict=True, ge=-180.0, le=180.0)]
    altitude: Real  # above the ellipsoid [m]

    @property
    def place(self) -> Geodetic:
        """The same as a place."""
        return Geodetic(self.latitude_deg, self.longitude_deg, self.altitude)


class GnssSpec(Record):
    """A receiver; deviations are per axis."""

    mount: str  # of the aircraft, where the antenna is
    rate: Hertz  # [Hz]
    datum: Datum
    drift_horizontal: NonNegative  # deviation of the drift, east and north [m]
    drift_vertical: NonNegative  # up [m]
    memory: Positive  # correlation time of the drift [s]
    noise_horizontal: NonNegative  # white, east and north [m]
    noise_vertical: NonNegative  # up [m]


class Receiver:
    """One receiver with its drift.

    Args:
        source: its topic and frame.
        spec: what it is.
        rate: of its fixes [Hz].
        rng: its own generator.
    """

    def __init__(
        self, source: SensorSource, spec: GnssSpec, rate: float, rng: np.random.Generator
    ) -> None:
        self.source, self._rng, self._datum = source, rng, spec.datum.place
        level, up = spec.drift_horizontal, spec.drift_vertical
        self._deviation = np.array([level, level, up])
        self._noise = np.array([spec.noise_horizontal, spec.noise_horizontal, spec.noise_vertical])
        self._keep = math.exp(-1.0 / (rate * spec.memory))
        self._drift = self._deviation * rng.standard_normal(3)

    def errors(self) -> Array:
        """(3,) what the next fix is off, east, north and up [m]."""
        white, step = self._rng.standard_normal((2, 3))
        off = self._drift + self._noise * white
        share = math.sqrt(1.0 - self._keep**2)
        self._drift = self._keep * self._drift + share * self._deviation * step
        return np.asarray(off)

    def fix(self, t: float, p_W: Array) -> FixReading:
        """The fix of an antenna at a place (3,) in `map`."""
        return FixReading(self.source, t, geodetic(p_W + self.errors(), self._datum))


class Receivers(MountedSensors):
    """The receivers of one vehicle, one on each aircraft."""

    KEY, SPEC, PRESETS = "gnss", GnssSpec, PRESETS

    def start(self, mounts: Sequence[tuple[SensorMount, np.random.Generator]]) -> None:
        """Put a receiver on each mount."""
        rate = self.sampling.rate
        self._units = [Receiver(mount.source, self.spec, rate, rng) for mount, rng in mounts]

    def measure(
        self,
        t: float,
        p_WS_W: Array,
        q_WS: Array,  # noqa: ARG002 - an antenna sees the whole sky
        rays: RayCaster | None,  # noqa: ARG002 - satellites are behind no wall here
    ) -> list[FixReading]:
        """One fix of each aircraft."""
        return [unit.fix(t, p) for unit, p in zip(self._units, p_WS_W, strict=True)]

    def info(self, fields: dict[str, Any]) -> OtherSensorInfo:
        """The description of one receiver."""
        spec = self.spec
        horizontal = math.hypot(spec.drift_horizontal, spec.noise_horizontal)
        vertical = math.hypot(spec.drift_vertical, spec.noise_vertical)
        datum = spec.datum.model_dump()
        return OtherSensorInfo(
            **fields,
            codec=f"{FixCodec.__module__}:{FixCodec.__name__}",
            values={"horizontal": horizontal, "vertical": vertical, **datum},
        )
