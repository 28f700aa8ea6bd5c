# SPDX-License-Identifier: BSD-3-Clause
"""Messages of sensors."""

from typing import Any

import numpy as np
import pytest
from made_up_sensors import camera, capture, imu, lidar, magnetometer, reading, uwb

from iap_description.sensors.readings import PoseReading, RangeReading, SensorSource
from iap_description.sensors.sensor_info import SensorInfo, UwbInfo
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.sensor_messages.sensor_reader import Decoder
from iap_io.transports.table import transports_of
from iap_io.wire.cdr import message_types

T = 12.345  # [s]
FIELDS = {"parent": "iap/drone_1", "p_BS_B": (0.0, 0.0, 0.0), "q_BS": (0.0, 0.0, 0.0, 1.0)}
TAG = UwbInfo.model_construct(
    **FIELDS, topic="/iap/drone_1/uwb", frame="iap/drone_1_uwb", rate=20.0
)


def _encoded(meta: SensorInfo, **options: Any) -> tuple[list[Any], dict[str, Any]]:
    """Readings and, by topic, what is read from the messages; re-serialised they are the same bytes."""
    encode, store = encoder(meta, **options), message_types()
    readings = reading(meta, T, np.random.default_rng(4))
    found = {}
    for each in readings:
        for topic, parts in encode(each):
            data, msgtype = b"".join(parts), encode.topics[topic]
            found[topic] = store.deserialize_cdr(data, msgtype)
            assert bytes(store.serialize_cdr(found[topic], msgtype)) == data
            stamp = found[topic].header.stamp
            assert (stamp.sec, stamp.nanosec) == (12, 345_000_000)
            assert found[topic].header.frame_id == meta.frame
    assert set(found) == set(encode.topics)
    return readings, found


def _xyz(vector: Any) -> list[float]:
    return [vector.x, vector.y, vector.z]


def test_imu_brings_attitude_noise_and_true_biases() -> None:
    (said,), found = _encoded(imu())
    sample, bias = found["/iap/drone_1/imu"], found["/iap/drone_1/imu/true_bias"]
    assert _xyz(sample.angular_velocity) == said.w_WS_S.tolist()
    assert _xyz(sample.linear_acceleration) == said.f_S.tolist()
    assert [*_xyz(sample.orientation), sample.orientation.w] == said.q_WS.tolist()
    np.testing.assert_allclose(sample.orientation_covariance, 0.01**2 * np.eye(3).ravel())
    variance = 0.0015**2 * 200.0  # of a sample, from the density
    np.testing.assert_allclose(sample.angular_velocity_covariance, variance * np.eye(3).ravel())
    assert _xyz(bias.angular_velocity) == said.gyro_bias.tolist()
    assert _xyz(bias.linear_acceleration) == said.accel_bias.tolist()


def test_imu_without_attitude_says_so() -> None:
    _, found = _encoded(imu(attitude_deviation=None, has_bias=False))
    (sample,) = found.values()
    assert sample.orientation_covariance[0] == -1.0
    assert sample.orientation.w == 1.0


def test_magnetic_field() -> None:
    (said,), found = _encoded(magnetometer())
    sample = found["/iap/drone_1/mag"]
    assert _xyz(sample.magnetic_field) == said.field_S.tolist()
    assert sample.magnetic_field_covariance[4] == pytest.approx(1e-14)


def test_ranges_name_their_anchors() -> None:
    (said,), found = _encoded(uwb())
    ranges = found["/iap/drone_1/uwb"].ranges
    assert [each.anchor_id for each in ranges] == list(said.ids)
    np.testing.assert_array_equal([_xyz(each.position) for each in ranges], said.p_W)
    assert [each.range for each in ranges] == said.ranges.tolist()
    assert [each.standard_deviation for each in ranges] == said.deviations.tolist()
    assert [each.valid for each in ranges] == [True, False, True]


