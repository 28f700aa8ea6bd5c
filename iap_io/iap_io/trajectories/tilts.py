# SPDX-License-Identifier: BSD-3-Clause
r"""Attitudes of a recorded flight against its accelerations: are axes, unit and quaternions what they are read as.

What flies by rotors along one axis of its body accelerates where that axis points: with u the axis,
n = (a + g) / |a + g| is R u. Where positions are read in other axes or another unit than they are in, or
quaternions in another order, n differs from R u, and agrees with it once they are read aright. Platforms that push
sideways, hands and set-points that are level agree in no reading, and nothing follows.

Accelerations are means over bumps :math:`\varphi(\tau) = (1 - \tau^2)^3` of half a second on either side,
:math:`\int a \varphi = \int p \ddot\varphi`, which needs no derivative of what was measured; so are attitudes.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.conventions import AxesEvidence
from iap_io.trajectories.other_readings import SampledMotion, misread_angles, readings
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.quaternion_orders import check_level, order_doubt
from iap_io.trajectories.samples import Samples
from iap_io.trajectories.tilt_maps import FITS, map_between, share

STEP = 0.02  # of the times at which samples are interpolated [s]
BUMP_HALF, BUMP_PERIOD = 0.5, 0.2  # of a bump, and between bumps [s]
MAX_STEP = 0.1  # usual time between samples beyond which nothing is looked at [s]
FEWEST = 15  # bumps
MIN_TILT_CHANGE = np.radians(1.2)  # RMS of n, below which another reading has to be exact [rad]
LEAST_TILT_CHANGE = np.radians(
    0.15
)  # the same, below which nothing is looked at; 1 mm of noise makes 0.03 deg
EXACT = 0.05  # share that another reading leaves of a small change, at most
DIFFERS, CLEARLY = 0.15, 0.02  # least share where it is not; below which nothing else is looked at
BETTER = 0.35  # of that share, which a right reading leaves less of
FAR_BETTER = 0.15  # of a share below `DIFFERS`, which another reading leaves less of where it alone is right
DEFINED = ("iap_msgs/PlatformReference",)  # types that say their axes and units
LEAN, STILL_LEAN = np.radians(
    [30.0, 4.0]
)  # off the force, of which a note is made; of a hover in wind [rad]
LEAST_LATE = 0.003  # share below which attitudes are not late
LATE = 0.1  # of attitudes, of which a note is made; motors take less [s]
SHIFTS = [k for k in range(-20, 21) if k]  # of attitudes that are tried, in steps


def check_tilts(samples: Samples, stamps: Integers, reading: PoseReading) -> Samples:
    """Refuse a reading of a flight that its tilts contradict while another one fits them.

    Returns:
        The samples, with what confirms their axes, and a note where the body's attitudes come late, or lean far off
        the force that holds it.

    Args:
        samples: in ENU/FLU, before their mounting.
        stamps: (K,) increasing [ns].
        reading: where it says the convention, that counts.

    Raises:
        BadInput: naming the option that fits.
    """
    unseen = _unseen(samples, stamps, reading)
    if unseen is not None:
        return _by(samples, unseen)
    motion = sampled(samples, stamps)
    evidence = _refuse(motion, samples)
    if evidence != "tilts" and reading.quaternion is None and reading.mounting == "auto":
        check_level(samples)
    samples = _by(samples, evidence)
    late = _lateness(motion)
    if late:
        way = "late" if late > 0.0 else "early"
        return samples.noted(
            f"its attitudes are {abs(late):.2f} s {way} against its accelerations: do two clocks or filters make its"
            " poses? --set reference.attitude=level flies its positions alone"
        )
    along = pushes(motion)
    if along is not None and evidence == "still":
        doubt = order_doubt(samples, along.pushed, along.n)
        if doubt is not None:
            return samples.noted(doubt)
    lean = 0.0 if samples.about.axes_evidence == "accelerometer" else _lean(motion)
    if lean < (STILL_LEAN if evidence == "still" else LEAN):
        return samples
    return samples.noted(
        f"it leans {np.degrees(lean):.0f} deg off its accelerations, as no multicopter does that pushes along one axis:"
        " if it is one in still air, --convention, --angles deg or another unit (--scale) reads it"
    )


def _by(samples: Samples, evidence: AxesEvidence) -> Samples:
    """The samples with what confirms their axes, or why nothing does; an accelerometer confirms more than tilts."""
    if samples.about.axes_evidence == "accelerometer":
        return samples
    return replace(samples, about=replace(samples.about, axes_evidence=evidence))


def _refuse(motion: SampledMotion, samples: Samples) -> AxesEvidence:
    """Evidence of tilts on a motion that they do not contradict, see `check_tilts`."""
    off, least = _unexplained(motion), MIN_TILT_CHANGE
    is_still = off is None
    if off is None:
        off, least = _unexplained(motion, LEAST_TILT_CHANGE), LEAST_TILT_CHANGE
    if off is not None and off < CLEARLY and not is_still:
        return "tilts"
    is_right = off is not None and off < DIFFERS
    better = FAR_BETTER if is_right or is_still else BETTER
    most = min(EXACT if is_still else FITS, better * (1.0 if off is None else off))
    others = dict(readings(motion, samples))
    if is_still:  # a hover that turns would go round the origin, held by a constant lean
        others.pop("--quaternion inverse-pose", None)
    left = {name: _unexplained(other, least) for name, other in others.items()}
    fitting = [name for name, share in left.items() if share is not None and share < most]
    if fitting:
        raise BadInput(
            f"{samples.source}: its attitudes do not fit its accelerations; they do with"
            f" {' or with '.join(fitting[:3])}{_as_times(fitting[0], samples)} (--convention"
            f" {samples.about.convention} keeps them as they are)"
        )
    turned = "" if is_right else _turned(motion)
    if turned:
        raise BadInput(
            f"{samples.source}: its accelerations are {turned}: are they in two frames, units (--scale) or clocks?"
            f" --set reference.attitude=level flies its positions alone; --convention {samples.about.convention} keeps"
            " both as they are"
        )
    misread = "" if is_right or is_still else _misread(motion, most)
    if misread:
        raise BadInput(
            f"{samples.source}: its attitudes fit its accelerations with {misread}: mend that in the recording, or name"
            f" its columns (--columns); --convention {samples.about.convention} keeps them as they are"
        )
    if is_right:
        return "tilts"
    return "still" if is_still else "level"


def _as_times(option: str, samples: Samples) -> str:
    """The times that would explain accelerations as a scale does, in words: those change with their square."""
    name, _, number = option.partition(" ")
    if name != "--scale" or isinstance(samples.about.scale, tuple):
        return ""
    pace = (samples.about.scale / float(number)) ** 0.5
    text = (
        f"run {pace:.2g} times too fast" if pace > 1.0 else f"are {1.0 / pace:.2g} times too long"
    )
    return f", or its times {text} (--rate, --time-unit)"


def _unseen(samples: Samples, stamps: Integers, reading: PoseReading) -> AxesEvidence | None:
    """The reason why tilts are not looked at: the user or its type says what they are, or it is short."""
    if reading.convention is not None:
        return "option"
    if samples.about.msgtype in DEFINED:
        return "type"
    if reading.attitude == "level":
        return "level"
    t = (stamps - stamps[0]) * 1e-9
    is_short = len(t) < FEWEST or t[-1] < FEWEST * BUMP_PERIOD
    return "sparse" if is_short or np.median(np.diff(t)) > MAX_STEP else None


def sampled(samples: Samples, stamps: Integers) -> SampledMotion:
    """The motion that is to be looked at."""
    t = (stamps - stamps[0]) * 1e-9
    at = np.arange(0.0, t[-1], STEP)
    index = np.clip(np.searchsorted(t, at), 0, len(t) - 1)
    p = np.stack([np.interp(at, t, samples.p[:, k]) for k in range(3)], axis=1)
    return SampledMotion(p, so3.matrix_from_quaternion(samples.q[index]))


def bumps(count: int, step: float, half: float, period: float) -> tuple[Integers, Array, Array]:
    """Bumps over even times.

    Args:
        count: number of times.
        step: between them [s].
        half: of a bump [s].
        period: between bumps [s].

    Returns:
        Indices (B, n) of the times of each, phi (n,) there, and its second derivative (n,) without its mean.
    """
    n = round(half / step)
    tau = np.arange(-n, n + 1) / n
    second = (-6.0 * (1.0 - tau**2) ** 2 + 24.0 * tau**2 * (1.0 - tau**2)) / half**2
    starts = np.arange(0, count - len(tau) + 1, round(period / step))
    return starts[:, None] + np.arange(len(tau)), (1.0 - tau**2) ** 3, second - second.mean()


def _forces(p: Array, R: Array) -> tuple[Array, Array]:
    """Directions (B, 3) of specific force over bumps, and attitudes (B, 3, 3) averaged alike."""
    windows, bump, second = bumps(len(p), STEP, BUMP_HALF, BUMP_PERIOD)
    a = np.einsum("k,bki->bi", second, p[windows] - p[windows[:, :1]]) / bump.sum()
    f = a + [0.0, 0.0, GRAVITY]
    n = f / np.maximum(np.linalg.norm(f, axis=1, keepdims=True), 1e-9)
    return n, np.einsum("k,bkij->bij", bump, R[windows]) / bump.sum()


class Pushes(NamedTuple):
    """Directions of specific force beside the axis of the body that they are along.

    Attributes:
        n: (B, 3) of specific force, in the world's axes.
        pushed: (B, 3) the axis, likewise.
        axis: (3,) the axis u, in the body's.
    """

    n: Array
    pushed: Array
    axis: Array


def pushes(motion: SampledMotion) -> Pushes | None:
    """Directions of specific force and the best axis of the body; None where there are few."""
    n, R = _forces(*motion)
    if len(n) < FEWEST:
        return None
    u = np.einsum("bij,bi->j", R, n)
    u = u / max(float(np.linalg.norm(u)), 1e-9)
    return Pushes(n, R @ u, u)


def _lean(motion: SampledMotion) -> float:
    """Angle between n and R u that a tenth of them exceed [rad]; 0 where there are few."""
    along = pushes(motion)
    if along is None:
        return 0.0
    cosines = np.einsum("bi,bi->b", along.n, along.pushed)
    return float(np.quantile(np.arccos(np.clip(cosines, -1.0, 1.0)), 0.9))


def _directions(motion: SampledMotion, least: float) -> tuple[Array, Array] | None:
    """Horizontal parts (B, 2) of n and of R u less their means; None where n changes by less than an angle [rad]."""
    along = pushes(motion)
    if along is None:
        return None
    n, pushed = (x[:, :2] - x[:, :2].mean(axis=0) for x in (along.n, along.pushed))
    return (n, pushed) if float(np.sqrt(np.mean(np.sum(n**2, axis=1)))) > least else None


def _unexplained(motion: SampledMotion, least: float = MIN_TILT_CHANGE) -> float | None:
    """Share of the variance of n that attitudes leave; None where n changes by less than an angle [rad]."""
    directions = _directions(motion, least)
    if directions is None:
        return None
    n, pushed = directions
    return share(n, pushed)


def _lateness(motion: SampledMotion) -> float:
    """Time by which attitudes follow n too late [s]; 0 where it is short, or explains little."""
    now = _unexplained(motion)
    if now is None or now < LEAST_LATE:
        return 0.0
    shares = {0: now}
    for k in SHIFTS:
        early, late = slice(max(0, -k), min(0, -k) or None), slice(max(0, k), min(0, k) or None)
        shares[k] = _unexplained(SampledMotion(motion.p[early], motion.R[late])) or math.inf
    best = min(shares, key=shares.__getitem__)
    better = BETTER if now > CLEARLY else FAR_BETTER
    if abs(best) * STEP < LATE or shares[best] > min(FITS, better * now):
        return 0.0
    return best * STEP


def _misread(motion: SampledMotion, most: float) -> str:
    """The mistake in Euler angles that leaves no more than a share of n, in words; empty without one."""
    left = {name: _unexplained(other) for name, other in misread_angles(motion)}
    known = {name: share for name, share in left.items() if share is not None}
    best = min(known, key=known.__getitem__, default="")
    return best if best and known[best] < most else ""


def _turned(motion: SampledMotion) -> str:
    """Turn, reflection or size of n over R u, where one map explains it in the world or by the heading; else empty."""
    along = pushes(motion)
    if along is None or _directions(motion, LEAST_TILT_CHANGE) is None:
        return ""
    n, pushed = (x[:, :2] for x in (along.n, along.pushed))
    changes = [float(np.sqrt(x.var(axis=0).sum())) for x in (n, pushed)]
    if max(changes) < MIN_TILT_CHANGE:
        return ""
    x = _forces(*motion)[1][:, :2, 0]
    x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
    ahead = np.stack([x, np.column_stack([-x[:, 1], x[:, 0]])], axis=1)  # rows: forward, left
    seen = [(n, pushed), tuple(np.einsum("bij,bj->bi", ahead, each) for each in (n, pushed))]
    return next(filter(None, (map_between(*each) for each in seen)), "")
