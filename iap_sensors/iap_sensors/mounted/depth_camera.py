# SPDX-License-Identifier: BSD-3-Clause
"""Depth cameras by rays on the aircraft of a vehicle, recorded and published as cameras are."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.sensors.mounts import SensorMount, optical
from iap_description.sensors.readings import ImageReading, SensorSource
from iap_description.sensors.sensor_info import ENCODINGS, CameraSensorInfo
from iap_sensors.mounted.mounted_sensors import MountedSensors, RayCaster
from iap_sensors.rays.depth_camera_spec import DEPTH_CAMERA, PRESETS, DepthCameraSpec
from iap_sensors.rays.images import RaySensor
from iap_sensors.rays.noise import bases_of, frame_keys
from iap_sensors.rays.world_rays import Rays


class DepthCameras(MountedSensors):
    """The depth cameras of one vehicle, one on each aircraft, which does not see itself."""

    KEY, SPEC, PRESETS = DEPTH_CAMERA, DepthCameraSpec, PRESETS

    @property
    def needs_rays(self) -> bool:
        """True if samples are taken along rays."""
        return True

    def start(self, mounts: Sequence[tuple[SensorMount, np.random.Generator]]) -> None:
        """Make the camera, which serves all mounts."""
        self._camera = RaySensor(self.spec, self.spec.outputs)
        self._sensor_mounts = [mount for mount, _ in mounts]

    def reset(self, seed: int) -> None:
        """Start all noise anew: draw the first number of each mount's errors."""
        super().reset(seed)
        one = np.array([seed])
        self._bases = np.concatenate(
            [bases_of(one, each.source.topic) for each in self._sensor_mounts]
        )

    def measure(
        self, t: float, p_WS_W: Array, q_WS: Array, rays: RayCaster | None
    ) -> list[ImageReading]:
        """The images of each camera."""
        assert isinstance(rays, Rays)  # noqa: S101 - depth cameras need them
        number = np.full(len(self._sensor_mounts), round(t * self.control_hz))
        keys = frame_keys(self._bases, number)
        readings = []
        for i, mount in enumerate(self._sensor_mounts):
            one = slice(i, i + 1)
            hidden = (rays.row(self._assembly.name, mount.body),)
            images = self._camera.images([rays], p_WS_W[one], q_WS[one], keys[one], hidden)
            source = _optical(mount.source)
            readings += [
                ImageReading(source, t, ENCODINGS[o], images[o][0]) for o in self.spec.outputs
            ]
        return readings

    def info(self, fields: dict[str, Any]) -> CameraSensorInfo:
        """The description of one camera."""
        spec: DepthCameraSpec = self.spec
        (fx, fy), (cx, cy) = spec.focal, spec.center
        optical_source = _optical(SensorSource(fields["topic"], fields["frame"]))
        optical_frame = {
            "frame": optical_source.frame,
            "q_BS": tuple(optical(np.array(fields["q_BS"])).tolist()),
        }
        return CameraSensorInfo(
            **{**fields, **optical_frame},
            outputs=spec.outputs,
            width=spec.width,
            height=spec.height,
            K=(fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0),
            P=(fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0),
            **spec.lens,
        )


def _optical(source: SensorSource) -> SensorSource:
    return SensorSource(source.topic, f"{source.frame}_optical")
