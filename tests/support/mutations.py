# SPDX-License-Identifier: BSD-3-Clause
"""Messages as nobody should publish them: damaged bytes, absurd numbers, other sizes, frames, stamps and types."""

import struct
from collections.abc import Callable
from random import Random

import numpy as np

from iap_bringup.fuzz.bag_damage import drawn_change, places, put
from iap_io.wire.cdr import HEADER_SIZE, MessageLayout, decoded, message_types, serialised

NUMBERS = [
    np.nan,
    np.inf,
    -np.inf,
    1e308,
    -1e308,
    1e200,
    1e160,
    1e300,
    2e6,
    -1e7,
    1e6,
    5e-324,
    0.0,
    -0.0,
    1.0,
    1e3,
]
WHOLE = [0, 1, 2, 3, 9, 255, 2**31 - 1, 2**32 - 1]
SECONDS = [-(2**31), -1, 0, 1, 100_000, 2**31 - 1]
NANOSECONDS = [0, 1, 999_999_999, 1_000_000_000, 2**32 - 1]
OFFSETS = [-(10**10), -(10**9), -(10**7), -(10**6), 1, 10**6, 10**7, 10**8, 10**9, 10**10]  # [ns]
MOST_PARTS = 20_000  # of a sequence of messages, which are slow to make
FRAMES = [
    "",
    "map",
    "odom",
    "nonsense",
    "iap/base_link",
    "iap/drone_1",
    "m" * 3000,
    "\u00e9\n\x1b[31m",
]


def mutated(rng: Random, data: bytes, msgtype: str, others: list[bytes]) -> tuple[str, bytes]:
    """A mutation's name, and what it makes of a sound message; `others` are sound ones of other topics."""
    name = rng.choice(sorted(_MUTATIONS))
    return name, _MUTATIONS[name](rng, data, msgtype, others)


def _cut(rng: Random, data: bytes, *_: object) -> bytes:
    return data[: rng.randint(0, len(data) - 1)]


def _lengthened(rng: Random, data: bytes, *_: object) -> bytes:
    return data + rng.randbytes(rng.randint(1, 40))


def _flipped(rng: Random, data: bytes, *_: object) -> bytes:
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        out[rng.randint(0, len(out) - 1)] = rng.randint(0, 255)
    return bytes(out)


def _random(rng: Random, *_: object) -> bytes:
    return rng.randbytes(rng.randint(0, 120))


def _foreign(rng: Random, data: bytes, msgtype: str, others: list[bytes]) -> bytes:
    return rng.choice(others)


def _numbers(rng: Random, data: bytes, msgtype: str, *_: object) -> bytes:
    """Some numbers replaced."""
    layout, out = MessageLayout.of(decoded(data, msgtype)), bytearray(data)
    places = sorted(layout.doubles)
    for _ in range(rng.randint(1, 3) if places else 0):
        place = rng.choice(places)
        struct.pack_into("<d", out, place, rng.choice(NUMBERS))
    return bytes(out)


def _all_numbers(rng: Random, data: bytes, msgtype: str, *_: object) -> bytes:
    """All numbers the same."""
    layout, out, number = (
        MessageLayout.of(decoded(data, msgtype)),
        bytearray(data),
        rng.choice(NUMBERS),
    )
    for place in layout.doubles:
        struct.pack_into("<d", out, place, number)
    return bytes(out)


def _field(rng: Random, data: bytes, msgtype: str, *_: object) -> bytes:
    """One or two fields of any type, however deep."""
    content = decoded(data, msgtype)
    for _ in range(rng.randint(1, 2)):
        put(*rng.choice(list(places(content))), drawn_change(rng))
    return serialised(content)


def _huge(rng: Random, data: bytes, msgtype: str, *_: object) -> bytes:
    """A sequence of very many elements."""
    return _resized(rng, data, msgtype, rng.choice([50_000, 1_000_000]))


