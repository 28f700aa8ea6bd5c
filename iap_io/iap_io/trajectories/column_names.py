# SPDX-License-Identifier: BSD-3-Clause
"""The meaning of a table's columns by their names: time, position, attitude, body, and their units.

A name is read word by word: ``field.pose.orientation.w``, ``q_RS_w``, ``qw`` and ``q[0]`` are all the scalar part of
a quaternion. Words that say nothing of these tell bodies apart: ``x_gt`` and ``x_est`` are two.
"""

import math
import re
from typing import Literal, NamedTuple

from iap_io.trajectories.conventions import AngleUnit, Convention, TimeUnit

Role = Literal["x", "y", "z", "qx", "qy", "qz", "qw", "roll", "pitch", "yaw"]
MAX_RADIANS = 1.01 * math.pi / 2.0  # of roll and pitch; what is beyond is no radians
PLACE: tuple[Role, ...] = ("x", "y", "z")
QUATERNION: tuple[Role, ...] = ("qx", "qy", "qz", "qw")
EULER: tuple[Role, ...] = ("roll", "pitch", "yaw")

_TIMES = {"time", "timestamp", "stamp", "t", "sec", "secs"}
_NANOSECONDS = {"nsec", "nsecs", "nanosec", "nanosecs"}
_TIME_UNITS: dict[str, TimeUnit] = {
    **dict.fromkeys(("s", "sec", "secs", "seconds"), "s"),
    **dict.fromkeys(("ms", "milliseconds"), "ms"),
    **dict.fromkeys(("us", "microseconds"), "us"),
    **dict.fromkeys(("ns", "nanoseconds"), "ns"),
}
_LENGTHS = {
    **dict.fromkeys(("m", "metres", "meters"), 1.0),
    **dict.fromkeys(("cm", "centimeters"), 0.01),
    **dict.fromkeys(("mm", "millimeters"), 0.001),
    **dict.fromkeys(("in", "inch", "inches"), 0.0254),
    **dict.fromkeys(("ft", "feet"), 0.3048),
    "km": 1000.0,
}
_PREPOSITIONS = {"in"}  # units in brackets alone: x_in is an input
UNREAD_TIMES = {"min", "minutes", "h", "hours", "days", "frames", "ticks"}  # units of times
BEGINS, ENDS = {"source", "src"}, {"destination", "dest", "dst"}  # of motions, in names of times
_LETTERS = str.maketrans(
    {"φ": " phi", "ϕ": " phi", "θ": " theta", "ψ": " psi", "°": " deg", "µ": "u", "μ": "u"}
)
_ANGLE_UNITS: dict[str, AngleUnit] = {
    **dict.fromkeys(("deg", "degree", "degrees"), "deg"),
    **dict.fromkeys(("rad", "radian", "radians"), "rad"),
}
_POSITIONS = {"p", "pos", "position", "place", "translation", "t"}
_TURNS = {"q", "quat", "quaternion", "orientation", "rotation", "rot", "attitude", "att"}
_ANGLES: dict[str, Role] = {
    **dict.fromkeys(("roll", "phi"), "roll"),
    **dict.fromkeys(("pitch", "theta"), "pitch"),
    **dict.fromkeys(("yaw", "psi"), "yaw"),
}
# Words of what is neither a position nor an attitude.
_OTHERS = set(
    "vel velocity speed rate rates dot ddot twist linear angular omega gyro acc accel acceleration imu cov covariance"
    " variance std stddev sigma bias ba bg error err mag force torque thrust wind mean marker".split()
)
_SYMBOLS = {"v", "w", "a", "b"}  # of the same, before an axis
_FRAMED = {"p", "q"}
_GRIDS: dict[str, tuple[Role, Convention]] = {  # words of axes, and what they are
    **dict.fromkeys(("n", "north", "pn"), ("x", "ned")),
    **dict.fromkeys(("e", "east", "pe"), ("y", "ned")),
    **dict.fromkeys(("d", "down", "pd"), ("z", "ned")),
    **dict.fromkeys(("up", "pu"), ("z", "enu")),
}
_SILENT = (
    _POSITIONS | _TURNS | set(_ANGLES) | set("field pose rs r header rigid body wrapper".split())
)
# Log groups of Crazyflie's firmware: angles in degrees, the nose down at a positive pitch.
_CRAZYFLIE, _CRAZYFLIE_MM = ("stateEstimate.", "stabilizer."), "stateEstimateZ."
BODIES = {"name", "id", "body", "object", "vehicle", "drone", "child_frame_id", "rigid_body"}
UNREAD_TURNS = set(
    "rx ry rz rotvec r00 r11 q0 q1 q2 q3 q4".split()
)  # also quaternions in no said order
FROM_NORTH = {"heading", "hdg", "azimuth", "course"}
ON_EARTH = {"lat", "latitude", "lon", "longitude"}


_UNITS = {*_ANGLE_UNITS, *_LENGTHS} - _PREPOSITIONS


