# SPDX-License-Identifier: BSD-3-Clause
"""A rotorcraft identified from flight logs: parameters with intervals, what logs do not tell, and predictions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.flight_logs.flight_log import FlightLog
from iap_simulation.identification.rotorcraft.estimate import Parameter, estimate, regression
from iap_simulation.identification.rotorcraft.flight_table import FlightTable, flight_table
from iap_simulation.identification.rotorcraft.imu_noise import imu_noise
from iap_simulation.identification.rotorcraft.input_lags import check_input_times, lagged_inputs
from iap_simulation.identification.rotorcraft.prediction import (
    Horizon,
    MotionModel,
    Response,
    TiltError,
    predictions,
    setpoint_response,
    tilt_error,
)
from iap_simulation.identification.rotorcraft.rotation import Rotation, rotation
from iap_simulation.identification.rotorcraft.sag import sag
from iap_simulation.identification.rotorcraft.thrust import (
    Thrust,
    ThrustCurve,
    slow_times,
    stand_exponent,
    thrust,
)

LEAST_SPEED = 2.0  # at which drag shows [m/s]
WIDEST = 1.0  # half-width relative to the value beyond which it is not determined
DRAG_RESOLUTION = 0.02  # least half-width: an accelerometer that tilts by a degree at 8 m/s [1/s]
TRAINED = 0.7  # share of a single flight that is fitted; the rest is predicted
SEVERAL = 3  # flights from which on their spread is the interval
CONFIDENCE = 0.95  # of intervals by the spread over flights
TYPICAL_HOVER = 0.5  # command from which the curve is first taken


class DragFit(NamedTuple):
    """Drag of a vehicle.

    Attributes:
        coefficients: (2,) d [1/s]; zero where noise hides it.
        constants: (2,) c [m/s^2].
        estimates: by name.
        refusals: why one is not determined, by its name.
    """

    coefficients: Array
    constants: Array
    estimates: dict[str, Parameter]
    refusals: dict[str, str]


def drag(table: FlightTable) -> DragFit:
    """Fit the drag of a flight per mass along the body's x and y, by the accelerometer: f_i = -d_i v_i + c_i.

    The constant c takes a tilted accelerometer, and a wind from one side. Thrust along z is none of it. Gusts take a
    vehicle with them, which least squares read as less drag. Level velocities that were asked for are the instruments.
    """
    names = ("drag x", "drag y")
    if table.v is None or table.f is None:
        what = "no velocity" if table.v is None else "no accelerometer"
        return DragFit(np.zeros(2), np.zeros(2), {}, dict.fromkeys(names, what))
    v_B = so3.rotate(so3.conjugate(table.q), table.v)
    values, constants = np.zeros(2), np.zeros(2)
    estimates, refusals = {}, {}
    for i, name in enumerate(names):
        A, level = np.column_stack([-v_B[:, i], np.ones(len(v_B))]), table.level_instruments
        by = None if level is None else level[:, i]
        fit = regression(A, table.f[:, i], table.dt, by)
        width = fit.half_width(np.array([1.0, 0.0]))
        values[i] = fit.values[0] if width < abs(fit.values[0]) else 0.0
        constants[i] = float(np.mean(table.f[:, i] + values[i] * v_B[:, i]))
        fastest = float(np.abs(v_B[:, i]).max())
        if fastest < LEAST_SPEED:
            refusals[name] = f"at most {fastest:.1f} m/s that way, {LEAST_SPEED:g} m/s are needed"
        elif fit.values[0] < -DRAG_RESOLUTION:
            refusals[name] = (
                f"{fit.values[0]:.2f} 1/s, which is none: wind, or an accelerometer that drifts"
            )
        elif width > max(WIDEST * abs(fit.values[0]), DRAG_RESOLUTION):
            refusals[name] = f"{fit.values[0]:.2f} +- {width:.2f} 1/s: wind and vibration hide it"
        else:
            estimates[name] = estimate(
                max(fit.values[0], 0.0),
                max(width, DRAG_RESOLUTION),
                "1/s",
                "accelerometer, least squares, calm air assumed"
                if by is None
                else "accelerometer, set-points as instruments",
            )
    return DragFit(values, constants, estimates, refusals)


@dataclass(frozen=True)
class FlightModel:
    """One flight's model.

    Attributes:
        rotation: angular accelerations.
        thrust: thrust.
        drag: drag.
        sag: loss of thrust with the voltage, and why it is not determined.
        noise: of the inertial unit, and why it is not determined.
        times: lags up and down of the thrust, and its delay [s].
        response: of the attitude to its set-points; None where the log has none.
    """

    rotation: Rotation
    thrust: Thrust
    drag: DragFit
    sag: tuple[dict[str, Parameter], dict[str, str]]
    noise: tuple[dict[str, Parameter], dict[str, str]]
    times: tuple[float, float, float]
    response: Response | None

    @property
    def estimates(self) -> dict[str, Parameter]:
        """All parameters, by name."""
        parts = (self.thrust, self.rotation, self.drag)
        found = {name: x for part in parts for name, x in part.estimates.items()}
        return found | self.sag[0] | self.noise[0]

    @property
    def refusals(self) -> dict[str, str]:
        """Reasons why parameters are not determined, by name."""
        parts = (self.thrust, self.rotation, self.drag)
        refused = {name: x for part in parts for name, x in part.refusals.items()}
        return refused | self.sag[1] | self.noise[1]

    def motion(self, table: FlightTable) -> MotionModel:
        """Accelerations along a flight."""
        speeds = lagged_inputs(table, _thrust_inputs(table), self.times)
        drags = np.append(self.drag.coefficients, self.thrust.inflow)
        return MotionModel(
            self.rotation.accelerations(table, self.thrust.curve.share), self.rotation.damping,
            self.thrust.per_mass(speeds), drags, self.drag.constants,
        )  # fmt: skip


@dataclass(frozen=True)
class Rotorcraft:
    """A rotorcraft, by all of its flights.

    Attributes:
        model: by the first flight that was fitted.
        parameters: by name, of all fitted flights.
        refusals: why parameters are not determined, by name.
        held_out: errors over each flight that was held out, by the log's name.
        tilts: errors of set-points that are replayed over each of them; None where a log has none.
        is_part: whether the last part of the fitted flight was held out.
    """

    model: FlightModel
    parameters: dict[str, Parameter]
    refusals: dict[str, str]
    held_out: dict[str, list[Horizon]]
    tilts: dict[str, TiltError | None]
    is_part: bool


def identify_rotorcraft(fit: Sequence[FlightLog], held_out: Sequence[FlightLog]) -> Rotorcraft:
    """A model of the vehicle of some flights.

    Args:
        fit: logs that parameters come from; three or more give intervals by their spread.
        held_out: logs that are predicted; none takes the last part of a single fitted one.

    Raises:
        BadInput: a log without inputs, or without enough time in the air, or of another number of rotors.
    """
    tables = [flight_table(log) for log in fit]
    _check_alike([*fit, *held_out])
    is_part = not held_out and len(tables) == 1
    if is_part:
        rows = round(TRAINED * len(tables[0].t))
        tested = {tables[0].name: tables[0].rows(slice(rows, None))}
        tables = [tables[0].rows(slice(0, rows))]
    else:
        tested = {log.path.name: flight_table(log) for log in held_out}
    for table in tables:
        check_input_times(table)
    models = [flight_model(table, log) for table, log in zip(tables, fit, strict=True)]
    first = models[0]
    errors = {name: predictions(table, first.motion(table)) for name, table in tested.items()}
    tilts = {name: tilt_error(table, first.response) for name, table in tested.items()}
    parameters = _over_flights([each.estimates for each in models])
    refusals = {name: why for name, why in first.refusals.items() if name not in parameters}
    return Rotorcraft(first, parameters, refusals, errors, tilts, is_part)


def flight_model(table: FlightTable, log: FlightLog) -> FlightModel:
    """The model of one flight: lags by a usual curve, the curve by them, and then both again."""
    curve = ThrustCurve(TYPICAL_HOVER, stand_exponent(TYPICAL_HOVER))
    u = _thrust_inputs(table)
    for _ in range(1 if table.torque is not None else 2):  # torque set-points need no curve
        turning = rotation(table, curve.share)
        times = (*turning.lags, turning.delay)
        known = table.has_measured_speeds or "lag up" not in turning.refusals
        if not (turning.is_by_motors and known):
            times = slow_times(table, u)
        n = lagged_inputs(table, u, times)
        lifting = thrust(table, n)
        curve = lifting.curve
    return FlightModel(
        turning,
        lifting,
        drag(table),
        sag(table, n, lifting),
        imu_noise(log),
        times,
        setpoint_response(table),
    )


def _thrust_inputs(table: FlightTable) -> Array:
    """(K, m) commands of the motors; the set-point of thrust where torques are set-points, too."""
    if table.torque is not None and table.thrust is not None:
        return table.thrust[:, None]
    if table.motors is None:
        raise BadInput(f"{table.name}: no motors and no thrust set-point that changes")
    return table.motors


def _check_alike(logs: Sequence[FlightLog]) -> None:
    counts = {log.rotors: log for log in logs if log.rotors}
    if len(counts) > 1:
        (a, first), (b, second) = list(counts.items())[:2]
        raise BadInput(
            f"{second.path}: {b} rotors, {first.path} has {a}: logs of one vehicle are expected"
        )


def _over_flights(flights: Sequence[dict[str, Parameter]]) -> dict[str, Parameter]:
    """Means over flights; from `SEVERAL` on with the interval of their spread."""
    if len(flights) == 1:
        return flights[0]
    from scipy.stats import t as student  # takes a quarter of a second

    parameters = {}
    for name in dict.fromkeys(key for each in flights for key in each):
        values = [each[name] for each in flights if name in each]
        mean = float(np.mean([each.value for each in values]))
        unit, method = values[0].unit, f"{values[0].method}, {len(values)} flights"
        if len(values) >= SEVERAL:
            factor = student.ppf(0.5 + 0.5 * CONFIDENCE, len(values) - 1) / np.sqrt(len(values))
            half = factor * float(np.std([each.value for each in values], ddof=1))
        else:
            half = float(np.mean([each.half_width for each in values]))
        parameters[name] = estimate(mean, half, unit, method)
    return parameters
