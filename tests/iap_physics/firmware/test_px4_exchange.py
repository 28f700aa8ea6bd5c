# SPDX-License-Identifier: BSD-3-Clause
"""A PX4 in this process: its offboard mode over UDP, and its controls over TCP."""

import socket
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from firmwares import PX4_PORT

from iap_description.vehicles.platform import load_platform
from iap_physics.firmware.firmware import AircraftMotion, AttitudeOrder, FirmwareFailed
from iap_physics.firmware.px4.mavlink import (
    COMMAND_ACK,
    COMMAND_LONG,
    HEARTBEAT,
    HIL_ACTUATOR_CONTROLS,
    HIL_SENSOR,
    SET_ATTITUDE_TARGET,
    STATUSTEXT,
    MavlinkParser,
    Sender,
)
from iap_physics.firmware.px4.offboard import Offboard
from iap_physics.firmware.px4.px4 import Px4
from iap_physics.firmware.rotor_places import rotors_by_place
from iap_physics.firmware.settings import Px4Settings

LEVEL, STILL = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
REST = AircraftMotion(STILL, (0.0, 0.0, 9.81), STILL, LEVEL, STILL)
ORDER = AttitudeOrder(True, LEVEL, (0.25, 0.5, -0.75), 0.375, True)
AIRCRAFT = load_platform("f450").fleet[0]
NUMBER = PX4_PORT - 4560 + 7  # of an instance that no flight has
KINDS = {kind.number: kind for kind in (HEARTBEAT, SET_ATTITUDE_TARGET, COMMAND_LONG)}
MS = 1_000_000  # [ns]


class Listener:
    """PX4's side of the offboard link."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 14_580 + NUMBER))
        self.socket.setblocking(False)

    def say(self, kind, *values):
        self.socket.sendto(Sender(1, 1).frame(kind, *values), ("127.0.0.1", 14_540 + NUMBER))

    def heard(self):
        """Kinds and fields of what has come."""
        parser, out = MavlinkParser(), []
        try:
            while True:
                for each in parser.add(self.socket.recv(4096)):
                    out.append((KINDS[each.number], each.values(KINDS[each.number])))
        except BlockingIOError:
            return out


@pytest.fixture
def listener():
    made = Listener()
    yield made
    made.socket.close()


@pytest.fixture
def offboard(listener):
    made = Offboard(NUMBER)
    yield made
    made.close()
    made.close()


def test_an_order_is_an_attitude_target_in_axes_forward_right_down(listener, offboard):
    offboard.send(20 * MS, ORDER, is_armed=True)
    (kind, beat), (target, values) = listener.heard()
    assert (kind, target) == (HEARTBEAT, SET_ATTITUDE_TARGET)
    assert beat == (0, 6, 8, 0, 4, 3)
    half = pytest.approx(0.5**0.5)
    assert values[:5] == (20, half, 0.0, 0.0, half)  # the nose looks east
    assert values[5:9] == (0.25, -0.5, 0.75, 0.375)
    assert values[9:] == ((NUMBER + 1) % 256, 1, 0)
    offboard.send(21 * MS, ORDER._replace(has_attitude=False), is_armed=True)
    assert listener.heard()[0][1][11] == 128  # the attitude does not count


def test_it_asks_to_arm_every_half_second_until_it_is_armed_as_ordered(listener, offboard):
    asked = []
    for t, order, is_armed in (
        (0, ORDER._replace(is_armed=False), False),
        (0, ORDER, True),
        (0, ORDER, False),
        (499, ORDER, False),
        (500, ORDER, False),
        (999, ORDER, False),
        (1000, ORDER, True),
        (1001, ORDER, False),
    ):
        offboard.send(t * MS, order, is_armed=is_armed)
        heard = [values for kind, values in listener.heard() if kind is COMMAND_LONG]
        asked.append([values[7] for values in heard])
        for values in heard:
            mode = (1.0, 6.0) if values[7] == 176 else (1.0, 0.0)
            assert values[:2] == mode and values[2:7] == (0.0,) * 5
            assert values[8:] == ((NUMBER + 1) % 256, 1, 0)
    both = [176, 400]
    assert asked == [[], [], both, [], both, [], [], both]


def test_its_heart_beats_twice_a_second(listener, offboard):
    beats = []
    for t in (0, 499, 500, 501, 999, 1000):
        offboard.send(t * MS, ORDER, is_armed=True)
        beats.append(any(kind is HEARTBEAT for kind, _ in listener.heard()))
    assert beats == [True, False, True, False, False, True]


def test_its_last_three_texts_and_refusals_are_kept_once(listener, offboard):
    listener.say(STATUSTEXT, 6, b"one")
    listener.say(COMMAND_ACK, 400, 0)
    listener.say(COMMAND_ACK, 400, 4)
    listener.say(STATUSTEXT, 6, b"one")
    offboard.send(0, ORDER, is_armed=True)
    assert offboard.texts == ["one", "command 400 refused, result 4"]
    for text in (b"two", b"three"):
        listener.say(STATUSTEXT, 6, text)
    offboard.send(1, ORDER, is_armed=True)
    assert offboard.texts == ["command 400 refused, result 4", "two", "three"]


def test_nobody_needs_to_listen_yet():
    offboard = Offboard(NUMBER)
    for t in range(3):
        offboard.send(t, ORDER, is_armed=False)
    assert offboard.texts == []
    offboard.close()


class Simulated:
    """PX4's side of the TCP link."""

    def __init__(self):
        self.socket, self.parser, self.heard = None, MavlinkParser(), []

    def sensors(self):
        """The stamps of HIL_SENSOR that have come [us]."""
        self.heard.extend(self.parser.add(self.socket.recv(65_536)))
        return [m.values(HIL_SENSOR)[0] for m in self.heard if m.number == HIL_SENSOR.number]

    def answer(self, stamp, *controls, mode=129, times=1):
        rest = [0.0] * (16 - len(controls))
        values = (stamp, 0, *controls, *rest, mode)
        frame = Sender(1, 1).frame(HIL_ACTUATOR_CONTROLS, *values)
        self.socket.sendall(times * frame)


