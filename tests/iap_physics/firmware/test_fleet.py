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
