# SPDX-License-Identifier: BSD-3-Clause
"""Times of a vehicle in the air, by its log."""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.math.runs import true_runs
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog

SHORTEST = 2.0  # of a flight [s]
IDLE = 0.15  # mean command of the motors on the ground, at most
OFF_THE_GROUND = 0.3  # height above the lowest place that is in the air [m]


class InTheAir(NamedTuple):
    """One flight of a log.

    Attributes:
        begin: its first time [s].
        end: its last one.
    """

    begin: float
    end: float

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return self.end - self.begin


def flights_in(log: FlightLog) -> list[InTheAir]:
    """The flights of a log that last `SHORTEST` or longer, in their order.

    The land detector counts, where the motors are armed. A log without one has one flight: from the first to the last
    time at which it is above its lowest place by `OFF_THE_GROUND`, or without positions, its motors above `IDLE`.
    """
    return [each for each in _spells(log) if each.duration >= SHORTEST]


def _spells(log: FlightLog) -> list[InTheAir]:
    """All times in the air, however short."""
    t, in_air = _in_the_air(log)
    spells = []
    for start, stop in true_runs(in_air):
        end = float(t[stop]) if stop < len(t) else log.end
        spells.append(InTheAir(float(t[start]), end))
    return spells


def why_never(log: FlightLog) -> str:
    """Reason why a log has no flight, by the signal that counts, in words."""
    spells = _spells(log)
    landed, position, motors = (
        log.signals.get(name) for name in (names.LANDED, names.POSITION, names.MOTORS)
    )
    if spells:
        longest = max(each.duration for each in spells)
        return f"at most {longest:.1f} s at a time, and a flight has {SHORTEST:g} s"
    if landed is not None:
        is_off = bool((landed.values[:, 0] < 0.5).any())
        return "it is not armed" if is_off else f"{landed.source} says landed throughout"
    if position is not None:
        height = float(np.ptp(position.values[:, 2]))
        return f"its height changes by {height:.2f} m, {OFF_THE_GROUND:g} m is off the ground"
    if motors is not None:
        most = float(motors.values.mean(axis=1).max())
        return f"its motors come to {most:.2f} of their range, up to {IDLE:g} is idle"
    if names.MOTORS in log.missing:
        return log.missing[names.MOTORS]
    return "it has neither a land detector nor positions nor motors"


def longest_flight(log: FlightLog) -> InTheAir | None:
    """The longest flight; None where the vehicle was never in the air."""
    return max(flights_in(log), key=lambda each: each.duration, default=None)


def _in_the_air(log: FlightLog) -> tuple[Array, Booleans]:
    landed, armed = (log.signals.get(name) for name in (names.LANDED, names.ARMED))
    if landed is not None:
        in_air = landed.values[:, 0] < 0.5
        if armed is not None:
            in_air = in_air & (armed.at(landed.t)[:, 0] > 0.0)
        return landed.t, np.asarray(in_air)
    position, motors = (log.signals.get(name) for name in (names.POSITION, names.MOTORS))
    if position is not None:
        z = position.values[:, 2]
        return position.t, _span(z > z.min() + OFF_THE_GROUND)
    if motors is not None:
        return motors.t, _span(motors.values.mean(axis=1) > IDLE)
    return np.zeros(0), np.zeros(0, np.bool_)


def _span(is_flying: Booleans) -> Booleans:
    """All rows from the first to the last that are marked."""
    before, after = np.logical_or.accumulate(is_flying), np.logical_or.accumulate(is_flying[::-1])
    return np.asarray(before & after[::-1])
