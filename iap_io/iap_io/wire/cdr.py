# SPDX-License-Identifier: BSD-3-Clause
"""ROS 2 messages of one fixed layout as numpy records: thousands serialised by a few assignments.

CDR aligns every number to its own size, counted from the end of the 4-byte encapsulation header.
Once the strings and the lengths of the sequences are fixed, every message of a type has the same
bytes in the same places: `MessageLayout.of` finds the places from one sample, copies of whose bytes are filled in, and
`MessageLayout.records` reads them back.

In a record, a group of float64 fields that lie side by side is one vector: a geometry_msgs/Pose is
``(7,)`` in the order x y z, x y z w; a geometry_msgs/Vector3 is ``(3,)``; a sequence of n poses is
``(n, 7)``.
"""

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput
from iap_io.wire.other_types import DEFINITIONS

FieldPath = tuple[str | int, ...]  # of a field within a message
HEADER_SIZE = 4  # of the encapsulation, before the first field
MOST_PADDING = 3  # bytes behind the last field: between processes DDS carries multiples of four
_LITTLE_ENDIAN = 1  # second byte of it
_HEADER_NUMBERS = (
    12  # bytes of a std_msgs/Header before its string: stamp, and the string's length
)
_QUATERNION = "geometry_msgs/msg/Quaternion"
_BYTES = ("byte", "char", "octet")  # numbers that numpy has under another name


def message_folder() -> Path:
    """The folder of iap_msgs' message files: among the sources, in this package, installed, or sourced.

    Raises:
        BadInput: it is in none of these places.
    """
    for folder in _candidates():
        if any(folder.glob("*.msg")):
            return folder
    raise BadInput(
        "iap_msgs: no message files among the sources, in iap_io, installed beside it, or on"
        " AMENT_PREFIX_PATH; build iap_msgs, or install iap_io by pip from a whole checkout"
    )


def _candidates() -> Iterator[Path]:
    yield Path(__file__).absolute().parents[1] / "data" / "msg"  # of a wheel
    for parent in Path(__file__).absolute().parents:
        yield parent / "iap_msgs" / "msg"
        yield parent / "share" / "iap_msgs" / "msg"
        yield parent / "iap_msgs" / "share" / "iap_msgs" / "msg"
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            yield Path(prefix) / "share" / "iap_msgs" / "msg"


@cache
def message_types() -> Typestore:
    """The standard message types, those of iap_msgs and `DEFINITIONS`; no ROS installation is needed."""
    store = get_typestore(Stores.ROS2_JAZZY)
    texts = dict(DEFINITIONS)
    for path in sorted(message_folder().glob("*.msg")):
        texts[f"iap_msgs/msg/{path.stem}"] = path.read_text(encoding="utf-8")
    types: dict[str, Any] = {}
    for name, text in texts.items():
        types.update(get_types_from_msg(text, name))
    store.register(types)
    return store


def message(msgtype: str, **field_values: object) -> object:
    """A message with the given fields, zeros elsewhere, and otherwise empty sequences."""
    _, fields = message_types().fielddefs[msgtype]
    values: dict[str, Any] = {
        name: field_values[name] if name in field_values else _zero(*kind) for name, kind in fields
    }
    return message_types().types[msgtype](**values)


def in_frame(msgtype: str, frame: str, **fields: object) -> object:
    """A message whose header has this frame."""
    return message(msgtype, header=message("std_msgs/msg/Header", frame_id=frame), **fields)


def decoded(data: bytes, msgtype: str) -> Any:  # noqa: ANN401 - rosbags makes these types at run time
    """The message object of bytes that anybody may have sent.

    Raises:
        BadInput: they are no such message.
    """
    if len(data) < HEADER_SIZE or data[1] != _LITTLE_ENDIAN:
        raise BadInput(f"{msgtype}: serialised in another way than plain little-endian CDR")
    try:
        return message_types().deserialize_cdr(data, msgtype)
    except Exception as error:  # of whatever kind the bytes lead rosbags to
        raise BadInput(f"{msgtype}: {len(data)} bytes that are no message") from error


