# SPDX-License-Identifier: BSD-3-Clause
"""Bags of ROS 1 and 2 with images of one or two cameras and an inertial unit as data sets: one aircraft, no ranges."""

import math
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_estimation.datasets.bag_messages import FixedFrames, camera_of, grey, shift_of
from iap_estimation.datasets.bag_reader import (
    first,
    inertial,
    messages,
    noise_of,
    opened,
    stamp_of,
    topic_messages,
)
from iap_estimation.datasets.bag_topics import Picked, TopicNames, info_topic, pick
from iap_estimation.datasets.dataset import FROM_CAMERAS, SensorDataset
from iap_estimation.datasets.euroc_calibration import on_imu, read_cameras, read_imu_file
from iap_estimation.evaluation.truth import Truth
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration
from iap_estimation.navigation.fleet_data import ONE_CAMERA, AircraftData
from iap_estimation.navigation.measurements import Event, Images, Tally
from iap_estimation.navigation.streams import Clock, Pairing, in_order
from iap_io.sensor_messages.static_transforms import TF_STATIC
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.topics import Topic

RATE_SAMPLES = 50  # samples that show the rate of an inertial unit
MAX_DELAY = 0.25  # how much later than others a sensor's messages may have been recorded [s]


def open_bag(
    path: Path,
    topic_names: TopicNames,
    calibration: tuple[Path, ...] = (),
    truth: str | None = None,
) -> SensorDataset:
    """A bag.

    Args:
        path: ROS 1 .bag, rosbag2 folder or file.
        topic_names: topics that the user names.
        calibration: see `iap_estimation.datasets.opening.Choices`.
        truth: topic of the inertial unit's true poses.

    Raises:
        BadInput: the bag cannot be read, or misses a sensor or its calibration.
    """
    with opened(path) as reader:
        topics = {
            name: Topic(about.msgtype or "several types", about.msgcount)
            for name, about in reader.topics.items()
        }
        picked = pick(str(path), topics, topic_names, partial(_shift, reader))
        sample = first(reader, picked.imu)
        start = stamp_of(sample)
        measured = noise_of(list(islice(messages(reader, picked.imu), RATE_SAMPLES)))
        noise, pair = _calibrated(path, reader, picked, sample.header.frame_id, calibration)
        notes: tuple[str, ...] = () if pair.right is not None else (ONE_CAMERA,)
        if noise is None:
            noise, note = measured
            notes = (*notes, note)
    known = None if truth is None else _truth(path, truth, start)
    if known is None:
        notes = (*notes, "nothing says what is true (--truth): there are trajectories, no errors")
    one = AircraftData("aircraft", pair, noise, truth=known)
    tally = Tally()
    events = partial(_events, path, picked, start, tally)
    return SensorDataset(str(path), path.stem, (one,), start, events, tally, notes, FROM_CAMERAS)


def _calibrated(
    path: Path,
    reader: AnyReader,
    picked: Picked,
    imu_frame: str,
    files: tuple[Path, ...],
) -> tuple[Array | None, StereoCalibration]:
    """Noise densities (4,) if a file says them, and the cameras on the inertial unit."""
    count = len(picked.images)
    if len(files) == count:
        return None, read_cameras(files)
    if len(files) == count + 1:
        noise, T_BI = read_imu_file(files[-1])
        return noise, on_imu(read_cameras(files[:-1]), T_BI)
    if files:
        raise BadInput(
            f"--calibration: {len(files)} files for {' and '.join(picked.images)}: one of each is expected, and maybe"
            " one of the inertial unit"
        )
    if TF_STATIC not in reader.topics:
        raise BadInput(
            f"{path}: no {TF_STATIC} says where the cameras are; give --calibration LEFT RIGHT"
        )
    tf = FixedFrames(str(path), messages(reader, TF_STATIC))
    placed = [_placed(path, reader, topic, tf, imu_frame) for topic in picked.images]
    source = f"{path}: {' and '.join(picked.images)}"
    return None, StereoCalibration.placed(*zip(*placed, strict=True), source=source)


def _placed(
    path: Path, reader: AnyReader, topic: str, tf: FixedFrames, imu_frame: str
) -> tuple[CameraCalibration, Array]:
    """Camera, and the place (4, 4) of its images' frame on the inertial unit."""
    source = info_topic(topic)
    if source not in reader.topics:
        raise BadInput(
            f"{path}: no calibration: {source} is missing; give --calibration LEFT RIGHT"
        )
    info, image = first(reader, source), first(reader, topic)
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
    with opened(path) as reader:
        for topic, message in topic_messages(reader, names):
            t = (stamp_of(message) - start) * 1e-9
            if not clocks[topic].goes_on(t):
                continue
            if topic == picked.imu:
                yield 0, inertial(f"{path}: {topic}", t, message)
                continue
            if len(picked.images) == 1:
                yield 0, Images(t, grey(message, f"{path}: {topic}"), None)
                continue
            pair = pairing.add(picked.images.index(topic), t, message)
            if pair is not None:
                measured = (grey(each, f"{path}: {topic}") for each in pair[1:])
                yield 0, Images(pair[0], *measured)
    pairing.end()


def _truth(path: Path, topic: str, start: int) -> Truth:
    recorded = read_recorded(path, topic=topic, max_gap=math.inf)
    offset = (recorded.start_ns - start) * 1e-9
    return Truth(recorded.t + offset, np.hstack([recorded.p_WP_W, recorded.q_WP]), recorded.v_WP_W)


def _shift(reader: AnyReader, image: str) -> float | None:
    """P[3] of the CameraInfo beside a topic of images."""
    topic = info_topic(image)
    return shift_of(first(reader, topic)) if topic in reader.topics else None
