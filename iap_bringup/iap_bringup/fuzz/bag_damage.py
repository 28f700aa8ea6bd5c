# SPDX-License-Identifier: BSD-3-Clause
"""Damage to what the messages of a bag say, and to their times and order: the bag itself stays readable."""

import copy
import dataclasses
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from rosbags import rosbag1, rosbag2
from rosbags.highlevel import AnyReader, AnyReaderError

from iap_bringup.fuzz.made_bags import SECOND
from iap_bringup.fuzz.table_damage import FACTORS

BAGS = (".bag", ".db3", ".mcap")
FLOATS = (float("nan"), float("inf"), -1e300, 1e300, 1e19, 1e-320, 0.0, 1.0)
WHOLE = (0, 1, 2, 127)
TEXTS = ("", "map", "base_link", "x" * 3000, "ä\n", "/", "imu")
STEPS = (-(10**18), -SECOND, -1_000_000, 0, 1, 1_000_000, SECOND, 3600 * SECOND, 10**18)  # [ns]
UNFIT = (  # a bag, or a value in a message
    AnyReaderError,
    OSError,
    ValueError,
    TypeError,
    OverflowError,
    struct.error,
)
Message = tuple[Any, int, Any]  # connection, time [ns], content
Place = tuple[Any, Any]  # a message's part, and the name or index of a value in it


def damage_bag(file: Path, rng: Random) -> bool:
    """Damage the messages of the bag that a file is, or is in; False for one that cannot be read."""
    bag = file if file.suffix == ".bag" else file.parent
    aside = bag.with_name(f"aside_{bag.name}")
    try:
        with AnyReader([bag]) as reader:
            messages = [
                (c, t, reader.deserialize(raw, c.msgtype)) for c, t, raw in reader.messages()
            ]
            for _ in range(rng.randint(1, 2) if messages else 0):
                messages = rng.choice(_CHANGES)(messages, rng)
            _write(aside, file.suffix, reader, messages)
    except UNFIT:
        _remove(aside)
        return False
    _remove(bag)
    aside.rename(bag)
    return True


def _remove(bag: Path) -> None:
    if bag.is_dir():
        shutil.rmtree(bag)
    else:
        bag.unlink(missing_ok=True)


def _write(path: Path, suffix: str, reader: AnyReader, messages: list[Message]) -> None:
    store, is_first = reader.typestore, suffix == ".bag"
    plugin = rosbag2.StoragePlugin.MCAP if suffix == ".mcap" else rosbag2.StoragePlugin.SQLITE3
    writer: Any = (
        rosbag1.Writer(path)
        if is_first
        else rosbag2.Writer(path, version=9, storage_plugin=plugin)
    )
    encode = store.serialize_ros1 if is_first else store.serialize_cdr
    with writer:
        connections = {
            c.topic: writer.add_connection(c.topic, c.msgtype, typestore=store)
            for c in reader.connections
        }
        for connection, t, content in messages:
            data = encode(content, connection.msgtype)
            writer.write(connections[connection.topic], max(0, min(t, 2**62)), data)


def _values(messages: list[Message], rng: Random) -> list[Message]:
    """One field of one topic: another value, in one message, a stretch, or all from one on."""
    topic = rng.choice(messages)[0].topic
    payloads = [each[2] for each in messages if each[0].topic == topic]
    count = len(list(places(payloads[0])))
    if not count:
        return messages
    place, begin = rng.randrange(count), rng.choice((0, rng.randrange(len(payloads))))
    change = drawn_change(rng)
    for content in payloads[begin : rng.choice((None, begin + 1, begin + 20))]:
        own_places = list(places(content))
        if place < len(own_places):
            put(*own_places[place], change)
    return messages


def drawn_change(rng: Random) -> Callable[[Any], Any]:
    """A change of any single value to another one of its type."""
    number, factor, step = rng.choice(FLOATS), rng.choice(FACTORS), rng.choice(FACTORS)
    whole, text = rng.choice(WHOLE), rng.choice(TEXTS)
    of_floats = rng.choice((lambda _: number, lambda x: factor * x, lambda x: x + step))

    def change(value: Any) -> Any:  # noqa: ANN401 - of any message
        if isinstance(value, bool):
            return not value
        if isinstance(value, int | np.integer):
            return whole
        if isinstance(value, float | np.floating):
            return of_floats(float(value))
        return text if isinstance(value, str) else value

    return change


def places(part: Any) -> Iterator[Place]:  # noqa: ANN401
    """Every single value in a message."""
    if dataclasses.is_dataclass(part):
        for field in dataclasses.fields(part):
            if field.name != "__msgtype__":
                yield from _within(part, field.name, getattr(part, field.name))
    elif isinstance(part, list | np.ndarray):
        for k in range(min(len(part), 40)):
            yield from _within(part, k, part[k])


def _within(part: Any, name: Any, value: Any) -> Iterator[Place]:  # noqa: ANN401
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        value = value.copy()
        object.__setattr__(part, name, value)
    if dataclasses.is_dataclass(value) or isinstance(value, list | np.ndarray):
        yield from places(value)
    else:
        yield part, name


def put(part: Any, name: Any, change: Callable[[Any], Any]) -> None:  # noqa: ANN401
    """Change the value of a field, or at an index."""
    if isinstance(name, str):
        object.__setattr__(part, name, change(getattr(part, name)))
    else:
        part[name] = change(part[name])


def _times(messages: list[Message], rng: Random) -> list[Message]:
    """Times of reception with a step, from a message on, in a stretch or of one topic alone."""
    step, begin = rng.choice(STEPS), rng.randrange(len(messages))
    end = rng.choice((len(messages), begin + 1, begin + 20))
    topic = rng.choice((None, rng.choice(messages)[0].topic))
    return [
        (c, t + step if begin <= k < end and topic in (None, c.topic) else t, content)
        for k, (c, t, content) in enumerate(messages)
    ]


def _one_time(messages: list[Message], rng: Random) -> list[Message]:
    t = rng.choice((0, 1, rng.choice(messages)[1]))
    return [(c, t, content) for c, _, content in messages]


def _left_out(messages: list[Message], rng: Random) -> list[Message]:
    """A stretch of all topics, or most of one topic."""
    begin, topic = rng.randrange(len(messages)), rng.choice((None, rng.choice(messages)[0].topic))
    end = rng.choice((len(messages), begin + 1, begin + 50))
    return [
        each
        for k, each in enumerate(messages)
        if not (begin <= k < end and topic in (None, each[0].topic))
    ]


def _again(messages: list[Message], rng: Random) -> list[Message]:
    begin = rng.randrange(len(messages))
    return [*messages, *copy.deepcopy(messages[begin : begin + 50])]


def _order(messages: list[Message], rng: Random) -> list[Message]:
    return rng.choice((messages[::-1], rng.sample(messages, len(messages))))


_CHANGES: tuple[Callable[[list[Message], Random], list[Message]], ...] = (
    _values, _values, _values, _values, _times, _one_time, _left_out, _again, _order,
)  # fmt: skip
