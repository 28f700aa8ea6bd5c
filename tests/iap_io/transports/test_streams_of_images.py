# SPDX-License-Identifier: BSD-3-Clause
"""Images as packets of H.264: what comes back, what a lost packet does, and what others write."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from made_up_sensors import camera

from iap_description.errors import BadInput
from iap_description.process import extras
from iap_description.sensors.readings import ImageReading, SensorSource
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.sensor_messages.sensor_reader import Decoder
from iap_io.transports import h264
from iap_io.transports.h264 import EVERY, H264, PacketReader
from iap_io.transports.table import offered, taking
from iap_io.wire.cdr import decoded
from iap_io.wire.other_types import PACKET

pytest.importorskip("av")
SOURCE = SensorSource("/iap/drone_1/left", "iap/drone_1/left_optical")
SMOOTH = 8.0  # grey levels (RMS) that a smooth image may be off by


def _images(count: int, shape: tuple[int, ...] = (48, 64)) -> list[np.ndarray]:
    """Waves that move by a pixel from image to image."""
    v, u = np.mgrid[: shape[0], : shape[1]]
    waves = [128 + 60 * np.sin((u + k) / 6.0) + 50 * np.cos((v - k) / 9.0) for k in range(count)]
    if len(shape) == 3:
        waves = [np.stack([each, each[::-1], np.full_like(each, 90.0)], -1) for each in waves]
    return [each.round().clip(0, 255).astype(np.uint8) for each in waves]


def _packets(images: list[np.ndarray], encoding: str) -> Iterator[Any]:
    write = H264().writer(SOURCE.frame, encoding, lambda *_: b"")
    for k, pixels in enumerate(images):
        parts = write(ImageReading(SOURCE, 0.05 * k, encoding, pixels))
        yield decoded(b"".join(bytes(each) for each in parts), PACKET)


def _error(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.sqrt(np.mean((one.astype(float) - other) ** 2)))


@pytest.mark.parametrize(
    ("encoding", "shape"), [("mono8", (48, 64)), ("rgb8", (48, 64, 3)), ("mono8", (31, 45))]
)
def test_each_packet_is_an_image_that_comes_back_at_once(
    encoding: str, shape: tuple[int, ...]
) -> None:
    images, read = _images(25, shape), PacketReader()
    for k, (packet, pixels) in enumerate(zip(_packets(images, encoding), images, strict=True)):
        assert (packet.height, packet.width) == shape[:2]
        assert (packet.pts, packet.flags) == (k, int(k % EVERY == 0))
        assert packet.header.frame_id == SOURCE.frame
        assert packet.header.stamp.nanosec == 50_000_000 * (k % 20)
        back = read(packet)
        assert back is not None
        assert back[0] == encoding
        assert back[1].shape == shape
        assert _error(back[1], pixels) < SMOOTH


def test_grey_keeps_black_and_white_as_luma_of_its_full_range() -> None:
    flat = [np.full((32, 32), level, np.uint8) for level in (0, 255)]
    for pixels in flat:
        (packet,) = _packets([pixels], "mono8")
        image = PacketReader()(packet)
        assert image is not None
        assert _error(image[1], pixels) < 1.0


def test_the_field_encoding_has_the_words_of_the_plugin() -> None:
    for encoding, words in (
        ("mono8", "h264;yuv420p;mono8;mono8"),
        ("rgb8", "h264;yuv420p;bgr8;rgb8"),
    ):
        shape = (16, 16, 3) if encoding == "rgb8" else (16, 16)
        (packet,) = _packets(_images(1, shape), encoding)
        assert packet.encoding == words


def test_a_stream_of_images_that_move_takes_less_than_half_of_key_frames_alone() -> None:
    sizes = [len(packet.data) for packet in _packets(_images(20, (240, 320)), "mono8")]
    assert np.mean(sizes[1:EVERY]) < 0.5 * sizes[0]


def test_from_a_lost_packet_to_the_next_key_frame_there_are_no_images() -> None:
    packets, read = list(_packets(_images(25), "mono8")), PacketReader()
    del packets[4]
    images = {int(each.pts): read(each) for each in packets}
    assert [k for k, image in images.items() if image is None] == [5, 6, 7, 8, 9]


def test_a_reader_that_comes_late_begins_at_a_key_frame() -> None:
    read = PacketReader()
    have = [read(each) is not None for each in list(_packets(_images(15), "mono8"))[3:]]
    assert have == [False] * 7 + [True] * 5


def test_packets_with_other_numbers_than_one_by_one_are_not_taken_for_lost() -> None:
    read = PacketReader()
    for packet in _packets(_images(12), "mono8"):
        packet.pts = 33_333 * int(packet.pts)  # times, as some drivers write
        assert read(packet) is not None


def test_words_of_old_bags_name_an_encoder() -> None:
    (packet,) = _packets(_images(1, (32, 32, 3)), "rgb8")
    packet.encoding = "libx264"
    back = PacketReader()(packet)
    assert back is not None
    assert back[0] == "rgb8"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"encoding": "av1;yuv420p;bgr8;bgr8"}, "neither H.264 nor H.265"),
        ({"encoding": "h264;yuv420p;mono16;mono16"}, "neither grey nor colour"),
        ({"width": 0}, "0x48 of 64x48 pixels"),
        ({"height": 50}, "64x50 of 64x48 pixels"),
    ],
)
def test_what_no_image_can_be_made_of_is_refused(change: dict[str, Any], text: str) -> None:
    (packet,) = _packets(_images(1), "mono8")
    for name, value in change.items():
        setattr(packet, name, value)
    with pytest.raises(ValueError, match=text):
        PacketReader()(packet)


def test_a_damaged_packet_is_refused_or_has_no_image_and_images_go_on_at_the_next_key_frame(
    capfd: pytest.CaptureFixture[str],
) -> None:
    rng, packets, read = (
        np.random.default_rng(3),
        list(_packets(_images(25), "mono8")),
        PacketReader(),
    )
    packets[4].data = rng.integers(0, 255, 40, dtype=np.uint8)
    images = []
    for packet in packets:
        try:
            images.append(read(packet))
        except ValueError as error:
            assert "damaged" in str(error)  # noqa: PT017 - refused or left out, by the bytes
            images.append(None)
    assert [image is not None for image in images] == [True] * 4 + [False] * 6 + [True] * 15
    assert capfd.readouterr().err == ""


def test_images_beyond_the_largest_that_are_read_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A packet of a few bytes can say that its image has a gigapixel."""
    (packet,) = _packets(_images(1), "mono8")
    monkeypatch.setattr(h264, "MAX_PIXELS", 48 * 64 - 1)
    with pytest.raises(ValueError, match="a damaged packet"):
        PacketReader()(packet)