def serialised(sample: object) -> bytes:
    """A message in CDR."""
    return bytes(message_types().serialize_cdr(sample, sample.__msgtype__))  # type: ignore[attr-defined]


def _zero(kind: Nodetype, detail: Any) -> object:  # noqa: ANN401
    if kind == Nodetype.NAME:
        return message(detail)
    if kind == Nodetype.BASE:
        return "" if detail[0] == "string" else 0
    return np.zeros(detail[1] if kind == Nodetype.ARRAY else 0)


@dataclass(frozen=True)
class MessageLayout:
    """Positions of all fields in the messages of one type with fixed strings and lengths.

    Attributes:
        msgtype: such as ``nav_msgs/msg/Odometry``.
        dtype: numpy record of one serialised message, encapsulation header included.
        template: (size,) the sample's bytes.
        fixed: (size,) which bytes are strings or lengths, equal in all messages of this layout.
        doubles: positions and names of all float64, such as ``poses[0].position.x``.
        quaternions: positions of the first number of each geometry_msgs/Quaternion.
    """

    msgtype: str
    dtype: np.dtype[Any]
    template: NDArray[np.uint8]
    fixed: Booleans
    doubles: dict[int, str] = field(default_factory=dict)
    quaternions: tuple[int, ...] = ()

    @classmethod
    def of(cls, sample: object) -> "MessageLayout":
        """The layout of every message that differs from `sample` only in its numbers."""
        msgtype: str = sample.__msgtype__  # type: ignore[attr-defined]
        template = np.frombuffer(serialised(sample), np.uint8)
        walk = _Walk()
        walk.message(sample, ())
        if walk.at != template.size:
            raise ValueError(f"{msgtype}: {template.size} bytes serialised, {walk.at} laid out")
        fixed = np.zeros(template.size, bool)
        for start, stop in walk.constants:
            fixed[start:stop] = True
        doubles = {leaf.at: leaf.name for leaf in walk.leaves if leaf.format == np.float64}
        dtype = _record(walk.leaves, 0, template.size)
        return cls(msgtype, dtype, template, fixed, doubles, tuple(walk.quaternions))

    def records(self, data: NDArray[np.uint8]) -> NDArray[Any]:
        """Serialised messages (count, size) as records (count,), without a copy where none is padded.

        Raises:
            ValueError: a message has another size, other strings or other lengths.
        """
        size = self.template.size
        if not 0 <= data.shape[1] - size <= MOST_PADDING:
            raise ValueError(f"{self.msgtype}: {data.shape[1]} bytes a message, expected {size}")
        data = data[:, :size]
        if (data[:, self.fixed] != self.template[self.fixed]).any():
            raise ValueError(f"{self.msgtype}: names or counts change from message to message")
        return np.ascontiguousarray(data).view(self.dtype)[:, 0]


def records_of(msgtype: str, messages: Iterable[bytes]) -> NDArray[Any]:
    """Serialised messages of one type, with the first as sample, as records.

    Raises:
        BadInput: the first is no message.
        ValueError: there is none, or their layouts differ.
    """
    blobs = list(messages)
    if not blobs:
        raise ValueError(f"{msgtype}: no message")
    size = len(blobs[0])
    if any(len(blob) != size for blob in blobs):
        raise ValueError(f"{msgtype}: the size changes from message to message")
    layout = MessageLayout.of(decoded(blobs[0], msgtype))
    return layout.records(np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), size))


def doubles_behind_header(data: bytes, count: int) -> Array | None:
    """The numbers (count,) of a serialised message that has no more than these behind a std_msgs/Header.

    A tenth of the time of `decoded`; None where the bytes are laid out otherwise, whatever the reason.
    """
    if len(data) < HEADER_SIZE + _HEADER_NUMBERS or data[1] != _LITTLE_ENDIAN:
        return None
    (length,) = struct.unpack_from("<I", data, HEADER_SIZE + _HEADER_NUMBERS - 4)
    end = _HEADER_NUMBERS + length
    at = HEADER_SIZE + end + -end % 8
    if not length or len(data) != at + 8 * count or data[HEADER_SIZE + end - 1]:
        return None
    return np.frombuffer(data, "<f8", count, at).astype(float)


