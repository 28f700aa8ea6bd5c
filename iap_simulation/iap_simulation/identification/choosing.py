# SPDX-License-Identifier: BSD-3-Clause
"""Choice of the logs that are fitted and of those that are held out, and their parts between times that are missing.

A model runs freely through a log, with commands held from sample to sample, so that time that is missing would
count as the plant's. A log is therefore cut there. A part behind a cut begins in motion: its first seconds bring
the model there, and do not count.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from iap_description.errors import BadInput
from iap_io.trajectories.pose_reading import counted
from iap_simulation.identification.following import check_following
from iap_simulation.identification.log import FEWEST, SI, Log, LogUnits
from iap_simulation.identification.log_files import Clock, check_log_exists, read_log
from iap_simulation.identification.time_base import DROPOUT, gap_of

UNLIKE = 0.1  # share by which periods of logs differ without a note
SETTLING = 2.0  # in which a model takes over the motion behind a cut [s]
SHORTEST = 4.0  # part behind a cut that is of use [s]


def sections(log: Log) -> tuple[Log, ...]:
    """The log cut where time is missing; the log itself, with a note of lost samples, where none is.

    Raises:
        BadInput: no part is long enough.
    """
    steps = np.diff(log.t)
    period = float(np.median(steps))
    gaps = np.flatnonzero(steps > gap_of(log.t))
    lost = np.flatnonzero(steps > DROPOUT * period)
    short = np.setdiff1d(lost, gaps)
    if len(short):
        text = f"{counted(len(short), 'drop-out')} of up to {steps[short].max():.2g} s, through which commands are held"
        log = replace(log, notes=(*log.notes, text))
    if not len(gaps):
        return (log,)
    edges = [0, *(gaps + 1).tolist(), len(log.t)]
    parts = [_part(log, a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]
    useful = [part for part in parts if part is not None]
    if not useful:
        raise BadInput(f"{log.source}: {len(gaps)} gaps leave no part of {SHORTEST:g} s")
    size = f"{counted(len(gaps), 'gap')} of up to {steps[gaps].max():.3g} s, the first at t = {log.t[gaps[0]]:.3g} s"
    note = f"{size}: cut into {len(useful)} parts; {SETTLING:g} s behind each gap do not count"
    return (replace(useful[0], notes=(*log.notes, note)), *useful[1:])


def _part(log: Log, start: int, stop: int) -> Log | None:
    """A part of a log by its samples; None where it is too short."""
    t = log.t[start:stop] - log.t[start]
    if len(t) < FEWEST or t[-1] < (SHORTEST if start else 0.0):
        return None
    rows = {name: getattr(log, name)[start:stop] for name in ("command", "v", "q")}
    sound = log.sound[start:stop].copy()
    if start:
        sound[t < SETTLING] = False
    name = f"{log.name}_from_{log.t[start]:.4g}s"
    return replace(log, name=name, t=t, sound=sound, notes=(), **rows)


@dataclass(frozen=True)
class DataSplit:
    """Logs of an identification.

    Attributes:
        fit: from which parameters come.
        held_out: by which they are judged.
        is_forced: whether a flight stands in both.
    """

    fit: tuple[Log, ...]
    held_out: tuple[Log, ...]
    is_forced: bool


def split(
    logs: Sequence[str],
    fit: Sequence[str],
    validate: Sequence[str],
    *,
    clock: Clock,
    units: LogUnits = SI,
    force: bool = False,
) -> DataSplit:
    """Logs to fit and to hold out.

    Args:
        logs: paths.
        fit: paths, or names of some of `logs`; empty takes the first of them.
        validate: the same of those that are held out; empty takes the rest.
        clock: of MATLAB logs.
        units: of CSV logs.
        force: let a model be judged by a flight that it was fitted to.

    Raises:
        BadInput: no such log, none to fit or to hold out, flights that stand in both, or logs of unlike vehicles.
    """
    paths, rest = choose_paths(logs, fit, validate)
    for path in (*paths, *rest):
        check_log_exists(path)
    if not rest and force:
        rest = paths
    if not rest:
        raise BadInput(
            "no log to validate: name a flight that is not fitted, or take the fitted one with --force"
        )
    data = DataSplit(
        tuple(part for path in paths for part in sections(read_log(path, clock, units))),
        tuple(part for path in rest for part in sections(read_log(path, clock, units))),
        is_forced=force,
    )
    return _checked(data, force)


def choose_paths(
    logs: Sequence[str], fit: Sequence[str], validate: Sequence[str]
) -> tuple[list[Path], list[Path]]:
    """Paths of the logs to fit and to hold out; there may be none to hold out. Arguments are as of `split`.

    Raises:
        BadInput: there is none to fit, or a name fits several logs.
    """
    paths = [_found(each, logs) for each in fit] or [Path(each) for each in logs[:1]]
    if not paths:
        raise BadInput("no log to fit: name one, or a run folder")
    fitted = {os.path.realpath(path) for path in paths}
    rest = [_found(each, logs) for each in validate]
    return paths, rest or [Path(each) for each in logs if os.path.realpath(each) not in fitted]


def _found(name: str, logs: Sequence[str]) -> Path:
    """The log of a name, or the path itself."""
    named = [Path(each) for each in logs if name in (Path(each).stem, Path(each).name)]
    if len(named) > 1:
        raise BadInput(f"'{name}' names {len(named)} logs: give a path")
    return named[0] if named else Path(name)


def _checked(data: DataSplit, force: bool) -> DataSplit:
    """Refuse what cannot be compared, and flights in both parts unless forced."""
    first = data.fit[0]
    for log in (*data.fit, *data.held_out):
        if log.channels != first.channels:
            raise BadInput(f"{log.source}: other channels than {first.source} has")
    fit, held_out = (tuple(map(_followed, logs)) for logs in (data.fit, data.held_out))
    data = DataSplit(fit, held_out, data.is_forced)
    known = {log.digest: log for log in data.fit}
    both = [log for log in data.held_out if log.digest in known]
    if both and not force:
        raise BadInput(
            f"{both[0].source}: is fitted, too, as {known[both[0].digest].source}; a model is judged by other flights"
            " (--force does it all the same, and says so)"
        )
    periods = [float(np.median(np.diff(log.t))) for log in (first, *data.held_out)]
    held_out = tuple(
        log
        if abs(period - periods[0]) <= UNLIKE * periods[0]
        else _of_another_period(log, period, periods[0])
        for log, period in zip(data.held_out, periods[1:], strict=True)
    )
    return DataSplit(data.fit, held_out, is_forced=bool(both))


def _followed(log: Log) -> Log:
    """The log with notes of how its velocities follow their commands."""
    return replace(log, notes=(*log.notes, *check_following(log)))


def _of_another_period(log: Log, period: float, first: float) -> Log:
    """A log with a note that its samples are further apart in time, or closer, than those that are fitted."""
    text = (
        f"its period is {1e3 * period:.3g} ms, that of the fitted log {1e3 * first:.3g} ms: if both were recorded alike"
        ", one of the times is in another unit or by a wrong rate"
    )
    return replace(log, notes=(*log.notes, text))
