# SPDX-License-Identifier: BSD-3-Clause
"""Images on topics become tracks on a topic: of a picture that moves by a known number of pixels."""

import cv2
import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from stage import PARAMETERS

from iap_estimation.nodes.track_messages import tracks_of
from iap_io.ros.conversions import set_stamp
from iap_io.ros.node import EVERY
from iap_io.transports.table import PNG
from iap_msgs.msg import FeatureTracks
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
NODE = "/iap/drone_1/frontend_node"
SHIFT, DISPARITY, COUNT = 3, 8, 12  # [px] a frame, [px], frames
PERIOD = 50_000_000  # between images [ns]


@pytest.fixture(scope="module")
def cameras():
    scenario, _ = resolve("figure_eight", Options(sensors="stereo"))
    found = {info.topic: info for info in SensorSuite(rig_spec(scenario)).infos}
    return [found[f"/iap/drone_1/{side}"] for side in ("left", "right")]


class MountedCameras:
    """Publishes pictures of a wall that moves to the left, as both cameras see it."""

    def __init__(self, probe, cameras, *, packed=False) -> None:
        self.probe, self.cameras, self.packed = probe, cameras, packed
        make = probe.node.create_publisher
        kind, end = (CompressedImage, "/compressed") if packed else (Image, "")
        self.images = [make(kind, f"{each.topic}/image_raw{end}", EVERY) for each in cameras]
        self.infos = [make(CameraInfo, f"{each.topic}/camera_info", EVERY) for each in cameras]
        rng = np.random.default_rng(0)
        wall = rng.integers(0, 255, (cameras[0].height, 1200), dtype=np.uint8)
        self.wall = cv2.GaussianBlur(wall, (0, 0), 2.5)
        self.wall = cv2.normalize(self.wall, None, 0, 255, cv2.NORM_MINMAX)

    def tell_lenses(self) -> None:
        for camera, publisher in zip(self.cameras, self.infos, strict=True):
            info = CameraInfo(width=camera.width, height=camera.height)
            info.distortion_model, info.k, info.p = "plumb_bob", camera.K, camera.P
            info.d = list(camera.D)
            publisher.publish(info)

    def show(self, frame: int, sides=(0, 1), size=None) -> None:
        for side in sides:
            camera = self.cameras[side]
            height, width = size or (camera.height, camera.width)
            first = 100 + SHIFT * frame + DISPARITY * side
            pixels = np.ascontiguousarray(self.wall[:height, first : first + width])
            if self.packed:
                image = CompressedImage(format=PNG.format("mono8"))
            else:
                image = Image(height=height, width=width, encoding="mono8", step=width)
            set_stamp(image.header, PERIOD * (frame + 1))
            image.data = bytes(PNG.pack(pixels)) if self.packed else pixels.tobytes()
            self.images[side].publish(image)
            self.probe.stays(lambda: True, 0.02)


@pytest.fixture(scope="module")
def shown(start_once, cameras):
    nodes, probe = start_once
    eyes = MountedCameras(probe, cameras)
    tracks = []
    take = lambda data: tracks.append(tracks_of(data))  # noqa: E731
    probe.node.create_subscription(
        FeatureTracks, "/iap/drone_1/virpo/tracks", take, EVERY, raw=True
    )
    nodes.start("frontend_node", {**PARAMETERS, "reliable": True}, namespace="/iap/drone_1")
    probe.wait(lambda: NODE in probe.statuses, "the node")
    eyes.show(-1)
    probe.wait(lambda: probe.says(NODE, "no camera_info of both cameras yet"), "what is missing")
    assert not tracks
    eyes.tell_lenses()
    probe.wait(lambda: tracks, "tracks of the pair that came before the lenses were known")
    tracks.clear()
    pictures = probe.hear(Image, "/iap/drone_1/virpo/image", 100)
    probe.stays(lambda: True, 0.3)
    for frame in range(COUNT):
        eyes.show(frame, sides=(1, 0) if frame % 2 else (0, 1))
        probe.wait(lambda n=frame + 1: len(tracks) == n, f"tracks of pair {frame}")
    probe.wait(lambda: probe.value(NODE, "pairs") == COUNT + 1, "diagnostics")
    return probe, eyes, tracks, pictures


