# SPDX-License-Identifier: BSD-3-Clause
"""Noise of a log's inertial unit at rest, and its vibration in the air: two numbers that are often taken for one."""

import numpy as np

from iap_description.arrays import Array
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.flight_times import longest_flight
from iap_io.flight_logs.inspection import VIBRATION_HZ, vibration
from iap_simulation.identification.least_squares import NORMAL_95
from iap_simulation.identification.rotorcraft.estimate import Parameter, estimate

REST = 2.0  # time without motion that shows noise [s]
STILL = {
    names.GYROSCOPE: 0.05,
    names.SPECIFIC_FORCE: 0.3,
}  # largest deviation at rest [rad/s], [m/s^2]
OF_DIFFERENCES = 0.75  # samples times the relative variance of a deviation by differences of neighbours [von Neumann]
UNITS = {names.GYROSCOPE: "rad/s", names.SPECIFIC_FORCE: "m/s^2"}
TITLES = {names.GYROSCOPE: "gyroscope", names.SPECIFIC_FORCE: "accelerometer"}


def imu_noise(log: FlightLog) -> tuple[dict[str, Parameter], dict[str, str]]:
    """Estimates, and what the log does not tell, by name.

    Noise is what neighbours differ by, sigma^2 = mean(d^2) / 2, so that slow turns and warming do not count. Its
    variance is 3 sigma^4 / n in place of 2 sigma^4 / n [von Neumann et al., Ann. Math. Stat. 12, 1941].
    """
    estimates, refusals = {}, {}
    flight = longest_flight(log)
    for name, title in TITLES.items():
        signal = log.signals.get(name)
        if signal is None:
            refusals[f"{title} noise at rest"] = "not logged"
            continue
        rest = _at_rest(signal, STILL[name], flight.begin if flight else log.end)
        if rest is None:
            refusals[f"{title} noise at rest"] = f"not at rest for {REST:g} s before the flight"
        else:
            steps = np.diff(rest, axis=0)
            deviation = float(np.sqrt(0.5 * np.mean(steps**2)))
            width = NORMAL_95 * deviation * np.sqrt(OF_DIFFERENCES / steps.size)
            estimates[f"{title} noise at rest"] = estimate(
                deviation,
                width,
                UNITS[name],
                f"differences at rest, at {signal.rate:.0f} Hz",
            )
        if flight is not None and signal.rate >= 2.0 * VIBRATION_HZ:
            inside = signal.between(*flight)
            if len(inside.t) > 2:
                size = vibration(inside)
                text = f"in the air, above {VIBRATION_HZ:.0f} Hz"
                estimates[f"{title} vibration"] = estimate(size, 0.0, UNITS[name], text)
    return estimates, refusals


def _at_rest(signal: Signal, largest: float, end: float) -> Array | None:
    """The quietest samples of `REST` seconds before a time [s]; None where there are none."""
    values = signal.values[signal.t < end]
    rows = round(REST * signal.rate)
    if rows < 3 or len(values) < rows:
        return None
    starts = range(0, len(values) - rows + 1, max(rows // 2, 1))
    quietest = min(
        (values[i : i + rows] for i in starts), key=lambda x: float(x.std(axis=0).max())
    )
    return quietest if float(quietest.std(axis=0).max()) < largest else None
