# SPDX-License-Identifier: BSD-3-Clause
"""Lines that replays, sweeps, identifications and views show and hand on, of made-up results."""

import argparse
import io
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from rich.console import Console

from iap_bringup.cli import identify, identify_rotorcraft, replay, sweep
from iap_description.errors import BadInput
from iap_simulation.identification.rotorcraft.prediction import Horizon

HORIZON = Horizon(0.5, 7, (1.0, 2.0, 3.0), (0.1, 0.2), (0.3, 0.4))


def lines_of(show, *content, width=120, **options):
    """Lines on a terminal of many colours, which plain texts have none of."""
    console = Console(
        file=io.StringIO(), width=width, force_terminal=True, color_system="standard", markup=False
    )
    show(console, *content, **options)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


class Responses(NamedTuple):
    """Responses of an axis."""

    recorded: SimpleNamespace | None
    simulated: SimpleNamespace | None


def step(rise, overshoot=0.0):
    """A response to a step."""
    return SimpleNamespace(rise_time=rise, overshoot=overshoot)


def replayed(**changes):
    """A log that was flown in open loop."""
    tilt = SimpleNamespace(response=1.25, tilt=10.0)
    made = {
        "log": SimpleNamespace(path=Path("x/log_1.ulg")), "notes": ["[short] 2 s"], "horizons": [HORIZON],
        "tilt": tilt, "fitted": None, "steps": {"roll": Responses(step(0.1234, 0.256), None)},
    }  # fmt: skip
    return SimpleNamespace(**{**made, **changes})


def test_a_replay_in_open_loop_is_shown_with_tilts_and_steps():
    lines = lines_of(replay._show, replayed(), "title", width=200)
    assert lines[0] == "[short] 2 s" and lines[-2:] == [
        "tilt, whole flight: 1.25 deg off by the platform, of 10.00 deg",
        "roll: recorded 63 % of a step after 0.123 s, overshoot 26%;"
        " simulated shows no step response: set-points say too little of it",
    ]
    fitted = SimpleNamespace(response=0.5, tilt=10.0)
    lines = lines_of(replay._show, replayed(fitted=fitted, tilt=None, steps={}), "title")
    assert lines[-1] == "tilt, whole flight: 0.50 deg off by a fitted lag, of 10.00 deg"
    assert replay._rise(step(None)) == f"does not reach 63 % of a step within {replay.SPAN:g} s"


def test_figures_of_a_replay_are_those_that_there_are():
    scenario = SimpleNamespace(vehicles=[SimpleNamespace(platform=SimpleNamespace(name="f450"))])
    found = replay._metrics(replayed(), "attitude", scenario)
    assert (found["log"], found["what"], found["platform"]) == ("log_1.ulg", "attitude", "f450")
    assert found["horizons"][0]["seconds"] == 0.5 and found["notes"] == ["[short] 2 s"]
    assert found["tilt_rmse_deg"] == {"platform": 1.25, "recorded": 10.0}
    assert found["step_response"] == {
        "roll": {"recorded": {"rise_time_s": 0.1234, "overshoot": 0.256}, "simulated": None}
    }
    fitted = SimpleNamespace(response=0.5, tilt=9.0)
    found = replay._metrics(replayed(fitted=fitted), "attitude", scenario)
    assert found["tilt_rmse_deg"] == {"platform": 1.25, "fitted_response": 0.5, "recorded": 10.0}
    bare = replay._metrics(replayed(tilt=None, steps={}), "motors", scenario)
    assert "tilt_rmse_deg" not in bare and "step_response" not in bare


def test_windows_are_as_long_as_was_asked_for_and_as_those_that_are_shorter():
    first, second = replay.HORIZONS[:2]
    for horizon, seconds in (
        (None, replay.HORIZONS), (first, (first,)), (second, (first, second)),
        (0.5 * (first + second), (first, 0.5 * (first + second))),
    ):  # fmt: skip
        assert replay._horizons(argparse.Namespace(horizon=horizon)) == seconds
    for horizon in (0.99 * first, 1.01 * replay.MAX_HORIZON, float("nan")):
        with pytest.raises(
            BadInput, match=rf"^--horizon .*: {first:g} to {replay.MAX_HORIZON:g} s$"
        ):
            replay._horizons(argparse.Namespace(horizon=horizon))


