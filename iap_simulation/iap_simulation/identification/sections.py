# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a log between the times that are missing in it.

A model runs freely through a log, with commands held from sample to sample, so that time that is missing would
count as the plant's. A log is therefore cut there. A part behind a cut begins in motion: its first seconds bring
the model there, and do not count.
"""

from dataclasses import replace

import numpy as np

from iap_description.errors import BadInput
from iap_io.trajectories.pose_reading import counted
from iap_simulation.identification.log import FEWEST, Log
from iap_simulation.identification.time_base import DROPOUT, GAP, GAP_PERIODS

SETTLING = 2.0  # in which a model takes over the motion behind a cut [s]
SHORTEST = 4.0  # part behind a cut that is of use [s]


def sections(log: Log) -> tuple[Log, ...]:
    """The log cut where time is missing; the log itself, with a note of lost samples, where none is.

    Raises:
        BadInput: no part is long enough.
    """
    steps = np.diff(log.t)
    period = float(np.median(steps))
    gaps = np.flatnonzero(steps > max(GAP_PERIODS * period, GAP))
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
