# SPDX-License-Identifier: BSD-3-Clause
"""A rotorcraft out of this suite's own recording: its parameters, its platform, and what a recording does not tell."""

import json

import numpy as np
import pytest
import yaml

from iap_bringup.cli import main
from iap_bringup.experiments.identification import DRAWN, truth
from iap_description.vehicles.platform import load_platform
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.run_folders import read_run
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve

FLIGHT = "identification_flight"
SEED = 2


@pytest.fixture(scope="module")
def excited(tmp_path_factory):
    """A vehicle whose mass, inertia, thrust and lags are drawn, flown for a minute with its inertial unit."""
    folder = tmp_path_factory.mktemp("excited") / "run"
    record(FLIGHT, folder=folder, seed=SEED, assignments=DRAWN)
    scenario, _ = resolve(FLIGHT, Options(seed=SEED, assignments=DRAWN))
    return folder, truth(scenario)


@pytest.fixture(scope="module")
def hovering(tmp_path_factory):
    """An F450 under velocity commands for a quarter of a minute."""
    folder = tmp_path_factory.mktemp("hovering") / "run"
    record("velocity_steps", folder=folder, duration=14.0)
    return folder


@pytest.mark.slow
def test_a_drawn_vehicle_is_found_within_its_bars_and_flies_by_its_file(excited, tmp_path, capsys):
    folder, true = excited
    out = tmp_path / "model"
    assert (
        main.main(["identify", str(folder), "--model", "rotorcraft", "--out", str(out), "--json"])
        == 0
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((out / "metrics.json").read_text())
    found = printed["parameters"]
    for name, limit in {
        "full thrust per mass": 0.02,
        "roll": 0.02,
        "pitch": 0.02,
        "lag up": 0.1,
        "lag down": 0.1,
    }.items():
        assert found[name][0] == pytest.approx(true[name], rel=limit), name
    (rows,) = printed["held_out"].values()
    soon = next(row for row in rows if row["seconds"] == 0.25)
    assert soon["attitude_deg"]["model"] < 0.05 * soon["attitude_deg"]["stays"]
    assert soon["velocity_mps"]["model"] < 0.05 * soon["velocity_mps"]["stays"]
    platform = load_platform(str(out / "platform.yaml"))
    assert platform.aircraft.rotor.time_constant_up == pytest.approx(true["lag up"], rel=0.1)
    arm = abs(platform.aircraft.rotors[0].position[1])
    F = platform.aircraft.rotor.c_f * platform.aircraft.rotor.rpm_max**2
    assert arm * F / platform.aircraft.inertia[0] == pytest.approx(true["roll"], rel=0.02)
    flight = [
        "run",
        "hover",
        "--platform",
        str(out / "platform.yaml"),
        "--no-plot",
        "--out",
        str(tmp_path / "again"),
    ]
    assert main.main([*flight, "--set", "duration=2"]) == 0


def test_a_run_is_a_flight_log_of_its_aircraft(hovering):
    (log,) = read_run(hovering)
    assert log.rotors == 4
    assert log.signals[names.MOTORS].unit == names.SPEED_SHARE
    rates = log.signals[names.RATES].values
    assert np.abs(rates).max() < 1.0
    force = log.signals[names.SPECIFIC_FORCE].values
    assert force[200:-200, 2].mean() == pytest.approx(9.81, abs=0.05)
    speeds = log.signals[names.ROTOR_SPEEDS].values
    np.testing.assert_allclose(
        speeds[400], 9000.0 * log.signals[names.MOTORS].values[400], rtol=0.02
    )


def test_the_scale_that_no_log_has_is_asked_for_by_its_key(hovering, tmp_path):
    out = tmp_path / "model"
    words = ["identify", str(hovering), "--model", "rotorcraft", "--out", str(out)]
    scale = ["--set", "rotorcraft.mass=3.2", "--set", "rotorcraft.arm=0.3"]
    assert main.main([*words, *scale]) == 0
    light = load_platform("f450").aircraft
    heavy = load_platform(str(out / "platform.yaml")).aircraft
    assert heavy.mass == 3.2
    assert [np.hypot(*each.position[:2]) for each in heavy.rotors] == pytest.approx([0.3] * 4)
    assert heavy.rotor.c_f == pytest.approx(2.0 * light.rotor.c_f, rel=0.02)
    text = yaml.safe_load((out / "aircraft.yaml").read_text())
    assert text["extends"] == "f450"
    metrics = json.loads((out / "metrics.json").read_text())
    assert "drag x" in metrics["not_determined"]
    assert not {"mass", "arm"} & set(metrics["not_determined"])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--set", "rotorcraft.start=three_star"],
            "key 'rotorcraft.start': three_star has 3 aircraft",
        ),
        (["--set", "rotorcraft.mass=0"], "key 'rotorcraft.mass'"),
        (["--set", "rotorcraft.arm=-0.2"], "key 'rotorcraft.arm'"),
        (["--set", "rotorcraft.start=none"], "unknown platform 'none'"),
        (["--error", "equation"], "--error: the model rotorcraft has no choice of an error"),
        (["--validate", "SAME"], "fitted and held out; --force allows it"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(hovering, tmp_path, capsys, words, line):
    words = [str(hovering) if word == "SAME" else word for word in words]
    out = tmp_path / "model"
    assert (
        main.main(["identify", str(hovering), "--model", "rotorcraft", "--out", str(out), *words])
        == 2
    )
    told = capsys.readouterr().err
    assert line in told
    assert "Traceback" not in told
    assert not out.exists()


def test_joined_aircraft_are_refused_among_other_logs_and_on_another_platform(
    hovering, tmp_path, capsys
):
    folder = tmp_path / "run"
    record("three_star_spiral", folder=folder, duration=1.0)
    typed = ["identify", str(folder), "--model", "rotorcraft"]
    assert main.main([*typed[:2], str(hovering), *typed[2:]]) == 2
    assert "a recording of 3 aircraft; one that flies alone is expected" in capsys.readouterr().err
    assert main.main(typed) == 2
    assert "never in the air" in capsys.readouterr().err


def test_a_short_flight_is_refused_with_its_length(tmp_path, capsys):
    folder = tmp_path / "run"
    record("velocity_steps", folder=folder, duration=6.0)
    assert main.main(["identify", str(folder), "--model", "rotorcraft"]) == 2
    assert "s in the air; 10 s are needed" in capsys.readouterr().err
