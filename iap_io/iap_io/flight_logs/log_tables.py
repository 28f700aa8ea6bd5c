# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a log file, and the signals in them by a list of names, which firmwares change from release to release."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.config.bounds import LARGEST_NUMBER
from iap_description.frames import swap_attitude, swap_body, swap_world
from iap_description.math import euler, so3
from iap_description.math.runs import true_runs
from iap_io.flight_logs.flight_log import SETPOINTS, STATES, UNITS, YEAR_2100, Signal

QUATERNION = UNITS["attitude"]
ODD_NORM = 0.1  # distance of a quaternion's length from 1 beyond which it is none
SET_BACK_ROWS = 5  # in a row that are a step of the clock, not late messages
LONGER = 1.5  # factor by which another set-point controls for longer than the first
STRAY = 60.0  # least distance of a stray stamp from the others [s]
PX4_ARMED = 2  # ARMING_STATE_ARMED of vehicle_status, from release 1.6 on
ENU_FROM_NWU = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # xyzw: north is y
ANY = "[*]"  # in a column's name: as many as there are


class LogTable(NamedTuple):
    """Rows of one kind of message.

    Attributes:
        name: of the kind, and the instance where there are several.
        t: (K,) times since boot [s].
        columns: (K,) numbers each, by name.
    """

    name: str
    t: Array
    columns: Mapping[str, Array]


Tables = Mapping[str, list[LogTable]]  # instances, by kind


class LogField(NamedTuple):
    """Place of a signal in some releases of a firmware.

    Attributes:
        signal: its name.
        table: kind of message.
        columns: names of its numbers; ``control[*]`` is as many of ``control[0]``, ``control[1]``, ... as there are.
        form: how they are turned, of `FORMS`.
        scale: factor before that.
        releases: that have it, in words.
    """

    signal: str
    table: str
    columns: tuple[str, ...]
    form: str = "number"
    scale: float = 1.0
    releases: str = ""

    @property
    def source(self) -> str:
        """Table and columns, short."""
        stem = self.columns[0].partition("[")[0]
        same = all(each.startswith(stem) for each in self.columns)
        return f"{self.table}.{stem if same else ','.join(self.columns)}"


def from_wxyz_ned(q: Array) -> Array:
    """Attitudes (K, 4), wxyz, of FRD in NED as those of FLU in ENU, xyzw; NaN stays NaN."""
    return _turned(q[:, [1, 2, 3, 0]])


def from_rpy_ned(rpy: Array) -> Array:
    """Roll, pitch and yaw (K, 3) [rad] of FRD in NED as attitudes of FLU in ENU, xyzw."""
    q = euler.quaternions_from_rpy(np.nan_to_num(rpy))
    return _turned(np.where(np.isfinite(rpy).all(axis=1, keepdims=True), q, np.nan))


def from_crazyflie_rpy(rpy: Array) -> Array:
    """Roll, pitch and yaw (K, 3) [rad] of FLU in ENU, with pitch upwards, as attitudes xyzw."""
    q = euler.quaternions_from_rpy(np.nan_to_num(rpy * np.array([1.0, -1.0, 1.0])))
    return np.asarray(np.where(np.isfinite(rpy).all(axis=1, keepdims=True), q, np.nan))


def from_nwu(q: Array) -> Array:
    """Attitudes (K, 4), xyzw, of FLU in axes to the north, the west and up as those in ENU."""
    return np.asarray(so3.multiply(np.tile(ENU_FROM_NWU, (len(q), 1)), q))


def _turned(q: Array) -> Array:
    usable: Booleans = np.isfinite(q).all(axis=1) & (
        np.linalg.norm(np.nan_to_num(q), axis=1) > 0.5
    )
    R = so3.matrix_from_quaternion(so3.normalized(np.where(usable[:, None], q, so3.IDENTITY)))
    turned = so3.quaternion_from_matrix(swap_attitude(R))
    return np.asarray(np.where(usable[:, None], turned, np.nan))


