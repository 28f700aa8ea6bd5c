# SPDX-License-Identifier: BSD-3-Clause
"""Piloted flights, pages, sensors and processes of studies: what is measured of made-up records."""

import os
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.experiments import (
    engines,
    identification,
    photometry,
    piloted_flights,
    rays,
    readme_figures,
    sensors,
)
from iap_bringup.experiments.footprint import processor_time
from iap_bringup.experiments.modules import flight_bars
from iap_bringup.experiments.piloted_flights import COURSES
from iap_description.errors import BadInput
from iap_description.states import REF_P
from iap_sensors.cameras.spec import CameraSpec


def quiet(_):
    """Tell nobody."""


def test_a_piloted_flight_is_known_by_its_scene_and_others_are_refused():
    assert piloted_flights.flight_folder("broad_station").name == "broad_station"
    with pytest.raises(BadInput, match=r"no piloted flight 'x': choose narrow_station, "):
        piloted_flights.flight_folder("x")


def test_a_scripted_flight_begins_at_rest_and_moves_after_its_first_idle_time(monkeypatch):
    monkeypatch.setattr(piloted_flights, "DURATION", 3.0)
    monkeypatch.setattr(piloted_flights, "IDLE_TIMES", (1.0, 0.5))
    rows = piloted_flights.fly_scripted(COURSES["narrow_station"])
    per_second = piloted_flights.STATES
    assert len(rows) == 3 * per_second + 1
    away = np.linalg.norm(rows[:, REF_P] - rows[0, REF_P], axis=1)
    assert rows[0, REF_P].tolist() == list(piloted_flights.START)
    assert away[: per_second + 1].max() < 1e-9 < 0.05 < away[-1]


def recording(low, high):
    """A recorded path between two corners."""
    return SimpleNamespace(p_WP_W=np.array([low, high]), duration=12.0)


def test_a_recording_is_put_sideways_into_the_middle_of_a_course(monkeypatch, tmp_path):
    course = COURSES["narrow_station"]  # 22 m x 13 m, from 0.8 m to 4.2 m
    monkeypatch.setattr(
        piloted_flights, "read_recorded", lambda _: recording((1.0, 2.0, 0.8), (23.0, 15.0, 4.2))
    )
    put = piloted_flights.placed(tmp_path, course)
    assert put.offset == (-12.0, -8.5, 0.0) and put.duration == 12.0
    for corner in ((1.0, 2.0, 0.7), (0.9, 2.0, 0.8)):
        low = corner
        monkeypatch.setattr(
            piloted_flights, "read_recorded", lambda _, low=low: recording(low, (23.0, 15.0, 4.2))
        )
        with pytest.raises(BadInput, match=r"m at heights 0\.[78] to 4\.2 m does not fit into"):
            piloted_flights.placed(tmp_path, course)
    monkeypatch.setattr(
        piloted_flights, "read_recorded", lambda _: recording((1.0, 2.0, 0.8), (23.0, 15.0, 4.3))
    )
    said = r": 22\.0 x 13\.0 x 3\.5 m at .* 22\.0 x 13\.0 x 3\.4 m from 0\.8 to 4\.2 m$"
    with pytest.raises(BadInput, match=said):
        piloted_flights.placed(tmp_path, course)


def test_bags_of_ros_2_are_files_or_folders_with_them(tmp_path):
    (tmp_path / "bag").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "bag" / "metadata.yaml").touch()
    (tmp_path / "bag" / "bag_0.mcap").touch()
    (tmp_path / "c.csv").touch()
    assert piloted_flights.recordings(tmp_path) == [tmp_path / "bag"]


@pytest.mark.parametrize(("words", "folder"), [([], piloted_flights.FLIGHTS), (["x"], None)])
def test_all_courses_are_written_where_they_ship_from_or_as_told(words, folder, monkeypatch):
    made = []
    monkeypatch.setattr(piloted_flights, "write_flight", lambda *what: made.append(what))
    piloted_flights.main(words)
    assert [course for course, _ in made] == list(COURSES.values())
    assert {str(path.parent) for _, path in made} == {str(folder or "x")}


