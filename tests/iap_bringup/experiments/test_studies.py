# SPDX-License-Identifier: BSD-3-Clause
"""The studies of sensors meet what they print beside their numbers; the long ones on less."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from iap_bringup.experiments import contact as contact_studies
from iap_bringup.experiments import docking as docking_study
from iap_bringup.experiments import images as camera_studies
from iap_bringup.experiments import sensors as sensing_studies
from iap_bringup.experiments import studies
from iap_bringup.experiments.rows import Bar, show_bars
from iap_bringup.experiments.table import run_experiment
from iap_learning.tasks.task import TASKS
from iap_simulation.metrics.contact import ESTIMATED


def quiet(_):
    pass


def holds(rows):
    """True if every number keeps to its bar."""
    for name, row in rows.items():
        value, bar = row["measured"], row["bar"]
        if bar.startswith("<="):
            assert value <= float(bar[2:]), name
        elif bar.startswith(">="):
            assert value >= float(bar[2:]), name
        else:
            assert value == float(bar), name
    return len(rows)


@pytest.mark.slow
def test_perfect_samples_add_up_to_the_motion():
    assert holds(sensing_studies.dead_reckoning(quiet)) == 4


def test_white_noise_is_returned_by_a_short_log_too():
    rows = sensing_studies.noise(quiet, hours=0.5)
    assert rows["gyro noise, off its density, %"]["measured"] < 2.0


@pytest.mark.slow
def test_attitude_is_estimated_over_a_short_flight():
    assert holds(sensing_studies.attitude(quiet, range(1, 4), long=12.0, short=6.0)) == 4


@pytest.mark.slow
def test_stamps_projection_and_stereo_keep_to_their_bars(opengl):
    assert holds(sensing_studies.stamps(quiet, opengl)) == 3
    assert holds(camera_studies.projection(quiet, opengl)) == 3
    assert holds(camera_studies.stereo(quiet, opengl)) == 2


@pytest.mark.slow
def test_the_hard_docking_has_a_row_of_each_delay_and_engine_for_script_and_policy(monkeypatch):
    monkeypatch.setattr(docking_study, "DELAYS_MS", (0, 60))
    rows = docking_study.docking_rows(docking_study.Sizes(drawn=16, each=16, engine=1), quiet)
    for who in ("script", "policy"):
        for name in ("delays drawn", "0 ms", "60 ms"):
            row = rows[f"{who}, {name}"]
            assert row["success_%"] >= 90.0, name
            assert row["at_least_%"] < row["success_%"]
            assert row["then_calm_s"] <= 1.5
        assert rows[f"{who}, pybullet"]["starts"] == 1
    assert rows["policy, 60 ms"]["lock_s"] < rows["script, 60 ms"]["lock_s"]


def test_dockings_miss_a_bar_by_one_slow_row_and_engines_by_their_distance():
    row = {
        "success_%": 99.0,
        "lock_s": 2.0,
        "then_calm_s": 0.2,
        "force_95_%_n": 30.0,
        "above_60_n_%": 0.5,
    }
    names = (
        docking_study.DRAWN,
        *(f"{ms} ms" for ms in docking_study.DELAYS_MS),
        "pybullet",
        "mujoco",
    )
    rows = {f"{who}, {name}": dict(row) for who in ("script", "policy") for name in names}
    assert all(bar.passes for bar in docking_study.docking_bars(rows))
    rows["policy, 40 ms"]["success_%"] = 94.9
    rows["policy, 80 ms"]["success_%"] = 60.0  # of no bar
    rows["script, mujoco"]["success_%"] = 95.9
    rows["policy, pybullet"]["force_95_%_n"] = 19.9
    rows["script, delays drawn"]["lock_s"] = None  # nobody has docked
    missed = [bar.what for bar in docking_study.docking_bars(rows) if not bar.passes]
    assert missed == [
        "script: time to the lock, mean, s",
        "script, mujoco: success, %, beside batched contact",
        "policy: success by each delay, least, %",
        "policy, pybullet: force of 95 %, N, beside batched contact",
    ]


def test_estimates_are_the_first_vehicles_from_the_time_that_is_named(monkeypatch):
    t = 0.1 * np.arange(5)
    wrenches = np.arange(5 * 12.0).reshape(5, 12)
    rows = SimpleNamespace(t=t, wrench_record=SimpleNamespace(wrenches=wrenches))
    run = SimpleNamespace(vehicles=[SimpleNamespace(columns=rows)])
    monkeypatch.setattr(contact_studies, "load_run", lambda _: run)
    found = contact_studies._estimates(Path("run"), 0.3)
    assert np.array_equal(found, wrenches[3:, ESTIMATED])


def test_a_flight_that_never_came_to_its_end_is_null_in_json(capsys):
    bars = [Bar("time, s", float("inf"), 3.0), Bar("force, N", np.float64(2.5), 3.0)]
    show_bars(Console(), bars, as_json=True)
    first, second = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert (first["measured"], first["passes"]) == (None, False)
    assert (second["measured"], second["passes"]) == (2.5, True)


def figures_of(study, capsys, **options):
    """Output of a study as one line of JSON."""
    run_experiment(study, json=True, **options)
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    return json.loads(said, parse_constant=pytest.fail)


@pytest.mark.slow
def test_the_studies_of_dockings_and_tasks_print_numbers_as_json(capsys, monkeypatch):
    monkeypatch.setattr(docking_study, "QUICK", docking_study.Sizes(4, 4, 0))
    monkeypatch.setattr(docking_study, "DELAYS_MS", (0,))
    monkeypatch.setattr(docking_study, "TOUCHING", ())
    rows = figures_of("docking", capsys, quick=True)
    bars = rows.pop("bars")
    assert {"script: success, %", "policy: time to the lock, mean, s"} <= {b["what"] for b in bars}
    assert set(rows) == {
        f"{who}, {what}" for who in ("script", "policy") for what in ("delays drawn", "0 ms")
    }
    for row in rows.values():
        assert row["starts"] == 4 and 0.0 <= row["at_least_%"] <= row["success_%"] <= 100.0
        assert 1.0 < row["lock_s"] <= row["lock_95_%_s"] < 10.0
        assert 1.0 < row["force_95_%_n"] < 200.0
    monkeypatch.setattr(studies, "TASK_WORLDS", 4)
    monkeypatch.setattr(type(TASKS), "names", lambda self: ["hold"])
    tables = figures_of("tasks", capsys)
    assert set(tables) == {"hold"} and len(tables["hold"]) >= 3


@pytest.mark.slow
def test_the_study_of_contact_prints_ratios_and_millimetres_as_json(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(contact_studies, "RATES", ((1000.0, 200.0),))
    monkeypatch.setattr(contact_studies, "STEPS", {"x": 5.0})
    monkeypatch.setattr(
        contact_studies, "peg_over_rates", lambda report: {"1000 Hz": {"depth_m": 0.6}}
    )
    tables = figures_of("contact", capsys)
    rest = tables["resting"]["1000 Hz"]
    assert rest["force_over_weight"] == pytest.approx(1.0, abs=0.02)
    assert 0.0 <= rest["jitter_mm"] < 1.0
    assert tables["observer"]["step x"]["seen_of_it"] == pytest.approx(1.0, abs=0.1)
    assert 0.0 <= tables["observer"]["noisy hover"]["bias_force_n"] < 1.0