FORMS: Mapping[str, Callable[[Array], Array]] = {
    "number": lambda x: x,
    "up": lambda x: -x,
    "arming state": lambda x: (x == PX4_ARMED).astype(float),
    "pulse": lambda x: (x - 1000.0) / 1000.0,  # widths [us] of motors' commands
    "ned": swap_world,
    "frd": swap_body,
    "wxyz ned": from_wxyz_ned,
    "rpy ned": from_rpy_ned,
    "crazyflie rpy": from_crazyflie_rpy,
    "nwu": from_nwu,
}


def signals_of(tables: Tables, fields: Iterable[LogField]) -> tuple[dict[str, Signal], list[str]]:
    """The signals of a log and notes on their times.

    The first field of a signal counts that is there and alive: its numbers change. Where none does, the first that is
    there counts. Rows that are not numbers are left out, but in set-points, where they mean "not controlled". A later
    field of set-points counts where it controls for longer than the first, by `LONGER`.
    """
    signals: dict[str, tuple[Signal, bool]] = {}
    notes: list[str] = []
    for each in fields:
        for table in tables.get(each.table, []):
            is_found = each.signal in signals and signals[each.signal][1]
            if is_found and each.signal not in SETPOINTS:
                break
            read = _signal(each, table)
            if read is None:
                continue
            signal, signal_notes = read
            is_alive = bool(np.ptp(np.nan_to_num(signal.values), axis=0).any())
            if is_found and not _controls_longer(signal, signals[each.signal][0]):
                continue
            if is_alive or each.signal not in signals:
                signals[each.signal] = (signal, is_alive)
                notes += [note for note in signal_notes if note not in notes]
    return _near_the_others({name: signal for name, (signal, _) in signals.items()}, notes)


def _controls_longer(signal: Signal, other: Signal) -> bool:
    """True if a set-point is all numbers for clearly longer than another one."""
    shares = (float(np.isfinite(x.values).all(axis=1).mean()) for x in (signal, other))
    lasts, other_lasts = (
        share * float(x.t[-1] - x.t[0]) for share, x in zip(shares, (signal, other), strict=True)
    )
    return lasts > LONGER * other_lasts


def _near_the_others(
    signals: dict[str, Signal], notes: list[str]
) -> tuple[dict[str, Signal], list[str]]:
    """The signals without rows of states far from the times of all that is measured, and notes of them."""
    measured = [each.t for name, each in signals.items() if name not in STATES]
    if not measured:
        return signals, notes
    begin, end = (f(each[k] for each in measured) for f, k in ((min, 0), (max, -1)))
    for name in filter(signals.__contains__, STATES):
        state = signals[name]
        near = (state.t >= begin - STRAY) & (state.t <= end + STRAY)
        if near.all() or near.sum() < 2:
            continue
        signals[name] = Signal(state.t[near], state.values[near], state.source, state.unit)
        notes.append(f"{name}: {(~near).sum()} stray time stamps left out")
    return signals, notes


def _signal(each: LogField, table: LogTable) -> tuple[Signal, list[str]] | None:
    """A signal out of one table; None where its columns are not there, or have no numbers."""
    names = _columns(each, table)
    if not names or not all(_is_numbers(table.columns.get(name)) for name in names):
        return None
    with np.errstate(invalid="ignore"):  # of NaN that signals, which is left out below
        raw = np.stack([table.columns[name] for name in names], axis=1).astype(float)
    raw[~(np.abs(raw) <= LARGEST_NUMBER)] = np.nan  # damaged: no sensor says so much
    values = _with_unit_quaternions(each, FORMS[each.form](each.scale * raw))
    stray = np.inf if each.signal in STATES else STRAY  # events come when they will
    keep, notes = usable_times(table.t, table.name, stray)
    finite = np.isfinite(values)
    rows = finite.any(axis=1) if each.signal in SETPOINTS else finite.all(axis=1)
    if (keep & rows).sum() < 2:
        return None
    if each.signal in SETPOINTS:
        rows = np.ones_like(keep)
    elif (keep & ~rows).any():
        notes.append(f"{table.name}: {(keep & ~rows).sum()} rows without {each.signal} left out")
    t, values = table.t[keep & rows], values[keep & rows]
    source = each.source.replace(each.table, table.name, 1)
    return Signal(t, values, source, UNITS[each.signal]), notes