def test_a_picture_of_worlds_is_written_into_a_folder_of_its_own(monkeypatch, tmp_path, capsys):
    from rich.console import Console

    monkeypatch.setattr("iap_io.runs.run_folder.create_run_folder", lambda out, name: tmp_path)
    monkeypatch.setattr(rays, "sheet", lambda report: np.zeros((2, 3, 3), np.uint8))
    rays.draw_rays(Console())
    assert "".join(capsys.readouterr().out.split()) == f"{tmp_path / 'rays.png'}"
    assert (tmp_path / "rays.png").read_bytes()[:4] == b"\x89PNG"


def test_figures_of_a_page_are_measured_once_for_each_command(monkeypatch):
    figure = readme_figures.ReadmeFigure
    figures = [
        figure("a", "x", "1.0", 1.0),
        figure("b", "x", "1.0", 1.0),
        figure("a", "y", "3", 1.0),
    ]
    asked = []
    monkeypatch.setattr(
        readme_figures, "fly", lambda command: asked.append(command) or {"x": 1.0, "y": 2.0 + 7.0}
    )
    told = []
    found = list(readme_figures.measured(figures, told.append))
    assert found == [(figures[0], 1.0, True), (figures[2], 9.0, False), (figures[1], 1.0, True)]
    assert asked == ["a", "b"] and told == ["0 of 2: a", "1 of 2: b"]


def test_a_command_of_a_page_is_flown_with_its_options(monkeypatch):
    asked = []
    monkeypatch.setattr(
        readme_figures, "resolve", lambda name, options: asked.append((name, options)) or ("s", {})
    )
    monkeypatch.setattr(readme_figures, "Flight", SimpleNamespace(of=lambda scenario: scenario))
    monkeypatch.setattr(readme_figures, "Simulation", nullcontext)
    monkeypatch.setattr(readme_figures, "score", lambda *_: ({"x": 1.0}, "summary"))
    words = "hover --platform f450 --set a.b=1 --seed 3 --set 'c=[1, 2]'"
    assert readme_figures.fly(words) == {"x": 1.0}
    ((name, options),) = asked
    assert name == "hover" and options.platform == "f450" and options.seed == 3
    assert options.assignments == ("a.b=1", "c=[1, 2]")


def test_densities_are_relative_to_those_of_the_model(monkeypatch):
    spec = sensors.validate(sensors.ImuSpec, sensors.UNITS.tree("paper"), source="paper")
    found = iter([spec.gyro, spec.accel])

    def densities(values, dt):
        triad = next(found)
        assert values.shape == (round(36.0 * spec.rate), 3) and dt == 1.0 / spec.rate
        return SimpleNamespace(
            noise=np.multiply(1.25, triad.noise), walk=np.multiply(0.5, triad.walk)
        )

    monkeypatch.setattr(sensors, "densities", densities)
    rows = sensors.noise(quiet, hours=0.01)
    assert [(name, row["measured"]) for name, row in rows.items()] == [
        ("gyro noise, off its density, %", 25.0), ("gyro bias walk, off its density, %", 50.0),
        ("accelerometer noise, off its density, %", 25.0), ("accelerometer bias walk, off its density, %", 50.0),
    ]  # fmt: skip


def test_dead_reckoning_is_the_worst_of_its_windows_in_millimetres_and_degrees(monkeypatch):
    asked = []
    monkeypatch.setattr(
        sensors, "watch", lambda name, options: asked.append((name, options)) or options
    )
    errors = {3.0: (0.001, 1e-5), 4.5: (0.003, 2e-5), 6.0: (0.002, 4e-5)}
    monkeypatch.setattr(sensors, "_reckoned", lambda log, sampling, start: errors[start])
    rows = sensors.dead_reckoning(quiet)
    assert rows["integrating: position, mm"] == {"measured": 3.0, "bar": "<= 2"}
    assert rows["instantaneous: attitude, deg"] == {"measured": 0.00229, "bar": "<= 0.01"}
    assert [options.duration for _, options in asked] == [17.0, 17.0]
    assert asked[1][1].assignments[1] == "sensors.imu.sampling=instantaneous"


