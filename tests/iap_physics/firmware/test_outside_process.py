# SPDX-License-Identifier: BSD-3-Clause
"""Processes of firmwares: their words, files, endings, and the ports of this machine."""

import json
import math
import socket
import sys
import time

import numpy as np
import pytest
from firmwares import ARDUPILOT_PORT

from iap_description.errors import BadInput
from iap_description.vehicles.aircraft import inertia_matrix
from iap_description.vehicles.platform import load_platform
from iap_physics.firmware.firmware import FirmwareFailed
from iap_physics.firmware.outside_process import OutsideProcess
from iap_physics.firmware.ports import bound_socket, is_free
from iap_physics.firmware.process import FirmwareProcess
from iap_physics.firmware.rotor_places import SPINS, AutopilotMount, rotors_by_place
from iap_physics.firmware.settings import FirmwareSettings

PORT = ARDUPILOT_PORT + 60  # none of the flights'
SH = "/bin/sh"


def never(seconds):
    return None


def late():
    return FirmwareFailed("firmware_late", "it is late")


def test_a_command_has_the_number_of_its_aircraft_and_its_files(tmp_path):
    command = (SH, "-c", "echo {number} {number}; cat a.txt; echo new > b.txt")
    settings = FirmwareSettings(name="own:Own", command=command, rate_hz=123.0)
    process = OutsideProcess(settings, 3, {"a.txt": b"of the file"})
    with pytest.raises(FirmwareFailed, match="exit code 0; it said: 3 3 | of the file"):
        process.wait_for(never, 20.0, late)
    process.write(tmp_path)
    assert (tmp_path / "output.txt").read_text() == "3 3\nof the file"
    assert (tmp_path / "b.txt").read_text() == "new\n"
    text = (tmp_path / "settings.json").read_text()
    assert json.loads(text)["rate_hz"] == 123.0 and text.endswith("}\n") and '\n "' in text
    process.end()


def test_a_look_is_repeated_until_it_gives_something_or_the_time_is_over(tmp_path):
    process, looks = OutsideProcess(FirmwareSettings(name="own:Own"), 0), []

    def third(seconds):
        looks.append(seconds)
        return 0 if len(looks) == 3 else None

    assert process.wait_for(third, 10.0, late) == 0
    assert looks == [0.05, 0.05, 0.05]
    with pytest.raises(FirmwareFailed, match="it is late"):
        process.wait_for(looks.append, 0.001, late)
    assert looks[3] == 0.001
    process.write(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]
    process.end()  # nothing was started


def test_an_ending_is_its_code_or_signal_and_the_last_three_lines():
    def ending(script):
        process = FirmwareProcess([SH, "-c", script], {"OF_TEST": "7"}, {})
        assert process.wait(20.0) and process.has_ended
        said = process.ending()
        with pytest.raises(FirmwareFailed, match="its process has ended: ") as caught:
            process.check()
        assert caught.value.outcome == "firmware_ended"
        process.end()
        assert not process.folder.exists()
        return said

    assert ending("exit 4") == "exit code 4"
    assert ending("exit 0") == "exit code 0"
    assert ending("kill -9 $$") == "signal 9"
    assert (
        ending("echo a; echo b; echo c; echo d$OF_TEST 1>&2") == "exit code 0; it said: b | c | d7"
    )


def test_a_process_that_runs_is_ended_with_its_folder():
    process = FirmwareProcess([sys.executable, "-c", "input()"], {}, {})
    assert process.folder.name.startswith("iap_firmware_")
    process.end()
    process.end()
    assert process.has_ended and not process.folder.exists()
    slow = FirmwareProcess(["sleep", "60"], {}, {})
    slow.check()
    assert not slow.has_ended and not slow.wait(0.001)
    began = time.monotonic()
    slow.end()
    assert (
        slow.ending() == "signal 15" if slow.folder.exists() else time.monotonic() - began < 30.0
    )


def test_what_cannot_be_run_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(FirmwareFailed, match="'/no/such' cannot be run: No such file") as caught:
        FirmwareProcess(["/no/such"], {}, {})
    assert caught.value.outcome == "firmware_not_started"
    assert list(tmp_path.iterdir()) == []


