# SPDX-License-Identifier: BSD-3-Clause
r"""Thrust per mass by the motors' commands: the command of hover, the slope there, and the curve through both.

A rotor's thrust per mass is a n + b n^2 of its speed n = 0..1. In the mean of a flight the vertical accelerations are
those of the velocity (balance), gusts or not:

.. math:: \overline{R_{33}\,(a n + b n^2)} = g + \Delta v_z / T .

The slope is regressed with the heights that were asked for as instruments: gusts move a vehicle and its motors, not its
set-points. With the command n_h of hover, the exponent e = slope n_h / g is 1 of a linear and 2 of a square law,

.. math:: a = (2 - e)\, g / n_h, \quad b = (e - 1)\, g / n_h^2 .
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.earth import GRAVITY
from iap_description.math import so3
from iap_simulation.identification.least_squares import NORMAL_95
from iap_simulation.identification.rotorcraft.estimate import (
    Parameter,
    block_scatter,
    estimate,
    regression,
)
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.identification.rotorcraft.input_lags import lagged_inputs

EXPONENTS = (1.0, 2.0)  # of a linear and of a square law
HOPELESS = 10.0  # half-width that is not worth its digits
WIDEST = 0.35  # half-width of an exponent's interval beyond which the log does not tell it
SLACK = 0.1  # by which an exponent may leave its range by noise
CALM = 0.9  # R^2 of a regression without instruments that is believed
STAND = 0.1  # a / b of a rotor on a stand, where a log does not tell the exponent
SLOW_LAGS = (
    0.005,
    0.02,
    0.04,
    0.06,
    0.08,
    0.12,
)  # that are tried where rotation does not tell them [s]
SLOW_DELAYS = (0.0, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08)  # [s]
ROUNDS = 30  # of the search for the command of hover


@dataclass(frozen=True)
class ThrustCurve:
    """Thrust per mass of all rotors at one speed.

    Attributes:
        hover: command of hover n_h.
        exponent: e.
    """

    hover: float
    exponent: float

    def per_mass(self, n: Array) -> Array:
        """Thrust per mass at speeds n [m/s^2], were all rotors alike."""
        a = (2.0 - self.exponent) * GRAVITY / self.hover
        b = (self.exponent - 1.0) * GRAVITY / self.hover**2
        return np.asarray(a * n + b * n**2)

    def share(self, n: Array) -> Array:
        """Share of the full thrust at speeds n."""
        return np.asarray(self.per_mass(n) / self.full)

    @property
    def full(self) -> float:
        """Thrust per mass at full speed [m/s^2]."""
        return float(self.per_mass(np.ones(1))[0])

    @property
    def slope(self) -> float:
        """At hover [m/s^2 per unit of the command]."""
        return self.exponent * GRAVITY / self.hover


@dataclass(frozen=True)
class Thrust:
    """Thrust of a vehicle by its commands.

    Attributes:
        curve: through the command of hover.
        line: (3,) constant, slope, and loss by the rotors' inflow [1/s] that explain the fitted flight best, where its
            physical slope is not determined; None where it is. Gusts flatten it: it predicts, and is no parameter.
        estimates: by name.
        refusals: why a parameter is not determined, by its name.
    """

    curve: ThrustCurve
    line: Array | None
    estimates: dict[str, Parameter]
    refusals: dict[str, str]

    def per_mass(self, n: Array) -> Array:
        """Thrust per mass (K,) by speeds (K, m) [m/s^2]."""
        if self.line is not None:
            return np.asarray(self.line[0] + self.line[1] * n.mean(axis=1))
        return np.asarray(self.curve.per_mass(n).mean(axis=1))

    @property
    def inflow(self) -> float:
        """Thrust per mass that is lost by the velocity along the rotors' axes [1/s]."""
        return 0.0 if self.line is None else float(self.line[2])


class Slope(NamedTuple):
    """Regression of the thrust per mass.

    Attributes:
        value: slope at hover [m/s^2 per unit of the command]; NaN where the log does not tell it.
        half_width: of its 95 % interval.
        text: how it was found, or why it was not.
        line: constant, slope and inflow by least squares.
    """

    value: float
    half_width: float
    text: str
    line: Array


def slow_times(table: FlightTable, u: Array) -> tuple[float, float, float]:
    """Lags up and down (alike) and delay [s] with which inputs (K, m) explain the specific force best."""
    if table.f is None:
        return SLOW_LAGS[0], SLOW_LAGS[0], 0.0
    A, y, edge = _line_regressors(table), table.f[:, 2], _inside(table)

    def off(times: tuple[float, float, float]) -> float:
        n = table.smoothed(lagged_inputs(table, u, times).mean(axis=1))
        return float(
            np.var(regression(np.column_stack([n, A])[edge], y[edge], table.dt).residuals)
        )

    return min(((lag, lag, delay) for lag in SLOW_LAGS for delay in SLOW_DELAYS), key=off)


def command_thrust(table: FlightTable, u: Array) -> tuple[Thrust, Array]:
    """The thrust of commands (K, m), and these behind the lags with which they explain the specific force best."""
    n = lagged_inputs(table, u, slow_times(table, u))
    return thrust(table, n), n


def stand_exponent(hover: float) -> float:
    """Exponent at a command of a rotor whose thrust has a / b = `STAND`."""
    return (STAND + 2.0 * hover) / (STAND + hover)