def test_poses_of_a_motion_capture_are_in_map_and_are_read_back_to_the_last_bit() -> None:
    meta = capture()
    (said,) = reading(meta, T, np.random.default_rng(4))
    ((topic, parts),) = encoder(meta)(said)
    data, decode = b"".join(parts), Decoder([meta])
    assert decode.types == {topic: "geometry_msgs/msg/PoseStamped"}
    assert message_types().deserialize_cdr(data, decode.types[topic]).header.frame_id == "map"
    again = decode(topic, data)
    assert isinstance(again, PoseReading)
    assert again.t == T
    np.testing.assert_array_equal(again.p_WS_W, said.p_WS_W)
    np.testing.assert_array_equal(again.q_WS, said.q_WS)


def test_cloud_has_points_and_rings() -> None:
    (said,), found = _encoded(lidar())
    cloud = found["/iap/drone_1/lidar/points"]
    assert (cloud.height, cloud.width, cloud.is_dense) == (1, 100, True)
    assert [field.name for field in cloud.fields] == ["x", "y", "z", "ring"]
    rows = cloud.data.reshape(100, cloud.point_step)
    np.testing.assert_array_equal(rows[:, :12].copy().view(np.float32), said.points_S)
    np.testing.assert_array_equal(rows[:, 12:14].copy().view(np.uint16)[:, 0], said.rings)


def test_every_output_of_a_camera_has_its_topic_and_its_pixels() -> None:
    outputs = ("mono8", "rgb8", "depth", "segmentation")
    said, found = _encoded(camera(outputs=outputs))
    images = ("image_raw", "image_color", "depth/image_raw", "segmentation/image_raw")
    for each, name in zip(said, images, strict=True):
        image = found[f"/iap/drone_1/left/{name}"]
        assert (image.encoding, image.height, image.width) == (each.encoding, 48, 64)
        assert image.step * image.height == image.data.size
        assert image.data.tobytes() == each.pixels.tobytes()
    assert len(found) == 6  # and two camera_info


def test_colour_alone_is_the_raw_image() -> None:
    _, found = _encoded(camera(outputs=("rgb8",)))
    assert found["/iap/drone_1/left/image_raw"].encoding == "rgb8"


def test_camera_info_is_what_the_meta_says() -> None:
    meta = camera("right", y=-0.06, D=(-0.3, 0.1, 1e-3, 2e-4, 0.0))
    _, found = _encoded(meta)
    info = found["/iap/drone_1/right/camera_info"]
    assert info.distortion_model == "plumb_bob"
    for name in "kdrp":
        np.testing.assert_array_equal(getattr(info, name), getattr(meta, name.upper()))


@pytest.mark.parametrize(
    ("output", "worded"),
    [
        ("mono8", "mono8; png compressed "),
        ("rgb8", "rgb8; png compressed bgr8"),
        ("segmentation", "16UC1; png compressed "),
    ],
)
def test_png_in_messages_is_lossless_and_opencv_reads_it(output: str, worded: str) -> None:
    cv2 = pytest.importorskip("cv2")
    (said,), found = _encoded(camera(outputs=(output,)), transports=transports_of("png"))
    (image,) = (each for topic, each in found.items() if topic.endswith("/compressed"))
    assert image.format == worded
    pixels = cv2.imdecode(image.data, cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(pixels[..., ::-1] if pixels.ndim == 3 else pixels, said.pixels)


def test_depth_is_not_compressed_where_nothing_may_be_lost() -> None:
    _, found = _encoded(camera(outputs=("mono8", "depth")), transports=transports_of("png"))
    assert "/iap/drone_1/left/depth/image_raw" in found


def test_the_first_output_of_a_camera_is_its_image() -> None:
    _, found = _encoded(camera(outputs=("depth",)))
    assert "/iap/drone_1/left/image_raw" in found
    assert "/iap/drone_1/left/camera_info" in found


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_a_round_comes_back(count):
    ids = tuple(f"anchor_{i}" for i in range(count))
    places, ranges = np.arange(3.0 * count).reshape(-1, 3), 1.0 + np.arange(count)
    said = RangeReading(
        SensorSource(TAG.topic, TAG.frame), 0.5, ids, places, ranges, ranges / 10, ranges > 0.0
    )
    ((topic, parts),) = encoder(TAG)(said)
    back = Decoder([TAG])(topic, b"".join(parts))
    assert back.ids == ids
    for name in ("p_W", "ranges", "deviations", "valid"):
        np.testing.assert_array_equal(getattr(back, name), getattr(said, name))
