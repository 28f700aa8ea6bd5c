# SPDX-License-Identifier: BSD-3-Clause
"""Firmwares of one vehicle: booted, armed and probed at rest, told together, asked together, ended by name."""

import socket

import pytest

from iap_description.errors import BadInput
from iap_description.vehicles.platform import load_platform
from iap_physics.firmware.firmware import (
    AircraftMotion,
    AttitudeOrder,
    FirmwareFailed,
    RotorShares,
)
from iap_physics.firmware.fleet import FirmwareFleet
from iap_physics.firmware.ports import bound_socket
from iap_physics.firmware.rotor_places import resisting_signs, rotors_by_place
from iap_physics.firmware.settings import firmware_tree

PERIOD_NS = 1_000_000
AIRCRAFT = load_platform("f450").fleet[0]
REST = AircraftMotion(
    (0.0, 0.0, 0.0), (0.0, 0.0, 9.81), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
)
HOVER = AttitudeOrder(True, REST.q_WB, (0.0, 0.0, 0.0), 0.4, True)


class RateLoop:
    """A firmware in this process: each rotor's share is the ordered one and what resists the turn."""

    boot_time, arming_time = 0.05, 0.02

    def __init__(self, calls, name="", gains=(0.1, 0.1, 0.1), arms=True):
        self.calls, self.name, self.gains, self.arms = calls, name, gains, arms
        self.is_stopped = False

    def begin(self):
        self.calls.append(f"begin {self.name}")

    def connect(self):
        self.calls.append(f"connect {self.name}")

    def tell(self, t_ns, motion, order):
        self.calls.append(f"tell {self.name}")
        self.t_ns, self.told = t_ns, (motion, order)

    def ask(self):
        self.calls.append(f"ask {self.name}")
        motion, order = self.told
        is_armed = self.arms and order.is_armed and not self.is_stopped
        signs = resisting_signs(AIRCRAFT)
        turns = [
            sum(g * w * row[k] for g, w, row in zip(self.gains, motion.w_WB_B, signs, strict=True))
            for k in range(4)
        ]
        return RotorShares(tuple(order.share + each for each in turns), is_armed)

    def obstacles(self):
        return "THROTTLE"

    def end(self):
        self.calls.append(f"end {self.name}")

    def write(self, folder):
        (folder / "version.txt").write_text("1")


def fleet_of(*firmwares, probes=True):
    fleet = FirmwareFleet("iap", [AIRCRAFT] * len(firmwares), firmwares, PERIOD_NS, probes=probes)
    return fleet, [REST] * len(firmwares), [HOVER] * len(firmwares)


def test_all_are_informed_before_the_first_is_asked():
    calls = []
    fleet, motions, orders = fleet_of(RateLoop(calls, "a"), RateLoop(calls, "b"))
    fleet.prepare(motions, orders)
    calls.clear()
    fleet.exchange(motions, orders)
    assert calls == ["tell a", "tell b", "ask a", "ask b"]


def test_stamps_go_on_by_the_period_from_the_start_on():
    firmware = RateLoop([])
    fleet, motions, orders = fleet_of(firmware)
    fleet.prepare(motions, orders)
    before = firmware.t_ns
    fleet.exchange(motions, orders)
    assert firmware.t_ns == before + PERIOD_NS == fleet.t_ns - PERIOD_NS


@pytest.mark.parametrize(("axis", "name"), [(0, "roll"), (1, "pitch"), (2, "yaw")])
def test_a_turn_that_rotors_do_not_resist_is_found_before_the_flight(axis, name):
    gains = [0.1, 0.1, 0.1]
    gains[axis] = -0.1
    fleet, motions, orders = fleet_of(RateLoop([], gains=gains))
    with pytest.raises(FirmwareFailed, match=f"do not resist a turn in {name}") as caught:
        fleet.prepare(motions, orders)
    assert caught.value.outcome == "firmware_wrong_signs"


