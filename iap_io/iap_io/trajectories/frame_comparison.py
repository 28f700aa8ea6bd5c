# SPDX-License-Identifier: BSD-3-Clause
r"""A recorded flight beside the command that it follows: are both in one frame, unit and order of numbers.

An aircraft is near its command. Where it is far off throughout, and one map brings it near, the two were recorded in
different frames, and what is compared are the frames. Maps that are tried, the simplest first: the conventions of
`CONVENTIONS` and the units of `SCALES`; a shift; a turn about the vertical with a shift [Kabsch1976].
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_io.trajectories.axes import CONVENTIONS, reordered
from iap_io.trajectories.other_readings import SCALES
from iap_io.trajectories.points import slerp
from iap_io.trajectories.recorded import RecordedTrajectory

STEP = 0.05  # between the times that are compared [s]
FEWEST = 20  # of them
LEAST_DISTANCE, MOST_LEFT = (
    0.2,
    0.2,
)  # RMS distance that is looked at [m], and the part of it that another frame leaves at most
ALIKE = 2.0  # times the least distance that is left, within which the simpler map is taken
LEAST_SHIFT = 0.5  # that is another frame, and no error of a flight [m]
TURNED, AS_ONE = (
    np.radians(20.0),
    0.35,
)  # the same of attitudes: RMS angle [rad], and the part that is left


class FrameMap(NamedTuple):
    """A map of a flight's positions to those of its command.

    Attributes:
        left: RMS distance that it leaves [m].
        text: in words.
        turns: whether it turns attitudes, too.
    """

    left: float
    text: str
    turns: bool = False


def frame_doubts(
    command: RecordedTrajectory, actual: RecordedTrajectory, offset: float
) -> tuple[str, ...]:
    """What says that a flight was recorded in another frame than its command.

    Args:
        command: of the flight, in ENU/FLU.
        actual: the flight, likewise.
        offset: time of its first sample on the command's [s].
    """
    t = np.arange(max(0.0, offset), min(command.duration, offset + actual.duration), STEP)
    if len(t) < FEWEST:
        return ()
    p, q = _poses_at(command, t)
    p_actual, q_actual = _poses_at(actual, t - offset)
    place = _of_places(p, p_actual)
    is_turned = place is not None and place.turns
    turn = "" if is_turned else _of_attitudes(q, q_actual)
    texts = ("" if place is None else place.text, turn)
    return tuple(f"{each}: are both in one frame?" for each in texts if each)


def _poses_at(recorded: RecordedTrajectory, t: Array) -> tuple[Array, Array]:
    """Positions and attitudes at times [s]."""
    p = [np.interp(t, recorded.t, recorded.p_WP_W[:, k]) for k in range(3)]
    return np.stack(p, axis=1), slerp(t, recorded.t, recorded.q_WP)


def _of_places(p: Array, actual: Array) -> FrameMap | None:
    """The simplest map that brings positions (K, 3) as near to a command's as any; None where none has to or does."""
    far = _rms(actual - p)
    if far < LEAST_DISTANCE:
        return None
    maps = [each for each in _maps(p, actual) if each.left < MOST_LEFT * far]
    if not maps:
        return None
    least = min(each.left for each in maps)
    best = next(each for each in maps if each.left < max(ALIKE * least, 0.1 * LEAST_DISTANCE))
    text = f"it is {far:.2f} m off its command throughout, and {best.left:.2f} m {best.text}"
    return best._replace(text=text)


def _maps(p: Array, actual: Array) -> Iterator[FrameMap]:
    """Yield maps of positions (K, 3) to a command's, the simplest first."""
    for name, axes in CONVENTIONS.items():
        if name != "enu":
            left = _rms(actual @ axes.positions.T - p)
            yield FrameMap(left, f"if its positions are in {name}", turns=True)
    for scale in SCALES:
        yield FrameMap(_rms(scale * actual - p), f"if its unit is {scale:g} m")
    shift = (p - actual).mean(axis=0)
    x, y, z = shift
    if float(np.linalg.norm(shift)) > LEAST_SHIFT:
        text = f"if it is shifted by ({x:.2f}, {y:.2f}, {z:.2f}) m"
        yield FrameMap(_rms(actual + shift - p), text)
    about, others = (each - each.mean(axis=0) for each in (p, actual))
    yaw = _yaw_between(others, about)
    left = _rms(others @ so3.exp(np.array([0.0, 0.0, yaw])).T - about)
    text = f"after a turn of {np.degrees(yaw):.0f} deg about the vertical and a shift"
    yield FrameMap(left, text, turns=True)


def _of_attitudes(q: Array, actual: Array) -> str:
    """What explains attitudes (K, 4) that are far from a command's, in words; empty where they are near."""
    far = _rms(_apart(q, actual))
    if far < TURNED:
        return ""
    beside = f"its attitude is {np.degrees(far):.0f} deg off its command's throughout"
    for order in ("wxyz", "inverse"):
        if _rms(_apart(q, reordered(actual, "xyzw", order))) < AS_ONE * far:
            return f"{beside}, and near it with --quaternion {order}"
    offsets = _apart(q, actual)
    usual = np.median(offsets, axis=0)
    if _rms(offsets - usual) < AS_ONE * far:
        axis = "xyz"[int(np.argmax(np.abs(usual)))]
        return f"{beside}, about its {axis} axis"
    return beside


def _apart(q: Array, other: Array) -> Array:
    """Rotation vectors (K, 3) from attitudes to others, in the body's axes."""
    return so3.quaternion_log(so3.multiply(so3.conjugate(q), other))


def _yaw_between(a: Array, b: Array) -> float:
    """Angle about the vertical that turns vectors (K, 3) onto others best [rad]."""
    cross = float(np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))
    return float(np.arctan2(cross, float(np.sum(a[:, :2] * b[:, :2]))))


def _rms(x: Array) -> float:
    """Root mean square of the sizes of rows."""
    return float(np.sqrt(np.mean(np.sum(x**2, axis=1))))
