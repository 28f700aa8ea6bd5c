# SPDX-License-Identifier: BSD-3-Clause
"""Bags whose images are streams of H.264: what a data set says of them, also from a packet on that is missing."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from resting_pair import TF, TF_TEXT, PairBag

from iap_bringup.fuzz.made_bags import FORMATS, MadeBags
from iap_bringup.fuzz.made_recordings import resting
from iap_description.errors import BadInput
from iap_description.sensors.readings import ImageReading, SensorSource
from iap_estimation.datasets.bag_topics import IMAGE, IMAGES, IMU, TopicNames, info_topic, pick
from iap_estimation.datasets.opening import open_dataset
from iap_estimation.navigation.measurements import Images
from iap_io.trajectories.topics import Topic
from iap_io.transports.h264 import EVERY, H264
from iap_io.wire.cdr import decoded
from iap_io.wire.other_types import DEFINITIONS, PACKET

pytest.importorskip("av")
CLOSE = 6.0  # grey levels (RMS) by which an image out of a stream may be off


class StreamBag(PairBag):
    """The same with packets in place of images, of which one of each side may be left out."""

    def __init__(self, kind: str, *, without: int | None = None, encoding: str = "mono8") -> None:
        super().__init__(kind)
        self._bags = MadeBags(Path(), kind, {TF: TF_TEXT, PACKET: DEFINITIONS[PACKET]})
        self.image_type, self.suffix = PACKET, "/image_raw/ffmpeg"
        self._encoding, self._without = encoding, without
        self._writers: dict[str, Any] = {}

    def _messages(self, pair: Any) -> Any:
        seen = dict.fromkeys(self.names.values(), 0)
        for each in super()._messages(pair):
            if each[2] == PACKET:
                topic = each[1].removesuffix(self.suffix)
                seen[topic] += 1
                if seen[topic] - 1 == self._without:
                    continue
            yield each

    def _image(self, name: str, stamp: int, pixels: np.ndarray) -> Any:
        pixels = cv2.GaussianBlur(pixels, (0, 0), 3.0)
        if self._encoding == "rgb8":
            pixels = np.repeat(pixels[..., None], 3, axis=-1)
        source = SensorSource("", self.frames[name])
        if name not in self._writers:
            self._writers[name] = H264().writer(source.frame, self._encoding, lambda *_: b"")
        parts = self._writers[name](ImageReading(source, 0.0, self._encoding, pixels))
        packet = decoded(b"".join(bytes(each) for each in parts), PACKET)
        values = {each: getattr(packet, each) for each in ("width", "height", "encoding", "pts")}
        values |= {each: getattr(packet, each) for each in ("flags", "is_bigendian", "data")}
        return self._make(PACKET, header=self._bags.header(stamp, self.frames[name]), **values)


def _images(path: Path) -> tuple[list[Images], list[int], list[str]]:
    """Pairs of images, their stamps [ns] and what was odd."""
    dataset = open_dataset(path)
    images = [each for _, each in dataset.events() if isinstance(each, Images)]
    stamps = [round(each.t * 1e9) + dataset.start_ns for each in images]
    return images, stamps, dataset.tally.sentences()


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("encoding", ["mono8", "rgb8"])
def test_images_out_of_a_stream_are_those_of_the_pair(
    kind: str, encoding: str, tmp_path: Path
) -> None:
    pair = resting(0.5)
    images, stamps, sentences = _images(StreamBag(kind, encoding=encoding).write(tmp_path, pair))
    assert stamps == pair.stamps[0]
    assert sentences == []
    for k, each in enumerate(images):
        for side, levels in enumerate((each.left, each.right)):
            assert levels is not None
            expected = cv2.GaussianBlur(pair.image(side, k), (0, 0), 3.0)
            assert np.sqrt(np.mean((levels.astype(float) - expected) ** 2)) < CLOSE


def test_from_a_missing_packet_to_the_next_key_frame_images_are_left_out_and_counted(
    tmp_path: Path,
) -> None:
    pair = resting(1.0)
    whole, without = len(pair.stamps[0]), 3
    images, stamps, sentences = _images(StreamBag("mcap", without=without).write(tmp_path, pair))
    assert len(images) == whole - (EVERY - without)
    assert not set(stamps) & set(pair.stamps[0][without:EVERY])
    lost = EVERY - without - 1  # of each side
    assert sentences == [
        f"{2 * lost} packets of images had no key frame before them, or one was missing: left out"
    ]


def test_a_packet_that_cannot_be_read_is_refused_with_its_topic(tmp_path: Path) -> None:
    bag = StreamBag("mcap")
    make = bag._make
    bag._make = lambda kind, **values: make(  # as of another codec
        kind, **(values | {"encoding": "av1"} if kind == PACKET else values)
    )
    dataset = open_dataset(bag.write(tmp_path, resting(0.3)))
    with pytest.raises(BadInput, match=r"image_raw/ffmpeg: a packet \('av1'\) cannot be read"):
        list(dataset.events())


def test_a_stream_is_taken_where_a_camera_has_nothing_better() -> None:
    def topics(*kinds: str) -> dict[str, Topic]:
        ends = dict(zip(IMAGES, ("", "/compressed", "/ffmpeg"), strict=True))
        found = {f"/a/image{ends[kind]}": Topic(kind, 9) for kind in kinds}
        return {**found, "/imu": Topic(IMU, 9)}

    def picked(*kinds: str) -> tuple[str, ...]:
        return pick("bag", topics(*kinds), TopicNames(), lambda _: None).images

    assert picked(*IMAGES) == picked(IMAGE) == ("/a/image",)
    assert picked(*IMAGES[1:]) == ("/a/image/compressed",)
    assert picked(PACKET) == ("/a/image/ffmpeg",)
    assert info_topic("/a/image/ffmpeg") == "/a/camera_info"
