# SPDX-License-Identifier: BSD-3-Clause
"""Images by cv_bridge and by the suite's own encoding have the same bytes."""

import array
import os
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy
from hang import HANG
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import CompressedImage, Image

from iap_control.nodes.controller_node import TrackedReference
from iap_description.sensors.readings import ImageReading, SensorSource
from iap_description.sensors.sensor_info import CameraSensorInfo
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, REF_Q
from iap_io.ros import sensor_topics
from iap_io.ros.domains import free_domain
from iap_io.sensor_messages.camera_messages import IMAGE
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.transports.table import offered
from iap_io.wire.cdr import message_types

pytestmark = pytest.mark.ros
KINDS = {"mono8": np.uint8, "rgb8": np.uint8, "16UC1": np.uint16, "32FC1": np.float32}
OUTPUTS = {"mono8": "mono8", "rgb8": "rgb8", "16UC1": "segmentation", "32FC1": "depth"}


class StandIn:
    """Fills an Image as cv_bridge's documentation and its cv2_to_imgmsg in core.py of ROS 2 Jazzy do."""

    def cv2_to_imgmsg(self, pixels, encoding="passthrough", header=None):
        image = Image(height=pixels.shape[0], width=pixels.shape[1], encoding=encoding)
        image.header = header
        image.is_bigendian = pixels.dtype.byteorder == ">"
        image.data = array.array("B", pixels.tobytes())
        image.step = len(image.data) // image.height
        return image


def reading_of(encoding):
    shape = (6, 8, 3) if encoding == "rgb8" else (6, 8)
    values = np.random.default_rng(3).uniform(0.0, 250.0, shape).astype(KINDS[encoding])
    source = SensorSource("/iap/drone_1/left", "iap/drone_1_left_camera_optical")
    return ImageReading(source, 12.345, encoding, values)


def meta_of(reading):
    return CameraSensorInfo(
        topic=reading.source.topic,
        frame=reading.source.frame,
        parent="iap/drone_1",
        p_BS_B=(0.0, 0.0, 0.0),
        q_BS=(0.0, 0.0, 0.0, 1.0),
        rate=20.0,
        outputs=(OUTPUTS[reading.encoding],),
        width=8,
        height=6,
        K=(1.0,) * 9,
        D=(0.0,) * 5,
        P=(1.0,) * 12,
    )


def own_parts(reading):
    return next(iter(encoder(meta_of(reading))(reading)))[1]


def serialised(image):
    """Its bytes as rclpy has them, but for the gaps before aligned numbers, which hold whatever was there."""
    store = message_types()
    return bytes(
        store.serialize_cdr(store.deserialize_cdr(serialize_message(image), IMAGE), IMAGE)
    )


@pytest.mark.parametrize("encoding", KINDS)
def test_both_ways_to_an_image_are_equal_byte_by_byte(encoding, monkeypatch):
    reading = reading_of(encoding)
    monkeypatch.setattr(sensor_topics, "CvBridge", StandIn)
    bridged = sensor_topics.image_message(reading, own_parts(reading))
    monkeypatch.setattr(sensor_topics, "CvBridge", None)
    assert sensor_topics.image_message(reading, own_parts(reading)) == serialised(bridged)


def fits():
    """True if there is a cv_bridge that converts images of all kinds."""
    try:
        from cv_bridge import CvBridge

        for encoding in KINDS:
            CvBridge().cv2_to_imgmsg(reading_of(encoding).pixels, encoding)
    except Exception:  # of its compiled part
        return False
    return True


@pytest.mark.parametrize("encoding", KINDS)
def test_the_stand_in_is_what_cv_bridge_does(encoding):
    if not fits():
        pytest.skip("no cv_bridge that fits NumPy and OpenCV; it comes with a ROS 2 installation")
    pixels = reading_of(encoding).pixels
    ours, theirs = (
        serialised(each.cv2_to_imgmsg(pixels, encoding, Image().header))
        for each in (StandIn(), sensor_topics.CvBridge())
    )
    assert ours == theirs


@pytest.mark.parametrize(
    ("error", "encodings"),
    [
        (ImportError("compiled for NumPy 1"), KINDS),
        (TypeError("no module"), KINDS),
        (
            KeyError(16),
            ["rgb8"],
        ),  # compiled for OpenCV 4 beside OpenCV 5, which has 64 for CV_8UC3
    ],
)
def test_a_cv_bridge_whose_compiled_part_does_not_fit_is_left_out(error, encodings, monkeypatch):
    """Its Python part imports all the same; only a conversion shows it."""

    class Broken:
        def cv2_to_imgmsg(self, _, encoding):
            if encoding in encodings:
                raise error

    stand_in = types.ModuleType("cv_bridge")
    stand_in.CvBridge = Broken
    monkeypatch.setitem(sys.modules, "cv_bridge", stand_in)
    module = types.ModuleType("sensor_topics_anew")
    source = Path(sensor_topics.__file__)
    exec(compile(source.read_text(), str(source), "exec"), module.__dict__)
    assert module.CvBridge is None


def test_what_is_installed_and_fits_is_used():
    assert (sensor_topics.CvBridge is not None) == fits()


class Publisher:
    """Counts what is published, for so many subscribers."""

    def __init__(self):
        self.subscribers, self.messages = 0, []
        self.get_subscription_count = lambda: self.subscribers
        self.publish = self.messages.append