def thrust(table: FlightTable, n: Array) -> Thrust:
    """Fit a flight.

    Args:
        table: of the flight.
        n: (K, m) speeds of the motors, or the set-point of thrust (K, 1).
    """
    R33 = so3.matrix_from_quaternion(table.q)[:, 2, 2]
    hover = _hover(table, n, R33, table.exponent)
    slope = _slope(table, n, hover)
    exponent, width = (each * hover / GRAVITY for each in (slope.value, slope.half_width))
    refusal = _refusal(exponent, width, slope.text)
    known = table.exponent if refusal or table.exponent else float(np.clip(exponent, *EXPONENTS))
    hover = _hover(table, n, R33, known)
    curve = ThrustCurve(hover, stand_exponent(hover) if known is None else known)
    estimates = _of_balance(table, n, R33, curve)
    if not refusal:
        unit = "m/s^2 by a unit command"
        estimates["thrust slope"] = estimate(slope.value, slope.half_width, unit, slope.text)
        if table.exponent is None:
            estimates["thrust exponent"] = estimate(curve.exponent, width, "", slope.text)
    refusals = {"thrust slope": refusal} if refusal else {}
    if table.saturation:  # whose lags are not determined, either
        refusals = {name: table.saturation for name in (*estimates, "thrust slope")}
        estimates = {}
    is_known = known is not None or table.f is None
    return Thrust(curve, None if is_known else slope.line, estimates, refusals)


def _refusal(exponent: float, width: float, text: str) -> str:
    """Reason why a slope is not determined; empty where it is."""
    low, high = EXPONENTS
    if not np.isfinite(exponent):
        return text
    if width > HOPELESS:
        return f"not determined by {text}"
    if width > WIDEST:
        return f"its exponent is {exponent:.1f} +- {width:.1f}, by {text}"
    if not low - max(SLACK, width) <= exponent <= high + max(SLACK, width):
        return f"its exponent is {exponent:.2f}, outside 1 to 2: drowned in gusts and vibration"
    return ""


def _vertical(table: FlightTable) -> float:
    """Mean vertical acceleration of a flight, with gravity [m/s^2]."""
    if table.v is None:
        return GRAVITY
    return GRAVITY + float((table.v[-1, 2] - table.v[0, 2]) / (table.t[-1] - table.t[0]))


def _hover(table: FlightTable, n: Array, R33: Array, exponent: float | None) -> float:
    """The command of hover by the balance, of a law of an exponent or else as on a stand."""
    hover, needed = float(np.mean(n)), _vertical(table)
    for _ in range(ROUNDS):
        e = stand_exponent(hover) if exponent is None else exponent
        mean = float(np.mean(R33 * ThrustCurve(hover, e).per_mass(n).mean(axis=1)))
        hover *= (mean / needed) ** (1.0 / e)
    return hover


def _of_balance(
    table: FlightTable, n: Array, R33: Array, curve: ThrustCurve
) -> dict[str, Parameter]:
    """Commands of hover and thrust per mass by the balance, with the interval of its blocks."""
    off = R33 * curve.per_mass(n).mean(axis=1) - _vertical(table)
    if table.f is not None:  # what the vehicle did is no scatter of its thrust
        f_W = so3.rotate(table.q, table.f)[:, 2]
        off = off - (f_W - f_W.mean())
    total = float(block_scatter(off[:, None], table.dt)[0, 0])
    relative = NORMAL_95 * np.sqrt(total) / len(off) / GRAVITY
    method = "balance in the mean"
    law = f"{method}, exponent {curve.exponent:.2f}"
    return {
        "hover command": estimate(
            curve.hover, relative / curve.exponent * curve.hover, "", method
        ),
        "full thrust per mass": estimate(curve.full, relative * curve.full, "m/s^2", law),
    }


def _inside(table: FlightTable) -> slice:
    """The rows that filters do not spoil."""
    edge = round(1.0 / table.dt)
    return slice(edge, -edge)


def _line_regressors(table: FlightTable) -> Array:
    """(K, 2) a constant, and the velocity against the rotors' axes."""
    climb = np.zeros(len(table.t))
    if table.v is not None:
        climb = -so3.rotate(so3.conjugate(table.q), table.v)[:, 2]
    return np.column_stack([np.ones(len(climb)), climb])


def _slope(table: FlightTable, n: Array, hover: float) -> Slope:
    """Slope of the thrust per mass at hover, or why the log does not tell it."""
    none = float("nan")
    if table.f is None:
        return Slope(none, none, "no accelerometer", np.zeros(3))
    edge = _inside(table)
    y, one = table.f[edge, 2], np.ones(len(table.t))
    slope_first = np.column_stack([table.smoothed(n.mean(axis=1)), _line_regressors(table)])[edge]
    line = regression(slope_first, y, table.dt).values[[1, 0, 2]]
    power = table.exponent or 1.0
    per_command = power * hover ** (power - 1.0)
    x = table.smoothed((n**power).mean(axis=1))
    A, gradient = np.column_stack([x, one])[edge], np.array([per_command, 0.0])
    if table.instruments is not None:
        by, text = regression(A, y, table.dt, table.instruments[edge]), "set-points as instruments"
    else:
        by, text = regression(A, y, table.dt), "least squares, calm air assumed"
        if by.share < CALM:
            share = 100.0 * max(by.share, 0.0)
            text = (
                f"commands explain {share:.0f} % of the thrust alone, and no set-points are logged"
            )
            return Slope(none, none, text, line)
    return Slope(float(by.values @ gradient), by.half_width(gradient), text, line)
