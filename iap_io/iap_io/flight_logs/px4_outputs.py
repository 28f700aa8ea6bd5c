# SPDX-License-Identifier: BSD-3-Clause
"""Outputs and speed controllers of PX4 in the order of its motors, and outputs as commands from 0 to 1.

An output drives the motor that its function names (`PWM_MAIN_FUNC1` = 101: the first). Releases before these functions
have motors on the first outputs. With the least and the largest output a and b of a motor, and the factor f of the
thrust model (`THR_MDL_FAC`), its command is that of `actuator_motors`:

    s = (x - a) / (b - a),  u = (1 - f) s + f s^2.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_io.flight_logs.flight_log import MOTORS, Signal
from iap_io.flight_logs.log_tables import LogTable, Tables

OUTPUTS, CONTROLLERS = "actuator_outputs", "esc_status"
BUSES, CAN_BUS = ("PWM_MAIN", "PWM_AUX", "UAVCAN_EC"), "UAVCAN_EC"
FIRST_MOTOR, MOST_MOTORS = 101, 12  # function of the first motor, and number of such functions
LARGEST_PULSE, LEAST_PULSE = 2200.0, 700.0  # beyond which outputs are of CAN, and below DShot
CAN = (0.0, 8191.0)
DSHOT_THROTTLE, DSHOT_MIN = 1999.0, 0.055  # largest throttle of DShot, and its default least share
PULSE = (1000.0, 2000.0)  # widths of a pulse [us]
STANDING = "its outputs are those of motors that stand"
NORMALISED = 2.0  # up to which outputs are commands themselves


class MotorOutputs(NamedTuple):
    """Outputs that drive motors.

    Attributes:
        bus: prefix of their parameters.
        motors: number of the motor, by that of the output, from 0 on.
    """

    bus: str
    motors: Mapping[int, int]


def in_motor_order(
    tables: Tables, parameters: Mapping[str, Any], rotors: int, *, is_simulated: bool
) -> tuple[Tables, dict[str, str]]:
    """The tables with columns ``motor[0]``, ... of outputs and ``speed[0]``, ... of controllers, by motor.

    Args:
        tables: of a log of PX4.
        parameters: of the vehicle; empty where the log has none.
        rotors: their number; 0 where the log does not say it.
        is_simulated: whether outputs are those of a simulation, whose pulses are from 1000 to 2000.

    Returns:
        The tables, and a note on the range of each table of outputs, by its name.
    """
    notes: dict[str, str] = {}
    outputs = []
    for table in tables.get(OUTPUTS, []):
        columns, notes[table.name] = _commands(
            table, parameters, rotors, is_simulated=is_simulated
        )
        outputs.append(table._replace(columns={**table.columns, **columns}))
    controllers = [
        each._replace(columns={**each.columns, **speeds_by_motor(each.columns)})
        for each in tables.get(CONTROLLERS, [])
    ]
    return {**tables, OUTPUTS: outputs, CONTROLLERS: controllers}, notes


def notes_on_range(signals: Mapping[str, Signal], ranges: Mapping[str, str]) -> list[str]:
    """The note on the outputs that motors were read from; empty where they were read as commands."""
    motors = signals.get(MOTORS)
    table = "" if motors is None else motors.source.rpartition(".")[0]
    return [ranges[table]] if table in ranges else []


def speeds_by_motor(data: Mapping[str, Array]) -> dict[str, Array]:
    """Speeds ``speed[0]``, ... of the motors; the order of the controllers is another one (`actuator_function`)."""
    count = sum(1 for name in data if name.endswith(".esc_rpm"))
    order = [
        int(data.get(f"esc[{i}].actuator_function", [FIRST_MOTOR + i])[-1]) - FIRST_MOTOR
        for i in range(count)
    ]
    motors = order if len(set(order)) == count else list(range(count))
    return {
        f"speed[{motor}]": data[f"esc[{i}].esc_rpm"]
        for i, motor in sorted(enumerate(motors), key=lambda item: item[1])
        if motor >= 0
    }


def _commands(
    table: LogTable, parameters: Mapping[str, Any], rotors: int, *, is_simulated: bool
) -> tuple[dict[str, Array], str]:
    """Commands of the motors by the outputs of one table, and a note on their range."""
    names = [name for name in table.columns if name.startswith("output[")]
    driven = [i for i, name in enumerate(names) if np.nan_to_num(table.columns[name]).any()]
    largest = max((float(np.nanmax(table.columns[names[i]])) for i in driven), default=0.0)
    choice = _motor_outputs(parameters, driven, rotors, is_can=largest > LARGEST_PULSE)
    values = {i: table.columns[names[i]].astype(float) for i in choice.motors if i < len(names)}
    ranges = {i: _range(i, values, choice.bus, {} if is_simulated else parameters) for i in values}
    factor = float(parameters.get("THR_MDL_FAC", 0.0))
    columns = {}
    for i, motor in sorted(choice.motors.items(), key=lambda item: item[1]):
        if i in values:
            low, high = ranges[i]
            share = np.maximum((values[i] - low) / (high - low), 0.0)  # below: it stands
            columns[f"motor[{motor}]"] = (1.0 - factor) * share + factor * share**2
    texts = dict.fromkeys(f"{low:g} to {high:g}" for low, high in ranges.values())
    model = f", by a thrust model of factor {factor:.2g}" if factor else ""
    return columns, f"motors: outputs from {', '.join(texts)} taken as 0 to 1{model}"


def _motor_outputs(
    parameters: Mapping[str, Any], driven: list[int], rotors: int, *, is_can: bool
) -> MotorOutputs:
    """The outputs that drive motors, by their functions, or else the first of those that are driven."""
    for bus in BUSES:
        functions = {
            i: int(parameters.get(f"{bus}_FUNC{i + 1}", 0)) - FIRST_MOTOR for i in range(16)
        }
        motors = {i: motor for i, motor in functions.items() if 0 <= motor < MOST_MOTORS}
        if motors and (bus == CAN_BUS) == is_can:
            return MotorOutputs(bus, motors)
    first = driven[: rotors or None]
    return MotorOutputs(CAN_BUS if is_can else BUSES[0], {i: k for k, i in enumerate(first)})


def _range(
    output: int, values: Mapping[int, Array], bus: str, parameters: Mapping[str, Any]
) -> tuple[float, float]:
    """Outputs of a motor that stands and of one at its most: of CAN, DShot, a pulse's width, or commands themselves."""
    every = np.concatenate([*values.values()])
    largest = float(np.nanmax(every, initial=0.0))
    if bus == CAN_BUS:
        return CAN
    if largest <= NORMALISED:
        return 0.0, 1.0
    if float(np.nanmin(every[every > 0.0])) < LEAST_PULSE:
        return float(parameters.get("DSHOT_MIN", DSHOT_MIN)) * DSHOT_THROTTLE, DSHOT_THROTTLE
    low, high = (
        _pulse(parameters, bus, output, end, usual)
        for end, usual in zip(("MIN", "MAX"), PULSE, strict=True)
    )
    return low, high


def _pulse(parameters: Mapping[str, Any], bus: str, output: int, end: str, usual: float) -> float:
    """A width of an output's pulse [us]: its own, its bus's, or that of all; -1 stands for the next of these."""
    keys = (f"{bus}_{end}{output + 1}", f"{bus}_{end}", f"PWM_{end}")
    found = (float(parameters.get(key, 0.0)) for key in keys)
    return next((width for width in found if width > 0.0), usual)
