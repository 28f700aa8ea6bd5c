# SPDX-License-Identifier: BSD-3-Clause
"""Logs of ArduPilot's copters: where the signals are, from release 3.2 to 4.5, in NED and FRD."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from iap_description.errors import BadInput
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.angle_units import in_the_unit_of_angles
from iap_io.flight_logs.ardupilot_targets import (
    MOTOR_FUNCTIONS,
    old_targets,
    speeds_of_motors,
)
from iap_io.flight_logs.dataflash import Dataflash, read_messages
from iap_io.flight_logs.flight_log import FlightLog
from iap_io.flight_logs.log_tables import LogField, LogTable
from iap_io.flight_logs.padding import NOTE, without_zeros

DEG = float(np.pi / 180.0)
EVENTS = {
    "armed": ({10}, {11}),
    "landed": ({17, 18}, {28}),
}  # ids of EV that begin and end a state
ROTORS_OF_CLASS = {1: 4, 2: 6, 3: 8, 4: 8, 5: 6, 7: 3}  # by FRAME_CLASS
USUAL_ROTORS = 4
X_FRAME = 1  # FRAME_TYPE
COPTERS = ("ArduCopter", "APM:Copter")
OTHER_VEHICLES = (
    "ArduPlane", "APM:Plane", "ArduRover", "APM:Rover", "Rover", "ArduSub", "Blimp", "AntennaTracker",
)  # fmt: skip
ADVICE = "LOG_BITMASK with ATTITUDE_FAST, IMU_FAST and MOTBATT, LOG_DISARMED 1: motors are at 10 Hz otherwise"
POSITIONS, VELOCITIES = ("PN", "PE", "PD"), ("VN", "VE", "VD")
TARGETS = (("PSCN", "N"), ("PSCE", "E"), ("PSCD", "D"))
ESTIMATORS = ("XKF1", "NKF1", "EKF1")  # the third, the second and the first
FIELDS = (
    LogField(names.ATTITUDE, "ATT", ("Roll", "Pitch", "Yaw"), "rpy ned", DEG),
    *(LogField(names.POSITION, table, POSITIONS, "ned") for table in ESTIMATORS),
    *(LogField(names.VELOCITY, table, VELOCITIES, "ned") for table in ESTIMATORS),
    LogField(names.RATES, "RATE", ("R", "P", "Y"), "frd", DEG),
    LogField(names.RATES, "IMU", ("GyrX", "GyrY", "GyrZ"), "frd"),
    LogField(names.GYROSCOPE, "IMU", ("GyrX", "GyrY", "GyrZ"), "frd"),
    LogField(names.SPECIFIC_FORCE, "IMU", ("AccX", "AccY", "AccZ"), "frd"),
    LogField(names.MOTORS, "RCOU", ("motor[*]",)),  # of its outputs, by the reader
    LogField(names.ROTOR_SPEEDS, "ESC", ("speed[*]",)),  # of its instances, by the reader
    LogField(names.TORQUE, "RATE", ("ROut", "POut", "YOut"), "frd"),
    LogField(names.THRUST, "CTUN", ("ThO",), releases="from 3.4"),
    LogField(names.THRUST, "CTUN", ("ThrOut",), scale=1e-3, releases="to 3.3"),
    LogField(names.ATTITUDE_SETPOINT, "ATT", ("DesRoll", "DesPitch", "DesYaw"), "rpy ned", DEG),
    LogField(
        names.ATTITUDE_SETPOINT,
        "ANG",
        ("DesRoll", "DesPitch", "DesYaw"),
        "rpy ned",
        DEG,
        "from 4.6",
    ),
    LogField(names.RATES_SETPOINT, "RATE", ("RDes", "PDes", "YDes"), "frd", DEG),
    LogField(names.POSITION_SETPOINT, "PSC", ("TPN", "TPE", "TPD"), "ned", releases="from 4.1"),
    LogField(names.VELOCITY_SETPOINT, "PSC", ("TVN", "TVE", "TVD"), "ned", releases="from 4.1"),
    LogField(names.POSITION_SETPOINT, "NTUN", ("DPN", "DPE", "DPD"), "ned", releases="to 3.6"),
    LogField(names.VELOCITY_SETPOINT, "NTUN", ("DVN", "DVE", "DVD"), "ned", releases="to 3.6"),
    LogField(names.POSITION_SETPOINT, "PSC4", ("DPN", "DPE", "DPD"), "ned", releases="4.0"),
    LogField(names.VELOCITY_SETPOINT, "PSC4", ("DVN", "DVE", "DVD"), "ned", releases="4.0"),
    LogField(names.POSITION_SETPOINT, "GUID", ("DPN", "DPE", "DPD"), "ned"),
    LogField(names.VELOCITY_SETPOINT, "GUID", ("DVN", "DVE", "DVD"), "ned"),
    LogField(names.VOLTAGE, "BAT", ("Volt",), releases="from 3.5"),
    LogField(names.VOLTAGE, "CURR", ("Volt",), releases="to 3.4"),
    LogField(names.CURRENT, "BAT", ("Curr",), releases="from 3.5"),
    LogField(names.ARMED, "EV", ("armed",)),
    LogField(names.LANDED, "EV", ("landed",)),
)


def read_dataflash(path: Path) -> FlightLog:
    """The log in a dataflash file of a copter.

    Raises:
        BadInput: nothing of it can be read, or it is of another vehicle.
    """
    data, is_padded = without_zeros(path)
    messages = read_messages(data)
    other = next(
        (x for x in OTHER_VEHICLES for text in messages.texts if text.startswith(x)), None
    )
    if other is not None:
        raise BadInput(f"{path}: a log of {other}: this suite reads those of multirotors")
    parameters = _parameters(messages)
    tables = {
        **_with_motors(messages, parameters), **_targets(messages), **_events(messages),
        **old_targets(messages.tables), **speeds_of_motors(messages.tables, parameters),
    }  # fmt: skip
    signals, notes = in_the_unit_of_angles(tables, FIELDS, ("ATT", "ANG"), DEG)
    if not signals:
        raise BadInput(
            f"{path}: no message in it that is known: it was cut before them; copy it from the vehicle again"
        )
    if is_padded:
        notes.append(NOTE)
    elif messages.damaged:
        notes.append(f"damaged bytes at {messages.damaged} places passed over")
    if messages.is_cut and not is_padded:
        notes.append("cut: the file ends in the middle of a message; what is before counts")
    if names.VOLTAGE in signals and np.median(signals[names.VOLTAGE].values) > 100.0:
        volts = signals[names.VOLTAGE]
        signals[names.VOLTAGE] = replace(volts, values=volts.values * 0.01)
        notes.append("voltage: in hundredths, as old releases have it")
    motors = signals.get(names.MOTORS)
    rotors = 0 if motors is None else motors.values.shape[1]
    firmware = next((text for text in messages.texts if text.startswith(COPTERS)), "")
    vehicle = (
        f"{firmware or 'ArduPilot of unknown release'}, {rotors or 'unknown number of'} rotors"
    )
    return FlightLog(
        path, "ArduPilot dataflash", vehicle, signals, rotors, rows=messages.rows,
        parameters=parameters, notes=tuple(notes), advice=ADVICE,
        motor_places=names.QUAD_X if rotors == 4 and _is_x(parameters) else None,
    )  # fmt: skip


def _is_x(parameters: Mapping[str, float]) -> bool:
    """True of frames in X, also by the name that releases before 3.5 had for it."""
    return int(parameters.get("FRAME_TYPE", parameters.get("FRAME", X_FRAME))) == X_FRAME


def _parameters(messages: Dataflash) -> dict[str, float]:
    for table in messages.tables.get("PARM", []):
        if "Name" in table.columns and "Value" in table.columns:
            keys = [bytes(each).decode("latin-1") for each in table.columns["Name"]]
            return dict(zip(keys, table.columns["Value"].tolist(), strict=True))
    return {}


def _with_motors(
    messages: Dataflash, parameters: Mapping[str, float]
) -> dict[str, list[LogTable]]:
    """The tables, with columns ``motor[0]``, ... from 0 to 1 of the outputs that drive motors."""
    tables = dict(messages.tables)
    low = parameters.get("MOT_PWM_MIN", 0.0) or 1000.0
    high = parameters.get("MOT_PWM_MAX", 0.0) or 2000.0
    of_output = {
        output: MOTOR_FUNCTIONS[int(function)]
        for output in range(1, 17)
        if int(function := parameters.get(f"SERVO{output}_FUNCTION", 0.0)) in MOTOR_FUNCTIONS
    }
    count = ROTORS_OF_CLASS.get(int(parameters.get("FRAME_CLASS", 0.0)), USUAL_ROTORS)
    of_output = of_output or {i + 1: i for i in range(count)}
    outputs = []
    for table in messages.tables.get("RCOU", []):
        columns = dict(table.columns)
        for output, motor in sorted(of_output.items(), key=lambda item: item[1]):
            raw = columns.get(f"C{output}", columns.get(f"Ch{output}"))
            if raw is not None:
                columns[f"motor[{motor}]"] = (raw - low) / (high - low)
        outputs.append(LogTable(table.name, table.t, columns))
    return {**tables, "RCOU": outputs}


def _targets(messages: Dataflash) -> dict[str, list[LogTable]]:
    """One table of the set-points, which have a message an axis, written one after the other."""
    axes = [messages.tables.get(name, []) for name, _ in TARGETS]
    if not all(axes):
        return {}
    count = min(len(each[0].t) for each in axes)
    columns = {}
    for table, (_, axis) in zip(axes, TARGETS, strict=True):
        for name in (f"TP{axis}", f"TV{axis}"):
            if name in table[0].columns:
                columns[name] = table[0].columns[name][:count]
    return {"PSC": [LogTable("PSC", axes[0][0].t[:count], columns)]}


def _events(messages: Dataflash) -> dict[str, list[LogTable]]:
    """Armed and landed states of the copter, from its events on; before the first, the other way round."""
    found = messages.tables.get("EV", [])
    attitudes = messages.tables.get("ATT", [])
    if not found or not attitudes or "Id" not in found[0].columns:
        return {}
    ids, times = found[0].columns["Id"].astype(int), found[0].t
    begin, end = (float(f(attitudes[0].t)) for f in (np.nanmin, np.nanmax))
    tables = []
    for state, (begins, ends) in EVENTS.items():
        steps = [
            (float(t), i in begins) for t, i in zip(times, ids, strict=True) if i in begins | ends
        ]
        if not steps:
            continue
        before = not steps[0][1]
        t, values = [min(begin, steps[0][0] - 1e-3)], [before]
        for time, value in steps:
            if value == values[-1]:
                continue
            t += [time - 1e-4, time]
            values += [values[-1], value]
        t.append(max(end, t[-1] + 1e-3))
        values.append(values[-1])
        tables.append(LogTable("EV", np.array(t), {state: np.array(values, dtype=float)}))
    return {"EV": tables}