def test_points_move_as_the_picture_does(shown, cameras):
    _, _, tracks, _ = shown
    focal = cameras[0].K[0]
    assert [round(each.t * 1e9) for each in tracks] == [PERIOD * (k + 1) for k in range(COUNT)]
    for before, after in zip(tracks[2:], tracks[3:], strict=False):
        same, i, j = np.intersect1d(before.ids, after.ids, return_indices=True)
        assert len(same) > 60
        moved = focal * (after.views[j, :2] - before.views[i, :2])
        np.testing.assert_allclose(np.median(moved, axis=0), [-SHIFT, 0.0], atol=0.05)
        assert np.mean(np.abs(moved - [-SHIFT, 0.0]).max(axis=1) < 0.2) > 0.95


def test_the_right_camera_sees_them_where_they_are(shown, cameras):
    _, _, tracks, _ = shown
    last = tracks[-1]
    assert last.has_right.mean() > 0.8
    apart = cameras[0].K[0] * (last.views[:, :2] - last.views[:, 2:])[last.has_right]
    np.testing.assert_allclose(np.median(apart, axis=0), [DISPARITY, 0.0], atol=0.1)
    assert np.isnan(last.views[~last.has_right, 2:]).all()


def test_tracks_are_drawn_for_who_looks(shown, cameras):
    probe, _, _, pictures = shown
    probe.wait(lambda: pictures, "a picture")
    last = pictures[-1]
    assert (last.encoding, last.height, last.width) == (
        "rgb8",
        cameras[0].height,
        cameras[0].width,
    )
    pixels = np.frombuffer(last.data, np.uint8).reshape(-1, 3).astype(int)
    assert np.abs(np.diff(pixels, axis=1)).max() > 100  # colour on grey


def test_diagnostics_tell_time_and_number_of_tracks(shown):
    probe, _, tracks, _ = shown
    probe.wait(lambda: probe.value(NODE, "tracks") == len(tracks[-1].ids), "diagnostics")
    level, _, values = probe.statuses[NODE]
    assert level < b"\x02", "no error; a warning once images stay away"
    assert float(values["pair_ms"]) > 0.0


def test_an_image_without_partner_is_counted_and_one_of_another_size_refused(shown):
    probe, eyes, tracks, _ = shown
    eyes.show(COUNT, sides=(0,))
    eyes.show(COUNT + 1)
    probe.wait(lambda: len(tracks) == COUNT + 1, "the next pair")
    probe.wait(lambda: probe.value(NODE, "unpaired") == 1, "diagnostics")
    eyes.show(COUNT + 2, size=(100, 100))
    probe.wait(lambda: probe.says(NODE, "the left image has the shape (100, 100)"), "refusal")
    assert len(tracks) == COUNT + 1


def test_images_without_loss_have_the_tracks_of_raw_ones(shown, start, cameras):
    _, _, raw, _ = shown
    nodes, probe = start
    eyes, packed = MountedCameras(probe, cameras, packed=True), []
    take = lambda data: packed.append(tracks_of(data))  # noqa: E731
    probe.node.create_subscription(
        FeatureTracks, "/iap/drone_1/virpo/tracks", take, EVERY, raw=True
    )
    parameters = {**PARAMETERS, "reliable": True, "image_transport": "compressed"}
    nodes.start("frontend_node", parameters, namespace="/iap/drone_1")
    probe.wait(lambda: NODE in probe.statuses, "the node")
    eyes.tell_lenses()
    probe.stays(lambda: True, 0.3)
    for frame in range(-1, 3):
        eyes.show(frame)
        probe.wait(lambda n=frame + 2: len(packed) == n, f"tracks of pair {frame}")
    for mine, theirs in zip(packed[1:], raw, strict=False):
        assert mine.t == theirs.t
        np.testing.assert_array_equal(mine.views, theirs.views)


def test_numbers_of_tracks_are_not_used_again_by_a_node_that_is_started_anew(shown, start):
    probe_1, _, tracks, _ = shown
    nodes, probe = start
    eyes, later = MountedCameras(probe, shown[1].cameras), []
    take = lambda data: later.append(tracks_of(data))  # noqa: E731
    probe.node.create_subscription(
        FeatureTracks, "/iap/drone_1/virpo/tracks", take, EVERY, raw=True
    )
    nodes.start("frontend_node", {**PARAMETERS, "reliable": True}, namespace="/iap/drone_1")
    probe.wait(lambda: NODE in probe.statuses, "the node")
    eyes.tell_lenses()
    probe.stays(lambda: True, 0.3)
    eyes.show(COUNT)
    probe.wait(lambda: later, "tracks")
    assert not set(later[0].ids) & {number for each in tracks for number in each.ids}
    assert probe_1 is not probe
