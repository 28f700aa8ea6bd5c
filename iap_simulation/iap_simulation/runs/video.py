# SPDX-License-Identifier: BSD-3-Clause
"""Videos of flights, as someone sees them who stands beside."""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import cv2
import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.frames import MAP
from iap_description.states import STATE_SIZE, P
from iap_description.world.world import World
from iap_io.runs.run_folder import RunData
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Scenario

Picture = NDArray[np.uint8]
Size = tuple[int, int]  # width and height [pixels]

CODEC, SUFFIX = "mp4v", ".mp4"
NAME = "onlooker"
FOCAL = 0.8  # focal length over the picture's width
FROM = np.array([-0.55, -0.75, 0.35])  # direction of the onlooker from the middle of a flight
MARGIN = 0.5  # around the places of all bodies [m]
SIZE = (960, 540)


class Onlooker:
    """A camera that stands in the world of a scenario.

    Args:
        scenario: what is seen.
        position: (3,) where it stands [m].
        target: (3,) where it looks at [m].
        size: of its pictures.

    Raises:
        BadInput: this machine cannot draw.
    """

    def __init__(self, scenario: Scenario, position: Array, target: Array, size: Size) -> None:
        x, y, z = np.asarray(target) - position
        width, height = size
        spec = CameraSpec(
            position=tuple(np.asarray(position).tolist()),
            rpy_deg=(
                0.0,
                *np.degrees([np.arctan2(-z, np.hypot(x, y)), np.arctan2(y, x)]).tolist(),
            ),
            width=width,
            height=height,
            fx=FOCAL * width,
            fy=FOCAL * width,
            cx=0.5 * (width - 1),
            cy=0.5 * (height - 1),
            rate=scenario.rates.control_hz,
            outputs=("rgb8",),
            near=0.1,
            far=100.0,
            antialiasing=4,
        )
        rig = rig_spec(scenario.model_copy(update={"cameras": {NAME: spec}}))
        own = [each for each in mounted_cameras_of(rig) if each.parent == MAP]
        self._renderer = make_renderer(scenario.renderer)
        self._cameras = MountedCameras(rig, own, self._renderer)

    def picture(self, t: float, x: Array, objects: Array, tilts: Array | None = None) -> Picture:
        """(height, width, 3) RGB of a state, see `MountedCameras.shoot`."""
        (reading,) = self._cameras.shoot(self._cameras.cameras, t, x, objects, tilts)
        return np.array(reading.pixels)

    def close(self) -> None:
        """Give back what the renderer holds; a second time is fine."""
        self._renderer.close()


class VideoFile:
    """A video that is being written.

    Args:
        path: of the file, which ends in .mp4.
        rate: pictures a second.
        size: of them.

    Attributes:
        count: pictures so far.

    Raises:
        BadInput: another ending, or the file cannot be written.
    """

    def __init__(self, path: Path, rate: float, size: Size) -> None:
        if path.suffix != SUFFIX:
            raise BadInput(f"--video {path}: a video's file ends in {SUFFIX}")
        self._writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*CODEC), rate, size)
        if not self._writer.isOpened():
            raise BadInput(f"--video {path}: cannot be written")
        self.count = 0

    def write(self, picture: Picture) -> None:
        """Add a picture (height, width, 3), RGB."""
        self._writer.write(np.ascontiguousarray(picture[..., ::-1]))
        self.count += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.release()


def write_run_video(
    data: RunData, scenario: Scenario, out: Path, rate: float, progress: Callable[[float], None]
) -> int:
    """Write a recorded flight as a video in its own time; returns the number of pictures.

    Args:
        data: of the run.
        scenario: that was flown.
        out: the file, which ends in .mp4.
        rate: pictures a second.
        progress: called with the simulation time [s].

    Raises:
        BadInput: another ending, no such rate, the file cannot be written, or this machine cannot
            draw.
    """
    t = data.vehicles[0].columns.t
    if not 0.0 < rate <= scenario.rates.control_hz:
        raise BadInput(f"--rate {rate:g}: above 0 and at most {scenario.rates.control_hz:g}")
    position, target = standpoint(data)
    with VideoFile(out, rate, SIZE) as video:
        onlooker = Onlooker(scenario, position, target, SIZE)
        try:
            for when in np.arange(t[0], t[-1], 1.0 / rate):
                i = int(np.searchsorted(t, when))
                rows = [(v.columns, min(i, len(v.columns.t) - 1)) for v in data.vehicles]
                x = np.concatenate([columns.x[row] for columns, row in rows])
                tilts = np.concatenate([columns.tilt[row] for columns, row in rows])
                objects = object_states(scenario.world, float(t[i]))
                video.write(onlooker.picture(float(t[i]), x, objects, tilts))
                progress(float(t[i]))
        finally:
            onlooker.close()
        return video.count


def standpoint(data: RunData) -> tuple[Array, Array]:
    """Place of an onlooker who sees all of a flight, and the point that he looks at, (3,) each [m]."""
    places = np.vstack([vehicle.columns.x[..., P].reshape(-1, 3) for vehicle in data.vehicles])
    low, high = places.min(axis=0) - MARGIN, places.max(axis=0) + MARGIN
    middle, back = 0.5 * (low + high), FROM / np.linalg.norm(FROM)
    around, tall = 0.5 * np.hypot(*(high - low)[:2]), 0.5 * (high - low)[2]  # an upright cylinder
    per_width = 2.0 * FOCAL * around
    per_height = 2.0 * FOCAL * SIZE[0] / SIZE[1] * (tall * np.hypot(*back[:2]) + around * back[2])
    depth = around * np.hypot(*back[:2]) + tall * back[2]  # its nearest place
    return middle + (max(per_width, per_height) + depth) * back, middle


def object_states(world: World, t: float) -> Array:
    """(objects, 13) states of a world's objects, of which none moves freely."""
    rows = [item.row(t) for item in world.objects.values()]
    return np.array(rows).reshape(-1, STATE_SIZE)
