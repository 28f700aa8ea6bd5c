# SPDX-License-Identifier: BSD-3-Clause
"""Bags of ROS 1 and 2 with images of one or two cameras and an inertial unit as data sets: one aircraft, no ranges."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_estimation.datasets.bag_clocks import BagClocks, compare_clocks, late_sentence
from iap_estimation.datasets.bag_messages import (
    FixedFrames,
    GreyStream,
    camera_of,
    deep_grey,
    focal_of,
    grey,
    in_left_frame,
    rectified_turn,
    shift_of,
)
from iap_estimation.datasets.bag_samples import RATE_SAMPLES, inertial, noise_of
from iap_estimation.datasets.bag_topics import TopicChoice, TopicNames, info_topic, pick
from iap_estimation.datasets.dataset import FROM_CAMERAS, SensorDataset
from iap_estimation.datasets.deep_images import LOOKED_AT, DeepLevels, levels_of
from iap_estimation.datasets.euroc_calibration import on_imu, read_cameras, read_imu_file
from iap_estimation.evaluation.truth import Truth
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration
from iap_estimation.navigation.fleet_data import ONE_CAMERA, AircraftData
from iap_estimation.navigation.measurements import Event, Images, Tally
from iap_estimation.navigation.streams import LATEST, Pairing, Sorter, in_order
from iap_io.sensor_messages.static_transforms import TF_STATIC
from iap_io.trajectories.bags import Bag, opened
from iap_io.trajectories.messages import header_ns
from iap_io.trajectories.reader import read_recorded
from iap_io.wire.other_types import PACKET

OTHER_BASELINE = 0.2  # of a baseline, that P[3] may differ from it


class TruthPoses(NamedTuple):
    """The topic of the true poses of a bag, and which of its bodies and frames, where it has several."""

    topic: str | None = None
    body: str | None = None
    frame: str | None = None


NO_TRUTH = TruthPoses()


def open_bag(
    path: Path,
    topic_names: TopicNames,
    calibration: tuple[Path, ...] = (),
    truth: TruthPoses = NO_TRUTH,
) -> SensorDataset:
    """A bag.

    Args:
        path: ROS 1 .bag, rosbag2 folder or file.
        topic_names: topics that the user names.
        calibration: see `iap_estimation.datasets.opening.Choices`.
        truth: the inertial unit's true poses.

    Raises:
        BadInput: the bag cannot be read, or misses a sensor or its calibration; a body of no topic.
    """
    if truth.topic is None and truth != NO_TRUTH:
        raise BadInput(f"{path}: --body and --frame are of the poses of --truth, which names none")
    with opened(path) as bag:
        picked = pick(str(path), bag.topics, topic_names, partial(_shift, bag))
        clocks = compare_clocks(bag, picked.imu, picked.images)
        sample, received = bag.first(picked.imu)
        start = clocks.ticks(picked.imu, header_ns(sample), received)
        end = 1e-9 * (bag.end_ns - received)
        measured = noise_of([each for each, _ in islice(bag.messages(picked.imu), RATE_SAMPLES)])
        of_file, pair = _calibrated(bag, picked, sample.header.frame_id, calibration)
        noise, note = measured if of_file is None else of_file
        notes: tuple[str, ...] = () if pair.right is not None else (ONE_CAMERA,)
        levels = levels_of(
            deep_grey(image, f"{path}: {topic}")
            for topic in picked.images
            if bag.topics[topic].msgtype != PACKET  # whose levels are of 8 bits
            for image in bag.spread(topic, LOOKED_AT)
        )
        notes = (*notes, *(each for each in (note, levels.note) if each is not None))
    known: Truth | None = None
    off: tuple[str, ...] = ()
    if truth.topic is not None:
        known, off = read_truth(path, truth, start, clocks)
    notes = (*notes, *clocks.notes, *off)
    if known is None:
        notes = (*notes, "nothing says what is true (--truth): there are trajectories, no errors")
    one = AircraftData("aircraft", pair, noise, truth=known)
    tally = Tally()
    recording = _Recording(path, picked, start, clocks)
    events = partial(_events, recording, levels, tally)
    return SensorDataset(
        *(str(path), path.stem, (one,), start, events, tally, notes, FROM_CAMERAS),
        clock_doubt=_doubt(picked, clocks),
        end=end,
    )


def _doubt(picked: TopicChoice, clocks: BagClocks) -> str | None:
    """The sentence on images that come late by far, with the options that decide."""
    if clocks.late_s is None:
        return None
    late = late_sentence(picked.images[0], clocks.late_s)
    options = f"--image-delay 0 takes stamps as they are, --image-delay {-clocks.late_s:.2f} times of reception"
    return f"{late}? {options}"


class _Recording(NamedTuple):
    """A bag, its topics, the time of its start [ns] and its clocks."""

    path: Path
    picked: TopicChoice
    start: int
    clocks: BagClocks


def _calibrated(
    bag: Bag,
    picked: TopicChoice,
    imu_frame: str,
    files: tuple[Path, ...],
) -> tuple[tuple[Array, str | None] | None, StereoCalibration]:
    """Noise densities (4,) and a note on them if a file says them, and the cameras on the inertial unit."""
    count = len(picked.images)
    if len(files) == count:
        return None, read_cameras(files)
    if len(files) == count + 1:
        noise, T_BI, note = read_imu_file(files[-1])
        return (noise, note), on_imu(read_cameras(files[:-1]), T_BI)
    if files:
        raise BadInput(
            f"--calibration: {len(files)} files for {' and '.join(picked.images)}: one of each is expected, and maybe"
            " one of the inertial unit"
        )
    if TF_STATIC not in bag.topics:
        raise BadInput(
            f"{bag.path}: no {TF_STATIC} says where the cameras are; give --calibration LEFT RIGHT"
        )
    tf = FixedFrames(str(bag.path), (each for each, _ in bag.messages(TF_STATIC)))
    infos = [_info(bag, topic) for topic in picked.images]
    placed = [_placed(bag.path, each, tf, imu_frame) for each in infos]
    source = f"{bag.path}: {' and '.join(picked.images)}"
    if len(infos) == 2 and infos[0].frame == infos[1].frame:
        placed[1] = _beside(infos, placed, source)
    pair = StereoCalibration.placed(*zip(*placed, strict=True), source=source)
    _check_baseline(infos, pair, source)
    return None, pair


def _check_baseline(infos: Sequence["_Info"], pair: StereoCalibration, source: str) -> None:
    """Refuse a pair whose P[3] and /tf_static have other baselines; zeros in P[3] say none."""
    shifts = [shift_of(each.message) for each in infos]
    if len(infos) < 2 or not any(shifts):
        return
    by_frames = float(np.linalg.norm(pair.p_RL_R))
    by_projection = (shifts[0] - shifts[1]) / focal_of(infos[1].message)
    if not abs(by_projection - by_frames) < OTHER_BASELINE * by_frames:
        raise BadInput(
            f"{source}: /tf_static says {by_frames:.4g} m between them, P[3] of CameraInfo {by_projection:.4g} m"
            " (-fx times the baseline); --calibration LEFT RIGHT says which"
        )


class _Info(NamedTuple):
    """A CameraInfo beside a topic of images, and the frame of these."""

    topic: str
    message: Any
    frame: str


def _info(bag: Bag, topic: str) -> _Info:
    source = info_topic(topic)
    if source not in bag.topics:
        raise BadInput(
            f"{bag.path}: no calibration: {source} is missing; give --calibration LEFT RIGHT"
        )
    message, image = bag.first(source)[0], bag.first(topic)[0]
    return _Info(topic, message, image.header.frame_id or message.header.frame_id)


def _placed(
    path: Path, info: _Info, tf: FixedFrames, imu_frame: str
) -> tuple[CameraCalibration, Array]:
    """Camera, and the place (4, 4) of its images' frame on the inertial unit."""
    lens, turn = camera_of(info.message, info.topic, f"{path}: {info_topic(info.topic)}")
    T_IC = tf.between(imu_frame, info.frame)
    T_IC[:3, :3] = T_IC[:3, :3] @ turn.T
    return lens, T_IC


