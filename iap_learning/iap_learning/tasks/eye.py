# SPDX-License-Identifier: BSD-3-Clause
"""The depth camera of a policy in a single run and between messages."""

from typing import TypeGuard, cast

import numpy as np

from iap_description.errors import BadInput, shown
from iap_description.sensors.mounts import mounts_on_aircraft
from iap_description.sensors.readings import ImageReading, Reading
from iap_description.sensors.sensor_info import ENCODINGS
from iap_description.vehicles.assembly import Assembly
from iap_learning.tasks.depth_numbers import DepthImage, DepthNumbers
from iap_sensors.mounted.sampling import Sampling
from iap_sensors.rays.depth_camera_spec import DEPTH_CAMERA, DepthCameraSpec
from iap_simulation.batch.ray_sensor import ray_sensor_spec
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

CAMERA_KEY = f"sensors.{DEPTH_CAMERA}"
FREE = ("rate", "outputs")  # keys of a camera in which it may differ from the task's


def image_due(stamp: int, k: int, repeat: int, dt_ns: float) -> float:
    """Simulation time [ns] from which on an image is of the period of an action.

    Args:
        stamp: of a control instant [ns].
        k: its number.
        repeat: control periods between two actions.
        dt_ns: length of a control period [ns].
    """
    return max(stamp - (k % repeat + 0.5) * dt_ns, 0.0)


class Eye(DepthNumbers):
    """Keeps the numbers of the newest image of a depth camera on a vehicle's first aircraft.

    Args:
        image: what the task says of them.
        scenario: that is flown.
        repeat: control periods between two actions.
        source: the policy, for errors.
        vehicle: number of the vehicle.

    Attributes:
        topic: of the camera, without its last part.
        numbers: (1, n) of the newest image; before the first one nothing is measured.

    Raises:
        BadInput: the scenario has no such camera, or it has no image whenever the policy acts.
    """

    def __init__(
        self, image: DepthImage, scenario: Scenario, repeat: int, source: str, vehicle: int = 0
    ) -> None:
        needed = cast(DepthCameraSpec, ray_sensor_spec(image.preset, image.settings))
        camera = _camera(scenario.vehicles[vehicle], source)
        for key, value in needed.model_dump(exclude=set(FREE)).items():
            actual = getattr(camera, key)
            if actual != value:
                raise BadInput(
                    f"key '{CAMERA_KEY}.{key}': {shown(actual)}, but policy '{source}' sees {shown(value)}"
                )
        if "depth" not in camera.outputs:
            raise BadInput(f"key '{CAMERA_KEY}.outputs': policy '{source}' sees 'depth'")
        hz = scenario.rates.control_hz
        every = Sampling.of(camera.rate, hz, DEPTH_CAMERA).every
        if repeat % every:
            raise BadInput(
                f"key '{CAMERA_KEY}.rate': {hz / every:g} Hz, but policy '{source}' acts at {hz / repeat:g} Hz"
            )
        super().__init__(image, (camera.height, camera.width), camera.range_max)
        carrier = scenario.vehicles[vehicle]
        assembly = Assembly.of(carrier.platform, carrier.name)
        self.topic = mounts_on_aircraft(assembly, camera.mount, DEPTH_CAMERA)[0].source.topic
        self.numbers = self.of(np.full((1, camera.height, camera.width), np.nan, np.float32))

    def receive(self, reading: Reading) -> None:
        """Receive a reading of any sensor; an image of the camera becomes numbers."""
        if self.sees(reading):
            self.numbers = self.of(reading.pixels[None].astype(np.float32, copy=False))

    def sees(self, reading: Reading) -> TypeGuard[ImageReading]:
        """True if it is an image of the camera's depths."""
        is_depth = getattr(reading, "encoding", None) == ENCODINGS["depth"]
        return is_depth and reading.source.topic == self.topic


def _camera(vehicle: VehicleSpec, source: str) -> DepthCameraSpec:
    camera = vehicle.sensors.depth_camera
    if camera is None:
        raise BadInput(
            f"key '{CAMERA_KEY}': policy '{source}' sees images, and there is no camera"
        )
    return camera
