# SPDX-License-Identifier: BSD-3-Clause
"""The unit of a column of times, by what the numbers can be.

Times since 1970 between 1990 and 2100 tell s, ms, us and ns apart by their size. Others do by the rate that they
give, since poses come at 0.5 to 5000 Hz; where two units would do, the file's usual one counts.
"""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_io.flight_logs.flight_log import YEAR_2100
from iap_io.trajectories.conventions import TimeUnit
from iap_io.trajectories.number_words import number_of
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.wire.stamps import SECOND

NANOSECONDS: dict[TimeUnit, int] = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_SINCE_1970 = (0.63e18, YEAR_2100 * SECOND)  # of 1990 and of 2100 [ns]
_FEWEST = 20  # lines, from which on times are looked at
_DIFFERENT = 0.34  # share of them whose times differ, at least
_PERIODS = (2e5, 2e9)  # between samples [ns]


def stamps_of(
    source: str, times: list[tuple[int, str]], usual: TimeUnit, reading: PoseReading
) -> tuple[Integers, tuple[str, ...]]:
    """Stamps [ns] of times as they are written, with their lines, and a note where their unit is not the usual one.

    Raises:
        BadInput: a time is missing, negative or too large for a stamp, or they are none that tell samples apart.
    """
    texts = [text for _, text in times]
    if reading.rate is not None:
        stamps = np.round(np.arange(len(texts)) * (1e9 / reading.rate)).astype(np.int64)
        return stamps, (f"times are those of {reading.rate:g} lines a second (--rate)",)
    values = np.array([number_of(text) for text in texts])
    _check_clock(source, values, reading)
    unit = reading.time_unit or _unit(values, usual)
    note = () if unit == usual else (f"times taken as {unit} (--time-unit), not as {usual}",)
    most = 2.0**63 / NANOSECONDS[unit]
    bad = np.flatnonzero(~((values >= 0.0) & (values < most)))
    if len(bad):
        line, text = times[bad[0]]
        raise BadInput(
            f"{source}: line {line}: time is {text or 'missing'}, not a stamp in {unit}"
        )
    return np.array([_ticks(text, NANOSECONDS[unit]) for text in texts], dtype=np.int64), note


def _check_clock(source: str, values: Array, reading: PoseReading) -> None:
    """Refuse times (K,) that count lines, or that are the same for most of them."""
    if len(values) < _FEWEST:
        return
    different = len(np.unique(values))
    if different < _DIFFERENT * len(values):
        raise BadInput(
            f"{source}: its {len(values)} lines have {different} different times: were they written with too few"
            " digits? --rate HZ counts lines instead"
        )
    if reading.time_unit is None and values[0] in (0.0, 1.0) and (np.diff(values) == 1.0).all():
        raise BadInput(
            f"{source}: its times {values[0]:g}, {values[1]:g}, {values[2]:g} ... count lines: --rate HZ says how many"
            " there are a second (--time-unit s takes them as seconds)"
        )


def _unit(values: Array, usual: TimeUnit) -> TimeUnit:
    """The unit that makes times (K,) sound."""
    steps = np.diff(np.unique(values))  # rows may be in any order
    period = float(np.median(steps)) if len(steps) else 0.0
    likely = [u for u, n in NANOSECONDS.items() if _PERIODS[0] <= period * n <= _PERIODS[1]]
    start = float(np.median(values)) if len(values) else 0.0
    for unit in likely or list(NANOSECONDS):
        if _SINCE_1970[0] <= start * NANOSECONDS[unit] <= _SINCE_1970[1]:
            return unit
    return usual if usual in likely or not likely else likely[0]


def _ticks(text: str, size: int) -> int:
    """A decimal number times a whole one, exact to the nanosecond."""
    try:
        return int(text) * size
    except ValueError:
        pass
    whole, _, rest = text.strip().partition(".")
    if whole.isdecimal() and rest.isdecimal():
        return int(whole) * size + round(float(f"0.{rest}") * size)
    return round(number_of(text) * size)