def test_folders_of_its_folder_are_not_copied(tmp_path):
    process = FirmwareProcess([SH, "-c", "mkdir deep; echo x > deep/a; echo y > flat"], {}, {})
    assert process.wait(20.0)
    process.copy_files(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["flat", "output.txt"]
    process.end()


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_port_is_free_until_something_is_bound_there(kind):
    assert is_free(PORT, kind)
    with bound_socket(PORT, kind) as first:
        assert first.getsockname() == ("127.0.0.1", PORT) and first.type == kind
        reuse = first.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
        assert bool(reuse) == (kind == socket.SOCK_STREAM)
        if kind == socket.SOCK_STREAM:
            first.listen(1)
        assert not is_free(PORT, kind)
        with pytest.raises(FirmwareFailed, match=f"port {PORT} is in use") as caught:
            bound_socket(PORT, kind)
        assert caught.value.outcome == "port_in_use"
    assert is_free(PORT, kind)


@pytest.mark.parametrize("port", [-1, 0, 65_536])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(FirmwareFailed, match=f"port {port} is not from 1 to 65535") as caught:
        bound_socket(port, socket.SOCK_DGRAM)
    assert caught.value.outcome == "port_in_use"


def test_rotors_are_counted_front_right_rear_left_front_left_rear_right():
    aircraft = load_platform("f450").fleet[0]
    places = [aircraft.rotors[k].position[:2] for k in rotors_by_place(aircraft)]
    assert [(x > 0.0, y > 0.0) for x, y in places] == [
        (True, False), (False, True), (True, True), (False, False),
    ]  # fmt: skip


def turning(q):
    """Angle about z of an attitude that turns about it [rad]."""
    return 2.0 * math.atan2(q[2], q[3])


@pytest.mark.parametrize(("spins", "yaw"), [("ccw ccw cw cw", 45.0), ("cw cw ccw ccw", -45.0)])
def test_an_autopilot_stands_across_a_plus_where_its_rotors_have_the_usual_spins(spins, yaw):
    x = load_platform("f450").fleet[0]
    assert AutopilotMount.of(x) == (0.0, x)
    places = ((0.2, 0.0), (-0.2, 0.0), (0.0, 0.2), (0.0, -0.2))
    rotors = tuple(
        rotor.model_copy(update={"position": (*place, 0.0), "spin": spin})
        for rotor, place, spin in zip(x.rotors, places, spins.split(), strict=True)
    )
    plus = x.model_copy(update={"rotors": rotors, "inertia": (0.02, 0.03, 0.04)})
    mount = AutopilotMount.of(plus)
    order = rotors_by_place(mount.aircraft)
    assert tuple(plus.rotors[k].spin for k in order) == SPINS
    assert math.degrees(mount.yaw) == pytest.approx(yaw)
    assert math.degrees(turning(mount.attitude((0.0, 0.0, 0.0, 1.0)))) == pytest.approx(yaw)
    ahead = mount.vector(
        (1.0, 0.0, 0.5)
    )  # the autopilot's axes are turned by the yaw, vectors in them back
    root = math.sqrt(0.5)
    assert ahead == pytest.approx((root, -math.copysign(root, yaw), 0.5))
    J = inertia_matrix(mount.aircraft.inertia)
    assert np.linalg.eigvalsh(J) == pytest.approx([0.02, 0.03, 0.04])
    assert [J[0, 0], J[1, 1]] == pytest.approx([0.025, 0.025])


def test_no_quadrotor_in_the_shape_of_an_x_is_refused():
    aircraft = load_platform("f450").fleet[0]

    def moved(*places):
        pairs = zip(aircraft.rotors, places, strict=True)
        rotors = tuple(r.model_copy(update={"position": (*place, 0.0)}) for r, place in pairs)
        return aircraft.model_copy(update={"rotors": rotors})

    plus = moved((0.2, 0.0), (0.0, 0.2), (-0.2, 0.0), (0.0, -0.2))
    crowded = moved((0.2, 0.2), (0.1, 0.1), (-0.2, 0.2), (-0.2, -0.2))
    for wrong in (plus, crowded, load_platform("beetle").fleet[0]):
        with pytest.raises(
            BadInput, match=r"is no quadrotor in the shape of an X or a \+ with fixed"
        ):
            rotors_by_place(wrong)