def _beside(
    infos: Sequence[_Info], placed: Sequence[tuple[CameraCalibration, Array]], source: str
) -> tuple[CameraCalibration, Array]:
    """The right camera of a pair with one frame, beside the left one by the baseline of P[3] (REP 104)."""
    left, right = infos
    shift = shift_of(right.message) - shift_of(left.message)
    if shift > 0.0:
        raise BadInput(
            f"{source}: P[3] of {right.topic} is {shift:.4g}, and -fx times the baseline is expected of a right camera:"
            " are --left and --right exchanged?"
        )
    if not shift < 0.0:
        raise BadInput(
            f"{source}: both have the frame '{left.frame}', and no P[3] of their CameraInfo says the baseline;"
            " give --calibration LEFT RIGHT"
        )
    T_IR = placed[0][1].copy()
    turn = camera_of(left.message, left.topic, source)[1]
    T_IR[:3, :3] = T_IR[:3, :3] @ turn @ rectified_turn(left.message).T
    turn = camera_of(right.message, right.topic, source)[1]
    return placed[1][0], T_IR @ in_left_frame(right.message, turn)


def _events(recording: _Recording, levels: DeepLevels, tally: Tally) -> Iterator[Event]:
    tally.clear()
    return in_order(_arriving(recording, levels, tally), 2.0 * LATEST)


