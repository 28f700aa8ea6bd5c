# SPDX-License-Identifier: BSD-3-Clause
"""Samples where no vehicle can have been: single ones are left out and counted, others are refused.

From one sample to the next a body moves by at most ``LEAP + MAX_SPEED dt`` and turns by at most ``LEAP_TURN +
MAX_RATE dt``. A few samples that leap away and back are faults of the measurement. A sample that lies off the
line of its neighbours by more than ``SPIKE + MAX_ACCELERATION dt^2 / 2``, where they do not, is one, too. What
leaps and stays there is another place, another body, or a set-point that steps.
"""

from dataclasses import replace

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.length_units import LEAP, MAX_SPEED, check_unit
from iap_io.trajectories.pose_reading import PoseReading, counted
from iap_io.trajectories.samples import Samples
from iap_io.trajectories.still_channels import woven_by

LEAP_TURN, MAX_RATE = np.radians(30.0), np.radians(2000.0)  # [rad], [rad/s]
SPIKE, MAX_ACCELERATION = 0.05, 100.0  # [m], [m/s^2]
SPIKE_TURN, MAX_SPIN = np.radians(20.0), 1000.0  # [rad], [rad/s^2]
ROUGH = 0.15  # that the shaking from sample to sample may have besides [m]
RUN = 5  # samples in a row that can be a fault of the measurement
SHAKING = 0.02  # of usual samples, of which a note is made [m]
STEP_OVER_SHAKING = 8.0  # times the shaking of usual samples that a lone step stands out
LEAST_STEP, HARD = (
    0.015,
    40.0,
)  # of which a note is made [m], above what an acceleration makes [m/s^2]
WOVEN, MOST_WOVEN = (
    0.008,
    4,
)  # least distance of bodies that are woven into one [m], and most of them
TURN_STEP = np.radians(3.0)  # that a lone turn stands out, of which a note is made [rad]
HARD_SPIN = 300.0  # above what an angular acceleration makes [rad/s^2]
SHARE = 0.05  # of the samples that can be
FEW = 3  # that always can


def without_leaps(
    samples: Samples, stamps: Integers, reading: PoseReading, *, follows: bool
) -> tuple[Samples, Integers]:
    """The samples less those that leap away and back.

    Args:
        samples: in ENU/FLU, in the order of their stamps.
        stamps: (K,) increasing [ns].
        reading: whether leaps are followed slowly.
        follows: whether a vehicle shall follow them; else leaps that stay are noted.

    Raises:
        BadInput: the samples leap to other places and stay there, or many of them leap.
    """
    try:
        check_unit(samples, stamps)
    except BadInput as error:
        if follows:
            raise
        return samples.noted(str(error).removeprefix(f"{samples.source}: ")), stamps
    t = (stamps - stamps[0]) * 1e-9
    sound = _reached(samples, t)
    sound[sound] = ~_spikes(samples.at(sound), t[sound])
    out = int((~sound).sum())
    if follows and out > max(FEW, SHARE * len(t)):
        raise BadInput(_refusal(samples, t, f"{out} of {counted(len(t), 'sample')} leap"))
    if out:
        first = int(np.flatnonzero(~sound)[0])
        samples = samples.noted(
            f"{counted(out, 'sample')} left out, at a leap away and back, the first at t = {t[first]:.3f} s"
        )
    samples, stamps = samples.at(sound), stamps[sound]
    return _lasting(samples, stamps, reading, follows=follows), stamps


def _steps(samples: Samples, t: Array) -> Booleans:
    """(K - 1,) whether a step is within reach."""
    return _excess(samples, t) <= 1.0


def _excess(samples: Samples, t: Array) -> Array:
    """(K - 1,) steps over what is within reach, of positions or attitudes."""
    dt = np.diff(t)
    if len(dt) > 2:  # behind a delay, stamps come close to each other
        around = np.pad(dt, 1)
        dt = np.maximum(dt, np.maximum(around[:-2], around[2:]))
    distance = np.linalg.norm(np.diff(samples.p, axis=0), axis=1)
    turned = angle(samples.q[:-1], samples.q[1:])
    return np.asarray(
        np.maximum(distance / (LEAP + MAX_SPEED * dt), turned / (LEAP_TURN + MAX_RATE * dt))
    )


def angle(q: Array, r: Array) -> Array:
    """Angles (K,) between attitudes (K, 4) [rad]."""
    return 2.0 * np.arccos(np.clip(np.abs(np.einsum("ki,ki->k", q, r)), 0.0, 1.0))


