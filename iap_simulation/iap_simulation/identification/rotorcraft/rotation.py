# SPDX-License-Identifier: BSD-3-Clause
r"""Angular accelerations by motors or torque set-points, with the lags between a command and its thrust.

A motor's speed n follows its command u by first-order lags, one for up and one for down, after a delay
(`iap_physics.propulsion.rotors`); its share of the full thrust is s(n). About each axis of the body

.. math:: \dot\omega_i = \sum_j B_{ij}\, s(n_j) - d_i\, \omega_i ,

both sides band-passed: below the band a controller makes disturbances look like inputs of the wrong sign, above it is
noise. Lags, delay, B and d are found together by least squares (variable projection), each axis by its own scale.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from iap_description.arrays import Array
from iap_simulation.identification.least_squares import NORMAL_95
from iap_simulation.identification.rotorcraft.estimate import (
    BLOCK,
    Parameter,
    block_scatter,
    estimate,
)
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.identification.rotorcraft.input_lags import lagged_inputs

AXES = ("roll", "pitch", "yaw")
LOWEST, HIGHEST, OF_RATE = (
    1.0,
    20.0,
    0.35,
)  # of the band [Hz], and its end relative to the slowest rate
EDGE = 2.0  # at both ends, which filters spoil [s]
FAST = 100.0  # least rate of inputs at which lags are told apart [Hz]
LEAST_SHARE = 0.3  # of the variance that a model must explain (R^2)
LEAST_EXCITED = 8.0  # in which the inputs move the vehicle more than all else [s]
LAGS, DELAYS = (0.005, 0.3), (0.0, 0.1)  # bounds [s]
STARTS = (0.02, 0.05, 0.1)  # of lags [s]
STEP = 1e-4  # of the derivative by a lag [s]
UNEXCITED = 1e-3  # singular values, relative to the largest, of combinations of inputs that a flight does not excite


@dataclass(frozen=True)
class Rotation:
    """Angular accelerations of a vehicle by its inputs.

    Attributes:
        is_by_motors: whether the inputs are motors; torque set-points otherwise.
        gains: (3, n) B [rad/s^2] per full thrust of each motor, or per unit of torque (diagonal).
        damping: (3,) d [1/s].
        lags: up and down [s].
        delay: [s].
        shares: (3,) R^2 in the band.
        estimates: by name.
        refusals: why a parameter is not determined, by its name.
    """

    is_by_motors: bool
    gains: Array
    damping: Array
    lags: tuple[float, float]
    delay: float
    shares: Array
    estimates: dict[str, Parameter]
    refusals: dict[str, str]

    def speeds(self, table: FlightTable) -> Array:
        """(K, n) lagged inputs of a flight."""
        return lagged_inputs(table, table.input, (*self.lags, self.delay))

    def accelerations(self, table: FlightTable, share: Callable[[Array], Array]) -> Array:
        """(K, 3) angular accelerations by the inputs alone [rad/s^2], without damping.

        Args:
            table: a flight.
            share: s of the lagged motors.
        """
        n = self.speeds(table)
        return np.asarray((share(n) if self.is_by_motors else n) @ self.gains.T)


def _least_squares(A: Array, y: Array) -> Array:
    """Coefficients by the singular values above `UNEXCITED`."""
    size = np.sqrt(np.mean(A**2, axis=0))
    scale = np.where(size > 0.0, size, 1.0)
    return np.asarray(np.linalg.lstsq(A / scale, y, rcond=UNEXCITED)[0] / scale)


def rotation(table: FlightTable, share: Callable[[Array], Array]) -> Rotation:
    """Fit a flight.

    Args:
        table: of the flight.
        share: s of the lagged motors.
    """
    return _Fit(table, share).result()


class _Fit:
    """The search for lags, and what follows from them."""

    def __init__(self, table: FlightTable, share: Callable[[Array], Array]) -> None:
        from scipy.signal import butter  # takes a quarter of a second

        self.table, self._share = table, share
        self.is_by_motors = table.torque is None
        rate = 1.0 / table.dt
        high = min(HIGHEST, OF_RATE * min(table.rate, 2.0 * table.input_rate, rate))
        self._band = butter(2, (LOWEST, high), btype="band", fs=rate, output="sos")
        edge = round(EDGE / table.dt)
        self._inside = slice(edge, -edge)
        self.acceleration = self._passed(np.gradient(table.w, table.dt, axis=0))
        self._w = self._passed(table.w)
        self.scale = np.maximum(self.acceleration.std(axis=0), 1e-9)
        self.is_fast = table.input_rate >= FAST

    def _passed(self, x: Array) -> Array:
        from scipy.signal import sosfiltfilt  # takes a quarter of a second

        return np.asarray(sosfiltfilt(self._band, x, axis=0)[self._inside])

    def _times(self, free: Array) -> tuple[float, float, float]:
        """Lags up and down and the delay, of what is searched: at low rates one lag alone, none of measured speeds."""
        if self.table.has_measured_speeds:
            return 0.0, 0.0, 0.0
        up, down, delay = free if self.is_fast else (free[0], free[0], 0.0)
        return float(up), float(down), float(delay)

    def _drive(self, free: Array) -> Array:
        n = lagged_inputs(self.table, self.table.input, self._times(free))
        return self._passed(self._share(n) if self.is_by_motors else n)

    def _regressors(self, drive: Array, axis: int) -> Array:
        inputs = drive if self.is_by_motors else drive[:, [axis]]
        return np.column_stack([inputs, self._w[:, axis]])

    def _linear(self, drive: Array) -> list[Array]:
        """Gains and damping about each axis."""
        return [
            _least_squares(self._regressors(drive, i), self.acceleration[:, i]) for i in range(3)
        ]

    def _pattern(self, drive: Array, linear: Array, axis: int) -> Array:
        """Sense (n,), 1 or -1, in which each input turns the vehicle about an axis: by how both move together.

        The sum of gains in this sense is that of what the flight excites. Combinations of motors across it are not
        excited by a controller, so that gains of single motors are not well known.
        """
        columns = self._regressors(drive, axis)[:, :-1]
        together = columns.T @ (columns @ linear[:-1])
        return np.asarray(np.where(together < 0.0, -1.0, 1.0))

    def _modelled(self, drive: Array, linear: list[Array]) -> Array:
        columns = [self._regressors(drive, i) @ c for i, c in enumerate(linear)]
        return np.stack(columns, axis=1)

    def _residuals(self, free: Array) -> Array:
        drive = self._drive(free)
        off = (self.acceleration - self._modelled(drive, self._linear(drive))) / self.scale
        return np.asarray(off.ravel())

    def _search(self) -> Array:
        from scipy.optimize import least_squares  # takes a quarter of a second

        if self.table.has_measured_speeds:
            return np.zeros(0)
        starts = [np.array([x, x, 0.005]) if self.is_fast else np.array([x]) for x in STARTS]
        bounds = (LAGS, LAGS, DELAYS) if self.is_fast else (LAGS,)
        start = min(starts, key=lambda x: float(np.sum(self._residuals(x) ** 2)))
        low, high = np.array(bounds).T
        return np.asarray(
            least_squares(
                self._residuals, start, bounds=(low, high), diff_step=1e-3, max_nfev=20
            ).x
        )

    def result(self) -> Rotation:
        """The fit, with intervals of lags and gains together."""
        free = self._search()
        drive = self._drive(free)
        linear = self._linear(drive)
        off = self.acceleration - self._modelled(drive, linear)
        shares = 1.0 - off.var(axis=0) / self.scale**2
        covariance = self._covariance(free, drive, linear, off)
        gains, damping = np.zeros((3, self.table.input.shape[1])), np.zeros(3)
        for i, c in enumerate(linear):
            gains[i, slice(None) if self.is_by_motors else i] = (
                c[:-1] if self.is_by_motors else c[0]
            )
            damping[i] = max(-c[-1], 0.0)
        refusals = self._refusals(shares, self.acceleration - off, off)
        estimates = self._estimates(free, drive, linear, covariance, refusals)
        up, down, delay = self._times(free)
        return Rotation(
            self.is_by_motors, gains, damping, (up, down), delay, shares, estimates, refusals
        )

    def _covariance(self, free: Array, drive: Array, linear: list[Array], off: Array) -> Array:
        """Of lags and of each axis' gains and damping, in this order."""
        count, width = len(free), len(linear[0])
        slopes = []
        for j in range(count):
            perturbed = free.copy()
            perturbed[j] += STEP
            slopes.append(
                (self._modelled(self._drive(perturbed), linear) - self._modelled(drive, linear))
                / STEP
            )
        parts = []
        for i in range(3):
            J = np.zeros((len(off), count + 3 * width))
            for j, slope in enumerate(slopes):
                J[:, j] = slope[:, i]
            J[:, count + i * width : count + (i + 1) * width] = self._regressors(drive, i)
            parts.append(J / self.scale[i])
        N = sum(J.T @ J for J in parts)
        size = np.sqrt(np.where(np.diag(N) > 0.0, np.diag(N), 1.0))
        H = np.linalg.pinv(N / np.outer(size, size), rcond=UNEXCITED**2, hermitian=True)
        scores = sum(J * (off[:, i] / self.scale[i])[:, None] for i, J in enumerate(parts)) / size
        return np.asarray(H @ block_scatter(scores, self.table.dt) @ H / np.outer(size, size))

    def _refusals(self, shares: Array, modelled: Array, off: Array) -> dict[str, str]:
        refusals = {}
        saturation = self.table.saturation if self.is_by_motors else ""
        rows = max(round(BLOCK / self.table.dt), 1)
        starts = np.arange(0, len(off), rows)
        power = np.sqrt(np.add.reduceat(modelled**2, starts, axis=0) / rows)
        excited = BLOCK * (power > off.std(axis=0)).sum(axis=0)
        for i, axis in enumerate(AXES):
            if saturation:
                refusals[axis] = saturation
            elif shares[i] < LEAST_SHARE:
                refusals[axis] = (
                    f"inputs explain {100 * max(shares[i], 0.0):.0f} % of the angular acceleration alone"
                )
            elif excited[i] < LEAST_EXCITED:
                refusals[axis] = (
                    f"{excited[i]:.0f} s of excitation alone, {LEAST_EXCITED:.0f} s are needed"
                )
        lags = ("lag up", "lag down", "delay")
        if self.table.has_measured_speeds:
            refusals |= dict.fromkeys(lags, "speeds are logged, not their commands")
        elif {"roll", "pitch"} <= set(refusals):
            refusals |= dict.fromkeys(lags, "no excitation about roll and pitch")
        elif not self.is_fast:
            what = f"inputs at {self.table.input_rate:.0f} Hz, {FAST:.0f} Hz are needed"
            refusals |= dict.fromkeys(lags, what)
        return refusals

    def _estimates(
        self,
        free: Array,
        drive: Array,
        linear: list[Array],
        covariance: Array,
        refusals: dict[str, str],
    ) -> dict[str, Parameter]:
        half = NORMAL_95 * np.sqrt(np.maximum(np.diag(covariance), 0.0))
        estimates = {}
        for j, name in enumerate(("lag up", "lag down", "delay")):
            if name not in refusals:
                estimates[name] = estimate(free[j], half[j], "s", "rotation, 1 Hz and above")
        unit = "rad/s^2 by a motor" if self.is_by_motors else "rad/s^2 by a unit torque"
        width = len(linear[0])
        for i, axis in enumerate(AXES):
            if axis in refusals:
                continue
            gradient = np.zeros(len(covariance))
            first = len(free) + i * width
            pattern = self._pattern(drive, linear[i], i)
            gradient[first : first + width - 1] = pattern / (width - 1)
            value = float(linear[i][:-1] @ pattern) / (width - 1)
            spread = NORMAL_95 * float(np.sqrt(max(float(gradient @ covariance @ gradient), 0.0)))
            estimates[axis] = estimate(value, spread, unit, "least squares in the band")
        for axis in AXES:  # a gain that may be none; of a delay this is nothing odd
            unsure = estimates.get(axis)
            if unsure is not None and unsure.half_width >= abs(unsure.value):
                refusals[axis] = f"{estimates.pop(axis).value:.2g} +- {unsure.half_width:.2g}"
        return estimates
