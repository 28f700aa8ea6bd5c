# SPDX-License-Identifier: BSD-3-Clause
"""A vehicle that flies by firmwares in this process: what they are told, when, and what becomes of their answers."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import gains_of
from various_platforms import platform_of, various

from iap_description.errors import FlightFailed
from iap_description.states import Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_physics.firmware.firmware import FirmwareFailed, RotorShares
from iap_physics.firmware.settings import FirmwareSettings
from iap_physics.plant.firmware_flight import FirmwareFlight
from iap_physics.propulsion.propulsion import Airframe, propulsion_of

GRAVITY, DT = 9.5, 1e-3
PLATFORM = platform_of(various(heavy=1))  # whose second aircraft lifts more
SHARES = (0.04, 0.25, 0.49, 1.0)
HALF = np.sqrt(0.5)


class Recorder:
    """A firmware that notes what it is told."""

    boot_time = arming_time = 0.0

    def __init__(self, number: int) -> None:
        self.number, self.told, self.failure, self.ends = number, [], None, 0

    def begin(self) -> None:
        self.told.clear()

    connect = begin

    def tell(self, t_ns: int, motion: Any, order: Any) -> None:
        self.told.append((t_ns, motion, order))

    def ask(self) -> RotorShares:
        if self.failure:
            raise self.failure
        return RotorShares(SHARES, self.told[-1][2].is_armed)

    def obstacles(self) -> str:
        return ""

    def end(self) -> None:
        self.ends += 1

    def write(self, folder: Any) -> None:
        (folder / "number.txt").write_text(str(self.number))


@pytest.fixture
def flown() -> SimpleNamespace:
    """A flight whose firmwares are exchanged with every second physics step, and its start."""
    airframe = Airframe(Assembly.of(PLATFORM), PLATFORM.fleet, gains_of().autopilot)
    (propulsion,) = propulsion_of([airframe], 1, physics_hz=1.0 / DT)
    made: list[Recorder] = []

    def make(number: int) -> Any:
        made.append(Recorder(number))
        return made[-1]

    settings = FirmwareSettings(name="own:Own", rate_hz=500.0, probe=False)
    flight = FirmwareFlight(
        2, "iap", settings, propulsion, physics_hz=1.0 / DT, gravity=GRAVITY, make=make
    )
    x = np.zeros((1, propulsion.rows.stop, 13))
    x[0, :, 0], x[0, :, 6], x[0, :, 8] = np.arange(4.0), 1.0, 0.5
    flight.reset(x, np.array([0]))
    return SimpleNamespace(flight=flight, propulsion=propulsion, made=made, x=x)


def test_firmwares_are_told_once_a_period_of_theirs_and_their_shares_become_speeds(flown) -> None:
    lengths = []
    for step in range(5):
        flown.flight.begin_step(flown.x, step * DT)
        flown.flight.after_step(flown.x)
        lengths.append(len(flown.made[0].told))
    assert np.diff(lengths).tolist() == [0, 1, 0, 1]
    assert [each.number for each in flown.made] == [0, 1, 2]
    times = [t for t, _, _ in flown.made[2].told]
    assert np.diff(times).tolist() == [2_000_000] * (len(times) - 1)
    fastest = [[aircraft.rotor.rpm_max] for aircraft in PLATFORM.fleet]
    np.testing.assert_allclose(
        flown.propulsion.command.rpm[0], np.array(fastest) * [0.2, 0.5, 0.7, 1.0]
    )


def test_they_are_told_rest_at_first_and_then_what_their_inertial_units_measured(flown) -> None:
    flown.flight.begin_step(flown.x, 0.0)
    _, motion, _ = flown.made[1].told[-1]
    assert motion.w_WB_B == (0.0, 0.0, 0.0) and motion.f_B == (0.0, 0.0, GRAVITY)
    assert motion.p_WB_W == (2.0, 0.0, 0.0) and motion.v_WB_W == (0.0, 0.5, 0.0)
    assert motion.q_WB == (0.0, 0.0, 0.0, 1.0)
    for _ in range(2):  # 4 m/s^2 forwards
        flown.x[0, :, 7] += 4.0 * DT
        flown.flight.after_step(flown.x)
        flown.flight.begin_step(flown.x, 0.0)
    _, motion, _ = flown.made[1].told[-1]
    np.testing.assert_allclose(motion.f_B, [4.0, 0.0, GRAVITY], atol=1e-9)
    assert motion.v_WB_W == (8.0 * DT, 0.5, 0.0)


def test_they_stay_level_as_they_are_until_the_first_command(flown) -> None:
    flown.x[0, 2, 3:7] = (0.0, 0.0, HALF, HALF)
    flown.flight.begin_step(flown.x, 0.0)
    orders = [each.told[-1][2] for each in flown.made]
    assert [each.q_WB for each in orders] == [
        (0.0, 0.0, 0.0, 1.0),
        (0.0, 0.0, HALF, HALF),
        (0.0, 0.0, 0.0, 1.0),
    ]
    assert all(
        (each.has_attitude, each.w_WB_B, each.share, each.is_armed)
        == (True, (0.0, 0.0, 0.0), 0.0, True)
        for each in orders
    )


def order_to(flown, command: Command, vehicle: int = 2) -> list:
    """What the firmwares are ordered in the first step of a period under a command."""
    at_once = flown.flight.postpones(vehicle, command, 3, 0.6, on_board=False)
    assert at_once is False
    flown.propulsion.set_command(command)
    flown.flight.begin_period(3, 0.6)
    flown.flight.begin_step(flown.x, 0.6)
    return [each.told[-1][2] for each in flown.made]


def test_a_thrust_is_ordered_as_the_share_of_the_largest_within_nought_and_one(flown) -> None:
    command = Command.zeros(3, Mode.RATE_THRUST)
    lift = [aircraft.thrust_limits[1] for aircraft in PLATFORM.fleet]
    command.thrust[:] = (-1.0, 0.25 * lift[1], 1.5 * lift[2])
    command.w_WB_B[1] = (0.1, -0.2, 0.3)
    orders = order_to(flown, command)
    assert [each.share for each in orders] == [0.0, pytest.approx(0.25), 1.0]
    assert orders[1].w_WB_B == (0.1, -0.2, 0.3)
    assert not any(each.has_attitude for each in orders) and all(each.is_armed for each in orders)


def test_an_attitude_is_ordered_from_the_next_period_on_until_the_flight_begins_anew(
    flown,
) -> None:
    command = Command.zeros(3, Mode.ATTITUDE_THRUST)
    command.q_WB[0] = (0.6, 0.0, 0.0, 0.8)
    order = order_to(flown, command)[0]
    assert order.has_attitude and order.q_WB == (0.6, 0.0, 0.0, 0.8)
    flown.propulsion.set_command(Command.zeros(3, Mode.RATE_THRUST))
    for is_new in (False, True):
        for _ in range(2):
            flown.flight.begin_step(flown.x, 0.6)
        assert flown.made[0].told[-1][2].has_attitude is not is_new
        flown.flight.begin_period(4, 0.605)
    flown.flight.reset(flown.x, np.array([0]))
    flown.flight.begin_step(flown.x, 0.0)
    assert flown.made[3].told[-1][2].has_attitude  # as before the first command


def test_commands_to_other_vehicles_are_none_and_rotor_speeds_are_refused(flown) -> None:
    assert order_to(flown, Command.zeros(3, Mode.RPM), vehicle=1)[0].q_WB == (0.0, 0.0, 0.0, 1.0)
    with pytest.raises(FlightFailed, match="iap: rotor speeds were commanded") as caught:
        flown.flight.postpones(2, Command.zeros(3, Mode.RPM), 3, 0.6, on_board=False)
    assert (caught.value.outcome, caught.value.t) == ("invalid_command", 0.6)


def test_a_firmware_that_fails_ends_the_flight_by_its_word(flown) -> None:
    flown.flight.begin_step(flown.x, 0.0)
    flown.made[1].failure = FirmwareFailed("firmware_late", "no answer")
    flown.flight.begin_step(flown.x, 0.001)  # none is asked
    with pytest.raises(FlightFailed, match="iap, firmware of aircraft 1: no answer") as caught:
        flown.flight.begin_step(flown.x, 0.002)
    assert (caught.value.outcome, caught.value.t) == ("firmware_late", 0.002)


def test_firmwares_write_into_the_runs_folder_and_end_once(flown, tmp_path) -> None:
    flown.flight.write(tmp_path)
    assert not list(tmp_path.iterdir())  # before the first step there are none
    flown.flight.begin_step(flown.x, 0.0)
    flown.flight.write(tmp_path)
    numbers = [p.read_text() for p in sorted(tmp_path.rglob("number.txt"))]
    assert numbers == ["0", "1", "2"]
    flown.flight.close()
    flown.flight.close()
    assert [each.ends for each in flown.made] == [1, 1, 1]