def test_a_camera_node_s_topics_are_read_by_the_names_of_image_transport() -> None:
    meta = camera(outputs=("mono8", "rgb8", "depth", "segmentation"))
    encode, decode = encoder(meta, transports=offered("h264")), Decoder([meta], ("h264",))
    streams = [name for name, kind in encode.topics.items() if kind == PACKET]
    assert [name.rsplit("/", 1)[1] for name in streams] == ["ffmpeg", "ffmpeg"]
    pixels = _images(1, (meta.height, meta.width))[0]
    reading = ImageReading(SensorSource(meta.topic, meta.frame), 1.0, "mono8", pixels)
    (topic, parts), *_ = encode(reading)
    back = decode(topic, b"".join(bytes(each) for each in parts))
    assert isinstance(back, ImageReading)
    assert (back.t, back.encoding) == (1.0, "mono8")
    assert _error(back.pixels, pixels) < SMOOTH
    assert taking(offered("h264"), "16UC1") == taking(offered("png"), "16UC1")


def test_a_reading_without_its_key_frame_is_refused_with_the_reason() -> None:
    meta = camera(outputs=("mono8",))
    encode, decode = encoder(meta, transports=offered("h264")), Decoder([meta], ("h264",))
    readings = [
        ImageReading(SensorSource(meta.topic, meta.frame), 0.1 * k, "mono8", pixels)
        for k, pixels in enumerate(_images(2, (meta.height, meta.width)))
    ]
    messages = [next(iter(encode(each))) for each in readings]
    topic, parts = messages[1]
    with pytest.raises(BadInput, match="at the next key frame"):
        decode(topic, b"".join(bytes(each) for each in parts))


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h264, "av", extras.LazyModule("no_such_library", "H.264 needs", "video"))
    with pytest.raises(BadInput, match=r"H\.264 needs no_such_library.*video"):
        H264().writer("frame", "mono8", lambda *_: b"")