@dataclass(frozen=True)
class _Leaf:
    """A number in a message: the path to it, its numpy format and its position."""

    path: FieldPath
    format: np.dtype[Any]
    at: int

    @property
    def name(self) -> str:
        """The path as a user writes it."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return "".join(parts).removeprefix(".")


class _Walk:
    """Walks through a sample in serialisation order and notes what lies where."""

    def __init__(self) -> None:
        self.at = HEADER_SIZE
        self.leaves: list[_Leaf] = []
        self.constants: list[tuple[int, int]] = []
        self.quaternions: list[int] = []

    def message(self, value: object, path: FieldPath) -> None:
        _, fields = message_types().fielddefs[value.__msgtype__]  # type: ignore[attr-defined]
        if value.__msgtype__ == _QUATERNION:  # type: ignore[attr-defined]
            self._align(8)
            self.quaternions.append(self.at)
        for name, description in fields:
            self._field(description, getattr(value, name), (*path, name))

    def _field(self, description: Any, value: Any, path: FieldPath) -> None:  # noqa: ANN401
        kind, detail = description
        if kind == Nodetype.NAME:
            self.message(value, path)
        elif kind == Nodetype.BASE and detail[0] == "string":
            self._constant(4, align=4)
            self._constant(len(value.encode()) + 1, align=1)
        elif kind == Nodetype.BASE:
            number = np.dtype("u1" if detail[0] in _BYTES else detail[0])
            self._align(number.itemsize)
            self.leaves.append(_Leaf(path, number, self.at))
            self.at += number.itemsize
        else:
            if kind == Nodetype.SEQUENCE:
                self._constant(4, align=4)
            for i, element in enumerate(value):
                self._field(detail[0], element, (*path, i))

    def _align(self, size: int) -> None:
        self.at += -(self.at - HEADER_SIZE) % size

    def _constant(self, size: int, *, align: int) -> None:
        self._align(align)
        self.constants.append((self.at, self.at + size))
        self.at += size


def _record(leaves: list[_Leaf], depth: int, size: int | None = None) -> np.dtype[Any]:
    """Dtype of leaves that share a path up to `depth`.

    Its origin is the first leaf; that of the whole message, whose `size` is given, is 0.
    """
    if len(leaves) == 1 and len(leaves[0].path) == depth:
        return leaves[0].format
    origin = leaves[0].at if size is None else 0
    groups: dict[str | int, list[_Leaf]] = {}
    for leaf in leaves:
        groups.setdefault(leaf.path[depth], []).append(leaf)
    formats = [_record(group, depth + 1) for group in groups.values()]
    offsets = [group[0].at - origin for group in groups.values()]
    if size is None and _is_vector(leaves, groups, formats, offsets):
        if isinstance(leaves[0].path[depth], str):
            return np.dtype((leaves[0].format, (len(leaves),)))
        return np.dtype((formats[0], (len(formats),)))
    end = offsets[-1] + formats[-1].itemsize if size is None else size
    names = [str(name) for name in groups]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": end})


def _is_vector(
    leaves: list[_Leaf], groups: dict[Any, Any], formats: list[np.dtype[Any]], offsets: list[int]
) -> bool:
    """True if the elements of an array, or the float64 fields of a message, leave no gaps."""
    size = formats[0].itemsize
    if isinstance(next(iter(groups)), str):
        at = leaves[0].at
        return all(
            leaf.format == np.float64 and leaf.at == at + 8 * i for i, leaf in enumerate(leaves)
        )
    return all(
        f == formats[0] and offset == size * i
        for i, (f, offset) in enumerate(zip(formats, offsets, strict=True))
    )
