# SPDX-License-Identifier: BSD-3-Clause
"""Tracks the features of one aircraft's stereo pair: images in, tracks out.

Runs in the aircraft's namespace, which is ``iap/drone_1`` unless it is remapped. Lenses are those of CameraInfo, as
real drivers publish it; the cameras' places are those of the parameter `sensors`, of a rig calibrated or read from TF.
"""

import sys
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sensor_msgs.msg import Image

from iap_description.errors import BadInput
from iap_description.sensors.readings import ImageReading, Reading
from iap_estimation.datasets.bag_messages import camera_of
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration
from iap_estimation.navigation.aircraft_frontend import AircraftFrontend
from iap_estimation.navigation.measurements import Images, Raw
from iap_estimation.nodes.estimate_topics import RELIABLE_QOS
from iap_estimation.nodes.estimation_node_base import EstimationNode
from iap_estimation.nodes.track_messages import tracks_bytes
from iap_estimation.virpo.messages import ImuSample
from iap_io.ros.conversions import set_stamp
from iap_io.ros.node import ERROR, OK, WARN
from iap_io.ros.process import program
from iap_io.ros.statistics import RecentValues
from iap_io.wire.cdr import HEADER_SIZE, decoded
from iap_io.wire.stamps import stamp_of_time
from iap_msgs.msg import FeatureTracks

INFO = "sensor_msgs/msg/CameraInfo"
END_OF_STAMP = HEADER_SIZE + 8  # of the header, in bytes
COMPRESSIONS = {"raw": "none", "compressed": "jpeg", "ffmpeg": "h264"}  # by image_transport
MAX_SAMPLES = 2000  # inertial samples that wait for their images