def _late(rng: Random, data: bytes, *_: object) -> bytes:
    """A stamp a little off, as of clocks that are not synchronised."""
    out = bytearray(data)
    sec, nanosec = struct.unpack_from("<iI", out, HEADER_SIZE)
    t = sec * 10**9 + nanosec + rng.choice(OFFSETS)
    struct.pack_into("<iI", out, HEADER_SIZE, max(-(2**31), min(t // 10**9, 2**31 - 1)), t % 10**9)
    return bytes(out)


def _quaternion(rng: Random, data: bytes, msgtype: str, *_: object) -> bytes:
    """An attitude of another length."""
    layout, out = MessageLayout.of(decoded(data, msgtype)), bytearray(data)
    if layout.quaternions:
        place = rng.choice(layout.quaternions)
        q = np.frombuffer(bytes(out[place : place + 32])) * rng.choice(
            [0.0, 0.5, 1.01, 1e3, 1e200]
        )
        out[place : place + 32] = q.tobytes()
    return bytes(out)


def _lengths(rng: Random, data: bytes, msgtype: str, *_: object) -> bytes:
    """The length of a string or a sequence."""
    layout, out = MessageLayout.of(decoded(data, msgtype)), bytearray(data)
    places = [
        at
        for at in np.flatnonzero(layout.fixed)
        if (at - HEADER_SIZE) % 4 == 0 and at + 4 <= len(out)
    ]
    if places:
        struct.pack_into("<I", out, int(rng.choice(places)), rng.choice(WHOLE))
    return bytes(out)


def _stamp(rng: Random, data: bytes, *_: object) -> bytes:
    out = bytearray(data)
    sec, nanosec = rng.choice(SECONDS), rng.choice(NANOSECONDS)
    struct.pack_into("<iI", out, HEADER_SIZE, sec, nanosec)
    return bytes(out)


def _frame(rng: Random, data: bytes, msgtype: str, *_: object) -> bytes:
    content = decoded(data, msgtype)
    content.header.frame_id = rng.choice(FRAMES)
    return serialised(content)


def _whole_numbers(rng: Random, data: bytes, msgtype: str, *_: object) -> bytes:
    """Numbers, modes, levels, sizes of images."""
    content = decoded(data, msgtype)
    names = [
        n
        for n, (_, detail) in message_types().fielddefs[msgtype][1]
        if detail and detail[0] in _LIMITS
    ]
    if names:
        name = rng.choice(names)
        (kind,) = [d[0] for n, (_, d) in message_types().fielddefs[msgtype][1] if n == name]
        setattr(content, name, min(rng.choice([*WHOLE, 2**64 - 1]), _LIMITS[kind]))
    return serialised(content)


def _sequences(rng: Random, data: bytes, msgtype: str, *_: object) -> bytes:
    """A sequence of another length."""
    return _resized(rng, data, msgtype, rng.choice([0, 1, 2, 5, 1000]))


def _resized(rng: Random, data: bytes, msgtype: str, count: int) -> bytes:
    content = decoded(data, msgtype)
    names = [
        n for n, (kind, _) in message_types().fielddefs[msgtype][1] if kind.name == "SEQUENCE"
    ]
    if names:
        name = rng.choice(names)
        old = getattr(content, name)
        if isinstance(old, np.ndarray):
            setattr(
                content, name, np.resize(old, count) if old.size else np.zeros(count, old.dtype)
            )
        elif len(old):
            setattr(content, name, [old[i % len(old)] for i in range(min(count, MOST_PARTS))])
    return serialised(content)


_LIMITS = {"uint8": 2**8 - 1, "uint32": 2**32 - 1, "uint64": 2**64 - 1}
_MUTATIONS: dict[str, Callable[..., bytes]] = {
    "cut": _cut,
    "lengthened": _lengthened,
    "flipped": _flipped,
    "random": _random,
    "foreign": _foreign,
    "numbers": _numbers,
    "all numbers": _all_numbers,
    "field": _field,
    "huge": _huge,
    "late": _late,
    "quaternion": _quaternion,
    "lengths": _lengths,
    "stamp": _stamp,
    "frame": _frame,
    "whole numbers": _whole_numbers,
    "sequences": _sequences,
}
