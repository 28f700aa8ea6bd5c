# SPDX-License-Identifier: BSD-3-Clause
"""The choice of the command among a bag's topics, by type and by the meaning of their names.

A name is read word by word: ``commander`` is no command, and ``landing_target`` and ``reference_station`` are
things, not references. A word counts as a command's in a part of the name whose other words say nothing else.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from iap_description.errors import BadInput
from iap_io.trajectories.messages import (
    BODY_LISTS,
    PATH,
    POINT,
    POINT_STAMPED,
    READINGS,
    TRANSFORMS,
)

# Words in a topic's name that mark a command, the most telling ones first.
_COMMAND_WORDS = (
    {"reference", "ref"},
    {"nominal", "desired", "setpoint", "command", "commanded", "cmd"},
)
_COMMAND_TYPES = {"iap_msgs/msg/PlatformReference", "trajectory_msgs/msg/MultiDOFJointTrajectory"}
# Words beside them that leave their meaning.
_NEUTRAL = set(
    "pose poses position positions local raw trajectory state odom odometry attitude point points transform tf stamped"
    " revised tracked enu ned flu frd world map platform vehicle uav drone mav quadrotor iap full current final".split()
)
# Words of things that are no aircraft: what they name is never the flight.
_THINGS = set(
    "landing home gimbal camera cam marker markers tag apriltag aruco station anchor obstacle gate stand object"
    " payload box wall table origin initial takeoff tracker rtk".split()
)
_WHOLE = {PATH, "trajectory_msgs/msg/MultiDOFJointTrajectory"}  # a flight in one message
_EULER_WORDS = ("euler_angles", "euler_angle", "euler", "attitude", "rpy", "orientation")
# Types that repeat what others say: taken where there is nothing else.
_REPEATING = (
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    *TRANSFORMS,
    PATH,
    *BODY_LISTS,
    POINT_STAMPED,
)
READABLE = (*READINGS, *TRANSFORMS, PATH, *BODY_LISTS)
TF_STATIC = "tf_static"
_LISTED = 20
_ANY = len(_COMMAND_WORDS) + 2  # rank
_THING = _ANY + len(_REPEATING) + 1


class Topic(NamedTuple):
    """A topic of a bag: its type, and its number of messages."""

    msgtype: str
    messages: int


class PoseTopic(NamedTuple):
    """The topic to read; `euler` is the partner of a position topic of Points."""

    topic: str
    msgtype: str
    euler: str | None = None


def choose(
    source: str, topics: Mapping[str, Topic], requested: str | None, notes: Sequence[str] = ()
) -> PoseTopic:
    """Pick the topic of the command.

    Args:
        source: the bag, to name in errors.
        topics: what the bag holds.
        notes: what of the bag had to be mended, which an error tells where no topic is left.
        requested: the topic that the user named, or None: a topic called ``reference`` wins, then one that is called
            so in more words, then one that is called a command in other words, then one whose type is a command's, then
            any but those that are named after other things.

    Raises:
        BadInput: no topic can be replayed, or several are equally likely.
    """
    if requested is not None:
        return _named(source, topics, requested)
    candidates = pose_topics(topics)
    several = [c for c in candidates if topics[c.topic].messages > 1 or c.msgtype in _WHOLE]
    candidates = several or candidates
    if not candidates:
        content = "; ".join((*notes, f"it holds {listing(topics)}"))
        raise BadInput(
            f"{source}: no topic with poses; {content}; record one of {_usable()}, or name a table of"
            " time,x,y,z,qx,qy,qz,qw"
        )
    best = min(_rank(choice) for choice in candidates)
    likely = [choice for choice in candidates if _rank(choice) == best]
    if len(likely) > 1:
        names = listing({choice.topic: topics[choice.topic] for choice in likely})
        raise BadInput(
            f"{source}: several topics could be the command; choose one with --topic: {names}"
        )
    return likely[0]


def pose_topics(topics: Mapping[str, Topic]) -> list[PoseTopic]:
    """The topics that can be replayed."""
    return [choice for name in topics if (choice := _candidate(topics, name))]


def listing(topics: Mapping[str, Topic]) -> str:
    """Topics with their types, for an error's one line."""
    texts = [
        f"{name} ({short(topic.msgtype)}{'' if topic.messages else ', no messages'})"
        for name, topic in sorted(topics.items())
    ]
    more = [f"and {len(texts) - _LISTED} more"] if len(texts) > _LISTED else []
    return ", ".join(texts[:_LISTED] + more) or "no topics"