def test_a_sweep_shows_its_combinations_its_failures_and_what_is_alike(monkeypatch):
    axes = [SimpleNamespace(key="wind.speed"), SimpleNamespace(key="n")]
    study = SimpleNamespace(axes=axes, scenario="hover", records=False)
    rows = [{"wind.speed": 0, "n": 1, "runs": "3"}, {"wind.speed": 4, "n": 1, "runs": "2"}]
    monkeypatch.setattr(sweep, "summarised", lambda axes, rows: rows)
    monkeypatch.setattr(sweep, "alike_for_all_seeds", lambda axes, rows: 2)
    summary = {"runs": 5, "failed": 1, "retried": 2, "wall_s": 1.25}
    result = SimpleNamespace(rows=rows, summary=summary)

    def shown():
        console = Console(file=io.StringIO(), width=60)
        sweep._show(console, study, result, Path("o"))
        return console.file.getvalue().splitlines()

    lines = shown()
    assert any("│ wind.speed=4, n=1 │    2 │" in line for line in lines)
    assert lines[-4:-1] == [
        "5 runs, 1 failed; 2 pieces of work were begun again; 1.2 s",
        "note: in 2 of 2 combinations all seeds have the same figures; the key draw says what seeds draw",
        "folder: o",
    ]
    study.records, summary["runs"], summary["retried"] = True, 1, 0
    study.axes, rows[:] = [], [{"runs": "1"}]
    lines = shown()
    assert lines[-3:-1] == ["1 run, 1 failed; 1.2 s", "folder: o"]
    assert any("│ hover │" in line for line in lines)


def test_a_data_set_takes_the_space_of_what_is_not_there_yet(monkeypatch, tmp_path):
    monkeypatch.setattr(sweep, "scenario_of", lambda tree, name: tree)
    made = SimpleNamespace(meta="meta", scenario=SimpleNamespace(recording="r"), duration=2.0)
    monkeypatch.setattr(sweep, "Flight", SimpleNamespace(of=lambda scenario: made))
    monkeypatch.setattr(sweep, "disk_use", lambda meta, recording, duration: 500_000 * duration)
    names = [SimpleNamespace(name=name) for name in ("a", "b", "c")]
    monkeypatch.setattr(sweep, "chunks_of", lambda study, point: names)
    there = SimpleNamespace(has=lambda name: name == "b")
    monkeypatch.setattr(sweep, "SweepFolder", lambda path: there)
    monkeypatch.setattr(sweep, "free_space", lambda path: 4_000_000)
    study, points = SimpleNamespace(scenario="hover"), [SimpleNamespace(tree={})] * 2
    assert sweep._disk_text(study, points, tmp_path) == (
        "recording takes about 4.0 MB of 4.0 MB that are free"
    )
    monkeypatch.setattr(sweep, "free_space", lambda path: 3_999_999)
    with pytest.raises(BadInput, match=r"^the disk is too small, .*: fly fewer, or record less$"):
        sweep._disk_text(study, points, tmp_path)


def test_the_text_of_a_sweep_stays_once_a_run_is_done_beside_those_that_were_there():
    study = SimpleNamespace(scenario="hover", seeds=3, runs=6)
    console = Console(
        file=io.StringIO(), width=100, force_terminal=True, color_system=None, markup=False
    )
    with sweep._bar(console, study, 2, ["a line"]) as move:
        move(2)
        before = console.file.getvalue()
        move(1)
        move(3)
    said = console.file.getvalue()
    text = "hover: 2 combinations, 3 seeds each\n"
    assert text not in before and said.count("a line\n") == 1 and said.count(text) == 1
    assert "6 of 6" in said


