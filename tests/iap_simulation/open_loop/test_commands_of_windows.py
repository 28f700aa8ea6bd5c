# SPDX-License-Identifier: BSD-3-Clause
"""Windows of a log: the state in which each begins, what trims it, and the commands that it is given."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import Mode
from iap_simulation.open_loop import replayed
from iap_simulation.open_loop.command_source import ReplayAircraft
from iap_simulation.open_loop.log_commands import AttitudeCommands, MotorCommands

YAWED = np.array(
    [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]
)  # by 90 deg: x of the body is y of the world
LYING = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # rolled by 90 deg: its z axis is -y


def table_of(**keys: Any) -> Any:
    q = np.array([YAWED, LYING, YAWED])
    w = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    p = np.arange(9.0).reshape(3, 3)
    return SimpleNamespace(**{"t": np.arange(3.0), "q": q, "w": w, "p": p, "v": 10.0 + p, **keys})


def test_a_window_begins_in_the_recorded_state_with_rates_of_the_world() -> None:
    rows = replayed._states(table_of(), np.array([2, 1]))
    np.testing.assert_allclose(rows[0], [6, 7, 8, *YAWED, 16, 17, 18, -8, 7, 9], atol=1e-12)
    np.testing.assert_allclose(rows[1], [3, 4, 5, *LYING, 13, 14, 15, 4, -6, 5], atol=1e-12)
    bare = replayed._states(table_of(p=None, v=None), np.array([1]))
    np.testing.assert_allclose(bare[0], [0, 0, 0, *LYING, 0, 0, 0, 4, -6, 5], atol=1e-12)


def test_a_trim_pushes_in_the_world_and_turns_in_the_body() -> None:
    force, torque = np.array([[1.0, 2.0, 3.0]] * 2), np.array([[4.0, 5.0, 6.0]] * 2)
    x, out = np.zeros((2, 1, 13)), np.ones((2, 1, 6))
    x[0, 0, 3:7], x[1, 0, 3:7] = YAWED, LYING
    replayed.TrimWrench(force, torque).add_wrenches(np.zeros(2), x, out)
    np.testing.assert_allclose(out[:, 0] - 1.0, [[1, 2, 3, -5, 4, 6], [1, 2, 3, 4, -6, 5]])


def test_what_commands_leave_over_is_of_thrust_gravity_and_torque(monkeypatch) -> None:
    monkeypatch.setattr(replayed, "trims", lambda table, recorded, modelled: (recorded, modelled))
    angular = np.full((3, 3), 2.0)
    source: Any = SimpleNamespace(thrust=np.array([10.0, 12.0, 9.0]), angular=angular)
    table = table_of()
    linear, turning = replayed._trims(table, source, 9.5)
    assert linear[0] is table.v and turning[0] is table.w and turning[1] is angular
    np.testing.assert_allclose(linear[1], [[0, 0, 0.5], [0, -12, -9.5], [0, 0, -0.5]], atol=1e-12)
    source.angular = None
    for each in replayed._trims(table_of(v=None), source, 9.5):
        np.testing.assert_array_equal(each, np.zeros((3, 3)))


def aircraft() -> ReplayAircraft:
    spec: Any = None
    one: Any = SimpleNamespace(rotor=SimpleNamespace(c_f=0.25))
    return ReplayAircraft(spec, one, 2.0)


def test_a_vehicle_is_given_its_attitude_and_its_mass_times_the_thrust_per_mass() -> None:
    source = AttitudeCommands(
        aircraft(), np.array([YAWED, LYING, YAWED]), np.array([8.0, -1.0, 18.0]), ()
    )
    command = source.command(np.array([1, 0]), 1)
    assert command.mode == Mode.ATTITUDE_THRUST
    np.testing.assert_array_equal(command.thrust, [[36.0], [0.0]])
    np.testing.assert_array_equal(command.q_WB, [[YAWED], [LYING]])
    speeds = source.start_speeds(np.array([0, 1, 2]))  # n^2 = 2 kg f / (4 * 0.25)
    np.testing.assert_allclose(speeds, np.array([4.0, 0.0, 6.0])[:, None, None] * np.ones(4))
    assert source.is_stable and source.angular is None


def test_rotors_are_given_commands_and_begin_behind_their_lags() -> None:
    speeds, actual = np.arange(12.0).reshape(3, 4), 100.0 + np.arange(12.0).reshape(3, 4)
    source = MotorCommands(aircraft(), speeds, actual, np.zeros(3), None, ())
    command = source.command(np.array([0, 1]), 1)
    assert command.mode == Mode.RPM and not source.is_stable
    np.testing.assert_array_equal(command.rpm, speeds[1:, None])
    np.testing.assert_array_equal(source.start_speeds(np.array([2])), actual[2:, None])


def test_motors_are_matched_to_rotors_by_the_signs_of_their_places() -> None:
    places = [(0.2, -0.1), (-0.2, 0.1), (0.2, 0.1), (-0.2, -0.1)]
    rotors = [SimpleNamespace(position=np.array([*place, 0.0])) for place in places]
    one: Any = SimpleNamespace(rotors=rotors)
    spec: Any = None
    vehicle = ReplayAircraft(spec, one, 1.0)

    def log(**keys: Any) -> Any:
        return SimpleNamespace(**{"path": "a.ulg", "rotors": 4, "motor_places": (), **keys})

    motors = ((1, 1), (-1, -1), (1, -1), (-1, 1))
    assert vehicle.rotors_of(log(motor_places=motors)) == [2, 3, 0, 1]
    assert vehicle.rotors_of(log()) == vehicle.rotors_of(log(rotors=0)) == [0, 1, 2, 3]
    with pytest.raises(BadInput, match=r"^a\.ulg: 8 rotors; 4 are flown$"):
        vehicle.rotors_of(log(rotors=8))


def test_attitudes_without_anything_that_tells_the_thrust_are_refused() -> None:
    log: Any = SimpleNamespace(path="a.ulg", signals={}, missing={})
    table: Any = SimpleNamespace(q_setpoint=np.zeros((3, 4)), motors=None, thrust=None)
    said = r"^a\.ulg: attitude set-points without motors and thrust set-point$"
    with pytest.raises(BadInput, match=said):
        AttitudeCommands.of(log, table, aircraft())
    table.q_setpoint = None
    with pytest.raises(BadInput, match=r"^a\.ulg: no attitude set-points \(not logged\)$"):
        AttitudeCommands.of(log, table, aircraft())