@pytest.mark.parametrize(
    ("compression", "worded"),
    [
        (
            "png",
            ["mono8; png compressed ", "16UC1; png compressed ", "32FC1; compressedDepth png"],
        ),
        (
            "jpeg",
            [
                "mono8; jpeg compressed mono8",
                "16UC1; png compressed ",
                "32FC1; compressedDepth png",
            ],
        ),
        ("none", []),
    ],
)
def test_a_node_offers_images_compressed_by_image_transport_s_names(compression, worded):
    """Beside each image its compressed topic, with the stamp and the frame of the reading."""
    readings = [reading_of(encoding) for encoding in ("mono8", "16UC1", "32FC1")]
    meta = meta_of(readings[0]).model_copy(update={"outputs": ("mono8", "segmentation", "depth")})
    publishers = {}

    def create_publisher(kind, name, _):
        publishers[name] = Publisher()
        publishers[name].subscribers = kind is CompressedImage
        return publishers[name]

    node = types.SimpleNamespace(create_publisher=create_publisher, absolute=lambda name: name)
    qos, kinds = sensor_topics.SENSOR_DATA, offered(compression)
    sensor_topics.SensorTopics(node, [meta], qos, transports=kinds).publish(readings)
    base = "/iap/drone_1/left"
    names = [f"{base}/image_raw/compressed", f"{base}/segmentation/image_raw/compressed"]
    names.append(f"{base}/depth/image_raw/compressedDepth")
    assert {each for each in publishers if "compressed" in each} == set(names if worded else [])
    for name, text in zip(names, worded, strict=False):
        (data,) = publishers[name].messages
        image = deserialize_message(data, CompressedImage)
        assert image.format == text
        assert (image.header.stamp.sec, image.header.stamp.nanosec) == (12, 345_000_000)
        assert image.header.frame_id == readings[0].source.frame


def test_a_reading_that_comes_again_goes_to_new_subscribers_alone():
    """A filter would divide by the time between two messages of one stamp."""
    publisher, reading = Publisher(), reading_of("mono8")
    node = types.SimpleNamespace(create_publisher=lambda *_: publisher, absolute=lambda name: name)
    topics = sensor_topics.SensorTopics(node, [meta_of(reading)], sensor_topics.SENSOR_DATA)
    publisher.subscribers = 1
    topics.publish([reading])
    first = len(publisher.messages)
    topics.publish([reading], again=True)
    assert first > 0 and len(publisher.messages) == first
    publisher.subscribers = 2
    topics.publish([reading], again=True)
    assert len(publisher.messages) == 2 * first
    topics.publish([reading])
    assert len(publisher.messages) == 3 * first


def test_a_reference_that_comes_again_goes_to_new_subscribers_alone():
    publisher, reference = Publisher(), Reference(np.zeros(REF_FIXED))
    reference.row[REF_Q.stop - 1] = 1.0
    rate = types.SimpleNamespace(value=200.0)
    node = types.SimpleNamespace(
        get_parameter=lambda _: rate, create_publisher=lambda *_: publisher
    )
    tracked, publisher.subscribers = TrackedReference(node), 1
    for stamp in (0, 0, 0, 10_000_000):
        tracked.publish(stamp, 2 * (stamp > 0), reference)
    assert len(publisher.messages) == 2 * 3  # pose, twist, accel
    publisher.subscribers = 2
    tracked.publish(10_000_000, 2, reference)
    assert len(publisher.messages) == 3 * 3


COUNT = 60
PATIENCE = 10.0  # after which an image is lost, on a busy machine, too [s]
PUBLISHER = """
import sys
import time
import numpy as np
import rclpy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import CompressedImage, Image
from iap_io.ros.sensor_topics import SENSOR_DATA

rclpy.init()
publisher = rclpy.create_node("camera").create_publisher(Image, "depth", SENSOR_DATA)
image = Image(height=480, width=640, encoding="32FC1", step=2560)
image.data.frombytes(np.zeros((480, 640), np.float32).tobytes())
data = serialize_message(image)
while not publisher.get_subscription_count():
    time.sleep(0.05)
for _ in sys.stdin:
    publisher.publish(data)
"""


@pytest.mark.slow
@pytest.mark.nodes
def test_depth_images_arrive_with_the_quality_of_service_of_sensor_data(monkeypatch):
    """640 x 480 floats, 1.2 MB, by the profile that ships: in shared memory of 0.5 MB two in a hundred arrived."""
    profile = Path(__file__).parents[3] / "tools" / "fastdds.xml"
    folders = os.environ["LD_LIBRARY_PATH"].split(":")
    is_fast_dds_2 = any(Path(each, "libfastrtps.so").exists() for each in folders)
    name = f"FAST{'RTPS' if is_fast_dds_2 else 'DDS'}_DEFAULT_PROFILES_FILE"
    monkeypatch.setenv(name, str(profile))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with free_domain() as domain:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
        camera = subprocess.Popen([sys.executable, "-P", "-c", PUBLISHER], stdin=subprocess.PIPE)
        rclpy.init(domain_id=domain)
        try:
            arrived = arrivals(camera)
        finally:
            rclpy.shutdown()
            camera.communicate()
    assert arrived >= 0.99 * COUNT


def arrivals(camera):
    """Number of images that have arrived of those that were asked for one after the other."""
    node, images = rclpy.create_node("viewer"), []
    node.create_subscription(Image, "depth", images.append, sensor_topics.SENSOR_DATA, raw=True)
    deadline = time.monotonic() + HANG
    while not node.count_publishers("depth"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for _ in range(COUNT):
        before, patience = len(images), time.monotonic() + PATIENCE
        camera.stdin.write(b"\n")
        camera.stdin.flush()
        while len(images) == before and time.monotonic() < patience:
            rclpy.spin_once(node, timeout_sec=0.05)
    return len(images)
