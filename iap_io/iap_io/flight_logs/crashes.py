# SPDX-License-Identifier: BSD-3-Clause
"""Begin of a crash in a flight log: rotors push along their axes alone, so that a large force across them is a blow."""

import numpy as np

from iap_description.arrays import Array
from iap_io.flight_logs.flight_log import SPECIFIC_FORCE, FlightLog, Signal
from iap_io.flight_logs.flight_times import InTheAir

BLOW = (
    30.0  # specific force across the rotors' axes, low-passed, at which a crash has begun [m/s^2]
)
RISE = 0.1  # time of a blow before its low-passed force is that large [s]
SMOOTH_FORCE = 8.0  # low-pass of forces, for vibration [Hz]
LARGEST_RATE = 250.0  # at which a force is looked at [Hz]
FEWEST = 32  # samples that are low-passed


def before_crash(log: FlightLog, flight: InTheAir) -> float:
    """The end of a flight, or the time of the first blow in it [s]."""
    force = log.signals.get(SPECIFIC_FORCE)
    if force is None:
        return flight.end
    begin = max(float(force.t[0]), flight.begin)
    t = np.arange(begin, flight.end, 1.0 / min(force.rate, LARGEST_RATE))
    if len(t) < FEWEST:
        return flight.end
    across = np.linalg.norm(low_passed(force, t, SMOOTH_FORCE)[:, :2], axis=1)
    blows = t[across > BLOW]
    return max(float(blows[0]) - RISE, flight.begin) if len(blows) else flight.end


def low_passed(signal: Signal, t: Array, cutoff: float) -> Array:
    """A signal at times (T,), low-passed at its own rate without a delay, up to a cutoff [Hz]."""
    from scipy.signal import butter, sosfiltfilt  # takes a quarter of a second

    grid = np.arange(signal.t[0], signal.t[-1], 1.0 / signal.rate)
    sections = butter(2, min(cutoff, 0.45 * signal.rate), fs=signal.rate, output="sos")
    values = sosfiltfilt(sections, signal.at(grid), axis=0)
    return np.stack([np.interp(t, grid, column) for column in values.T], axis=1)
