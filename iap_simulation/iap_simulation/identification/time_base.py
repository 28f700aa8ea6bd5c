# SPDX-License-Identifier: BSD-3-Clause
"""The time base of a log: its unit, repeated and lost samples, and steps of its clock.

A log is cut where its clock steps back, see `iap_simulation.identification.choosing`.
"""

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput

PERIODS = (1e-3, 0.5)  # between samples of a log [s]
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
GAP_PERIODS, GAP = 4.0, 0.25  # periods, and [s], beyond both of which time is missing
DROPOUT = 1.5  # periods beyond which a sample is missing
FEWEST_COUNTED = 20  # samples whose times may be their numbers
REPEATED = 0.2  # share of samples that may repeat a time


def time_base(source: str, t: Array) -> tuple[Array, Booleans, tuple[str, ...]]:
    """Increasing times of a log's samples [s].

    Args:
        source: the file or folder, for errors.
        t: (K,) as they are logged.

    Returns:
        Times (M,), which of the samples (K,) they belong to, and notes of what was mended.

    Raises:
        BadInput: the times are no clock's: samples out of order, or too many that repeat a time.
    """
    fresh = np.concatenate([[True], np.diff(t) != 0.0])
    notes = []
    repeated = len(t) - int(fresh.sum())
    if repeated > REPEATED * len(t):
        raise BadInput(
            f"{source}: t does not increase: {repeated} of {len(t)} samples repeat a time; is it rounded?"
        )
    if repeated:
        notes.append(f"{repeated} samples that repeat a time were left out")
    kept, unit = t[fresh], 1.0
    if len(kept) > 1:
        _check_counting(source, kept)
        unit, note = _unit(source, float(np.median(np.diff(kept))))
        notes += note
    kept, note = _without_steps(source, unit * (kept - kept[0]))
    return kept, fresh, (*notes, *note)


def gap_of(t: Array) -> float:
    """Shortest time between samples at times (K,) that is a gap, in which a log is cut [s]."""
    period = float(np.median(np.diff(t))) if len(t) > 1 else 0.0
    return max(GAP_PERIODS * period, GAP)


def _check_counting(source: str, t: Array) -> None:
    """Refuse times (K,) that count samples."""
    if len(t) >= FEWEST_COUNTED and t[0] in (0.0, 1.0) and (np.diff(t) == 1.0).all():
        raise BadInput(
            f"{source}: its times {t[0]:g}, {t[1]:g}, {t[2]:g} ... count samples: write t in seconds"
        )


def _unit(source: str, period: float) -> tuple[float, list[str]]:
    """Seconds in a log's unit of time, by its period, and a note of it.

    Raises:
        BadInput: no unit makes it that of a log.
    """
    for name, size in UNITS.items():
        if PERIODS[0] <= period * size <= PERIODS[1] * (1.0 + 1e-9):
            text = f"t is taken as {name}: a period of {period:g} s would be no log of a flight"
            return size, [] if size == 1.0 else [text]
    if 0.0 < period < PERIODS[0]:
        raise BadInput(
            f"{source}: t has a period of {period:.3g}, which is none of a log in s, ms, us or ns: write it in seconds"
        )
    return 1.0, []


def _without_steps(source: str, t: Array) -> tuple[Array, list[str]]:
    """Times that go on behind each step back of the clock, with a gap in which the log is cut.

    Raises:
        BadInput: a sample is out of order, and the ones behind it are not.
    """
    steps, period = np.diff(t), float(np.median(np.diff(t))) if len(t) > 1 else 0.0
    out, notes = t.copy(), []
    for k in np.flatnonzero(steps < 0.0):
        after = steps[k + 1 : k + 3]
        if not (len(after) and (after > 0.0).all() and (after < DROPOUT * period).all()):
            raise BadInput(
                f"{source}: t does not increase from sample to sample at t = {t[k]:g} s: sort its rows by t"
            )
        notes.append(f"t steps back by {-steps[k]:.3g} s at {t[k]:.3g} s and stays there: cut")
        out[k + 1 :] += -steps[k] + 2.0 * gap_of(t)
    return out, notes
