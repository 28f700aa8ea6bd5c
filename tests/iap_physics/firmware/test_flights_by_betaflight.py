# SPDX-License-Identifier: BSD-3-Clause
"""Flights by a program that speaks Betaflight's packets: they hold, they repeat, and each fault ends them by name."""

import socket

import pytest
from firmwares import PATIENCE, fake_betaflight, flight, plus_shaped

from iap_description.errors import BadInput, FlightFailed
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

FAULTY = 8.0  # of the firmware's clock, in flight [s]


def test_a_quadrotor_hovers_and_flies_twice_alike():
    first, second = (flight(fake_betaflight(), 0.5) for _ in range(2))
    assert first[0] < 0.005
    assert first == second


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["closed_form", "pybullet", "mujoco"])
def test_three_firmwares_hold_a_platform_on_joints(engine):
    worst, _ = flight(fake_betaflight(), 0.5, "three_star", **{"engine.name": engine})
    assert worst < 0.005


@pytest.mark.slow
def test_a_quadrotor_in_the_shape_of_a_plus_is_flown_by_an_autopilot_that_is_turned(tmp_path):
    """The probe of all axes passes, and the figure is followed, so that all frames are turned alike."""
    path = plus_shaped(tmp_path)
    assert flight(fake_betaflight(), 8.0, path, scenario="figure_eight")[0] < 0.1


def test_a_smooth_figure_is_followed():
    assert flight(fake_betaflight(), 8.0, scenario="figure_eight")[0] < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "seconds", "outcome", "words"),
    [
        ("mute", FAULTY, "firmware_late", "no answer within 0.5 s"),
        ("late", FAULTY, "firmware_late", "no answer within 0.5 s"),
        ("exit", FAULTY, "firmware_ended", "exit code 3; it said: .*I can no more"),
        ("disarm", FAULTY, "firmware_disarmed", "stand still in flight"),
        ("disarm", 0.0, "firmware_not_armed", "it does not arm"),
        ("short", FAULTY, "firmware_out_of_step", "8 bytes came"),
        ("nan", FAULTY, "firmware_out_of_step", "no shares of 0 to 1"),
        ("twice", FAULTY, "firmware_out_of_step", "answers one state twice"),
        ("wrong_yaw", 0.0, "firmware_wrong_signs", "do not resist a turn in yaw"),
    ],
)
def test_every_fault_ends_the_flight_by_its_name(fault, seconds, outcome, words):
    with pytest.raises(FlightFailed, match=words) as caught:
        flight(fake_betaflight(fault, seconds), 3.0)
    assert caught.value.outcome == outcome


@pytest.mark.slow
def test_one_that_is_paced_never_flies_on_motors_of_long_ago():
    paced = {
        **fake_betaflight("mute", FAULTY),
        "paced": True,
        "probe": False,
        "deadline": PATIENCE,
    }
    with pytest.raises(FlightFailed, match=r"paced, its motors are older than 0\.02 s") as caught:
        flight(paced, 3.0)
    assert caught.value.outcome == "firmware_late"


def test_a_program_that_ends_at_once_has_not_started():
    with pytest.raises(FlightFailed, match="exit code 1") as caught:
        flight({"name": "betaflight", "command": ["false"]}, 1.0)
    assert caught.value.outcome == "firmware_not_started"


def test_a_port_in_use_is_named():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(FlightFailed, match=f"port {port} is in use") as caught:
            flight({**fake_betaflight(), "port": port - 1}, 1.0)
    assert caught.value.outcome == "port_in_use"


def test_a_setting_that_it_does_not_take_is_named():
    with pytest.raises(FlightFailed, match="does not take the setting 'set nonsense = 1'"):
        flight({**fake_betaflight(), "settings": ["set nonsense = 1"]}, 1.0)


def test_what_was_recorded_until_the_end_is_kept_with_what_the_firmware_said(tmp_path):
    settings = {"firmware": fake_betaflight("exit", FAULTY), "engine.name": "closed_form"}
    result = record("hover", folder=tmp_path / "run", settings=settings, platform="f450")
    assert result.failure.startswith("firmware_ended at t = ")
    assert result.metrics["outcome"] == "firmware_ended"
    kept = tmp_path / "run" / "firmware" / "iap" / "aircraft_0"
    assert "I can no more" in (kept / "output.txt").read_text()
    assert "set angle_limit = 60" in (kept / "settings.txt").read_text()
    assert (kept / "program.txt").read_text().startswith("env sha256 ")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"firmware": "betafligth"},
            "key 'firmware.name': unknown 'betafligth': did you mean betaflight?",
        ),
        ({"firmware": {"name": "betaflight", "gain": 1.0}}, "firmware.gain"),
        (
            {"firmware": "betaflight", "firmware.rate_hz": 300.0},
            "'firmware.rate_hz': 300 does not",
        ),
        ({"firmware": "betaflight", "control.law": "position_yaw"}, "commands rotor speeds"),
        ({"firmware": "betaflight", "platform": "tilt_4"}, "pushes sideways without tilting"),
        ({"firmware": "betaflight", "platform": "hexa"}, "one multirotor in 2 parts"),
        ({"firmware": "betaflight", "platform": "octo_full"}, "pushes sideways without tilting"),
    ],
)
def test_what_cannot_be_flown_is_refused_by_its_key(settings, words):
    platform = settings.pop("platform", "f450")
    with pytest.raises(BadInput, match=words):
        Simulation.of("hover", platform=platform, settings=settings)


def test_neither_snapshots_nor_batches_take_a_firmware():
    from iap_simulation.batch.batch_support import unsupported

    chosen = {"firmware": "betaflight", "engine.name": "closed_form"}
    assert unsupported(resolved("hover", chosen, {"platform": "f450"})[0]) == "firmware"
    with (
        Simulation.of("hover", platform="f450", settings=chosen) as simulation,
        pytest.raises(BadInput, match="key 'firmware': .* snapshot"),
    ):
        simulation.snapshot()
