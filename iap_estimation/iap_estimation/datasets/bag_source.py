# SPDX-License-Identifier: BSD-3-Clause
"""Bags of ROS 1 and 2 with stereo images and an inertial unit as data sets: one aircraft, no ranges."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_estimation.datasets.bag_messages import FixedFrames, camera_of, grey, shift_of
from iap_estimation.datasets.bag_topics import Chosen, Picked, info_topic, pick
from iap_estimation.datasets.euroc_source import on_imu, read_imu_file, read_stereo
from iap_estimation.frontend.calibration import Camera, StereoCalibration
from iap_estimation.navigation.data import (
    CAMERA_PRESET,
    MEMS,
    AircraftData,
    Dataset,
    Event,
    Images,
    Tally,
    Truth,
)
from iap_estimation.navigation.streams import Clock, Pairing, in_order
from iap_estimation.virpo.messages import Inertial
from iap_io.bags.bag_reading import check_metadata, parsing
from iap_io.sensor_messages.static_transforms import TF_STATIC
from iap_io.trajectories.messages import xyz
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.topics import Topic

RATE_SAMPLES = 50  # samples that show the rate of an inertial unit
MAX_DELAY = 0.25  # how much later than others a sensor's messages may have been recorded [s]


def open_bag(
    path: Path, chosen: Chosen, calibration: tuple[Path, ...] = (), truth: str | None = None
) -> Dataset:
    """A bag.

    Args:
        path: ROS 1 .bag, rosbag2 folder or file.
        chosen: topics that the user names.
        calibration: see `iap_estimation.datasets.opening.Choices`.
        truth: topic of the inertial unit's true poses.

    Raises:
        BadInput: the bag cannot be read, or misses a sensor or its calibration.
    """
    with _opened(path) as reader:
        topics = {
            name: Topic(about.msgtype or "several types", about.msgcount)
            for name, about in reader.topics.items()
        }
        picked = pick(str(path), topics, chosen, partial(_shift, reader))
        sample = _first(reader, picked.imu)
        start = _stamp(sample)
        measured = _noise(list(islice(_messages(reader, picked.imu), RATE_SAMPLES)))
        noise, pair, notes = _calibrated(path, reader, picked, sample.header.frame_id, calibration)
        if noise is None:
            noise, notes = measured
    known = None if truth is None else _truth(path, truth, start)
    if known is None:
        notes = (*notes, "nothing says what is true (--truth): there are trajectories, no errors")
    one = AircraftData("aircraft", pair, noise, truth=known)
    tally = Tally()
    events = partial(_events, path, picked, start, tally)
    return Dataset(str(path), path.stem, (one,), start, events, tally, notes, CAMERA_PRESET)


def _calibrated(
    path: Path,
    reader: AnyReader,
    picked: Picked,
    imu_frame: str,
    files: tuple[Path, ...],
) -> tuple[Array | None, StereoCalibration, tuple[str, ...]]:
    """Noise densities (4,) if a file says them, the pair on the inertial unit, and what the user should know."""
    if len(files) in (2, 3):
        pair = read_stereo(files[0], files[1])
        if len(files) == 2:
            return None, pair, ()
        noise, T_BI = read_imu_file(files[2])
        return noise, on_imu(pair, T_BI), ()
    if files:
        raise BadInput(f"--calibration: two or three files are expected, found {len(files)}")
    if TF_STATIC not in reader.topics:
        raise BadInput(
            f"{path}: no {TF_STATIC} says where the cameras are; give --calibration LEFT RIGHT"
        )
    tf = FixedFrames(str(path), _messages(reader, TF_STATIC))
    placed = [_placed(path, reader, topic, tf, imu_frame) for topic in picked.images]
    source = f"{path}: {' and '.join(picked.images)}"
    pair = StereoCalibration.placed(*zip(*placed, strict=True), source=source)
    return None, pair, ()


def _noise(samples: Sequence[Any]) -> tuple[Array, tuple[str, ...]]:
    """Densities (4,) as the covariances of samples say, or else of a small MEMS unit, and what the user should know."""
    noise = np.array(MEMS)
    span = (_stamp(samples[-1]) - _stamp(samples[0])) * 1e-9
    step = span / max(len(samples) - 1, 1)
    taken = []
    for at, name in enumerate(("angular_velocity", "linear_acceleration")):
        covariance = np.array(getattr(samples[0], f"{name}_covariance"), dtype=float)
        variance = float(np.mean(np.diag(covariance.reshape(3, 3))))
        if variance > 0.0 and step > 0.0:
            noise[at] = math.sqrt(variance * step)
        else:
            taken.append(name.replace("_", " "))
    parts = " and ".join([f"noise of the {name}" for name in taken] + ["walk of the biases"])
    return noise, (f"{parts} of the inertial unit: not known, a small MEMS unit's is taken",)


def _placed(
    path: Path, reader: AnyReader, topic: str, tf: FixedFrames, imu_frame: str
) -> tuple[Camera, Array]:
    """Camera, and the place (4, 4) of its images' frame on the inertial unit."""
    source = info_topic(topic)
    if source not in reader.topics:
        raise BadInput(
            f"{path}: no calibration: {source} is missing; give --calibration LEFT RIGHT"
        )
    info, image = _first(reader, source), _first(reader, topic)
    lens, turn = camera_of(info, topic, f"{path}: {source}")
    T_IC = tf.between(imu_frame, image.header.frame_id or info.header.frame_id)
    T_IC[:3, :3] = T_IC[:3, :3] @ turn.T
    return lens, T_IC


