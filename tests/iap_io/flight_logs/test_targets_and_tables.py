# SPDX-License-Identifier: BSD-3-Clause
"""Set-points and rotor speeds of ArduPilot's releases, tables of a Crazyflie, attitudes and rates of a blackbox."""

import numpy as np
import pytest
from flight_bags import motion

from iap_bringup.cli.main import main
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.ardupilot_targets import old_targets, speeds_of_motors
from iap_io.flight_logs.blackbox_columns import log_of_columns
from iap_io.flight_logs.inspection import Inspection
from iap_io.flight_logs.log_tables import LogTable
from iap_io.flight_logs.readers import is_flight_log, open_log
from iap_io.trajectories.reader import read_recorded

T = np.arange(3.0)


def table(name, **columns):
    return [LogTable(name, T, {key: np.array(x, float) for key, x in columns.items()})]


def rows(found, what):
    return np.stack([found.columns[f"D{what}{axis}"] for axis in "NED"], axis=1)


def test_targets_before_release_4_are_horizontal_in_cm_beside_the_height_in_m():
    flat = table(
        "NTUN", DPosX=[100, 200, 300], DPosY=[0, 0, 50], DVelX=[10, 0, 0], DVelY=[0, 20, 0]
    )
    tables = {"NTUN": flat, "CTUN": table("CTUN", DAlt=[1, 2, 3], DCRt=[100, 50, 0])}
    found = old_targets(tables)["NTUN"][0]
    np.testing.assert_allclose(rows(found, "P"), [[1, 0, -1], [2, 0, -2], [3, 0.5, -3]])
    np.testing.assert_allclose(rows(found, "V"), [[0.1, 0, -1], [0, 0.2, -0.5], [0, 0, 0]])
    assert old_targets({"NTUN": flat}) == {}  # without a height there is no place


def test_targets_of_release_4_0_are_in_m():
    flat = table("PSC", TPX=[1, 2, 3], TPY=[0, 0, 5], TVX=[1, 0, 0], TVY=[0, 2, 0])
    tables = {"PSC": flat, "PSCZ": table("PSCZ", TPZ=[1, 2, 3], TVZ=[1, 0, 0])}
    found = old_targets(tables)["PSC4"][0]
    np.testing.assert_allclose(rows(found, "P"), [[1, 0, -1], [2, 0, -2], [3, 5, -3]])


@pytest.mark.parametrize("name", ["GUID", "GUIP"])
def test_zeros_of_guided_targets_are_not_controlled(name):
    made = table(name, pX=[100, 0, 0], pY=[0, 0, 0], pZ=[300, 0, 0], vX=[0, 200, 0], vY=[0, 0, 0],
                 vZ=[0, -100, 0])  # fmt: skip
    found = old_targets({name: made})["GUID"][0]
    none = [np.nan] * 3
    np.testing.assert_allclose(rows(found, "P"), [[1, 0, -3], none, none])
    np.testing.assert_allclose(rows(found, "V"), [none, [2, 0, 1], [0, 0, 0]])


def test_speeds_of_all_controllers_are_by_motor():
    def controllers(numbers):
        return [
            table("ESC", Instance=[i] * 3, RPM=[100 * i + k for k in range(3)])[0] for i in numbers
        ]

    functions = {f"SERVO{i}_FUNCTION": f for i, f in enumerate((35, 36, 33, 34), 1)}
    by_function = speeds_of_motors({"ESC": controllers(range(4))}, functions)["ESC"][0].columns
    assert [x[0] for x in by_function.values()] == [200.0, 300.0, 0.0, 100.0]
    in_order = speeds_of_motors({"ESC": controllers((0, 1, 2, 3))}, {})["ESC"][0].columns
    assert [x[2] for x in in_order.values()] == [2.0, 102.0, 202.0, 302.0]
    old = {f"ESC{i + 1}": [each] for i, each in enumerate(controllers(range(4)))}
    assert len(speeds_of_motors(old, {})["ESC"][0].columns) == 4
    assert speeds_of_motors({}, {}) == {}