def _arriving(recording: _Recording, levels: DeepLevels, tally: Tally) -> Iterator[Event]:
    picked = recording.picked
    pairing: Pairing[Any] = Pairing(tally)
    for topic, t, message in _sorted(recording, tally):
        source = f"{recording.path}: {topic}"
        if topic == picked.imu:
            sample = inertial(t, message, tally)
            if sample is not None:
                yield 0, sample
        elif len(picked.images) == 1:
            yield 0, Images(t, grey(message, source, levels), None)
        else:
            pair = pairing.add(picked.images.index(topic), t, message)
            if pair is not None:
                yield 0, Images(pair[0], *(grey(each, source, levels) for each in pair[1:]))
    pairing.end()


def _sorted(recording: _Recording, tally: Tally) -> Iterator[tuple[str, float, Any]]:
    """Topics, times since the start [s] and messages, those of each topic in the order of their stamps."""
    path, picked, start, clocks = recording
    names = (*picked.images, picked.imu)
    sorters: dict[str, Sorter[Any]] = {
        name: Sorter(f"{path}: {name}", tally, LATEST) for name in names
    }
    with opened(path) as bag:
        streams = {
            name: GreyStream(f"{path}: {name}")
            for name in picked.images
            if bag.topics[name].msgtype == PACKET
        }
        for topic, message, received in bag.received(names):
            if topic in streams:
                message = streams[topic](message)  # noqa: PLW2901 - before they are sorted
                if message is None:
                    tally.partial += 1
                    continue
            t = (clocks.ticks(topic, header_ns(message), received) - start) * 1e-9
            yield from ((topic, *each) for each in sorters[topic].add(t, message))
    for topic, sorter in sorters.items():
        yield from ((topic, *each) for each in sorter.end())


def read_truth(
    path: Path, truth: TruthPoses, start: int, clocks: BagClocks
) -> tuple[Truth, tuple[str, ...]]:
    """The true poses of a topic at times since a start [ns], and what was found of their clock.

    Raises:
        BadInput: the topic holds no poses that can be read.
    """
    recorded = read_recorded(path, **truth._asdict(), bridge=math.inf, follows=False)
    begin, notes = clocks.start_of(recorded, str(truth.topic))
    t = recorded.t + (begin - start) * 1e-9
    return Truth(t, np.hstack([recorded.p_WP_W, recorded.q_WP]), recorded.v_WP_W), notes


def _shift(bag: Bag, image: str) -> float | None:
    """P[3] of the CameraInfo beside a topic of images."""
    topic = info_topic(image)
    return shift_of(bag.first(topic)[0]) if topic in bag.topics else None