class Column(NamedTuple):
    """A column of a pose.

    Attributes:
        role: which number of the pose.
        body: words that tell it from those of other bodies; empty without any.
        length: metres in its unit, None where it names none.
        angle: unit of an angle, None where it names none.
        convention: of axes that are named by directions.
        is_inverted: whether it counts the other way round.
    """

    role: Role
    body: str
    length: float | None
    angle: AngleUnit | None
    convention: Convention | None
    is_inverted: bool = False


def words(name: str) -> list[str]:
    """The words of a name, in lower case, without quotes and units in brackets; an index is a word.

    A capital parts words, but for a last one that is no axis: ``stateX`` has two, ``droneA`` one.
    """
    bare = re.sub(r"[\[(][^\])0-9]*[\])]", " ", name.translate(_LETTERS))
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z][A-Za-z]|[A-Z]\d|[DENWXYZ])", "_", bare)
    return re.findall(r"[a-z]+\d*|\d+", apart.lower())


def units(name: str) -> set[str]:
    """Words that may be a unit: those in brackets, and the last of several."""
    inside = re.findall(r"[\[(]\s*([A-Za-z]+)\s*[\])]", name.translate(_LETTERS))
    outside = words(name)
    last = set(outside[-1:] if len(outside) > 1 else []) - _PREPOSITIONS
    return {word.lower() for word in inside} | last


def time_unit(name: str) -> TimeUnit | None:
    """The unit of times that a name says."""
    return next((unit for word, unit in _TIME_UNITS.items() if word in units(name)), None)


def is_time(name: str) -> bool:
    """True if a column has times."""
    terms = set(words(name))
    return bool(terms & _TIMES) and not terms & (_OTHERS | _NANOSECONDS | set("xyz"))


def are_nanoseconds_of(name: str, seconds: str) -> bool:
    """True if a column is the part below a second of another one's times."""
    terms, of = words(name), words(seconds)
    return bool(set(terms) & _NANOSECONDS and set(of) & {"sec", "secs"} and terms[:-1] == of[:-1])


def column_of(name: str) -> Column | None:
    """Part of a pose that a column holds; None if it holds none."""
    terms = words(name.replace(_CRAZYFLIE_MM, _CRAZYFLIE[0]))
    is_named = bool(terms) and terms[0] in _FRAMED  # what follows are frames, as in p_WB_W_x
    if not terms or set(terms) & _OTHERS or (set(terms[:-1]) & _SYMBOLS and not is_named):
        return None
    length = next((size for word, size in _LENGTHS.items() if word in units(name)), None)
    angle = next((unit for word, unit in _ANGLE_UNITS.items() if word in units(name)), None)
    terms = [word for word in terms if word not in _UNITS or len(terms) == 1]
    for word in terms:
        if word in _ANGLES:
            is_crazyflies = name.startswith(_CRAZYFLIE)
            unit = "deg" if is_crazyflies else angle
            is_inverted = is_crazyflies and word == "pitch"
            return Column(_ANGLES[word], _rest(terms, word), None, unit, None, is_inverted)
    axis = _axis(terms)
    if axis is None:
        return None
    word, role, convention = axis
    convention = convention or ("ned" if "ned" in terms else None)
    if name.startswith(_CRAZYFLIE_MM) and role in PLACE:
        length = 0.001
    return Column(role, _rest(terms, word), length, None, convention)


def in_one_grid(parts: dict[int, Column]) -> dict[int, Column]:
    """Columns whose axes are directions, east the first one where up is the third."""
    if not any(column.convention == "enu" for column in parts.values()):
        return parts
    swapped: dict[Role, Role] = {"x": "y", "y": "x"}
    return {
        i: column._replace(role=swapped[column.role], convention="enu")
        if column.convention == "ned" and column.role in swapped
        else column
        for i, column in parts.items()
    }


def _axis(terms: list[str]) -> tuple[str, Role, Convention | None] | None:
    """The word of a name that is an axis, and the number of a position or quaternion that it names."""
    is_turn = bool(set(terms) & _TURNS)
    for word in reversed(terms):
        if word in _GRIDS and not is_turn:
            return word, *_GRIDS[word]
        if re.fullmatch("q[ijkrs]", word):  # of i, j and k, and the real part or scalar
            return word, ("qw" if word[1] in "rs" else QUATERNION["ijk".index(word[1])]), None
        match = re.fullmatch(r"(q|quat|p|t|pos)?([xyzw])", word)
        if match is not None and (is_turn or (match[1] or "")[:1] == "q"):
            return word, QUATERNION["xyzw".index(match[2])], None
        if match is not None and match[2] != "w":
            return word, PLACE["xyz".index(match[2])], None
    if terms[-1] in ("0", "1", "2", "3") and is_turn:  # of arrays, as of PX4: w first
        return terms[-1], ("qw", *QUATERNION[:3])[int(terms[-1])], None
    if terms[-1] in ("0", "1", "2") and set(terms) & _POSITIONS:
        return terms[-1], PLACE[int(terms[-1])], None
    return None


def _rest(terms: list[str], word: str) -> str:
    return "_".join(each for each in terms if each != word and each not in _SILENT)