def test_what_keeps_it_from_arming_is_named_with_the_aircraft():
    fleet, motions, orders = fleet_of(RateLoop([]), RateLoop([], arms=False))
    with pytest.raises(FirmwareFailed, match="aircraft 1: it does not arm: THROTTLE") as caught:
        fleet.prepare(motions, orders)
    assert caught.value.outcome == "firmware_not_armed"


def test_motors_that_stand_still_in_flight_end_it():
    firmware = RateLoop([])
    fleet, motions, orders = fleet_of(firmware)
    fleet.prepare(motions, orders)
    firmware.is_stopped = True
    with pytest.raises(FirmwareFailed, match="stand still in flight") as caught:
        fleet.exchange(motions, orders)
    assert caught.value.outcome == "firmware_disarmed"


@pytest.mark.parametrize("share", [float("nan"), 1.5, -0.1])
def test_a_share_that_is_none_ends_the_flight(share):
    firmware = RateLoop([])
    fleet, motions, orders = fleet_of(firmware)
    fleet.prepare(motions, orders)
    with pytest.raises(FirmwareFailed, match="aircraft 0: its motors .* no shares of 0") as caught:
        fleet.exchange(motions, [orders[0]._replace(share=share)])
    assert caught.value.outcome == "firmware_out_of_step"


@pytest.mark.parametrize(("periods", "is_late"), [(0, False), (1, True)])
def test_a_firmware_that_arms_later_than_its_time_is_refused(periods, is_late):
    firmware = RateLoop([])
    fleet, motions, orders = fleet_of(firmware, probes=False)
    tell, last = firmware.tell, 70 * PERIOD_NS  # 50 ms to boot, and 20 to arm

    def tell_late(t_ns, motion, order):
        firmware.arms = t_ns >= last + periods * PERIOD_NS
        tell(t_ns, motion, order)

    firmware.tell = tell_late
    if is_late:
        with pytest.raises(FirmwareFailed, match="does not arm"):
            fleet.prepare(motions, orders)
    else:
        fleet.prepare(motions, orders)
        assert fleet.exchange(motions, orders)[0].is_armed


