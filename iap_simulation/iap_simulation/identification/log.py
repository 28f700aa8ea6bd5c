# SPDX-License-Identifier: BSD-3-Clause
"""A log: commanded and measured velocities of a flight, and where its arm stood."""

import hashlib
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.errors import BadInput
from iap_io.trajectories.pose_reading import counted
from iap_physics.identified.dynamics import CHANNELS, JOINTS
from iap_simulation.identification.channel_samples import (
    DOUBLED,
    becalmed,
    command_spikes,
    doubled,
    end_in_words,
    fresh_of_held,
    frozen,
    held_at_leaps,
    joints_of_flights,
    running_median,
    saturated,
    spikes,
)
from iap_simulation.identification.time_base import gap_of, time_base

FEWEST = 20  # samples of a log
MAX_STAMP = 1e19  # of a sample: nanoseconds of any epoch
BASE_CHANNELS = CHANNELS[:4]  # u_l, u_m, u_n, w
LARGEST_SPEED, LARGEST_RATE = 50.0, 12.0  # of a vehicle and its joints [m/s], [rad/s]
USUAL = 0.99  # share of the samples that are no spikes
# Settings of units, and the largest number that such a velocity comes to.
SPEED_UNITS = {"cm/s": ("speed_unit=0.01", 500.0), "mm/s": ("speed_unit=0.001", math.inf)}
RATE_UNITS = {"deg/s": ("angle_unit=deg", math.inf)}
LARGEST_GAIN = 50.0  # of a measured velocity over its command


@dataclass(frozen=True)
class Log:
    """A flight's samples.

    Attributes:
        name: by which it is chosen, its file's name without the suffix.
        source: the file or folder, for errors.
        t: (K,) [s].
        command: (K, 7) commanded velocities, zeros in channels that it has not.
        v: (K, 7) measured velocities along the axes of the heading, as `iap_physics.identified.dynamics.CHANNELS`.
        q: (K, 3) joint angles [rad], zeros without an arm.
        channels: those that it has.
        sound: (K, 7) whether a measured velocity counts, which a spike does not.
        notes: what of it was mended or noticed.
        in_units: whether its file has units of its speeds.
    """

    name: str
    source: str
    t: Array
    command: Array
    v: Array
    q: Array
    channels: tuple[str, ...]
    sound: Booleans
    notes: tuple[str, ...] = ()
    in_units: bool = False

    @property
    def has_arm(self) -> bool:
        """True if it has every channel."""
        return self.channels == CHANNELS

    @property
    def digest(self) -> str:
        """Digest of its signals: the same for a copy under another name."""
        parts = (self.command, self.v, self.q)
        return hashlib.sha256(
            b"".join(np.ascontiguousarray(p).tobytes() for p in parts)
        ).hexdigest()


class LogUnits(NamedTuple):
    """Units of a log's numbers: metres per second in one of its speeds, radians in one of its angles."""

    speed: float = 1.0
    angle: float = 1.0


SI = LogUnits()


def make_log(
    name: str,
    source: str,
    signals: dict[str, Array],
    *,
    largest_step: float | None = None,
    in_units: bool = False,
    notes: tuple[str, ...] = (),
) -> Log:
    """A log of signals by their names: t, NAME_ref, NAME, and q1 to q3 where it has an arm.

    Args:
        name: of the log.
        source: the file or folder, for errors.
        signals: (K,) each, in SI units.
        largest_step: from one sample to the next of a velocity, beyond which it is a spike [m/s, rad/s]; None finds
            spikes by the channel's own motion.
        in_units: whether its file has units of its speeds.
        notes: what is known of it.

    Raises:
        BadInput: a channel that is missing, of another length, or not finite; a time that does not increase.
    """
    channels = _channels(source, signals)
    joints = [f"q{i + 1}" for i in range(JOINTS)] if channels == CHANNELS else []
    t = _signal(source, signals, "t", None)
    if len(t) < FEWEST:
        raise BadInput(f"{source}: {len(t)} samples, {FEWEST} at least are expected")
    command, v, q = (np.zeros((len(t), n)) for n in (len(CHANNELS), len(CHANNELS), JOINTS))
    for channel in channels:
        i = CHANNELS.index(channel)
        command[:, i] = _signal(source, signals, f"{channel}_ref", len(t))
        v[:, i] = _signal(source, signals, channel, len(t))
    for i, joint in enumerate(joints):
        q[:, i] = _signal(source, signals, joint, len(t))
    t, fresh, time_notes = time_base(source, t)
    sound = np.ones(v[fresh].shape, np.bool_)
    rows = command[fresh], v[fresh], q[fresh]
    log = Log(name, source, t, *rows, channels, sound, (*notes, *time_notes), in_units)
    log = checked_samples(log) if largest_step is None else without_spikes(log, largest_step)
    check_sizes(source, channels, log.command, log.v)
    return log


