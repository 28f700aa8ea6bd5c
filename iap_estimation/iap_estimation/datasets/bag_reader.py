# SPDX-License-Identifier: BSD-3-Clause
"""Messages of bags of ROS 1 and 2 as rosbags gives them, and inertial samples of them."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_estimation.datasets.noise_densities import MAX_DENSITIES
from iap_estimation.navigation.fleet_data import MEMS, MIN_DENSITIES
from iap_estimation.navigation.measurements import Tally, inertial_sample
from iap_estimation.virpo.messages import ImuSample
from iap_io.bags.bag_reading import parsing
from iap_io.bags.mending import mended
from iap_io.trajectories.messages import xyz


@contextmanager
def opened(path: Path) -> Iterator[AnyReader]:
    """A bag while it is read.

    Raises:
        BadInput: it cannot be read, or is empty.
    """
    is_ros1 = path.suffix == ".bag"
    store = get_typestore(Stores.ROS1_NOETIC if is_ros1 else Stores.LATEST)
    with mended(path) as (storage, _):
        with parsing(path):
            reader = AnyReader([storage], default_typestore=store)
            reader.open()
            count = reader.message_count
        try:
            if not count:
                raise BadInput(f"{path}: the bag holds no messages")
            yield reader
        finally:
            with parsing(path):
                reader.close()


def received_messages(reader: AnyReader, names: tuple[str, ...]) -> Iterator[tuple[str, Any, int]]:
    """Topics, messages and times of reception [ns] in the order of the bag."""
    path = Path(str(reader.paths[0]))
    connections = [each for each in reader.connections if each.topic in names]
    raw = reader.messages(connections)
    while True:
        with parsing(path):
            newest = next(raw, None)
            if newest is None:
                return
            message: Any = reader.deserialize(newest[2], newest[0].msgtype)
            received = int(np.int64(newest[1]))  # a damaged table may hold texts
        yield newest[0].topic, message, received


def messages(reader: AnyReader, topic: str) -> Iterator[Any]:
    """Messages of a topic in the order of the bag."""
    return (message for _, message, _ in received_messages(reader, (topic,)))


def first(reader: AnyReader, topic: str) -> Any:  # noqa: ANN401
    """The first message of a topic.

    Raises:
        BadInput: there is none.
    """
    return first_received(reader, topic)[0]


def first_received(reader: AnyReader, topic: str) -> tuple[Any, int]:
    """The first message of a topic, and its time of reception [ns].

    Raises:
        BadInput: there is none.
    """
    newest = next(received_messages(reader, (topic,)), None)
    if newest is None:
        raise BadInput(f"{reader.paths[0]}: no message on {topic}")
    return newest[1:]


def spread(reader: AnyReader, topic: str, count: int) -> Iterator[Any]:
    """The first messages of a topic after times that are spread over a bag."""
    connections = [each for each in reader.connections if each.topic == topic]
    step = max(1, (reader.end_time - reader.start_time) // count)
    for k in range(count):
        with parsing(Path(str(reader.paths[0]))):
            raw = reader.messages(connections, start=reader.start_time + k * step)
            newest = next(raw, None)
            if newest is None:
                return
            message: Any = reader.deserialize(newest[2], newest[0].msgtype)
        yield message


def stamp_of(message: Any) -> int:  # noqa: ANN401
    """A message's stamp [ns]; ROS 1 and 2 name its parts alike in rosbags."""
    stamp = message.header.stamp
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def noise_of(samples: Sequence[Any]) -> tuple[Array, str]:
    """Densities (4,) as the covariances of samples say, or else of a small MEMS unit, and what the user should know."""
    noise = np.array(MEMS)
    span = (stamp_of(samples[-1]) - stamp_of(samples[0])) * 1e-9
    step = span / max(len(samples) - 1, 1)
    defaulted = []
    for at, name in enumerate(("angular_velocity", "linear_acceleration")):
        covariance = np.array(getattr(samples[0], f"{name}_covariance"), dtype=float)
        variance = float(np.mean(np.diag(covariance.reshape(3, 3))))
        density = math.sqrt(variance * step) if variance > 0.0 and step > 0.0 else 0.0
        if MIN_DENSITIES[at] <= density <= MAX_DENSITIES[at]:
            noise[at] = density
        else:
            defaulted.append(name.replace("_", " "))
    parts = " and ".join([f"noise of the {name}" for name in defaulted] + ["walk of the biases"])
    return noise, f"{parts} of the inertial unit: not known, a small MEMS unit's is taken"


def inertial(t: float, message: Any, tally: Tally) -> ImuSample | None:  # noqa: ANN401
    """A sample of a sensor_msgs/Imu at a time [s]; None, and counted, where it has a number that is none."""
    values = [*xyz(message.angular_velocity), *xyz(message.linear_acceleration)]
    return inertial_sample(t, np.array(values, dtype=float), tally)
