# SPDX-License-Identifier: BSD-3-Clause
"""An ArduPilot in this process: which bytes go where, and what becomes of its frames."""

import json
import socket

import numpy as np
import pytest
from firmwares import ARDUPILOT_PORT

from iap_description.vehicles.platform import load_platform
from iap_physics.firmware.ardupilot.ardupilot import (
    FEW,
    MANY,
    STICKS,
    ArduPilot,
    read_pulses,
    stick_packet,
)
from iap_physics.firmware.firmware import AircraftMotion, AttitudeOrder, FirmwareFailed
from iap_physics.firmware.rotor_places import rotors_by_place
from iap_physics.firmware.settings import ArduPilotSettings

LEVEL, STILL = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
REST = AircraftMotion(STILL, (0.0, 0.0, 9.81), STILL, LEVEL, STILL)
ORDER = AttitudeOrder(True, LEVEL, STILL, 0.25, True)
AIRCRAFT = load_platform("f450").fleet[0]
PORT, STICK_PORT, NUMBER = ARDUPILOT_PORT + 40, ARDUPILOT_PORT + 41, 2  # none of the flights'
WIDTHS = (1100, 1200, 1400, 1800)  # front right, rear left, front left, rear right


def frame(number, *widths, form=FEW):
    magic = 18_458 if form is FEW else 29_569
    return form.pack(magic, 400, number, *widths, *[1000] * ((form.size - 8) // 2 - len(widths)))


class Autopilot:
    """The other side: it sends frames of pulses, and takes states and sticks."""

    def __init__(self):
        self.states, self.sticks = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "ab")
        self.sticks.bind(("127.0.0.1", STICK_PORT + 10 * NUMBER))

    def send(self, packet):
        self.states.sendto(packet, ("127.0.0.1", PORT + 10 * NUMBER))

    def state(self):
        self.states.settimeout(5.0)
        return json.loads(self.states.recv(2048))

    def has_sticks(self):
        self.sticks.setblocking(False)
        try:
            return STICKS.unpack(self.sticks.recv(256))
        except BlockingIOError:
            return None


@pytest.fixture
def both():
    """The firmware as the suite has it, connected, and the other side."""
    settings = ArduPilotSettings(
        port=PORT, stick_port=STICK_PORT, rate_hz=400.0, deadline=0.02, start_within=5.0,
        gyro_noise=0.0, accelerometer_noise=0.0,
    )  # fmt: skip
    firmware = ArduPilot(settings, AIRCRAFT, NUMBER, np.random.default_rng(0))
    other = Autopilot()
    firmware.begin()
    other.send(frame(41, *WIDTHS))
    firmware.connect()
    yield firmware, other
    firmware.end()
    firmware.end()
    other.states.close()
    other.sticks.close()


def test_a_state_has_the_end_of_its_step_as_its_stamp(both):
    firmware, other = both
    firmware.tell(500_000_000, REST._replace(p_WB_W=(1.0, 2.0, 3.0)), ORDER)
    state = other.state()
    assert state["timestamp"] == pytest.approx(0.5025)
    assert state["position"] == [2.0, 1.0, -3.0]


def test_sticks_are_sent_where_an_order_is_new(both):
    firmware, other = both
    firmware.tell(0, REST, ORDER)
    sticks = other.has_sticks()
    assert sticks == STICKS.unpack(stick_packet(ORDER, LEVEL, 2.5))
    assert sticks == (1500, 1500, 1250, 1500, 1000, 1000, 2000, *[1000] * 9)
    firmware.tell(0, REST, ORDER)
    assert other.has_sticks() is None
    firmware.tell(0, REST, ORDER._replace(is_armed=False))
    assert other.has_sticks()[6] == 1000


def test_pulses_are_shares_by_the_places_of_rotors(both):
    firmware, other = both
    other.send(frame(42, *WIDTHS))
    answer = firmware.ask()
    places = rotors_by_place(AIRCRAFT)
    assert [answer.shares[k] for k in places] == [0.1, 0.2, 0.4, 0.8]
    assert answer.is_armed
    other.send(frame(43, 990, 2010, 1400, 1800))
    answer = firmware.ask()
    assert [answer.shares[k] for k in places] == [0.0, 1.0, 0.4, 0.8] and not answer.is_armed


@pytest.mark.parametrize(("lowest", "is_armed"), [(1004, False), (1005, True)])
def test_it_is_armed_where_the_slowest_rotor_is_five_microseconds_above_the_lowest(
    both, lowest, is_armed
):
    firmware, other = both
    other.send(frame(42, 1500, lowest, 1500, 1500))
    assert firmware.ask().is_armed == is_armed


def test_a_frame_that_comes_again_is_passed_over_and_one_that_is_left_out_is_refused(both):
    firmware, other = both
    for number in (41, 41, 42):
        other.send(frame(number, *WIDTHS, form=MANY))
    assert firmware.ask().is_armed
    other.send(frame(44, *WIDTHS))
    with pytest.raises(FirmwareFailed, match="frame 44 came behind frame 42") as caught:
        firmware.ask()
    assert caught.value.outcome == "firmware_out_of_step"


def test_numbers_of_frames_begin_anew_behind_the_largest(both):
    firmware, other = both
    firmware._frame = 0xFFFF_FFFF
    other.send(frame(0, *WIDTHS))
    assert firmware.ask().is_armed


def test_no_frame_within_the_deadline_is_late_and_other_bytes_are_refused(both):
    firmware, other = both
    firmware.tell(1_000_000_000, REST, ORDER)
    with pytest.raises(FirmwareFailed, match=r"within 0.02 s after the state of 1.002 s") as late:
        firmware.ask()
    assert late.value.outcome == "firmware_late"
    other.send(b"12345")
    with pytest.raises(FirmwareFailed, match="5 bytes came that are no frame") as wrong:
        firmware.ask()
    assert wrong.value.outcome == "firmware_out_of_step"


def test_rates_are_refused_since_its_sticks_are_attitudes(both):
    firmware, _ = both
    with pytest.raises(FirmwareFailed, match="rates were commanded") as caught:
        firmware.tell(0, REST, ORDER._replace(has_attitude=False))
    assert caught.value.outcome == "invalid_command"


def test_it_writes_its_settings_and_says_where_its_reasons_are(both, tmp_path):
    firmware, _ = both
    firmware.write(tmp_path)
    assert json.loads((tmp_path / "settings.json").read_text())["rate_hz"] == 400.0
    assert firmware.obstacles() == "a ground station on its serial line 0 shows why"
    firmware.end()
    firmware.write(tmp_path / "nowhere")  # nothing is there to be written


def test_packets_are_pulses_where_magic_and_size_agree():
    assert read_pulses(frame(7, 1, 2, form=MANY)).widths[:3] == (1, 2, 1000)
    assert len(read_pulses(frame(7, 1, 2, form=MANY)).widths) == 32
    assert read_pulses(frame(7, 1, 2)).frame == 7
    assert read_pulses(frame(7, 1, 2)[:-1]) is None
    assert read_pulses(b"\0\0" + frame(7, 1, 2)[2:]) is None


def test_full_sticks_are_sixty_degrees_and_two_hundred_degrees_a_second():
    def sticks(axis, angle, w=0.0, gain=1.0):
        q = [0.0, 0.0, 0.0, np.cos(angle / 2)]
        q[axis] = np.sin(angle / 2)
        order = AttitudeOrder(True, tuple(q), (0.0, 0.0, w), 0.5, True)
        return STICKS.unpack(stick_packet(order, LEVEL, gain))

    assert sticks(0, np.radians(30.0))[:2] == (1750, 1500)
    assert sticks(1, np.radians(30.0))[:2] == (1500, 1250)
    assert sticks(0, np.radians(70.0))[0] == 2000 and sticks(0, np.radians(-70.0))[0] == 1000
    assert sticks(0, 0.0, np.radians(100.0))[3] == 1250
    assert sticks(2, np.radians(20.0), gain=2.5)[3] == 1375