def check_sizes(source: str, channels: tuple[str, ...], command: Array, v: Array) -> None:
    """Refuse velocities (K, 7) that no vehicle has.

    Raises:
        BadInput: naming the channel, its size, and the setting of its unit.
    """
    for channel in channels:
        i = CHANNELS.index(channel)
        is_speed = i < len(BASE_CHANNELS) - 1
        limit = LARGEST_SPEED if is_speed else LARGEST_RATE
        size = max(float(np.quantile(np.abs(x[:, i]), USUAL)) for x in (command, v))
        if size > limit:
            units = SPEED_UNITS if is_speed else RATE_UNITS
            known = [
                f"in {name}? --set {key}" for name, (key, most) in units.items() if size < most
            ]
            raise BadInput(
                f"{source}: channel {channel} comes to {size:.3g}, {', or '.join(known)} takes it so"
            )
        sizes = np.sqrt(np.mean(command[:, i] ** 2)), np.sqrt(np.mean(v[:, i] ** 2))
        if 0.0 < LARGEST_GAIN * sizes[0] < sizes[1]:
            raise BadInput(
                f"{source}: channel {channel} is {sizes[1] / sizes[0]:.3g} times its command: their units differ"
            )


def _channels(source: str, signals: dict[str, Array]) -> tuple[str, ...]:
    """The channels of a log: all seven, or those of a vehicle without an arm."""
    has_joints = any(name in signals for name in (*CHANNELS[4:], "q1", "q2", "q3"))
    names = CHANNELS if has_joints else BASE_CHANNELS
    needed = ["t", *(f"{name}_ref" for name in names), *names]
    needed += ["q1", "q2", "q3"] if has_joints else []
    missing = [name for name in needed if name not in signals]
    if missing:
        raise BadInput(f"{source}: missing channel {', '.join(missing)}")
    return names


def _signal(source: str, signals: dict[str, Array], name: str, length: int | None) -> Array:
    values = np.asarray(signals[name], np.float64)
    if length is not None and len(values) != length:
        raise BadInput(f"{source}: channel {name} has {len(values)} samples, t has {length}")
    largest = MAX_STAMP if name == "t" else MAX_SI_NUMBER
    faulty = np.flatnonzero(~(np.abs(values) <= largest))
    if len(faulty):
        raise BadInput(
            f"{source}: channel {name} is {values[faulty[0]]} in sample {faulty[0]}: leave such rows out ({len(faulty)}"
            " of them); the log is cut where time is missing"
        )
    return values


def without_spikes(log: Log, largest_step: float) -> Log:
    """The log with each sample that leaps away and back held at the one before, and no longer counted."""
    v, leaps = held_at_leaps(log.v, largest_step)
    return replace(log, v=v, sound=log.sound & ~leaps)