def test_sweeps_and_data_sets_fly_into_folders_of_their_own(monkeypatch):
    asked = []
    options = argparse.Namespace(workers=0)
    with pytest.raises(BadInput, match=r"^--workers 0: at least one is expected$"):
        sweep.run(options)
    monkeypatch.setattr(
        sweep, "_fly", lambda options, base, *, records: asked.append((str(base), records)) or 0
    )
    assert sweep.run(options) == sweep.dataset(options) == 0
    assert asked == [("sweeps", False), ("datasets", True)]


def test_a_fit_of_velocities_is_shown_with_notes_and_norms(monkeypatch):
    monkeypatch.setattr(identify, "_error_table", lambda metrics: "errors")
    monkeypatch.setattr(identify, "_parameter_table", lambda parameters: "parameters")
    metrics = {
        "parameters": {}, "channel_notes": {"u": ["[a] 1", "b"]}, "equation_error_norm": {"this": 1.23456},
    }  # fmt: skip
    lines = lines_of(identify.show, metrics)
    assert lines[:3] == ["errors", "parameters", "u: [a] 1; b"]
    assert lines[3].startswith("norm of the equation's error on the fitted logs, this: ")
    assert "1.235" in lines[3]


def parameter(value, half, unit):
    """A parameter with its interval."""
    return SimpleNamespace(value=value, half_width=half, unit=unit, method="fit")


def test_a_fitted_rotorcraft_is_shown_with_what_is_not_determined():
    log = SimpleNamespace(path=Path("x/log_1.ulg"), notes=["[n] 3"])
    model = SimpleNamespace(
        parameters={"lag": parameter(0.123456, 0.0123, "s")}, refusals={"yaw": "[too] little 1"},
        held_out={"log_2": [HORIZON]}, is_part=False,
        tilts={"log_2": SimpleNamespace(response=1.5, tilt=8.0)},
    )  # fmt: skip
    lines = lines_of(identify_rotorcraft._show, model, [log], width=80)
    assert any("│ lag       │ 0.1235 │    0.012 │ s    │" in line for line in lines)
    assert "log_1.ulg: [n] 3" in lines and "not determined: yaw: [too] little 1" in lines
    assert any("open loop over log_2 (held out), RMS error" in line for line in lines)
    assert "of tilt" in lines[-1] and "1.50" in lines[-1] and "8.00" in lines[-1]
    model.is_part, model.tilts = True, {"log_2": None}
    lines = lines_of(identify_rotorcraft._show, model, [log], width=80)
    assert any("(last part, not fitted)" in line for line in lines) and "tilt" not in lines[-1]
    found = identify_rotorcraft._metrics(model, [log], [])
    assert found["fit"] == ["log_1.ulg"] and found["validate"] == [
        "the last part of the fitted flight"
    ]
    assert found["parameters"] == {"lag": [0.123456, 0.0123]} and found["units"] == {"lag": "s"}
    assert found["notes"] == {"log_1.ulg": ["[n] 3"]} and found["attitude_setpoints_deg"] == {}
    quiet = SimpleNamespace(path=Path("log_2"), notes=[])
    model.tilts = {"log_2": SimpleNamespace(response=1.5, tilt=8.0)}
    found = identify_rotorcraft._metrics(model, [log], [quiet])
    assert found["validate"] == ["log_2"] and list(found["notes"]) == ["log_1.ulg"]
    assert found["attitude_setpoints_deg"] == {"log_2": {"response": 1.5, "tilt": 8.0}}
    assert found["held_out"]["log_2"][0]["windows"] == 7


def test_a_fleet_is_the_single_run_of_several_aircraft(monkeypatch):
    monkeypatch.setattr(identify_rotorcraft, "is_run", lambda path: path.name == "run")
    monkeypatch.setattr(identify_rotorcraft, "read_run", lambda path: logs)

    def fleet(*names):
        return identify_rotorcraft._fleet(argparse.Namespace(logs=names, fit=[], validate=[]))

    logs = ["a", "b"]
    assert fleet("run") == ["a", "b"] and fleet("log") == [] and fleet("run", "run") == []
    logs = ["a"]
    assert fleet("run") == []
