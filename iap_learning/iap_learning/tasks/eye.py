# SPDX-License-Identifier: BSD-3-Clause
"""The depth camera or lidar of a policy in a single run and between messages."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from iap_description.errors import BadInput, shown
from iap_description.sensors.mounts import mounts_on_aircraft
from iap_description.sensors.readings import CloudReading, ImageReading, Reading
from iap_description.sensors.sensor_info import ENCODINGS
from iap_description.vehicles.assembly import Assembly
from iap_io.wire.stamps import SECOND
from iap_learning.tasks.depth_numbers import DepthImage, DepthNumbers, Images
from iap_sensors.mounted.sampling import Sampling
from iap_sensors.rays.clouds import range_image
from iap_sensors.rays.depth_camera_spec import DEPTH_CAMERA, DepthCameraSpec
from iap_sensors.rays.lidar_spec import LIDAR, LidarSpec
from iap_simulation.batch.ray_sensor import ray_sensor_spec
from iap_simulation.scenario.scenario import Scenario


def camera_pixels(_: DepthCameraSpec, reading: Reading) -> Images | None:
    """Depths (height, width) of a camera's reading [m]; None of its other outputs."""
    if not isinstance(reading, ImageReading) or reading.encoding != ENCODINGS["depth"]:
        return None
    return reading.pixels.astype(np.float32, copy=False)


def lidar_pixels(spec: LidarSpec, reading: Reading) -> Images | None:
    """Ranges (channels, columns) of a lidar's turn [m].

    Raises:
        BadInput: a point is of a channel that the lidar does not have.
    """
    return range_image(spec, reading) if isinstance(reading, CloudReading) else None


class EyeKind(NamedTuple):
    """A kind of sensors that a policy sees by.

    Attributes:
        key: of the scenario, below `sensors`.
        name: of one, for errors.
        sees: what it gives, for errors.
        free: keys in which it may differ from the task's.
        pixels: the image of a reading; None of a reading that is none.
    """

    key: str
    name: str
    sees: str
    free: tuple[str, ...]
    pixels: Callable[[Any, Reading], Images | None]


CAMERA = EyeKind(DEPTH_CAMERA, "camera", "images", ("rate", "outputs"), camera_pixels)
LASER = EyeKind(LIDAR, "lidar", "ranges", ("rate",), lidar_pixels)


class Eye(DepthNumbers):
    """Keeps the numbers of the newest image of a depth camera, or of a lidar's turn, on a vehicle's first aircraft.

    Args:
        image: what the task says of them.
        scenario: that is flown.
        repeat: control periods between two actions.
        source: the policy, for errors.
        vehicle: number of the vehicle.

    Attributes:
        topic: of the sensor, without its last part.
        numbers: (1, n) of the newest image; before the first one nothing is measured.

    Raises:
        BadInput: the scenario has no such sensor, or it has no image whenever the policy acts.
    """

    def __init__(
        self, image: DepthImage, scenario: Scenario, repeat: int, source: str, vehicle: int = 0
    ) -> None:
        needed = ray_sensor_spec(image.preset, image.settings)
        self._kind = CAMERA if needed.IS_CAMERA else LASER
        carrier, key = scenario.vehicles[vehicle], f"sensors.{self._kind.key}"
        self._spec = getattr(carrier.sensors, self._kind.key)
        self._check(needed, key, source)
        hz = scenario.rates.control_hz
        every = Sampling.of(self._spec.rate, hz, self._kind.key).every
        if repeat % every:
            raise BadInput(
                f"key '{key}.rate': {hz / every:g} Hz, but policy '{source}' acts at {hz / repeat:g} Hz"
            )
        shape = needed.shape
        super().__init__(image, shape, needed.range_max)
        assembly = Assembly.of(carrier.platform, carrier.name)
        mounts = mounts_on_aircraft(assembly, needed.mount, self._kind.key)
        self.topic = mounts[0].source.topic
        self._repeat, self._dt_ns, self._seen = repeat, SECOND * scenario.dt, -1
        self.numbers = self.of(np.full((1, *shape), np.nan, np.float32))

    def _check(self, needed: DepthCameraSpec | LidarSpec, key: str, source: str) -> None:
        """Refuse a scenario whose sensor is not the one that is needed.

        Raises:
            BadInput: naming the key.
        """
        if self._spec is None:
            _, name, sees, *_ = self._kind
            raise BadInput(f"key '{key}': policy '{source}' sees {sees}, and there is no {name}")
        for name, value in needed.model_dump(exclude=set(self._kind.free)).items():
            actual = getattr(self._spec, name)
            if actual != value:
                raise BadInput(
                    f"key '{key}.{name}': {shown(actual)}, but policy '{source}' sees {shown(value)}"
                )
        if "depth" not in getattr(self._spec, "outputs", ("depth",)):
            raise BadInput(f"key '{key}.outputs': policy '{source}' sees 'depth'")

    def receive(self, reading: Reading) -> None:
        """Receive a reading of any sensor; an image of this one becomes numbers.

        Raises:
            BadInput: it is of another lidar.
        """
        if reading.source.topic != self.topic:
            return
        pixels = self._kind.pixels(self._spec, reading)
        if pixels is not None:
            self.numbers, self._seen = self.of(pixels[None]), reading.stamp

    def is_ready(self, stamp: int, k: int) -> bool:
        """True if the newest image is of the period of the action at instant k of a stamp [ns]."""
        since = max(stamp - (k % self._repeat + 0.5) * self._dt_ns, 0.0)
        return since <= self._seen <= stamp
