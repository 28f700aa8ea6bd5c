# SPDX-License-Identifier: BSD-3-Clause
"""A kind of sensor of a user's own, in one module: a barometric altimeter on every aircraft."""

from collections.abc import Sequence

import numpy as np

from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive
from iap_description.sensors.readings import ScalarReading
from iap_description.sensors.sensor_info import OtherSensorInfo
from iap_io.sensor_messages.scalar_codec import ScalarCodec
from iap_sensors.mounted.mounted_sensors import MountedSensors

SEA_LEVEL, SCALE_HEIGHT = 101_325.0, 8434.5  # [Pa], [m] of the standard atmosphere near the ground


class AltimeterSpec(Record):
    """An altimeter."""

    mount: str
    rate: Positive  # [Hz]
    noise: NonNegative  # standard deviation of a pressure [Pa]


class PressureCodec(ScalarCodec):
    """Pressures [Pa] as sensor_msgs/FluidPressure."""

    MSGTYPE, VALUE, VARIANCE = "sensor_msgs/msg/FluidPressure", "fluid_pressure", "variance"


class Altimeters(MountedSensors):
    """The altimeters of one vehicle."""

    KEY, SPEC = "altimeter", AltimeterSpec
    PRESETS = {"bmp388": {"mount": "imu", "rate": 50.0, "noise": 3.0}}

    def start(self, mounts):
        self._units = [(mount.source, rng) for mount, rng in mounts]

    def measure(self, t, p_WS_W, q_WS, rays) -> Sequence[ScalarReading]:
        true = SEA_LEVEL * np.exp(-p_WS_W[:, 2] / SCALE_HEIGHT)
        return [
            ScalarReading(source, t, float(value + self.spec.noise * rng.standard_normal()))
            for value, (source, rng) in zip(true, self._units, strict=True)
        ]

    def info(self, fields):
        codec = f"{PressureCodec.__module__}:PressureCodec"
        return OtherSensorInfo(**fields, codec=codec, values={"deviation": self.spec.noise})
