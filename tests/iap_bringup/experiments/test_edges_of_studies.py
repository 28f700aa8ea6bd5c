# SPDX-License-Identifier: BSD-3-Clause
"""Limits, lines and progress of studies: what is just within a bar, what a table says, and where bars are shown."""

import json
from math import inf
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from iap_bringup.experiments import (
    contact,
    convergence,
    identification,
    photometry,
    piloted_flights,
    soak,
    studies,
)
from iap_bringup.experiments import engines as engine_study
from iap_bringup.experiments.engine_figures import EngineComparison, Figure
from iap_bringup.experiments.footprint import PAGE, Footprint
from iap_bringup.experiments.images import dark_spot, followed, lit_wall, spotted_wall
from iap_bringup.experiments.readme_figures import ReadmeFigure
from iap_bringup.films import documented
from iap_description.math import so3
from iap_description.states import Q, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_sensors.cameras.renderer import Frame
from iap_simulation.scenario.resolving import Options, resolve

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("numbers", "bar", "line"),
    [
        ((0.001, 0.0035), 0.003, ("1", "3.5", "2.5", "<= 3", "no")),
        ((0.001, None), (0.0005, 0.002), ("1", "-", "-", "0.5 to 2", "no")),
        ((0.001, 0.0015), (0.0005, inf), ("1", "1.5", "0.5", ">= 0.5", "yes")),
        ((0.25,), None, ("250", "-", "yes")),
        ((1e-9, 1e-9, 0.001), 0.002, ("0", "0", "1", "<= 2", "yes")),
    ],
)
def test_a_line_of_engines_has_their_difference_where_they_are_two(numbers, bar, line):
    assert Figure("position_rmse_m", numbers, bar).line == ("position rmse, mm", *line)


def test_outcomes_that_differ_have_a_line_before_the_figures():
    figure = Figure("position_rmse_m", (0.001,), None)
    two = EngineComparison("hover", ("crashed", "completed"), (figure,))
    assert list(two.lines) == [
        ("outcome", "crashed", "completed", "", "the same", "no"), figure.line,
    ]  # fmt: skip
    alone = EngineComparison("hover", ("crashed",), ())
    assert list(alone.lines) == [("outcome", "crashed", "completed", "no")]
    assert list(EngineComparison("hover", ("completed",), (figure,)).lines) == [figure.line]


def test_only_flights_of_some_seconds_are_judged_from_their_begin(monkeypatch):
    asked = []
    monkeypatch.setattr(
        engine_study, "resolve", lambda name, options: asked.append(options) or (0, {"seed": 7})
    )
    monkeypatch.setattr(engine_study, "_flies_by_sensors", lambda name: name == "navigate")
    for name, seconds in (("hover", 2.0), ("navigate", None)):
        assert engine_study.EngineFlight(name, "mujoco", seconds).chunk.seeds == (7,)
    assert [each.assignments for each in asked] == [("metrics.window=null",), ()]
    assert [each.sensors for each in asked] == ["none", None]


def test_the_study_of_engines_prints_its_table_and_its_count(monkeypatch):
    monkeypatch.setattr(engine_study, "is_installed", lambda name: name == "mujoco")
    row = {"outcome": "completed", "position_rmse_m": 1e-4, "attitude_rmse_deg": 0.0}
    monkeypatch.setattr(engine_study, "fly_all", lambda work: [("hover mujoco", row)])
    with (console := Console(width=44)).capture() as shown:
        engine_study.compare_engines(console, scenarios=["hover"])
    lines = [line.rstrip() for line in shown.get().splitlines()]
    assert lines[0].strip() == "every scenario in mujoco" and "┃ mujoco ┃" in lines[2]
    assert lines[-1] == "1 of 1 within their bars" and "│ hover:" in shown.get()


def test_memory_is_resident_pages_in_megabytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    assert Footprint.of("self").memory_mb == pytest.approx(pages * PAGE / 1e6, rel=0.02)


def test_growth_counts_from_the_second_row():
    rows = {"1 s": {"a": 1.0}, "2 s": {"a": 4.0}, "3 s": {"a": 5.0}}
    assert soak.growth_row(rows) == {"a": "+25.00 %"}


