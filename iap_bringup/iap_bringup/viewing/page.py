# SPDX-License-Identifier: BSD-3-Clause
"""``view.html``: a run as one file that plays in a browser, from the disk, without a server or a network."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from iap_bringup.viewing.legend import legend_of
from iap_bringup.viewing.record_notes import as_picture, events_of
from iap_bringup.viewing.scene import FlightScene, add_paths, initial_view
from iap_bringup.viewing.source import RunSource
from iap_bringup.viewing.viser_stage import StateSerializer, Vec3, Vec4, ViserStage, open_server
from iap_description.arrays import Array
from iap_description.process.extras import cv2
from iap_description.sensors.readings import ImageReading
from iap_description.sensors.sensor_info import CameraSensorInfo
from iap_description.states import P
from iap_io.runs.run_folder import write_file
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.sensor_reader import read_sensors

PAGE = "view.html"
RATE = 20.0  # pictures a second
MOST_PICTURES = 1200  # of a page; flights beyond a minute have fewer a second
THUMBNAIL_PERIOD, MOST_THUMBNAILS = 0.5, 600  # between two of a camera [s], and of all cameras
THUMBNAIL_WIDTH, QUALITY = 160, 60  # [pixels], and of JPEG
CLOCK = "clock"  # node whose x is the time [s]
SCRIPT = Path(__file__).parents[1] / "data" / "viewing" / "page.js"


class PageStage(ViserStage):
    """A stage whose changes go straight into a page once it is recorded, a tenth of the cost of viser's own way.

    Attributes:
        recording: of the page; None until it is begun.
    """

    same_pose = 2e-4  # [m]: a fifth of what is seen on a page
    recording: StateSerializer | None = None

    def _move(self, name: str, position: Vec3) -> None:
        if not self._record(name, "SetPositionMessage", position=position):
            super()._move(name, position)

    def _turn(self, name: str, wxyz: Vec4) -> None:
        if not self._record(name, "SetOrientationMessage", wxyz=wxyz):
            super()._turn(name, wxyz)

    def _scale(self, name: str, scale: float | Vec3) -> None:
        if not self._record(name, "SceneNodeUpdateMessage", updates={"scale": scale}):
            super()._scale(name, scale)

    def _reveal(self, name: str, *, visible: bool) -> None:
        if not self._record(name, "SetSceneNodeVisibilityMessage", visible=visible):
            super()._reveal(name, visible=visible)

    def _record(self, name: str, kind: str, **fields: object) -> bool:
        """Add a message as viser writes it, which is pinned for that; False before a recording is begun."""
        recording = self.recording
        if recording is None:
            return False
        message = {"name": f"/{name}", "owner": "", "type": kind, **fields}
        recording._messages.append((recording._time, message))  # noqa: SLF001
        return True


def write_page(source: RunSource, out: Path) -> None:
    """Write a run as a page.

    Args:
        source: the run.
        out: the file.

    Raises:
        BadInput: it cannot be written.
    """
    server = open_server(port=0, label=source.title)
    try:
        stage = PageStage(server)
        scene = FlightScene(source.rig, source.meta, couplings=source.couplings)
        scene.add(stage)
        stage.add_frame(CLOCK)
        add_paths(stage, *source.paths)
        first, last = source.span
        source.show(scene, stage, first)
        camera = server.initial_camera
        camera.position, camera.look_at = initial_view(np.vstack(source.paths[0]), source.rig)
        serializer = stage.recording = server.get_scene_serializer()
        period = max(1.0 / RATE, (last - first) / MOST_PICTURES)
        for t in np.arange(first, last, period):
            source.show(scene, stage, float(t))
            stage.place(CLOCK, np.array([t, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
            serializer.insert_sleep(period)
        page = serializer.as_html()
    finally:
        server.stop()
    write_file(out, _with_script(page, source).encode())


def _with_script(page: str, source: RunSource) -> str:
    """A page with the choice of cameras, events and images, see ``page.js``."""
    x = source.steps(source.span[0])[0].x[0, P]
    eye, target = initial_view(np.vstack(source.paths[0]), source.rig)
    flight = {
        "title": source.title,
        "vehicle": f"/world/bodies/{source.meta.vehicles[0].name}/{source.meta.vehicles[0].bodies[0]}",
        "home": x.tolist(),
        "from": _direction(np.subtract(eye, target)),
        "begin": source.span[0],
        "end": source.span[1],
        "legend": [list(each) for each in legend_of(source.meta, source.couplings)],
        "size": _size(source.paths[0]),
        "events": [[each.t, each.text] for each in events_of(source.run)],
        "images": _thumbnails(source),
    }
    text = json.dumps(flight, allow_nan=False).replace("</", "<\\/")
    script = f"<script>window.IAP_FLIGHT={text};\n{SCRIPT.read_text()}</script>"
    end = page.rindex("</body>")
    return page[:end] + script + page[end:]


def _direction(v: Array) -> list[float]:
    unit: list[float] = (v / np.linalg.norm(v)).tolist()
    return unit


def _size(paths: list[Array]) -> float:
    points = np.vstack(paths)
    return float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))


def _thumbnails(source: RunSource) -> dict[str, list[Any]]:
    """Small images of the run's cameras, by their names: times [s] and data URLs."""
    cameras = [each for each in source.meta.sensors if isinstance(each, CameraSensorInfo)]
    if not cameras:
        return {}
    first, last = source.span
    period = max(THUMBNAIL_PERIOD, (last - first) * len(cameras) / MOST_THUMBNAILS)
    images: dict[str, list[Any]] = {each.topic.strip("/"): [] for each in cameras}
    due = dict.fromkeys(images, first)
    for reading in _images(source, cameras):
        name = reading.source.topic.strip("/")
        if reading.t >= due[name]:
            due[name] += period
            images[name].append([reading.t, _data_url(as_picture(reading))])
    return images


def _images(source: RunSource, cameras: list[CameraSensorInfo]) -> Iterator[ImageReading]:
    """Images of the first output of each camera."""
    encodings: dict[str, str] = {}
    for reading in read_sensors(source.run.folder / BAG, cameras):
        if isinstance(reading, ImageReading):
            first = encodings.setdefault(reading.source.topic, reading.encoding)
            if first == reading.encoding:
                yield reading


def _data_url(picture: Array) -> str:
    height, width = picture.shape[:2]
    size = (THUMBNAIL_WIDTH, max(1, round(THUMBNAIL_WIDTH * height / width)))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    _, data = cv2.imencode(".jpg", small[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return "data:image/jpeg;base64," + base64.b64encode(data.tobytes()).decode()
