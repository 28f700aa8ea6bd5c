# SPDX-License-Identifier: BSD-3-Clause
"""The same seed gives the same flight: again, after a reset, and in another process."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from flying import Loop, scenario_of

from iap_bringup.cli.main import main

SECONDS = 2.0
ENGINES = ["closed_form", "pybullet"]
TIMES = ("wall_s", "real_time_factor", "control_step_us")
every_engine = pytest.mark.parametrize("engine", ENGINES)


def windy(engine, **options):
    """Wind with gusts, noise, and a plant that is not its model."""
    return Loop.of(scenario_of("figure_eight_windy", engine=engine, duration=SECONDS, **options))


def flown(loop):
    return loop.fly()[0].x


@pytest.mark.slow
@every_engine
def test_another_seed_gives_another_flight(engine):
    a, b = (flown(windy(engine, seed=seed)) for seed in (1, 2))
    assert np.abs(a - b).max() > 1e-3


@every_engine
def test_after_a_reset_the_flight_is_bit_identical(engine):
    """Also in the middle of a flight: controllers, noise, gusts and rotors all begin anew."""
    loop = windy(engine)
    first = flown(loop)
    loop.simulation.reset()
    for _ in range(50):
        pilot = loop.vehicles[0]
        state = loop.plant.state(0)[0]
        loop.plant.command(0, pilot.controller(pilot.sense(state[0]), pilot.reference(700)))
        loop.plant.advance()
    loop.simulation.reset()
    assert loop.plant.t == 0.0
    np.testing.assert_array_equal(flown(loop), first)


def digest(engine):
    return hashlib.sha256(np.ascontiguousarray(flown(windy(engine)))).hexdigest()


@pytest.mark.slow
def test_another_process_flies_the_same_states():
    code = "from test_determinism import digest; print(digest('closed_form'), digest('pybullet'))"
    folders = [Path(__file__).parent, Path(__file__).parents[2] / "support"]
    paths = [str(folder) for folder in folders] + [path for path in sys.path if path]
    other = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.split() == [digest(engine) for engine in ENGINES]


@pytest.mark.slow
def test_wind_noise_and_model_error_each_change_the_flight():
    plain = flown(windy("closed_form"))
    for setting in (
        "wind.turbulence=0.0",
        "state_noise.position=0.0",
        "state_noise.attitude_deg=0.0",
        "model_error.mass=1.0",
    ):
        loop = Loop.of(
            scenario_of("figure_eight_windy", setting, engine="closed_form", duration=SECONDS)
        )
        assert np.abs(flown(loop) - plain).max() > 1e-4


def test_a_source_of_noise_does_not_disturb_another():
    """With or without gusts the state noise draws the same numbers: streams go by name."""
    noise = []
    for turbulence in (0.0, 6.0):
        loop = Loop.of(
            scenario_of("figure_eight_windy", f"wind.turbulence={turbulence}", duration=0.5)
        )
        pilot, x = loop.vehicles[0], np.zeros(13)
        x[6] = 1.0
        loop.fly()
        noise.append(pilot.sense(x)[:3].copy())
    np.testing.assert_array_equal(*noise)


def test_vehicles_of_other_names_have_noise_of_their_own():
    noise = {"position": 0.01, "attitude_deg": 0.0, "velocity": 0.0, "rate_deg": 0.0}
    hover = {"type": "hover", "duration": 1.0, "position": [0.0, 0.0, 2.0], "rpy_deg": [0.0] * 3}
    vehicles = [
        {"name": name, "platform": "f450", "reference": hover, "state_noise": noise}
        for name in ("a", "b")
    ]
    first, second = Loop.of(scenario_of({"vehicles": vehicles}, duration=1.0)).fly()
    assert np.abs(first.x - second.x).max() > 1e-4


def metrics_of(folder, capsys):
    arguments = ["--duration", "1", "--seed", "3", "--no-plot", "--json", "--out", str(folder)]
    assert main(["run", "figure_eight_windy", *arguments]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    metrics = json.loads(printed)
    assert metrics == json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return metrics


def test_metrics_of_equal_runs_are_equal_but_for_wall_time(tmp_path, capsys):
    a, b = (metrics_of(tmp_path / name, capsys) for name in ("a", "b"))
    assert set(TIMES) <= set(a)
    assert {k: v for k, v in a.items() if k not in TIMES} == {
        k: v for k, v in b.items() if k not in TIMES
    }
    assert a["seed"] == 3 and a["outcome"] == "completed"