def _reached(samples: Samples, t: Array) -> Booleans:
    """(K,) which samples are not in a short run out of reach of its neighbours, which reach each other."""
    sound = np.ones(len(t), np.bool_)
    edges = np.flatnonzero(~_steps(samples, t)) + 1
    if not len(edges):
        return sound
    starts = np.concatenate([[0], edges])
    stops = np.concatenate([edges, [len(t)]])
    last = -1  # sample that the next run is compared with
    for start, stop in zip(starts, stops, strict=True):
        is_short = stop - start <= RUN
        if last < 0:
            is_out = is_short and len(starts) > 1 and stop < len(t) // 2
            is_out = is_out and not _is_near(samples, t, start, stop)
        else:
            is_out = is_short and not _is_near(samples, t, last, start)
        sound[start:stop] = not is_out
        last = last if is_out else stop - 1
    return sound


def _is_near(samples: Samples, t: Array, one: int, other: int) -> bool:
    """True if a body gets from one sample to another in time."""
    index = np.array([one, other])
    return bool(_steps(samples.at(index), t[index])[0])


def _spikes(samples: Samples, t: Array) -> Booleans:
    """(K,) which samples lie off the line of their neighbours, which lie on theirs."""
    count = len(t)
    spikes = np.zeros(count, np.bool_)
    if count < 2 * RUN:
        return spikes
    dt = 0.5 * (t[2:] - t[:-2])
    share = ((t[1:-1] - t[:-2]) / (t[2:] - t[:-2]))[:, None]
    off = np.linalg.norm(
        samples.p[1:-1] - samples.p[:-2] - share * (samples.p[2:] - samples.p[:-2]), axis=1
    )
    turn = angle(samples.q[1:-1], _between(samples.q[:-2], samples.q[2:], share))
    for size, limit in (
        (off, SPIKE + 0.5 * MAX_ACCELERATION * dt**2),
        (turn, SPIKE_TURN + 0.5 * MAX_SPIN * dt**2),
    ):
        around = np.pad(size, 1)
        beside = np.maximum(around[:-2], around[2:])
        spikes[1:-1] |= (size > limit) & (size > 1.6 * beside)
    return spikes


def _between(q: Array, r: Array, share: Array) -> Array:
    """Attitudes (K, 4) on the way from one to the other."""
    phi = so3.quaternion_log(so3.multiply(so3.conjugate(q), r))
    return so3.normalized(so3.multiply(q, so3.quaternion_exp(share * phi)))


def _lasting(
    samples: Samples, stamps: Integers, reading: PoseReading, *, follows: bool
) -> Samples:
    """The samples if none leaps to stay; set-points that do are followed at a speed if that is asked for."""
    t = (stamps - stamps[0]) * 1e-9
    far = ~_steps(samples, t)
    count = int(far.sum())
    if reading.max_speed is not None:
        return _followed(samples, t, reading.max_speed)
    if count and follows:
        raise BadInput(_refusal(samples, t, f"the samples leap, in {counted(count, 'step')}"))
    if count:
        at = t[int(np.argmax(far))]
        return samples.noted(
            f"the samples leap, in {counted(count, 'step')}, the first at t = {at:.3f} s"
        )
    if len(t) < 2 * RUN:
        return samples
    if follows:
        _check_woven(samples)
    off = _off_line(samples.p, t)
    rough = off > ROUGH + 0.125 * MAX_ACCELERATION * (t[2:] - t[:-2]) ** 2
    if follows and float(np.mean(rough)) > SHARE:
        raise BadInput(_refusal(samples, t, "the samples shake from one to the next"))
    return _with_doubts(samples, t, float(np.median(off)))


def _check_woven(samples: Samples) -> None:
    """Refuse samples that go to and fro between several ways: each is nearer to the next but one than to the next.

    Noise is as far from any of them.
    """
    usual = [
        float(np.median(np.linalg.norm(samples.p[m:] - samples.p[:-m], axis=1)))
        for m in range(1, MOST_WOVEN + 1)
    ]
    if usual[0] > WOVEN and min(usual[1:]) < 0.5 * usual[0]:
        raise BadInput(
            f"{samples.source}: from one sample to the next it goes to and fro by {usual[0]:.3f} m, as"
            f" {2 + int(np.argmin(usual[1:]))} bodies in one: --body, --frame or --topic names one of them"
        )


def _off_line(p: Array, t: Array) -> Array:
    """(K - 2,) distances of samples from the line of their neighbours [m]."""
    share = ((t[1:-1] - t[:-2]) / (t[2:] - t[:-2]))[:, None]
    return np.asarray(np.linalg.norm(p[1:-1] - p[:-2] - share * (p[2:] - p[:-2]), axis=1))