def test_an_acceleration_is_a_torque_over_the_inertia_of_its_own_axis(monkeypatch):
    scenario, _ = resolve("identification_flight", Options(seed=3))
    aircraft = scenario.vehicles[0].platform.aircraft
    drawn = SimpleNamespace(mass=2.0, inertia=np.array([1.0, 2.0, 4.0]))
    monkeypatch.setattr(identification, "_drawn", lambda scenario: drawn)
    x, y, _ = np.abs([each.position for each in aircraft.rotors]).mean(axis=0)
    force = 1.5 * aircraft.rotor.c_f * aircraft.rotor.rpm_max**2
    inertia = 2.0 * drawn.inertia * aircraft.inertia[:3]
    assert identification._turning(scenario, 1.5) == {
        "roll": pytest.approx(force * y / inertia[0]),
        "pitch": pytest.approx(force * x / inertia[1]),
        "yaw": pytest.approx(force * aircraft.rotor.torque_ratio / inertia[2]),
    }


def test_corners_that_are_lost_on_the_way_do_not_come_back():
    seen = np.full((80, 120), 90, np.uint8)
    seen[20:40, 30:50], seen[50:60, 80:100] = 240, 10
    blank = np.full_like(seen, 90)
    assert followed([seen, seen, seen]) > 4 and followed([seen, blank, seen]) == 0


def test_a_wall_is_a_square_that_looks_back_with_its_texture_upright():
    wall, _ = spotted_wall(3.0, LEVEL, tiles=4)
    assert np.ptp(wall.vertices[:, 1]) == np.ptp(wall.vertices[:, 2]) == 16.0
    assert wall.vertices[:, 1:].min(axis=0).tolist() == [-8.0, -8.0]
    assert (wall.vertices[:, 0] == 3.0).all() and (wall.normals == [-1.0, 0.0, 0.0]).all()
    assert wall.uv.tolist() == [[0, 0], [4, 0], [4, 4], [0, 4]]
    assert wall.faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    scene = lit_wall(wall, dark_spot(8))
    assert scene.light.direction_W == (0.0, 0.0, 1.0) and scene.labels == {1: "wall"}
    assert scene.sky.zenith == scene.sky.horizon == (1.0, 1.0, 1.0)


def test_pixels_without_any_depth_are_alike_and_a_frame_without_labels_is_refused():
    frame = Frame(rgb=np.zeros((1, 1, 3), np.uint8))
    drawn = SimpleNamespace(load=lambda *_: None, render=lambda *_: [frame])
    with pytest.raises(AssertionError):
        photometry.mean_light(drawn, None, photometry.VIEWS[0])


def test_a_view_loads_its_scene_before_it_is_drawn():
    loaded = []
    drawn = SimpleNamespace(
        load=lambda scene, bodies: loaded.append((scene, bodies)),
        render=lambda shots, poses: [(loaded[-1], shots[0].p_WC_W.tolist())],
    )
    seen = photometry.look(drawn, "a scene", photometry.VIEWS[1], outputs=["depth"])
    assert seen == (("a scene", []), [-9.0, -13.0, 3.0])


def test_bags_of_ros_1_are_taken_before_tables(tmp_path):
    for name in ("a.csv", "b.bag"):
        (tmp_path / name).touch()
    assert piloted_flights.recordings(tmp_path) == [tmp_path / "b.bag"]


@pytest.mark.parametrize(
    ("text", "measured", "is_met"),
    [("1.5", 1.599, True), ("1.5", 1.605, False), ("1.5", 1.395, False), ("12", 12.99, True), ("12", 13.05, False)],
)  # fmt: skip
def test_a_figure_is_met_within_one_unit_of_its_last_digit(text, measured, is_met):
    found = ReadmeFigure("hover", "a.b", text, 1e3)
    assert found.is_met({"a": {"b": 1e-3 * measured}}) is is_met
    assert not found.is_met({"a": {"b": None}})


def test_films_go_into_the_folder_of_pictures_unless_another_is_given(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        documented, "write_documented_films", lambda folder, _: asked.append(folder) or []
    )
    studies.films(Console(), out=tmp_path)
    studies.films(Console())
    assert asked == [tmp_path, documented.FOLDER]


