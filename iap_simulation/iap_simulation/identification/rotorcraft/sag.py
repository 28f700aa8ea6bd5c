# SPDX-License-Identifier: BSD-3-Clause
r"""Loss of thrust with a battery's voltage, at the same command.

With f the specific force along the rotors' axes, T(n) the curve of the whole flight and V the voltage,

.. math:: \ln \frac{f}{T(n)} = c + k \ln \frac{V}{\bar V}

over means of `MEAN` seconds, in which a load's own sag is small beside that of the charge. In hover f is the weight, so
that the command alone tells k: an error of the curve's exponent is one of k, in proportion, and widens its interval.
"""

import numpy as np

from iap_description.arrays import Array
from iap_io.flight_logs.inspection import VOLTAGE_RANGE, voltage_share
from iap_simulation.identification.rotorcraft.estimate import (
    BLOCK,
    Parameter,
    estimate,
    regression,
)
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.identification.rotorcraft.thrust import WIDEST, Thrust

NAME = "battery sag"
MEAN = 2.0  # of commands, forces and voltages [s]
ALIKE = 5  # means in a row whose residuals may be alike
FEWEST = 4 * ALIKE  # means
LEAST_WIDTH = 0.05  # half-width of the power below which none is believed: blocks are few
LARGEST_WIDTH = 1.0  # half-width of the power beyond which it is not determined


def sag(table: FlightTable, n: Array, fit: Thrust) -> tuple[dict[str, Parameter], dict[str, str]]:
    """Power of the thrust by the voltage, by its name, or why it is not determined.

    Args:
        table: of the flight.
        n: (K, m) speeds of the motors, or the set-point of thrust (K, 1).
        fit: of the thrust.
    """
    if table.voltage is None or table.f is None:
        missing = "voltage" if table.voltage is None else "accelerometer"
        return {}, {NAME: f"no {missing}"}
    share = voltage_share(table.voltage)
    if share < VOLTAGE_RANGE:
        return {}, {NAME: f"voltage changes by {100 * share:.0f} % alone"}
    if table.saturation:
        return {}, {NAME: table.saturation}
    rows = round(MEAN / table.dt)
    command, force, voltage = (
        _means(x, rows) for x in (fit.curve.per_mass(n).mean(axis=1), table.f[:, 2], table.voltage)
    )
    usable = (command > 0.0) & (force > 0.0) & (voltage > 0.0)
    if usable.sum() < FEWEST:
        return {}, {NAME: f"{usable.sum()} means of {MEAN:g} s, {FEWEST} are needed"}
    x = np.log(voltage[usable] / voltage[usable].mean())
    y = np.log(force[usable] / command[usable])
    by = regression(np.column_stack([x, np.ones(len(x))]), y, BLOCK / ALIKE)
    k, width = float(by.values[0]), by.half_width(np.array([1.0, 0.0]))
    width = max(float(np.hypot(width, k * _of_exponent(table, fit))), LEAST_WIDTH)
    if width > LARGEST_WIDTH:
        return {}, {NAME: f"power {k:.1f} +- {width:.1f} of the voltage: manoeuvres hide it"}
    method = "power of the voltage, accelerometer over curve"
    return {NAME: estimate(k, width, "", method)}, {}


def _of_exponent(table: FlightTable, fit: Thrust) -> float:
    """Relative half-width of the curve's exponent; that of a stand's where the log does not tell it."""
    if table.exponent is not None:
        return 0.0
    known = fit.estimates.get("thrust exponent")
    return (WIDEST if known is None else known.half_width) / fit.curve.exponent


def _means(x: Array, rows: int) -> Array:
    """Means of so many rows of (K,)."""
    count = len(x) // rows
    return np.asarray(x[: count * rows].reshape(count, rows).mean(axis=1))