def _off_pace(p: Array, dt: Array) -> Array:
    """(K - 1,) distances of steps from what the velocity before or behind them, the nearer one, makes of them [m]."""
    around = np.pad(np.diff(p, axis=0) / dt[:, None], ((1, 1), (0, 0)), mode="edge")
    before, here, behind = around[:-2], around[1:-1], around[2:]
    off = np.minimum(np.linalg.norm(here - before, axis=1), np.linalg.norm(here - behind, axis=1))
    off[0], off[-1] = np.linalg.norm((here - behind)[0]), np.linalg.norm((here - before)[-1])
    return np.asarray(off * dt)


def _with_doubts(samples: Samples, t: Array, shaking: float) -> Samples:
    """The samples, with a note of what is within reach and yet not one body's way: shaking, and lone steps.

    Args:
        samples: none of which leaps.
        t: (K,) their times [s].
        shaking: usual distance of a sample from the line of its neighbours [m].
    """
    if shaking > SHAKING:
        samples = samples.noted(
            f"the samples shake by {shaking:.2f} m from one to the next: noise, or two bodies in one"
        )
    dt = np.diff(t)
    if apart := woven_by(samples.p):
        samples = samples.noted(
            f"every other sample is {apart:.3f} m off the ones between: two bodies, or two cameras' estimates, in one?"
        )
    samples = _with_doubtful_turns(samples, t)
    off = _off_pace(samples.p, dt)
    least = min(LEAP, max(LEAST_STEP, STEP_OVER_SHAKING * shaking))
    steps = off > least + 0.5 * HARD * dt**2
    if not steps.any():
        return samples
    k = int(np.argmax(np.where(steps, off, 0.0)))
    return samples.noted(
        f"{counted(int(steps.sum()), 'step')} as of set-points, by up to {off[k]:.2f} m within {dt[k]:.3f} s at"
        f" t = {t[k]:.3f} s: if it is another body or place, --from and --to cut it out"
    )


def _with_doubtful_turns(samples: Samples, t: Array) -> Samples:
    """The samples, with a note of lone turns that no neighbour has."""
    turned = angle(samples.q[:-1], samples.q[1:])
    around = np.pad(turned, 1, mode="edge")
    off = turned - np.maximum(around[:-2], around[2:])
    least = max(TURN_STEP, STEP_OVER_SHAKING * float(np.median(turned)))
    steps = off > least + 0.5 * HARD_SPIN * np.diff(t) ** 2
    if not steps.any():
        return samples
    k = int(np.argmax(off * steps))
    return samples.noted(
        f"{counted(int(steps.sum()), 'turn')} at once, by up to {np.degrees(turned[k]):.0f} deg within"
        f" {t[k + 1] - t[k]:.3f} s at t = {t[k]:.3f} s: if its attitude was lost there, --from and --to cut it out"
    )


def _refusal(samples: Samples, t: Array, what: str) -> str:
    """The line for samples that cannot be one body's way."""
    distance = np.linalg.norm(np.diff(samples.p, axis=0), axis=1)
    turned = angle(samples.q[:-1], samples.q[1:])
    k = int(np.argmax(_excess(samples, t)))
    where = (
        f"by {distance[k]:.3g} m and {np.degrees(turned[k]):.0f} deg within {t[k + 1] - t[k]:.3f} s"
        f" at t = {t[k]:.3f} s"
    )
    notes = samples.about.notes
    before = f" (noted before: {'; '.join(notes)})" if notes else ""
    return (
        f"{samples.source}: {what}, {where}: --from and --to cut it out, --max-speed V follows set-points at V m/s;"
        f" two bodies are told apart by --body, --frame and --topic, another unit by --scale{before}"
    )


def _followed(samples: Samples, t: Array, speed: float) -> Samples:
    """Positions that follow the samples at no more than a speed [m/s], on the samples' own times."""
    p = samples.p.copy()
    for k in range(1, len(p)):
        step = samples.p[k] - p[k - 1]
        size, most = float(np.linalg.norm(step)), speed * float(t[k] - t[k - 1])
        p[k] = p[k - 1] + step * min(1.0, most / size if size > 0.0 else 1.0)
    behind = float(np.linalg.norm(p - samples.p, axis=1).max())
    note = f"set-points are followed at up to {speed:g} m/s, up to {behind:.2f} m behind"
    return replace(samples.noted(note), p=p, v=None, a=None)