class FrontendNode(EstimationNode):
    """One stereo pair between images and tracks."""

    def __init__(
        self, namespace: str = "iap/drone_1", parameters: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__("frontend_node", namespace, of_aircraft=True, parameters=parameters)
        sensors = self.sensor_set
        self._aircraft_sensors, self._aircraft = (
            sensors.carried[self.aircraft_index],
            sensors.aircraft[self.aircraft_index],
        )
        assert self._aircraft_sensors.cameras is not None  # noqa: S101 - the equipment has one
        self._lenses: dict[int, CameraCalibration] = {}  # by side
        self._contents: dict[
            int, bytes
        ] = {}  # of the messages that told them, but for their stamps
        self._others: dict[int, bytes] = {}  # of the last ones, where these told others
        self._frontend: AircraftFrontend | None = None
        self._early: Images | None = None  # the newest pair before both camera_info were here
        self._turning: deque[ImuSample] = deque(maxlen=MAX_SAMPLES)
        self._took_ms, self._counts, self._refused = RecentValues(200), [0, 0], ""
        self._pairs, self._images, self._first_id = 0, 0, -1
        self._tracks = self.create_publisher(FeatureTracks, "virpo/tracks", RELIABLE_QOS)
        self._drawn = self.create_publisher(Image, "virpo/image", 1)
        self.restart()
        self._warm()
        for side, camera in enumerate(self._aircraft_sensors.cameras):
            topic = self.absolute(f"{camera.topic}/camera_info")
            take = partial(self._on_info, side, topic)
            self.inputs.listen(INFO, topic, bytes, take, self._qos)
        what = "Topics of images that are taken, by their names in image_transport."
        transport = self.choice("image_transport", tuple(COMPRESSIONS), what)
        units = [self._aircraft_sensors.imu, *self._aircraft_sensors.cameras]
        self.listen(units, COMPRESSIONS[transport])
        self.begin()

    def restart(self) -> None:
        """Let go of all tracks; numbers go on where there was a tracker."""
        super().restart()
        self._turning.clear()
        self._t_tracked, self._early = -np.inf, None
        if len(self._lenses) == 2:
            self._make_frontend()

    def _warm(self) -> None:
        """Follow nothing once, so that what is compiled is loaded before the first image comes."""
        left, right = self._aircraft.cameras.left, self._aircraft.cameras.second
        rng = np.random.default_rng(0)
        frontend = AircraftFrontend("", self._aircraft, self.settings.frontend)
        grain = rng.integers(0, 255, (left.height // 8 + 1, left.width // 8 + 1), dtype=np.uint8)
        image = np.kron(grain, np.ones((8, 8), np.uint8))[: left.height, : left.width]
        same = (left.width, left.height) == (right.width, right.height)
        for t in (0.0, 0.05) if same else ():
            frontend.see(Images(t, np.ascontiguousarray(image), np.ascontiguousarray(image)))

    def _on_info(self, side: int, topic: str, data: bytes) -> None:
        """Take a lens; another one than is known counts once it has come twice in a row."""
        content = data[END_OF_STAMP:]
        if self._contents.get(side) == content:
            self._others.pop(side, None)
            return
        lens, _ = camera_of(decoded(data, INFO), topic, topic)
        if side in self._lenses and self._others.get(side) != content:
            self._others[side] = content
            raise BadInput("another camera than the one that is known; counts if it comes again")
        self._lenses[side], self._contents[side] = lens, content
        if len(self._lenses) == 2:
            self._begin_with_lenses()

    def _begin_with_lenses(self) -> None:
        try:
            self._make_frontend()
        except BadInput as error:
            self._lenses.clear()
            self._contents.clear()
            self._refused = str(error)
            raise
        if self._early is not None:
            self._see(self._early)

    def _make_frontend(self) -> None:
        pair = self._aircraft.cameras
        lenses = self._lenses[0], self._lenses[1]
        calibration = StereoCalibration.of(*lenses, pair.p_BC_B, pair.q_BC)
        name = self.get_namespace()
        self._frontend = AircraftFrontend(
            name, replace(self._aircraft, calibration=calibration), self.settings.frontend
        )
        self._refused, self._first_id = "", -1

    def take_reading(self, reading: Reading) -> None:
        """Take a reading, and count the images."""
        self._images += isinstance(reading, ImageReading) and self._adapter.accepts(reading)
        super().take_reading(reading)

    def take(self, owner: int, measured: Raw) -> None:
        """Take an inertial sample or a stereo pair."""
        if isinstance(measured, ImuSample):
            self._turning.append(measured)
        elif isinstance(measured, Images):
            self._see(measured)

    def _see(self, images: Images) -> None:
        if self._frontend is None:
            self._early = images
            return
        if images.t <= self._t_tracked:  # the same ones again, for who has missed them
            return
        self._t_tracked = images.t
        while self._turning and self._turning[0].t <= images.t:
            self._frontend.turn(self._turning.popleft())
        began = time.perf_counter()
        tracks = self._frontend.see(images)
        self._took_ms.add(1e3 * (time.perf_counter() - began))
        self._pairs += 1
        self._counts = [len(tracks.ids), int(tracks.has_right.sum())]
        frame = self._aircraft_sensors.cameras[0].frame
        if (
            self._first_id < 0
        ):  # no track has the number of one from before this node was started again
            self._first_id = stamp_of_time(images.t)
        tracks = replace(tracks, ids=tracks.ids + self._first_id)
        self._tracks.publish(tracks_bytes(tracks, frame))
        if self._drawn.get_subscription_count():
            self._draw(images.t, frame)

    def _draw(self, t: float, frame: str) -> None:
        pixels = self._frontend.draw()
        height, width = pixels.shape[:2]
        image = Image(height=height, width=width, encoding="rgb8", step=3 * width)
        set_stamp(image.header, stamp_of_time(t))
        image.header.frame_id = frame
        image.data = pixels.tobytes()
        self._drawn.publish(image)

    def problem(self) -> tuple[bytes, str]:
        """Reason for the absence of tracks."""
        if self._refused:
            return ERROR, self._refused
        if self._frontend is None:
            return WARN, "no camera_info of both cameras yet"
        if self._pairs and self._counts[0] < self.settings.estimator.fewest_tracks:
            return WARN, f"{self._counts[0]} tracks"
        return OK, ""

    def values(self) -> dict[str, object]:
        """Time of a pair, and counts of tracks."""
        return {
            "pairs": self._pairs,
            "images": self._images,
            "unpaired": self.tally.unpaired,
            "pair_ms": self._took_ms.percentile(50),
            "pair_ms_p95": self._took_ms.percentile(95),
            "tracks": self._counts[0],
            "stereo": self._counts[1],
        }


main = program("frontend_node", FrontendNode)

if __name__ == "__main__":
    sys.exit(main())
