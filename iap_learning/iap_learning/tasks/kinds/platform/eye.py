# SPDX-License-Identifier: BSD-3-Clause
"""The depth camera of a single flight, as the policy of a task sees through it."""

from typing import cast

import numpy as np

from iap_description.errors import BadInput, shown
from iap_description.sensors.mounts import mounts_on_aircraft
from iap_description.sensors.readings import ImageReading, Reading
from iap_description.sensors.sensor_info import ENCODINGS
from iap_description.vehicles.assembly import Assembly
from iap_learning.tasks.kinds.platform.depth_numbers import DepthNumbers
from iap_learning.tasks.kinds.platform.task import DepthImage
from iap_sensors.mounted.sampling import Sampling
from iap_sensors.rays.depth_camera_spec import DEPTH_CAMERA, DepthCameraSpec
from iap_simulation.batch.ray_sensor import ray_sensor_spec
from iap_simulation.scenario.scenario import Scenario

KEY = f"sensors.{DEPTH_CAMERA}"
FREE = ("rate", "outputs")  # keys of a camera in which it may differ from the task's


class Eye(DepthNumbers):
    """Keeps the numbers of the newest image of the first aircraft's depth camera.

    Args:
        image: what the task says of them.
        scenario: that is flown.
        repeat: control periods between two actions.
        source: the policy, for errors.

    Attributes:
        topic: of the camera, without its last part.
        numbers: (1, n) of the newest image; before the first one nothing is measured.

    Raises:
        BadInput: the scenario has no such camera, or it has no image whenever the policy acts.
    """

    def __init__(self, image: DepthImage, scenario: Scenario, repeat: int, source: str) -> None:
        needed = cast(DepthCameraSpec, ray_sensor_spec(image.preset, image.settings))
        own = _camera(scenario, source)
        for key, value in needed.model_dump(exclude=set(FREE)).items():
            if getattr(own, key) != value:
                raise BadInput(
                    f"key '{KEY}.{key}': {shown(getattr(own, key))}, but policy '{source}' sees {shown(value)}"
                )
        if "depth" not in own.outputs:
            raise BadInput(f"key '{KEY}.outputs': policy '{source}' sees 'depth'")
        hz = scenario.rates.control_hz
        every = Sampling.of(own.rate, hz, DEPTH_CAMERA).every
        if repeat % every:
            raise BadInput(
                f"key '{KEY}.rate': {hz / every:g} Hz, but policy '{source}' acts at {hz / repeat:g} Hz"
            )
        super().__init__(image, (own.height, own.width), own.range_max)
        vehicle = scenario.vehicles[0]
        assembly = Assembly.of(vehicle.platform, vehicle.name)
        self.topic = mounts_on_aircraft(assembly, own.mount, DEPTH_CAMERA)[0].source.topic
        self.numbers = self.of(np.full((1, own.height, own.width), np.nan, np.float32))

    def receive(self, reading: Reading) -> None:
        """Receive a reading of any sensor; an image of the camera becomes numbers."""
        if isinstance(reading, ImageReading) and self.sees(reading):
            self.numbers = self.of(reading.pixels[None].astype(np.float32, copy=False))

    def sees(self, reading: ImageReading) -> bool:
        """Whether it is an image of the camera's depths."""
        return reading.source.topic == self.topic and reading.encoding == ENCODINGS["depth"]


def _camera(scenario: Scenario, source: str) -> DepthCameraSpec:
    own = scenario.vehicles[0].sensors.depth_camera
    if own is None:
        raise BadInput(f"key '{KEY}': policy '{source}' sees images, and there is no camera")
    return own
