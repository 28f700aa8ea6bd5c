# SPDX-License-Identifier: BSD-3-Clause
"""A log's commands flown from windows along the flight, and how far each window is from what was recorded.

All windows are worlds of one batch in the closed form: each begins in the recorded state, and knows nothing of the
recording but its commands from then on. A wrench of trim acts all along a window: what the model left over in the time
before it (`TRIM`), such as a wind, or a centre of mass beside that of the motors.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.aircraft import inertia_matrix
from iap_io.flight_logs.flight_log import FlightLog
from iap_physics.build import build_plant
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.plant.part import PlantPart
from iap_physics.plant.plant_spec import PlantSpec
from iap_simulation.identification.rotorcraft.flight_table import FlightTable, flight_table
from iap_simulation.identification.rotorcraft.log_checks import checked_log
from iap_simulation.identification.rotorcraft.prediction import (
    FEWEST,
    HORIZONS,
    Horizon,
    Predicted,
    TiltError,
    horizon,
    setpoint_response,
    tilt_error,
    tilt_rmse,
    trims,
    windows,
)
from iap_simulation.open_loop.command_source import CommandSource, ReplayAircraft
from iap_simulation.open_loop.log_commands import AttitudeCommands, MotorCommands
from iap_simulation.open_loop.step_response import AxisResponses, axis_responses

SourceOf = Callable[[FlightLog, FlightTable, ReplayAircraft], CommandSource]

KINDS: Mapping[str, SourceOf] = {"attitude": AttitudeCommands.of, "motors": MotorCommands.of}


class TrimWrench(PlantPart):
    """A wrench of its own on the vehicle of each world.

    Args:
        force: (W, 3) along the world's axes [N].
        torque: (W, 3) along the body's axes [N m].
    """

    def __init__(self, force: Array, torque: Array) -> None:
        self._force, self._torque = force, torque

    def add_wrenches(self, times: Array, x: Array, out: Array) -> None:
        """Add both, see `PlantPart`."""
        out[:, 0, :3] += self._force
        out[:, 0, 3:] += so3.rotate(x[:, 0, Q], self._torque)


class WindowPaths(NamedTuple):
    """Flights from windows.

    Attributes:
        starts: (W,) first rows in the table.
        x: (steps + 1, W, 13) states, see `iap_description.states`.
    """

    starts: Integers
    x: Array


@dataclass(frozen=True)
class OpenLoopReplay:
    """A log's commands in the simulation, beside the recorded motion.

    Attributes:
        log: that was flown.
        table: its flight, on the grid of control.
        horizons: errors beside what is simpler.
        paths: windows of the longest horizon.
        whole: (K, 13) the flight as one window; None of commands that are not stable in open loop.
        tilt: error of the tilt in it; None without it.
        fitted: the same of the delay and lag that fit the log best.
        steps: step responses of roll and pitch, recorded and simulated; empty without `whole`.
        notes: what was assumed.
    """

    log: FlightLog
    table: FlightTable
    horizons: list[Horizon]
    paths: WindowPaths
    whole: Array | None
    tilt: TiltError | None
    fitted: TiltError | None
    steps: Mapping[str, AxisResponses]
    notes: tuple[str, ...]


def replay_open_loop(
    log: FlightLog, what: str, spec: PlantSpec, seconds: Sequence[float] = HORIZONS
) -> OpenLoopReplay:
    """Fly the commands of a log.

    Args:
        log: of an autopilot, or of a run.
        what: one of `KINDS`.
        spec: of the plant; its engine does not count.
        seconds: of the horizons.

    Raises:
        BadInput: the log does not have the commands, or is too short; or the plant is of another vehicle.
    """
    sound = checked_log(log)
    table, source = commands_of(sound, what, spec, seconds)
    starts, steps = windows(table, max(seconds))
    fly = partial(_flown, spec, table, source, _trims(table, source, spec.world.gravity))
    x = fly(starts, steps)
    horizons = [_horizon(table, each, starts, x) for each in sorted(seconds)]
    whole, tilt, fitted = None, None, None
    responses: Mapping[str, AxisResponses] = {}
    if source.is_stable:
        whole = fly(np.array([0]), len(table.t) - 1)[:, 0]
        level = np.tile(so3.IDENTITY, (len(table.t), 1))
        tilt = TiltError(tilt_rmse(table.q, whole[:, Q]), tilt_rmse(table.q, level))
        fitted = tilt_error(table, setpoint_response(table))
        if table.q_setpoint is not None:
            responses = axis_responses(table.q_setpoint, table.q, whole[:, Q], table.dt)
    notes = (*sound.notes, *source.notes)
    return OpenLoopReplay(
        log, table, horizons, WindowPaths(starts, x), whole, tilt, fitted, responses, notes
    )


def commands_of(
    sound: FlightLog, what: str, spec: PlantSpec, seconds: Sequence[float] = HORIZONS
) -> tuple[FlightTable, CommandSource]:
    """The flight of a checked log on the grid of control, and the commands in it, see `replay_open_loop`."""
    table = flight_table(sound, spec.rates.control_hz)
    source = KINDS[what](sound, table, ReplayAircraft.of(spec))
    if len(windows(table, max(seconds))[0]) < FEWEST:
        raise BadInput(f"{sound.path}: too short for windows of {max(seconds):g} s")
    return table, source


def _trims(table: FlightTable, source: CommandSource, gravity: float) -> tuple[Array, Array]:
    """Accelerations (K, 3) in the world, and angular ones in the body, that the commands leave over before each row."""
    linear, angular = np.zeros((len(table.t), 3)), np.zeros((len(table.t), 3))
    if table.v is not None:
        modelled = source.thrust[:, None] * so3.matrix_from_quaternion(table.q)[:, :, 2]
        linear = trims(table, table.v, modelled - np.array([0.0, 0.0, gravity]))
    if source.angular is not None:
        angular = trims(table, table.w, source.angular)
    return linear, angular


def _horizon(table: FlightTable, seconds: float, starts: Integers, x: Array) -> Horizon:
    """Errors after one time, of the windows of the longest one."""
    steps = max(round(seconds / table.dt), 1)
    begin, end = x[0], x[steps]
    displacement = end[:, P] - begin[:, P]
    return horizon(table, seconds, starts, steps, Predicted(end[:, Q], end[:, V], displacement))


def _flown(
    spec: PlantSpec,
    table: FlightTable,
    source: CommandSource,
    trim: tuple[Array, Array],
    starts: Integers,
    steps: int,
) -> Array:
    """States (steps + 1, W, 13) of windows that begin at rows (W,)."""
    vehicle = ReplayAircraft.of(spec)
    linear, angular = (each[starts] for each in trim)
    wrench = TrimWrench(vehicle.mass * linear, angular @ inertia_matrix(vehicle.aircraft.inertia))
    closed = spec.model_copy(update={"engine": "closed_form"})
    plant = build_plant(closed, ClosedFormEngine(batch=len(starts), raises=False), [wrench])
    plant.reset(_states(table, starts)[:, None], [source.start_speeds(starts)], None)
    x = np.empty((steps + 1, len(starts), plant.state().shape[2]))
    x[0] = plant.state()[:, 0]
    for step in range(steps):
        plant.command(0, source.command(starts, step))
        plant.advance()
        x[step + 1] = plant.state()[:, 0]
    return x


def _states(table: FlightTable, rows: Integers) -> Array:
    """States (W, 13) at rows; at rest in the origin where the log has no velocity or position."""
    x = np.zeros((len(rows), 13))
    x[:, Q] = table.q[rows]
    x[:, W] = so3.rotate(table.q[rows], table.w[rows])
    if table.p is not None:
        x[:, P] = table.p[rows]
    if table.v is not None:
        x[:, V] = table.v[rows]
    return x