@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("free_flight", ("convergence.free_flight_convergence",)),
        ("contact", ("contact.resting", "contact.peg_over_rates", "contact.observer_steps")),
        ("peg_in_hole", ("contact.peg_over_seeds",)),
        ("landing", ("landing.landings",)),
        ("identification", ("identification.identification_rows",)),
        ("firmware", ("firmware.firmware_bars", "firmware.beside_others")),
        ("photometry", ("photometry.photometry",)),
        ("cameras", ("camera_effects.camera_bars",)),
        (
            "sensors",
            (
                *(f"sensors.{each}" for each in ("noise", "dead_reckoning", "attitude", "stamps")),
                *(f"images.{each}" for each in ("projection", "stereo", "features")),
            ),
        ),
    ],
)
def test_what_is_piped_is_json_alone_while_a_bar_is_on_the_terminal(
    name, work, capsys, monkeypatch
):
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal that shows bars
    renderer = SimpleNamespace(close=lambda: None)
    monkeypatch.setattr("iap_sensors.cameras.make.make_renderer", lambda _: renderer)
    for each in work:
        monkeypatch.setattr(f"iap_bringup.experiments.{each}", _reporting)
    getattr(studies, name)(Console(), json=True)
    said = capsys.readouterr()
    json.loads(said.out)
    assert " of " in said.err


def _reporting(*content, **_):
    """Work that reports, and finds nothing."""
    report = next(each for each in content if callable(each))
    report("1 of 2: a piece")
    return {}


def test_studies_of_sensors_are_counted_to_seven(monkeypatch):
    said = []
    monkeypatch.setattr(studies, "work_bar", lambda *_: _Bar(said))
    monkeypatch.setattr(
        "iap_sensors.cameras.make.make_renderer", lambda _: SimpleNamespace(close=print)
    )
    for each in ("noise", "dead_reckoning", "attitude", "stamps"):
        monkeypatch.setattr(f"iap_bringup.experiments.sensors.{each}", _named(each))
    for each in ("projection", "stereo", "features"):
        monkeypatch.setattr(f"iap_bringup.experiments.images.{each}", _named(each))
    studies.sensors(Console(), json=True)
    assert said[0] == "0 of 7: noise" and said[-1] == "6 of 7: features"


class _Bar:
    """A bar that keeps what it is told."""

    def __init__(self, said):
        self.said = said

    def __enter__(self):
        return self.said.append

    def __exit__(self, *_):
        return None


def _named(name):
    """Work of a name, of one row."""

    def work(*_):
        return {name: {"measured": 1.0}}

    work.__name__ = name
    return work


def test_peg_flights_are_reported_one_by_one(monkeypatch, tmp_path):
    monkeypatch.setattr(contact, "fly", lambda *_, **__: {})
    monkeypatch.setattr(contact, "create_run_folder", lambda out, name: tmp_path)
    said = []
    contact.peg_over_rates(said.append)
    assert said[1] == f"1 of 3: 1000 Hz, {tmp_path}" and len(said) == 3


def test_the_base_of_a_tumbling_platform_begins_turned():
    x = convergence.tumbling(Assembly.of(load_platform("three_star")))
    assert so3.quaternion_log(x[0, Q]) == pytest.approx([0.3, -0.2, 0.5])
    turns = so3.rotate(so3.conjugate(x[0, Q]), x[0, W])
    assert turns == pytest.approx([1.4, -1.0, 2.6])


def test_the_reference_of_free_flight_has_steps_of_half_the_shortest(monkeypatch):
    flown = []

    def fly(engine, assembly, rate, **_):
        flown.append(rate)
        return np.ones((3, 4, 13))

    monkeypatch.setattr(convergence, "is_installed", lambda name: False)
    monkeypatch.setattr(convergence, "fly", fly)
    monkeypatch.setattr(convergence, "_drifts", lambda *_: (0.0, 0.0, 0.0))
    monkeypatch.setattr(convergence, "_lines", lambda *_, **__: [])
    assert convergence.free_flight_convergence() == [] and flown == [10000]