def short(msgtype: str) -> str:
    """A type's name as users write it."""
    return msgtype.replace("/msg/", "/")


def words_of(name: str) -> list[set[str]]:
    """The words of each part of a name, in lower case and without numbers."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return [set(re.findall("[a-z]+", part)) for part in apart.lower().split("/") if part]


def _rank(choice: PoseTopic) -> int:
    """Rank of a topic as the command's; 0 is the likeliest."""
    parts = words_of(choice.topic)
    if any(words & _THINGS for words in parts):
        return _THING
    if parts and parts[-1] == {"reference"}:
        return 0
    for rank, commands in enumerate(_COMMAND_WORDS, 1):
        if any(words & commands and words - commands <= _NEUTRAL for words in parts):
            return rank
    if choice.msgtype in _REPEATING:
        return _ANY + 1 + _REPEATING.index(choice.msgtype)
    return len(_COMMAND_WORDS) + 1 if choice.msgtype in _COMMAND_TYPES else _ANY


def _named(source: str, topics: Mapping[str, Topic], requested: str) -> PoseTopic:
    name = requested if requested in topics else f"/{requested}"
    if name not in topics:
        raise BadInput(f"{source}: no topic {requested}; it holds {listing(topics)}")
    msgtype = topics[name].msgtype
    if msgtype in READABLE:
        return PoseTopic(name, msgtype)
    if msgtype != POINT:
        raise BadInput(
            f"{source}: topic {name} is of type {short(msgtype)}; a replay reads {_usable()}"
        )
    if _is_euler(name):
        raise BadInput(f"{source}: topic {name} holds angles; name the topic of the positions")
    others = [other for other, topic in topics.items() if topic.msgtype == POINT and other != name]
    euler = _partner(topics, name) or (others[0] if len(others) == 1 else None)
    if euler is None:
        raise BadInput(
            f"{source}: topic {name} has no partner with Euler angles; it holds {listing(topics)}"
        )
    return PoseTopic(name, POINT, euler)


def _usable() -> str:
    """The types that can be replayed, for an error's one line."""
    return ", ".join(short(known) for known in (*READABLE, POINT))


def _candidate(topics: Mapping[str, Topic], name: str) -> PoseTopic | None:
    """The topic as a choice, if it has messages that can be replayed."""
    topic = topics[name]
    if not topic.messages:
        return None
    if topic.msgtype in READABLE and name.rsplit("/", 1)[-1] != TF_STATIC:
        return PoseTopic(name, topic.msgtype)
    if topic.msgtype != POINT or _is_euler(name):
        return None
    points = [other for other, about in topics.items() if about.msgtype == POINT]
    euler = _partner(topics, name)
    if euler is None and len(points) == 2:
        euler = next(other for other in points if other != name)
        euler = euler if _is_euler(euler) else None
    return PoseTopic(name, POINT, euler) if euler else None


def _is_euler(name: str) -> bool:
    return any(word in name.lower() for word in _EULER_WORDS)


def _partner(topics: Mapping[str, Topic], position: str) -> str | None:
    """The topic of Euler angles that belongs to a topic of positions by its name."""
    for word in _EULER_WORDS:
        euler = position.replace("position", word)
        if euler != position and euler in topics and topics[euler].msgtype == POINT:
            return euler
    return None