@pytest.fixture
def flight():
    return motion(np.arange(0.0, 12.0, 0.01))


def crazyflie_csv(path, flight, unit, time="timestamp"):
    rpy = so3.euler_from_matrix(so3.matrix_from_quaternion(flight.q))
    header = [time, *(f"stateEstimate.{x}" for x in ("x", "y", "z", "qx", "qy", "qz", "qw"))]
    header += [f"motor.m{i}" for i in range(1, 5)]
    header += [f"ctrltarget.{x}" for x in ("roll", "pitch", "yaw")]
    motors = 30000.0 + 1000.0 * np.sin(flight.t[:, None] + np.arange(4))
    target = np.degrees(rpy * [1.0, -1.0, 1.0])
    numbers = np.hstack([flight.t[:, None] / unit, flight.p, flight.q, motors, target])
    lines = [",".join(f"{x:.9g}" for x in row) for row in numbers]
    path.write_text("\n".join([",".join(header), *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "unit"), [("ms", 1e-3), ("s", 1.0), ("us", 1e-6)])
def test_a_crazyflies_table_is_a_log_and_a_path(tmp_path, flight, name, unit):
    path = crazyflie_csv(tmp_path / "flight.csv", flight, unit)
    log = open_log(path)
    assert log.kind == "Crazyflie CSV" and log.rotors == 4
    assert f"times: column timestamp, taken as {name}" in log.notes
    assert log.signals[names.POSITION].values == pytest.approx(flight.p, abs=1e-6)
    assert log.signals[names.MOTORS].values[0, 0] == pytest.approx(30000.0 / 65535.0)
    off = so3.multiply(so3.conjugate(flight.q), log.signals[names.ATTITUDE_SETPOINT].values)
    assert (
        np.abs(so3.quaternion_log(off)).max() < 1e-6
    )  # whose pitch is counted the other way round
    assert not is_flight_log(path)  # its poses are those of a table
    assert len(read_recorded(path).t) == len(flight.t)
    assert main(["inspect", str(path)]) == 0


def test_a_crazyflies_table_without_times_is_refused(tmp_path, flight):
    path = crazyflie_csv(tmp_path / "flight.csv", flight, 1.0, time="pm.vbat")
    with pytest.raises(BadInput, match=r"no column of times: name one timestamp, in ms$"):
        open_log(path)


def test_a_blackbox_of_2025_has_an_attitude_and_rate_set_points(tmp_path, flight):
    west = so3.quaternion_exp(np.array([[0.0, 0.0, -0.5 * np.pi]]))[0]  # axes north, west, up
    q = so3.multiply(np.tile(west, (len(flight.t), 1)), flight.q)
    q = q * np.sign(q[:, 3:])
    columns = {"time": 1e6 * flight.t}
    columns |= {f"imuQuaternion[{i}]": np.round(32767.0 * q[:, i]) for i in range(3)}
    columns |= {f"gyroADC[{i}]": np.degrees(flight.w[:, i]) for i in range(3)}
    columns |= {f"setpoint[{i}]": np.degrees(flight.w[:, i]) + i for i in range(3)}
    columns |= {f"motor[{i}]": 1000.0 + 300.0 * np.sin(flight.t + i) ** 2 for i in range(4)}
    log = log_of_columns(tmp_path / "a.bbl", "blackbox", {"Field G name": "GPS_coord[0]"}, columns)
    off = so3.multiply(so3.conjugate(flight.q), log.signals[names.ATTITUDE].values)
    assert (
        np.linalg.norm(so3.quaternion_log(off), axis=1).max() < 0.01
    )  # steps of its parts, where w is small
    asked = log.signals[names.RATES_SETPOINT].values
    assert asked == pytest.approx(flight.w + np.radians(np.arange(3.0)))
    assert log.missing[names.POSITION].startswith("its GPS has no fix")
    assert names.ATTITUDE not in log.missing
    assert Inspection.of(log).check.verdict.startswith("attitude confirmed by gyro")
