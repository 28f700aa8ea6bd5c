# SPDX-License-Identifier: BSD-3-Clause
"""Flights of the study of modules: how they are pushed, timed and shown."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from module_rows import joint, row
from rich.console import Console

from iap_bringup.experiments.modules import cases as module_cases
from iap_bringup.experiments.modules import flight_bars, study
from iap_bringup.experiments.modules.cases import (
    cases,
    hover,
    lemniscate,
)
from iap_bringup.experiments.modules.flight_bars import push_bars, unequal_bars
from iap_bringup.experiments.modules.recorded_bars import bar_cases
from iap_bringup.experiments.modules.study import case_figures, fly_all, study_modules, table
from iap_control.modules.exchange import JointState


def axes(limits, *shares):
    """Errors of so many shares of limits, axis by axis."""
    return [share * limit for share, limit in zip(shares, limits, strict=True)]


def wrenches(values):
    """Columns of a hover whose joints have a wrench along y from its last quarter on, another one before."""
    t = np.linspace(0.0, flight_bars.LONG_HOVER_TIME, 401)
    out = np.full((401, len(values), 6), 7.0)
    out[t > 0.75 * flight_bars.LONG_HOVER_TIME, :, 1] = values
    return {"t": t, "joint_wrenches": out}


def test_an_unequal_force_leaves_two_thirds_and_a_third_of_it_or_nothing(monkeypatch):
    flown = []

    def fly(scenario, settings):
        flown.append(scenario)
        is_observed = scenario.modules.wrench_source == "observer"
        return SimpleNamespace(columns=wrenches([-1.4, 0.6667] if is_observed else [0.04, -0.01]))

    monkeypatch.setattr(flight_bars, "_fly", fly)
    observed, measured = unequal_bars()
    assert observed.what.startswith("2 N on one end of three: leaves 1.40, 0.67 N")
    assert observed.measured == pytest.approx(5.0, abs=0.01) and observed.limit == 5.0
    assert measured.measured == pytest.approx(0.04) and measured.limit == 0.05
    (push,) = flown[0].vehicles[0].disturbances
    assert (push.at, push.until, push.force) == (5.0, 80.0, (0.0, 2.0, 0.0))
    assert len(flown[0].vehicles) == 3 and flown[0].vehicles[0].reference.duration == 40.0
    assert flown[0].vehicles[0].state_noise.position == 0.01


def test_a_push_comes_shortly_after_the_approach_has_begun(monkeypatch):
    flown = []
    event = SimpleNamespace
    events = [
        event(t=3.0, state=JointState.ALIGNMENT),
        event(t=5.0, state=JointState.APPROACH),
        event(t=9.0, state=JointState.JOINED),
    ]
    t = np.linspace(0.0, 20.0, 201)
    errors = np.zeros((201, 2, 6))
    errors[t < 5.0, 0, 1], errors[(t > 6.0) & (t < 7.0), 0, 1], errors[t > 11.0, 0, 1] = (
        9.0,
        -0.2,
        9.0,
    )
    errors[:, 1], errors[:, 0, 0] = 5.0, 5.0

    def docked(pushes):
        flown.append(pushes)
        course = event(events=events, returns={"j": 2})
        return event(source=event(course=course), columns={"t": t, "errors": errors})

    monkeypatch.setattr(flight_bars, "_docked", docked)
    aside, returns, docks = push_bars()
    assert (
        flown[0] == [] and flown[1][0]["at"] == 5.1 and flown[1][0]["until"] == pytest.approx(5.4)
    )
    assert flown[1][0]["force"] == [0.0, 16.0, 0.0]
    assert aside.measured == 0.2 and aside.limit == 0.15 and aside.at_least
    assert (returns.measured, docks.measured) == (2, 1) and returns.at_least and docks.at_least


def test_speed_is_of_the_processor_and_all_bars_of_flights_are_yielded(monkeypatch):
    asked = []

    class Chain:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def step(self):
            asked.append("step")

        def fly(self):
            asked.append("fly")

    def make(name, settings):
        asked.append((name, settings))
        return Chain()

    times = iter([3.0, 7.0])
    monkeypatch.setattr(flight_bars, "Simulation", SimpleNamespace(of=make))
    monkeypatch.setattr(flight_bars, "time", SimpleNamespace(process_time=lambda: next(times)))
    bar = flight_bars._speed_bar(8)
    assert (bar.measured, bar.limit, bar.at_least) == (5.0, 3.0, True) and bar.what.startswith(
        "n = 8"
    )
    assert asked[1:] == ["step", "fly"]
    assert asked[0] == ("module_hover", {
        "vehicles.0.start.mode": "hover", "vehicles.0.start.lead_in": 0.0, "vehicles.0.reference.duration": 20.0,
        "modules.count": 8,
    })  # fmt: skip
    for name in ("_engine_bars", "push_bars", "unequal_bars"):
        monkeypatch.setattr(flight_bars, name, lambda name=name: [name])
    monkeypatch.setattr(flight_bars, "_speed_bar", lambda count: count)
    assert list(flight_bars.flight_bars(quick=True)) == [
        "_engine_bars",
        "push_bars",
        "unequal_bars",
        4,
    ]
    assert list(flight_bars.flight_bars(quick=False))[-1] == 8


def test_cells_of_the_table_are_the_largest_of_all_seeds_with_what_is_published_behind(
    monkeypatch,
):
    monkeypatch.setenv("COLUMNS", "240")
    case = lemniscate(3)
    rows = [
        row({"m2": [0.001 * k for k in range(1, 7)]}, joint_force_n=0.125, joint_torque_nm=None)
    ]
    (label, *cells) = [list(column.cells)[0] for column in table("T", [case], [rows]).columns]
    assert label == "n = 3"
    papers = [f" ({1e3 * value:.3g})" for value in case.published]
    assert cells[:6] == [
        "1.0",
        "2.0",
        "3.0",
        *(f"{k}.0{paper}" for k, paper in zip((4, 5, 6), papers, strict=True)),
    ]
    assert cells[6:] == ["0.125", "", "1 of 1"]
    failed = [row(outcome="crashed"), {"outcome": "diverged"}]
    (_, *cells) = [list(column.cells)[0] for column in table("T", [hover(2)], [failed]).columns]
    assert cells[0].startswith("-") and cells[-1] == "0 of 2" and cells[6] == "0.001"


def test_figures_of_a_case_are_the_largest_of_its_flights_and_of_their_joints():
    case = hover(4)
    joints = {"j1": joint(force_rms_n=0.2), "j2": joint(force_rms_n=0.3, force_after_catch_n=None)}
    rows = [
        row({"m2": [0.001 * k for k in range(1, 7)]}, joints=joints, joint_force_n=0.125),
        row({"m2": [0.002] * 6}, joint_force_n=0.1),
    ]
    found = case_figures(case, rows)
    assert found["position_rmse_m"] == [0.002, 0.002, 0.003]
    assert found["angle_rmse_rad"] == [0.004, 0.005, 0.006]
    assert found["published_position_m"] + found["published_angle_rad"] == case.published
    assert (found["joint_force_n"], found["joint_force_rms_n"]) == (0.125, 0.3)
    assert (found["completed"], found["flights"]) == (2, 2)
    alone = case_figures(hover(2), [{"outcome": "diverged"}, row({"m1": [0.001] * 6})])
    assert alone["position_rmse_m"] is None and alone["published_angle_rad"] is None
    assert (alone["completed"], alone["flights"]) == (1, 2)


@pytest.mark.parametrize("as_json", [True, False])
def test_the_study_flies_every_case_and_shows_tables_and_bars(as_json, monkeypatch):
    flown = []

    def fly(chunk):
        return [row() for _ in chunk.seeds]

    def flights(case):
        return [SimpleNamespace(name=f"{case.name} {seed}", seeds=(seed,)) for seed in case.seeds]

    class Pool:
        def map(self, work, chunks):
            flown.extend(chunk.name for chunk in chunks)
            return ((chunk, work(chunk)) for chunk in chunks)

    monkeypatch.setattr(study, "ProcessPool", Pool)
    monkeypatch.setattr(study, "fly", fly)
    monkeypatch.setattr(study, "flight_bars", lambda *, quick: [])
    monkeypatch.setattr(module_cases.ModuleCase, "flights", property(flights))
    console = Console(file=io.StringIO(), width=200)
    study_modules(console, quick=True, json=as_json)
    every = {case.name: case for case in [*cases(quick=True), *bar_cases(quick=True)]}
    assert sorted(flown) == sorted(each.name for case in every.values() for each in flights(case))
    said = console.file.getvalue()
    assert ("TABLE III, hover" in said) is not as_json and ("Bars" in said) is not as_json
    if as_json:
        assert said.count("\n") == 1
        tree = json.loads(said)
        assert list(tree["flights"]) == ["TABLE III", "TABLE V", "TABLE VI", "bars"]
        assert sum(map(len, tree["flights"].values())) == len(every)
        assert {"what", "measured", "bar"} < set(tree["bars"][0])
    first = cases(quick=True)[0]
    assert fly_all([first], None, lambda _: None) == {first.name: [row()]}