def _events(path: Path, picked: Picked, start: int, tally: Tally) -> Iterator[Event]:
    tally.clear()
    return in_order(_arriving(path, picked, start, tally), MAX_DELAY)


def _arriving(path: Path, picked: Picked, start: int, tally: Tally) -> Iterator[Event]:
    pairing: Pairing[Any] = Pairing(tally)
    names = (*picked.images, picked.imu)
    clocks = {name: Clock(f"{path}: {name}", tally) for name in names}
    with _opened(path) as reader:
        for topic, message in _all(reader, names):
            t = (_stamp(message) - start) * 1e-9
            if not clocks[topic].goes_on(t):
                continue
            if topic == picked.imu:
                yield 0, _inertial(f"{path}: {topic}", t, message)
                continue
            pair = pairing.add(picked.images.index(topic), t, message)
            if pair is not None:
                measured = (grey(each, f"{path}: {topic}") for each in pair[1:])
                yield 0, Images(pair[0], *measured)
    pairing.end()


def _inertial(source: str, t: float, message: Any) -> Inertial:  # noqa: ANN401
    w, f = np.array(xyz(message.angular_velocity)), np.array(xyz(message.linear_acceleration))
    if not (np.isfinite(w).all() and np.isfinite(f).all()):
        raise BadInput(f"{source}: a sample at {t:.6f} s is not finite")
    return Inertial(t, w, f)


def _truth(path: Path, topic: str, start: int) -> Truth:
    found = read_recorded(path, topic=topic, max_gap=math.inf)
    offset = (found.start_ns - start) * 1e-9
    return Truth(found.t + offset, np.hstack([found.p_WP_W, found.q_WP]), found.v_WP_W)


@contextmanager
def _opened(path: Path) -> Iterator[AnyReader]:
    is_ros1 = path.suffix == ".bag"
    store = get_typestore(Stores.ROS1_NOETIC if is_ros1 else Stores.LATEST)
    reader = None
    with parsing(path):
        check_metadata(path)
        reader = AnyReader([path], default_typestore=store)
        reader.open()
        count = reader.message_count
    try:
        if not count:
            raise BadInput(f"{path}: the bag holds no messages")
        yield reader
    finally:
        reader.close()


def _all(reader: AnyReader, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Topics and messages in the order of the bag."""
    path = Path(str(reader.paths[0]))
    chosen = [each for each in reader.connections if each.topic in names]
    raw = reader.messages(chosen)
    while True:
        with parsing(path):
            found = next(raw, None)
            if found is None:
                return
            message: Any = reader.deserialize(found[2], found[0].msgtype)
        yield found[0].topic, message


def _messages(reader: AnyReader, topic: str) -> Iterator[Any]:
    return (message for _, message in _all(reader, (topic,)))


def _first(reader: AnyReader, topic: str) -> Any:  # noqa: ANN401
    found = next(islice(_messages(reader, topic), 1), None)
    if found is None:
        raise BadInput(f"{reader.paths[0]}: no message on {topic}")
    return found


def _shift(reader: AnyReader, image: str) -> float | None:
    """P[3] of the CameraInfo beside a topic of images."""
    topic = info_topic(image)
    return shift_of(_first(reader, topic)) if topic in reader.topics else None


def _stamp(message: Any) -> int:  # noqa: ANN401
    """A message's stamp [ns]; ROS 1 and 2 name its parts alike in rosbags."""
    stamp = message.header.stamp
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