def _is_numbers(column: np.ndarray | None) -> bool:
    """True for a column of one number a row; definitions that are damaged make others of it."""
    return column is not None and column.ndim == 1 and column.dtype.kind in "buif"


def _with_unit_quaternions(each: LogField, values: Array) -> Array:
    """The values, with NaN in place of quaternions that are none."""
    if UNITS[each.signal] != QUATERNION:
        return values
    with np.errstate(over="ignore"):  # of numbers that no quaternion has
        norms = np.linalg.norm(np.nan_to_num(values), axis=1, keepdims=True)
    return np.asarray(np.where(np.abs(norms - 1.0) < ODD_NORM, values, np.nan))


def _columns(each: LogField, table: LogTable) -> list[str]:
    """The names of a field's columns in a table, without those that are NaN or zero all the time."""
    if not each.columns[0].endswith(ANY):
        return list(each.columns)
    stem = each.columns[0].removesuffix(ANY)
    names = [name for name in table.columns if name.startswith(f"{stem}[")]
    return [name for name in names if np.nan_to_num(table.columns[name]).any()]


def usable_times(t: Array, name: str, stray: float = STRAY) -> tuple[Booleans, list[str]]:
    """Mask of rows whose times are in order and near the others, up to `stray` [s], and notes on the rest."""
    notes: list[str] = []
    keep = np.abs(t) < YEAR_2100  # NaN is not
    if not keep.all():
        notes.append(f"{name}: {(~keep).sum()} time stamps that are no times left out")
    if not keep.any():
        return np.asarray(keep), notes
    distance = np.abs(np.where(keep, t, np.inf) - np.median(t[keep]))
    near = distance <= 3.0 * np.percentile(distance[keep], 90) + stray
    if (keep & ~near).any():
        notes.append(f"{name}: {(keep & ~near).sum()} stray time stamps left out")
    keep &= near
    ahead = _ahead(t, keep)
    if ahead.any():
        notes.append(f"{name}: {int(ahead.sum())} rows ahead of those behind left out")
    keep &= ~ahead
    part, of_parts = _longest_part(t, keep, name)
    keep &= part
    latest = np.maximum.accumulate(np.where(keep, t, -np.inf))
    late = keep & np.concatenate([[False], t[1:] <= latest[:-1]])
    if late.any():
        notes.append(f"{name}: {late.sum()} rows not after the row before left out")
    return np.asarray(keep & ~late), [*notes, *of_parts]


def _ahead(t: Array, keep: Booleans) -> Booleans:
    """Mask of lone rows whose times are far ahead, while the next one follows the one before."""
    index = np.flatnonzero(keep)
    mask, times = np.zeros_like(keep), t[index]
    if len(times) < SET_BACK_ROWS:
        return mask
    least = SET_BACK_ROWS * float(np.median(np.abs(np.diff(times))))
    lone = (times[1:-1] - times[2:] > least) & (times[2:] > times[:-2])
    mask[index[1:-1][lone]] = True
    return mask


def _longest_part(t: Array, keep: Booleans, name: str) -> tuple[Booleans, list[str]]:
    """Mask of the longest part between steps of a clock that is set back and stays there, and a note of the others."""
    index = np.flatnonzero(keep)
    times = t[index]
    latest = np.maximum.accumulate(times)
    begins = [
        begin
        for begin, end in true_runs(times < latest)
        if end - begin >= SET_BACK_ROWS and (np.diff(times[begin:end]) > 0.0).all()
    ]
    if not begins:
        return keep, []
    parts = list(itertools.pairwise([0, *begins, len(times)]))
    first, end = max(parts, key=lambda part: times[part[1] - 1] - times[part[0]])
    mask = np.zeros_like(keep)
    mask[index[first:end]] = True
    step = times[begins[0] - 1] - times[begins[0]]
    rest = len(times) - (end - first)
    return mask, [
        f"{name}: its clock is set back by {step:.3f} s at {times[begins[0] - 1]:.3f} s:"
        f" {rest} rows of the shorter part left out"
    ]