@pytest.fixture
def both(listener, monkeypatch):
    """The firmware as the suite has it, connected, and PX4's side of it."""
    monkeypatch.setattr("iap_physics.firmware.px4.px4.FIRST_WAIT", 0.02)
    keys = {"port": 4560 + NUMBER - 2, "deadline": 0.02, "start_within": 5.0, "rate_hz": 500.0}
    firmware, other = Px4(Px4Settings(**keys), AIRCRAFT, 2, np.random.default_rng(0)), Simulated()
    firmware.begin()
    other.socket = socket.create_connection(("127.0.0.1", 4560 + NUMBER), timeout=5.0)
    firmware.connect()
    yield firmware, other
    firmware.end()
    firmware.end()
    other.socket.close()


def test_until_its_first_controls_it_stands_still_and_nothing_waits_for_it(both):
    firmware, other = both
    firmware.tell(0, REST, ORDER)
    answer = firmware.ask()
    assert answer.shares == (0.0, 0.0, 0.0, 0.0) and not answer.is_armed
    firmware.tell(2 * MS, REST, ORDER)
    assert other.sensors() == [2000, 4000]  # ends of the steps; 0 is no time
    other.answer(2000, 0.1)  # an old one, while it runs free
    other.answer(4000, 0.1, 0.25, -0.5, 1.5, 0.9, mode=1)
    answer = firmware.ask()
    places = rotors_by_place(AIRCRAFT)
    assert [answer.shares[k] for k in places] == [pytest.approx(0.1), 0.25, 0.0, 1.0]
    assert not answer.is_armed


@pytest.fixture
def locked(both):
    """Both, once it has answered a first time, armed."""
    firmware, other = both
    firmware.tell(0, REST, ORDER)
    other.answer(2000, 0.5, 0.5, 0.5, 0.5)
    assert firmware.ask().is_armed
    return firmware, other


@pytest.mark.parametrize(
    ("times", "answer", "outcome", "words"),
    [
        (0, (4000,), "firmware_late", r"no controls within 0.02 s after HIL_SENSOR of 0.004000 s"),
        (1, (2000, 0.5), "firmware_out_of_step", "controls of 0.002000 s in answer to 0.004000 s"),
        (1, (6000, 0.5), "firmware_out_of_step", "controls of 0.006000 s in answer to 0.004000 s"),
        (2, (4000, 0.5), "firmware_out_of_step", "answers one HIL_SENSOR twice"),
        (1, (4000, 0.5, 0.5, 0.5, np.nan), "firmware_out_of_step", "are no numbers"),
    ],
)
def test_once_it_is_in_step_a_wrong_answer_ends_the_flight(locked, times, answer, outcome, words):
    firmware, other = locked
    firmware.tell(2 * MS, REST, ORDER)
    other.answer(*answer, times=times)
    with pytest.raises(FirmwareFailed, match=words) as caught:
        firmware.ask()
    assert caught.value.outcome == outcome


def test_controls_of_the_future_are_refused_even_while_it_runs_free(both):
    firmware, other = both
    firmware.tell(0, REST, ORDER)
    other.answer(2001, 0.5)
    with pytest.raises(FirmwareFailed, match="controls of 0.002001 s in answer to 0.002000 s"):
        firmware.ask()


def test_a_connection_that_it_closes_ends_the_flight(locked, monkeypatch):
    firmware, other = locked
    other.socket.shutdown(socket.SHUT_RDWR)
    clock = SimpleNamespace(monotonic=count().__next__)  # by which its process is waited for
    monkeypatch.setattr("iap_physics.firmware.outside_process.time", clock)
    with pytest.raises(
        FirmwareFailed, match=f"closed the connection to port {4560 + NUMBER}"
    ) as e:
        firmware.ask()
    assert e.value.outcome == "firmware_ended"


def test_an_order_is_sent_where_it_is_new_and_again_after_20_ms(both, listener):
    firmware, _ = both
    counts = []
    for t, order in (
        (0, ORDER),
        (1, ORDER),
        (1, ORDER._replace(share=0.5)),
        (20, None),
        (21, None),
    ):
        last = order or last  # noqa: F821 - of the line before
        firmware.tell(t * MS, REST, last)
        heard = listener.heard()
        counts.append(sum(kind is SET_ATTITUDE_TARGET for kind, _ in heard))
    assert counts == [1, 0, 1, 0, 1]


def test_it_says_why_it_does_not_arm_and_writes_its_settings(both, listener, tmp_path):
    firmware, _ = both
    assert firmware.obstacles() == "it does not say why"
    for text in (b"no home", b"no heading"):
        listener.say(STATUSTEXT, 6, text)
    firmware.tell(0, REST, ORDER)
    assert firmware.obstacles() == "no home; no heading"
    firmware.write(tmp_path)
    assert '"rate_hz": 500.0' in (tmp_path / "settings.json").read_text()
    firmware.end()
    assert firmware.obstacles() == "it does not say why"
    firmware.write(tmp_path / "nowhere")  # nothing is there to be written
