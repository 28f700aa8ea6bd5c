# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of PX4 as commands of its motors, by bus, function and thrust model; resets of its heading and velocity."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from iap_description.frames import R_ENU_NED
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import UNITS, FlightLog, Signal
from iap_io.flight_logs.log_tables import LogTable
from iap_io.flight_logs.px4_outputs import in_motor_order, speeds_by_motor
from iap_io.flight_logs.px4_resets import without_attitude_resets, without_resets

U = np.array([[0.0, 0.25, 0.5, 1.0], [0.1, 0.2, 0.3, 0.4]])  # commands of four motors
PWM = {f"PWM_MAIN_{end}{i}": x for i in range(1, 5) for end, x in (("MIN", 1100), ("MAX", 1900))}
ORDER = {f"PWM_MAIN_FUNC{i}": f for i, f in enumerate((102, 104, 101, 103), 1)}


def motors_of(outputs, parameters, *, is_simulated=False):
    columns = {f"output[{i}]": x for i, x in enumerate(np.asarray(outputs, float).T)}
    tables = {"actuator_outputs": [LogTable("actuator_outputs", np.arange(2.0), columns)]}
    found, notes = in_motor_order(tables, parameters, 4, is_simulated=is_simulated)
    read = found["actuator_outputs"][0].columns
    return np.stack([read[f"motor[{i}]"] for i in range(4)], axis=1), notes["actuator_outputs"]


@pytest.mark.parametrize(
    ("outputs", "parameters"),
    [
        (1100.0 + 800.0 * U, PWM),
        (1000.0 + 1000.0 * U, {}),
        (1075.0 + 875.0 * U, {"PWM_MIN": 1075, "PWM_MAX": 1950}),
        (1075.0 + 875.0 * U, {"PWM_MAIN_MIN1": -1, "PWM_MAIN_MIN": 1075, "PWM_MAIN_MAX": 1950}),
        (1100.0 + 800.0 * U[:, [1, 3, 0, 2]], PWM | ORDER),
        (109.945 + (1999.0 - 109.945) * U, PWM),
        (8191.0 * U, PWM),
        (U, PWM),
    ],
    ids=["own width", "usual", "of all", "of the bus", "functions", "DShot", "CAN", "normalised"],
)
def test_outputs_are_commands_by_their_bus_and_the_functions_of_motors(outputs, parameters):
    assert motors_of(outputs, parameters)[0] == pytest.approx(U, abs=1e-9)


def test_a_thrust_model_is_taken_out_of_outputs():
    f = 0.3
    share = (-(1.0 - f) + np.sqrt((1.0 - f) ** 2 + 4.0 * f * U)) / (2.0 * f)
    read, note = motors_of(1000.0 + 1000.0 * share, {"THR_MDL_FAC": f})
    assert read == pytest.approx(U, abs=1e-9)
    assert (
        note
        == "motors: outputs from 1000 to 2000 taken as 0 to 1, by a thrust model of factor 0.3"
    )


def test_outputs_of_a_simulation_are_pulses_whatever_its_parameters_say():
    assert motors_of(1000.0 + 1000.0 * U, PWM, is_simulated=True)[0] == pytest.approx(U)


def test_an_output_below_its_range_is_a_motor_that_stands():
    assert motors_of(np.where(U == 0.0, 900.0, 1000.0 + 1000.0 * U), {})[0][0, 0] == 0.0


def test_speeds_of_controllers_are_in_the_order_of_their_motors():
    data = {f"esc[{i}].esc_rpm": np.full(3, 100.0 * (i + 1)) for i in range(4)}
    named = data | {
        f"esc[{i}].actuator_function": np.full(3, f) for i, f in enumerate((102, 104, 101, 103))
    }
    speeds = {name: x[0] for name, x in speeds_by_motor(named).items()}
    assert list(speeds.items()) == [
        ("speed[0]", 300.0),
        ("speed[1]", 100.0),
        ("speed[2]", 400.0),
        ("speed[3]", 200.0),
    ]
    assert [x[0] for x in speeds_by_motor(data).values()] == [100.0, 200.0, 300.0, 400.0]


T = 0.05 * np.arange(200)
STEP, RESET = 0.3, 80  # turn to the right [rad] from that row on


def turned(yaw):
    """Quaternions xyzw of a body that is yawed in NED."""
    return so3.quaternion_exp(np.column_stack([0.0 * yaw, 0.0 * yaw, yaw]))


def heading_log(counted=STEP):
    """A vehicle that yaws, whose estimator finds its heading at a row: rows and the log of them in ENU."""
    yaw = 0.2 * T + STEP * (RESET <= np.arange(len(T)))
    q = turned(yaw)
    columns = {f"q[{i}]": x for i, x in enumerate(q[:, [3, 0, 1, 2]].T)}
    delta = turned(np.where(np.arange(len(T)) < RESET, 0.0, counted))[:, [3, 0, 1, 2]]
    columns |= {f"delta_q_reset[{i}]": x for i, x in enumerate(delta.T)}
    columns["quat_reset_counter"] = (np.arange(len(T)) >= RESET).astype(float)
    R = R_ENU_NED @ so3.matrix_from_quaternion(q)
    signal = Signal(T, so3.quaternion_from_matrix(R), "vehicle_attitude.q", UNITS[names.ATTITUDE])
    setpoint = replace(signal, t=T - 0.001)
    signals = {names.ATTITUDE: signal, names.ATTITUDE_SETPOINT: setpoint}
    table = LogTable("vehicle_attitude", T, columns)
    return FlightLog(Path("a.ulg"), "ULog", "PX4", signals), table


def test_attitudes_and_their_set_points_before_a_reset_are_turned_to_the_heading_behind_it():
    log, table = heading_log()
    found = without_attitude_resets(log, table)
    right = so3.matrix_from_quaternion(turned(0.2 * T + STEP))
    for name in (names.ATTITUDE, names.ATTITUDE_SETPOINT):
        values = found.signals[name].values
        known = np.isfinite(values).all(axis=1)
        R = R_ENU_NED.T @ so3.matrix_from_quaternion(values[known])
        assert right[known] == pytest.approx(R, abs=1e-9)
        assert known.sum() == len(T) - (name == names.ATTITUDE_SETPOINT)
    (note,) = found.notes
    assert note.startswith("attitude: 1 resets, the largest of 17.2 deg, taken out")
    assert found.resets == ()


def test_a_reset_that_the_attitude_does_not_show_cuts_predictions_alone():
    log, table = heading_log(counted=-STEP)
    found = without_attitude_resets(log, table)
    assert found.resets == (pytest.approx(T[RESET]),)
    assert found.signals[names.ATTITUDE] is log.signals[names.ATTITUDE]


def test_a_velocity_stays_and_its_resets_are_known():
    columns = {"vz_reset_counter": (T > 4.0).astype(float), "delta_vz": np.full(len(T), 0.9)}
    signal = Signal(T, np.zeros((len(T), 3)), "vehicle_local_position.vx,vy,vz", "m/s")
    log = FlightLog(Path("a.ulg"), "ULog", "PX4", {names.VELOCITY: signal})
    table = LogTable("vehicle_local_position", T, columns)
    found = without_resets(log, {"vehicle_local_position": [table]})
    assert found.resets == (pytest.approx(4.05),)
    assert found.notes == (
        "velocity: 1 resets, the largest of 0.90 m/s, at 4.0 s: no prediction goes across",
    )
    assert found.signals[names.VELOCITY] is signal