def test_each_writes_into_a_folder_of_its_own(tmp_path):
    fleet, _, _ = fleet_of(RateLoop([]), RateLoop([]))
    fleet.write(tmp_path)
    found = sorted(str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*.txt"))
    assert found == [f"firmware/iap/aircraft_{i}/version.txt" for i in range(2)]


def test_rotors_that_resist_are_on_the_side_that_goes_down_or_turn_with_the_yaw():
    places = rotors_by_place(AIRCRAFT)
    roll, pitch, yaw = resisting_signs(AIRCRAFT)
    assert [roll[k] for k in places] == [1, -1, -1, 1]  # those on the right
    assert [pitch[k] for k in places] == [1, -1, 1, -1]  # those in front
    assert [yaw[k] for k in places] == [1, 1, -1, -1]  # those that turn anticlockwise


@pytest.mark.parametrize(("name", "port"), [("betaflight", 4999), ("px4", 4000)])
def test_a_port_that_leaves_no_room_for_the_firmwares_others_is_refused_by_its_key(name, port):
    with pytest.raises(BadInput, match=r"firmware\.port"):
        firmware_tree({"name": name, "port": port}, "hover")


def test_a_port_beyond_the_last_one_is_refused_with_the_key_that_chooses_it():
    with pytest.raises(
        FirmwareFailed, match=r"port 65536 is not from 1 to 65535: .*firmware\.port"
    ):
        bound_socket(65_536, socket.SOCK_DGRAM)


class Diary(RateLoop):
    """A firmware that keeps all that it is told."""

    def __init__(self, **keys):
        super().__init__([], **keys)
        self.all = []

    def tell(self, t_ns, motion, order):
        self.all.append((t_ns, motion.w_WB_B, order.share, order.is_armed))
        super().tell(t_ns, motion, order)


@pytest.mark.parametrize(("period_ns", "turning"), [(1_000_000, 5), (4_000_000, 2)])
def test_they_boot_arm_run_up_and_are_turned_about_each_axis_for_their_times(period_ns, turning):
    """50 ms of boot, one exchange to arm, 0.5 s, and three turns of 5 ms with 95 ms of rest behind each."""
    firmware = Diary()
    fleet = FirmwareFleet("iap", [AIRCRAFT], [firmware], period_ns, probes=True)
    fleet.prepare([REST], [HOVER])
    boot, run_up, rest = (1 + round(s * 1e9 / period_ns) for s in (0.05, 0.5, 0.095))
    stages = [(boot, 0.0, False), (1, 0.0, True), (run_up, 0.4, True)]
    expected = [(still, (0.0, 0.0, 0.0)) for count, *still in stages for _ in range(count)]
    for axis in range(3):
        turn = tuple(0.5 if k == axis else 0.0 for k in range(3))
        turns = [(0.0, 0.0, 0.0), *[turn] * turning, *[(0.0, 0.0, 0.0)] * rest]
        expected += [([0.4, True], each) for each in turns]
    assert [([share, armed], w) for _, w, share, armed in firmware.all] == expected
    assert [t for t, *_ in firmware.all] == [k * period_ns for k in range(len(expected))]
    assert fleet.t_ns == len(expected) * period_ns


def test_without_the_probe_they_only_boot_arm_and_run_up():
    firmware = Diary()
    fleet, motions, orders = fleet_of(firmware, probes=False)
    fleet.prepare(motions, orders)
    assert len(firmware.all) == 51 + 1 + 501
    fleet.prepare(motions, orders)  # of another flight
    assert [t for t, *_ in firmware.all[553:]] == [k * PERIOD_NS for k in range(553)]


@pytest.mark.parametrize(("gain", "is_enough"), [(0.0062, True), (0.0058, False)])
def test_a_rotor_answers_a_turn_from_three_thousandths_of_its_share_on(gain, is_enough):
    """The turn is half a radian per second."""
    fleet, motions, orders = fleet_of(RateLoop([]), RateLoop([], gains=(0.1, 0.1, gain)))
    if is_enough:
        fleet.prepare(motions, orders)
        return
    shown = ", ".join(["[+-]0.003"] * 4)
    with pytest.raises(FirmwareFailed, match=rf"aircraft 1: .* in yaw, .* change by {shown}:"):
        fleet.prepare(motions, orders)


def test_the_mean_over_the_turn_counts():
    """A firmware that answers in the last two of five steps, by 0.006 each: 0.0024 in the mean."""
    firmware = RateLoop([], gains=(0.1, 0.012, 0.1))
    ask, seen = firmware.ask, []

    def ask_late():
        motion, order = firmware.told
        seen.append(any(motion.w_WB_B))
        if not all(seen[-4:]):
            firmware.told = (REST, order)
        return ask()

    firmware.ask = ask_late
    fleet, motions, orders = fleet_of(firmware)
    with pytest.raises(FirmwareFailed, match=r"in pitch, .* by [+-]0.002"):
        fleet.prepare(motions, orders)


def test_an_error_of_a_firmware_itself_names_its_aircraft_and_obstacles_may_be_none():
    broken, silent = RateLoop([]), RateLoop([], arms=False)

    def fail():
        raise FirmwareFailed("firmware_ended", "it has ended")

    broken.connect, silent.obstacles = fail, lambda: ""
    with pytest.raises(
        FirmwareFailed, match="^iap, firmware of aircraft 1: it has ended$"
    ) as gone:
        fleet_of(RateLoop([]), broken)[0].prepare([REST, REST], [HOVER, HOVER])
    assert gone.value.outcome == "firmware_ended"
    with pytest.raises(FirmwareFailed, match="^iap, firmware of aircraft 0: it does not arm$"):
        fleet_of(silent)[0].prepare([REST], [HOVER])


def test_all_are_ended():
    calls = []
    fleet_of(RateLoop(calls, "a"), RateLoop(calls, "b"))[0].end()
    assert calls == ["end a", "end b"]