def test_attitudes_are_judged_over_a_short_and_a_long_time_in_the_mean_of_seeds(monkeypatch):
    log = SimpleNamespace(scenario=SimpleNamespace(rates=SimpleNamespace(control_hz=2.0)))
    monkeypatch.setattr(sensors, "watch", lambda *_: log)

    def errors(log, seed):
        made = np.zeros((8, 2))
        made[:4], made[4:] = np.deg2rad([1.0, 2.0]), np.deg2rad([7.0, 0.0])
        return seed * made

    monkeypatch.setattr(sensors, "_tilt_errors", errors)
    rows = sensors.attitude(quiet, range(1, 4), long=4.0, short=2.0)
    assert rows == {
        "roll over 2 s, deg": {"measured": 2.0, "bar": "<= 1"},
        "pitch over 2 s, deg": {"measured": 4.0, "bar": "<= 1"},
        "roll over 4 s, deg": {"measured": 10.0, "bar": "<= 1.5"},
        "pitch over 4 s, deg": {"measured": 2.83, "bar": "<= 1.5"},
    }


def test_an_image_is_found_again_at_the_state_that_gives_it():
    pixels = np.arange(6, dtype=np.uint8).reshape(2, 3)
    x = np.zeros((12, 1))
    x[:, 0] = np.arange(12)
    log = SimpleNamespace(t=0.1 * np.arange(12), x=x, images=lambda topic: [None, image])
    image = SimpleNamespace(t=0.8, pixels=pixels + 6)

    def shoot(cameras, t, state):
        assert cameras == ["left"] and t == 0.8
        return [SimpleNamespace(pixels=pixels + state.rows[0].astype(np.uint8))]

    kept = sensors.RigState
    try:
        sensors.RigState = lambda row, objects: SimpleNamespace(rows=row)
        cameras = SimpleNamespace(cameras=["left", "right"], shoot=shoot)
        assert sensors._steps_off(log, cameras, 1) == -2
    finally:
        sensors.RigState = kept


def test_the_time_of_a_process_is_that_of_its_user_and_of_its_system():
    assert processor_time(os.getpid()) == pytest.approx(sum(os.times()[:2]), abs=0.1)


def test_flights_are_named_by_scenario_and_engine_as_they_come(monkeypatch):
    class Pool:
        def map(self, do, chunks):
            for chunk in reversed(chunks):
                yield SimpleNamespace(name=chunk), [f"{chunk} row", "other"]

    monkeypatch.setattr(engines, "ProcessPool", Pool)
    work = [SimpleNamespace(chunk="hover mujoco"), SimpleNamespace(chunk="hover pybullet")]
    assert list(engines.fly_all(work)) == [
        ("hover pybullet", "hover pybullet row"), ("hover mujoco", "hover mujoco row"),
    ]  # fmt: skip


def test_a_monitor_of_something_else_is_no_monitor_of_modules():
    with pytest.raises(TypeError, match="monitor of modules is expected"):
        flight_bars._monitor(SimpleNamespace(task="docking"))


def test_a_refused_identification_names_its_reason(monkeypatch):
    class Log:
        vehicle = "f450"

    flown = []
    monkeypatch.setattr(
        identification, "record", lambda name, **options: flown.append((name, options))
    )
    monkeypatch.setattr(identification, "read_run", lambda folder: [Log])
    monkeypatch.setattr(identification, "_alone", lambda scenario, log: "alone")
    monkeypatch.setattr(identification, "_of_fleet", lambda scenario, logs: iter(["a", "b"]))
    kind = identification.FlightKind("identification_flight", (), 4)
    assert identification._flight(1, kind) == ["alone"]
    ((name, options),) = flown
    assert (
        name == "identification_flight"
        and options["seed"] == 1
        and options["folder"].name == "run"
    )
    assert None not in options.values()
    monkeypatch.setattr(identification, "read_run", lambda folder: [Log, Log])
    assert identification._flight(1, kind) == ["a", "b"]

    def refuse(*_):
        raise BadInput("a motor is at its end")

    monkeypatch.setattr(identification, "_of_fleet", refuse)
    with pytest.raises(identification.RefusedFlight, match="a motor is at its end"):
        identification._flight(1, kind)


def test_a_view_is_as_wide_as_pictures_are():
    spec = CameraSpec.for_pictures(photometry.SIZE, photometry.FOCAL, outputs=["depth"])
    assert (spec.width, spec.height) == (320, 240)