def checked_samples(log: Log) -> Log:
    """The log without spikes and frozen stretches, each with a note, and cut where two flights are joined.

    Raises:
        BadInput: a channel never changes, while its command does.
    """
    notes: list[str] = []
    log = _without_repeats(log)
    command, v, sound = log.command.copy(), log.v.copy(), log.sound.copy()
    for channel in log.channels:
        i = CHANNELS.index(channel)
        told = command_spikes(command[:, i])
        if told.any():
            command[told, i] = command[np.flatnonzero(told) - 1, i]
            notes.append(
                f"{channel}_ref: {_spikes_in_words(log, told, log.command[:, i])}, the command before is taken"
            )
        away = spikes(v[:, i])
        if away.any():
            notes.append(f"{channel}: {_spikes_in_words(log, away, v[:, i])}, left out")
            v[away, i], sound[away, i] = running_median(v[:, i])[away], False
        ends = saturated(v[:, i])
        if ends.any():
            sound[ends, i] = False
            notes.append(f"{channel} {end_in_words(v[ends, i], ends)}")
        u = command[:, i]
        runs = frozen(log.t, u, log.v[:, i]) or becalmed(log.t, u, v[:, i])
        for start, stop in (run for run in runs if not ends[run[0] + 1]):
            sound[start:stop, i] = False
            moves = bool(np.ptp(command[start:stop, i]))
            why = "while its command moves" if moves else "without its noise"
            notes.append(
                f"{channel} stands still at {v[start, i]:.3g} from {log.t[start]:.4g} to {log.t[stop - 1]:.4g} s {why}:"
                " left out; was its sensor or estimate lost?"
            )
    return _apart(replace(log, command=command, v=v, sound=sound, notes=(*log.notes, *notes)))


def _without_repeats(log: Log) -> Log:
    """The log in which samples that repeat the one before, all of it or a channel at a lower rate, do not count."""
    v, sound, notes = log.v.copy(), log.sound.copy(), list(log.notes)
    twice = doubled(np.hstack([log.command, v]))
    if twice.mean() > DOUBLED:
        sound[twice] = False
        text = f"{int(twice.sum())} samples repeat every number of the one before, and do not"
        notes.append(f"{text} count: if rows were doubled after the flight, t is not the time")
    for channel in log.channels:
        i = CHANNELS.index(channel)
        _check_alive(log, i)
        fresh = fresh_of_held(v[:, i])
        if fresh is not None:
            v[:, i] = np.interp(log.t, log.t[fresh], v[fresh, i])
            sound[~fresh, i] = False
            share = len(fresh) / int(fresh.sum())
            notes.append(f"{channel} is measured every {share:.2g} samples: others do not count")
    return replace(log, v=v, sound=sound, notes=tuple(notes))


def _apart(log: Log) -> Log:
    """The log with a gap in time where two flights are joined."""
    t, v, notes = log.t.copy(), log.v, list(log.notes)
    least = gap_of(t)
    channels = [CHANNELS.index(each) for each in log.channels]
    rows = np.flatnonzero(log.sound[:, channels].any(axis=1))
    for k in (
        rows[joints_of_flights(t[rows], v[np.ix_(rows, np.array(channels))])]
        if len(rows) > 1
        else []
    ):
        sound = log.sound[k - 1, channels]
        is_lone = sound.any() and not sound.all()  # all that stood still are a hole
        if log.t[k] - log.t[k - 1] > least or is_lone:
            continue
        leap = np.abs(v[k] - v[k - 1])
        i = int(np.argmax(leap))
        notes.append(
            f"velocities leap at t = {log.t[k]:.4g} s, {CHANNELS[i]} by {leap[i]:.3g}: two flights in one file? It is"
            " cut there"
        )
        t[k:] += 2.0 * least
    return replace(log, t=t, notes=tuple(notes))


def _spikes_in_words(log: Log, rows: Booleans, x: Array) -> str:
    """Number, largest size and first time of spikes in a channel (K,)."""
    size = float(np.abs(x - running_median(x))[rows].max())
    first = log.t[np.flatnonzero(rows)[0]]
    number = counted(int(rows.sum()), "sample")
    return f"{number} off the others by up to {size:.3g} (spikes, the first at t = {first:.4g} s)"


def _check_alive(log: Log, i: int) -> None:
    """Refuse a channel that never changes while its command does, or that is its command."""
    u, x, name = log.command[:, i], log.v[:, i], CHANNELS[i]
    if np.ptp(u) and not np.ptp(x):
        raise BadInput(
            f"{log.source}: channel {name} is {x[0]:.3g} in every sample, while {name}_ref goes from {u.min():.3g} to"
            f" {u.max():.3g}: was it not recorded? Zeros for {name}_ref leave the channel out"
        )
    if np.ptp(u) and np.mean(u == x) > USUAL:
        raise BadInput(
            f"{log.source}: channel {name} is {name}_ref in every sample: was the command written in place of the"
            f" measurement? Zeros for {name}_ref leave the channel out"
        )
