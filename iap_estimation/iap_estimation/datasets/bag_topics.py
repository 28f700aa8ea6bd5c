# SPDX-License-Identifier: BSD-3-Clause
"""Choice of the topics of a bag that are its cameras and its inertial unit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from os.path import commonprefix

from iap_description.errors import BadInput
from iap_io.sensor_messages.camera_messages import IMAGE
from iap_io.trajectories.topics import Topic, listing
from iap_io.transports.transport import COMPRESSED
from iap_io.wire.other_types import PACKET

IMU = "sensor_msgs/msg/Imu"
IMAGES = (IMAGE, COMPRESSED, PACKET)  # the first of them is taken of a camera with several
INFO = "sensor_msgs/msg/CameraInfo"
SIDES = (("left", "right"), ("cam0", "cam1"), ("camera_0", "camera_1"), ("infra1", "infra2"))
# Images that are no view of their own.
OTHERS = ("depth", "disparity", "segmentation", "theora", "color", "mono")


@dataclass(frozen=True)
class TopicNames:
    """Topics that a user names; None are to be found."""

    left: str | None = None
    right: str | None = None
    imu: str | None = None


@dataclass(frozen=True)
class TopicChoice:
    """Topics of the left and the right images, or of the only ones, and of the inertial unit."""

    images: tuple[str, ...]
    imu: str


def pick(
    source: str,
    topics: Mapping[str, Topic],
    names: TopicNames,
    shift: Callable[[str], float | None],
) -> TopicChoice:
    """Find the topics.

    Args:
        source: the bag, to name in errors.
        topics: what it holds.
        names: what the user says.
        shift: P[3] of the CameraInfo of an image topic; None without one.

    Raises:
        BadInput: there are no images or no inertial unit, or there are several of which none are chosen.
    """
    for name, kinds in (
        (names.left, IMAGES),
        (names.right, IMAGES),
        (names.imu, (IMU,)),
    ):
        if name is not None and (name not in topics or topics[name].msgtype not in kinds):
            raise BadInput(
                f"{source}: no topic {name} of type {kinds[0]}; it holds {listing(topics)}"
            )
    imus = _having(topics, IMU)
    if not imus:
        raise BadInput(
            f"{source}: no inertial unit: no topic of type {IMU}; it holds {listing(topics)}"
        )
    images = _cameras(source, topics, names, shift)
    return TopicChoice(images, names.imu or _nearest(source, imus, images[0]))


def info_topic(image: str) -> str:
    """The topic of CameraInfo beside one of images."""
    base = reduce(str.removesuffix, ("/compressed", "/compressedDepth", "/ffmpeg"), image)
    return f"{base.rsplit('/', 1)[0]}/camera_info"


def _having(topics: Mapping[str, Topic], *kinds: str) -> list[str]:
    return sorted(n for n, about in topics.items() if about.msgtype in kinds and about.messages)


def _cameras(
    source: str,
    topics: Mapping[str, Topic],
    names: TopicNames,
    shift: Callable[[str], float | None],
) -> tuple[str, ...]:
    """The stereo pair; without any, the only camera, or the one that is chosen as the left one."""
    if names.left is not None and names.right is not None:
        return names.left, names.right
    images = _images(topics)
    pairs = [pair for pair in _by_name(images) if _fits(pair, names)]
    if not pairs:
        shifts = {name: shift(name) for name in images}
        rights = [name for name, value in shifts.items() if value is not None and value < 0.0]
        lefts = [name for name, value in shifts.items() if value == 0.0]
        pairs = [(a, b) for a in lefts for b in rights if _fits((a, b), names)]
    if len(pairs) == 1:
        return pairs[0]
    single = images if names.left is None else [names.left]
    if not pairs and len(single) == 1 and names.right is None:
        return (single[0],)
    candidates = "; ".join(" and ".join(pair) for pair in pairs) or listing(topics)
    problem = "several stereo pairs" if pairs else "no stereo pair"
    raise BadInput(f"{source}: {problem}; choose with --left and --right from: {candidates}")


def _images(topics: Mapping[str, Topic]) -> list[str]:
    """Topics of images, one of each camera: as they are, before compressed ones, before streams."""
    images: list[str] = []
    for kind in IMAGES:
        bases = {info_topic(name) for name in images}
        names = [name for name in _having(topics, kind) if not _is_other(name)]
        images += [name for name in names if info_topic(name) not in bases]
    return images


def _is_other(name: str) -> bool:
    return any(word in name.lower() for word in OTHERS)


def _by_name(images: list[str]) -> list[tuple[str, str]]:
    """Pairs whose names differ in nothing but the side."""
    return [
        (name, name.replace(left, right))
        for name in images
        for left, right in SIDES
        if left in name and name.replace(left, right) in images
    ]


def _fits(pair: tuple[str, str], names: TopicNames) -> bool:
    return names.left in (None, pair[0]) and names.right in (None, pair[1])


def _nearest(source: str, imus: list[str], left: str) -> str:
    """The inertial unit whose name has most in common with that of the left camera; none below another's name."""
    shared = {name: len(commonprefix([name, left])) for name in imus}
    near = [name for name in imus if shared[name] == max(shared.values())]
    best = [name for name in near if not any(name.startswith(f"{other}/") for other in near)]
    if len(best) > 1:
        raise BadInput(
            f"{source}: several inertial units; choose with --imu from: {', '.join(best)}"
        )
    return best[0]
