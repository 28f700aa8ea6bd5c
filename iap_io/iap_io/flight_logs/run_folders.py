# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of this suite as flight logs, one of each aircraft.

Attitude, position and velocity are the simulation's own. Rates and specific force are those of the aircraft's inertial
unit where it had one, and the simulation's otherwise. Motors are commanded rotor speeds over the largest; where an
autopilot commands them, they are the speeds themselves.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.readings import ImuReading
from iap_description.sensors.sensor_info import ImuInfo
from iap_description.states import REF_P, REF_V, Mode, P, Q, V, W
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import UNITS, FlightLog, Signal
from iap_io.runs.columns import Columns, parts_of
from iap_io.runs.run_reader import RunReader
from iap_io.runs.topics import BAG
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.sensor_messages.sensor_reader import read_sensors

KIND = "run folder"
IDLE = 0.2  # share of the largest speed below which rotors carry nothing
SPECIFIC_FORCES = "differences of the velocity"


def is_run(path: Path) -> bool:
    """True for a folder with a recording of a run."""
    return (path / BAG).is_dir()


def read_run(folder: Path) -> list[FlightLog]:
    """The flight logs of a run's aircraft, of each vehicle in turn.

    Raises:
        BadInput: the recording is damaged, empty, or too short.
    """
    reader = RunReader(folder)
    columns = reader.columns()
    if len(columns[0].t) < 2:
        raise BadInput(f"{folder}: a recording of two or more control steps is expected")
    logs = []
    for vehicle, each in zip(reader.meta.vehicles, columns, strict=True):
        for aircraft in range(vehicle.count):
            logs.append(
                _log(folder, vehicle, aircraft, each, _inertial(reader, vehicle, aircraft, folder))
            )
    return logs


def _log(
    folder: Path,
    vehicle: VehicleMeta,
    aircraft: int,
    columns: Columns,
    inertial: dict[str, Signal],
) -> FlightLog:
    body = vehicle.aircraft[aircraft]
    limits = vehicle.limits[aircraft]
    t, x = columns.t, columns.x[:, body]
    signals = dict(_motion(t, x)) | inertial
    speeds = columns.rpm[:, aircraft]
    signals[names.ROTOR_SPEEDS] = _signal(names.ROTOR_SPEEDS, t, speeds, "state")
    idle = (speeds.mean(axis=1) < IDLE * limits.rpm[1]).astype(float)
    signals[names.LANDED] = _signal(names.LANDED, t, idle[:, None], "rotors idle")
    if (columns.mode == Mode.RPM).all():
        commands = parts_of(columns.aircraft[:, aircraft])[3] / limits.rpm[1]
        signals[names.MOTORS] = Signal(
            t, commands, "command over the largest speed", names.SPEED_SHARE
        )
    else:  # an autopilot commands them, which is not recorded
        signals[names.MOTORS] = Signal(
            t, speeds / limits.rpm[1], "speed over the largest", names.MEASURED_SPEED
        )
    if body == 0:
        signals[names.POSITION_SETPOINT] = _signal(
            names.POSITION_SETPOINT, t, columns.reference[:, REF_P], "reference"
        )
        signals[names.VELOCITY_SETPOINT] = _signal(
            names.VELOCITY_SETPOINT, t, columns.reference[:, REF_V], "reference"
        )
    where = f"{vehicle.platform}, {vehicle.bodies[body]}"
    return FlightLog(
        path=folder, kind=KIND, vehicle=where, signals=signals, rotors=speeds.shape[1], axes="enu", rows=len(t),
        notes=("attitude, position and velocity are the simulation's own",),
        advice="--sensors imu" if not inertial else "", motor_places=(),
    )  # fmt: skip


def _signal(name: str, t: Array, values: Array, source: str) -> Signal:
    return Signal(t, values, source, UNITS[name])


def _motion(t: Array, x: Array) -> Iterator[tuple[str, Signal]]:
    """The signals of a body's states (K, 13)."""
    q = so3.normalized(x[:, Q])
    for name, values in (
        (names.ATTITUDE, q),
        (names.POSITION, x[:, P]),
        (names.VELOCITY, x[:, V]),
    ):
        yield name, _signal(name, t, values, "state")
    back = so3.conjugate(q)
    yield names.RATES, _signal(names.RATES, t, so3.rotate(back, x[:, W]), "state")
    a = np.gradient(x[:, V], t, axis=0) + np.array([0.0, 0.0, GRAVITY])
    force = so3.rotate(back, a)
    yield names.SPECIFIC_FORCE, _signal(names.SPECIFIC_FORCE, t, force, SPECIFIC_FORCES)


def _inertial(
    reader: RunReader, vehicle: VehicleMeta, aircraft: int, folder: Path
) -> dict[str, Signal]:
    """Rates and specific force by the aircraft's inertial unit; nothing where it has none."""
    parent = f"{vehicle.name}/{vehicle.bodies[vehicle.aircraft[aircraft]]}"
    unit = next(
        (
            each
            for each in reader.meta.sensors
            if isinstance(each, ImuInfo) and each.parent == parent
        ),
        None,
    )
    if unit is None:
        return {}
    readings = [
        each for each in read_sensors(folder / BAG, (unit,)) if isinstance(each, ImuReading)
    ]
    if len(readings) < 2:
        return {}
    t = np.array([each.t for each in readings])
    w, f = (np.array([getattr(each, name) for each in readings]) for name in ("w_WS_S", "f_S"))
    turned = [so3.rotate(np.tile(unit.q_BS, (len(t), 1)), values) for values in (w, f)]
    both = (names.RATES, names.SPECIFIC_FORCE)
    signals = {
        name: _signal(name, t, values, unit.topic)
        for name, values in zip(both, turned, strict=True)
    }
    return signals | {names.GYROSCOPE: signals[names.RATES]}
