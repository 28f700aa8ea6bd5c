# SPDX-License-Identifier: BSD-3-Clause
"""Flights by hand that ship, their recordings, and a figure-eight of a line."""

import numpy as np
import pytest

from iap_bringup.experiments.piloted_flights import (
    COURSES,
    FLIGHTS,
    flight_folder,
    placed,
    recorded_flights,
    recordings,
    resolve_recording,
    write_flight,
)
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import mesh
from iap_description.math import so3
from iap_description.scenes.library import load_scene
from iap_description.states import P, Q
from iap_io.trajectories.reader import read_recorded
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.runs.unrecorded_flight import watch
from iap_simulation.scenario.resolving import Options

pytestmark = pytest.mark.slow
every_course = pytest.mark.parametrize("course", COURSES.values(), ids=lambda each: each.scene)
REACH = 1.0  # of the platform around its centre [m]
STEP = 2e-6  # of the recorded decimals, and one more for rounding [m]
ALIKE = 50.0  # until then all processors make the same flight; what saturated rotors give up hangs on the last bit [s]
FIGURE_EIGHT_ACCELERATION = 0.45  # largest [m/s^2]
HALF_VIEW = 45.0  # [deg] of the cameras
SPAN = 0.4  # of an aircraft from its middle [m]


def shipped(course):
    return read_recorded(flight_folder(course.scene))


@every_course
def test_a_flight_ships_as_its_pilot_makes_it(course, tmp_path):
    for folder in ("once", "again"):
        write_flight(course, tmp_path / folder)
    names = {made.name for made in (tmp_path / "again").iterdir()}
    assert names == {each.name for each in (FLIGHTS / course.scene).iterdir()}
    for name in names:
        data = (tmp_path / "again" / name).read_bytes()
        assert (tmp_path / "once" / name).read_bytes() == data
        assert len(data) < 1e6
    made, ships = read_recorded(tmp_path / "again"), shipped(course)
    np.testing.assert_array_equal(made.t, ships.t)
    early = made.t < ALIKE
    np.testing.assert_allclose(made.p_WP_W[early], ships.p_WP_W[early], atol=STEP)


@every_course
def test_a_flight_is_a_minute_from_rest_to_rest_and_livelier_than_the_figure_eight(course):
    flown = shipped(course)
    assert flown.duration == pytest.approx(60.0)
    assert np.abs(flown.v_WP_W[[0, -1]]).max() == 0.0
    accelerations = np.linalg.norm(flown.a_WP_W, axis=1)
    assert np.sqrt(np.mean(accelerations**2)) > 2.0 * FIGURE_EIGHT_ACCELERATION
    assert np.linalg.norm(np.diff(flown.p_WP_W, axis=0), axis=1).sum() > 60.0


@every_course
def test_a_flight_keeps_to_its_volume_and_nothing_stands_there(course):
    low, high = np.array(course.volume)
    p = shipped(course).p_WP_W
    assert (p > low).all()
    assert (p < high).all()
    for solid in load_scene(course.scene).solids:
        corners = mesh(solid)[0]
        apart = np.maximum(corners.min(axis=0) - high, low - corners.max(axis=0))
        assert apart.max() > REACH


@every_course
def test_a_flight_is_flown_closely_among_the_far_anchors(course, tmp_path):
    scenario, tree = resolve_recording(
        flight_folder(course.scene), course.scene, Options(duration=20.0)
    )
    result = execute(Flight.of(scenario), tmp_path, tree)
    assert result.metrics["outcome"] == "completed"
    assert result.metrics["position_rmse_m"] < 0.01
    with_tag, _ = resolve_recording(
        flight_folder(course.scene), course.scene, Options(sensors="uwb")
    )
    assert with_tag.world.scene == course.scene
    assert with_tag.vehicles[0].sensors.uwb.anchors[2].position == (38.76, 46.12, 1.59)


def test_the_suites_flights_are_put_in_the_middle_of_the_free_volumes(tmp_path):
    for name in ("narrow_station", "broad_station"):
        (tmp_path / name).symlink_to(flight_folder(name))
    (tmp_path / "notes.csv").write_text("not looked at\n")
    given = recorded_flights(tmp_path)
    assert [each.path.name for each in given.values()] == [
        "broad_station",
        "narrow_station",
        "broad_station",
    ]
    for scene, flight in given.items():
        p = read_recorded(flight.path).p_WP_W + flight.offset
        middle = np.array(COURSES[scene].volume).mean(axis=0)
        assert 0.5 * (p.min(axis=0) + p.max(axis=0))[:2] == pytest.approx(middle[:2], abs=0.001)
        assert flight.offset[2] == 0.0


def test_what_does_not_fit_is_refused(tmp_path):
    path = tmp_path / "far.csv"
    t = np.arange(0.0, 20.0, 0.05)
    rows = [f"{round(1e9 * s)},{2.0 * s},0,1.5,0.70710678,0,-0.70710678,0" for s in t]
    path.write_text("\n".join(["#time(ns),px,py,pz,qw,qx,qy,qz", *rows]) + "\n")
    with pytest.raises(BadInput, match=r"far\.csv: .* does not fit into broad_station"):
        placed(path, COURSES["broad_station"])
    with pytest.raises(BadInput, match="no such folder"):
        recordings(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no rosbag2 folder"):
        recordings(tmp_path / "empty")
    with pytest.raises(BadInput, match="choose narrow_station, broad_station, bright_arena"):
        flight_folder("cellar")


@pytest.mark.parametrize(
    "name", ["three_line_figure_eight", "two_line_figure_eight"], ids=["three", "two"]
)
def test_a_line_flies_a_figure_eight_and_its_aircraft_look_apart(name):
    flown = watch(name, Options(duration=20.0))
    rows = flown.x[::20]
    assert np.ptp(rows[:, 0, P], axis=0).min() > 2.0
    for one in range(1, rows.shape[1]):
        for other in set(range(1, rows.shape[1])) - {one}:
            apart = rows[:, other, P] - rows[:, one, P]
            away = np.linalg.norm(apart, axis=1)
            ahead = so3.rotate(rows[:, one, Q], np.tile([1.0, 0.0, 0.0], (len(rows), 1)))
            angle = np.arccos(np.clip((apart * ahead).sum(axis=1) / away, -1.0, 1.0))
            assert np.rad2deg((angle - np.arcsin(SPAN / away)).min()) > HALF_VIEW
