# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of the shipped scenarios in the closed loop, on both engines, against the accuracy they must reach."""

import json

import numpy as np
import pytest
import yaml
from flying import Loop, fly_scenario, scenario_of

from iap_bringup.cli.main import main
from iap_description.math import so3
from iap_description.vehicles.platform import load_platform

ENGINES = ["closed_form", "pybullet"]
COUNTS = range(2, 13)
every_engine = pytest.mark.parametrize("engine", ENGINES)

# Scenario, seconds flown, position [m], attitude [deg]: RMSE that the whole scenario must reach.
FULLY_ACTUATED = [
    ("three_star_spiral", 8.0, 0.01, 0.25),
    ("figure_eight", 8.0, 0.01, 0.25),
    ("three_square_ramps", 10.0, 0.02, 0.7),
    ("figure_eight_windy", 8.0, 0.016, 2.0),
]
COLLINEAR = [("three_line_5dof", 8.0, 0.01, 0.25), ("two_line_circle", 8.0, 0.01, 0.25)]


def rmse(errors):
    return np.sqrt(np.square(errors).mean(axis=0))


@every_engine
@pytest.mark.parametrize(("name", "seconds", "metres", "degrees"), FULLY_ACTUATED)
def test_fully_actuated_platforms_track_pose(name, seconds, metres, degrees, engine):
    flown = fly_scenario(name, engine=engine, duration=seconds)[0]
    assert flown.t[-1] == pytest.approx(seconds)
    assert flown.position_rmse < metres
    assert (rmse(flown.attitude_error_deg) < degrees).all()


@every_engine
@pytest.mark.slow
@pytest.mark.parametrize(("name", "seconds", "metres", "degrees"), COLLINEAR)
def test_collinear_platforms_track_position_and_the_direction_of_their_line(
    name, seconds, metres, degrees, engine
):
    flown = fly_scenario(name, engine=engine, duration=seconds)[0]
    assert flown.position_rmse < metres
    assert rmse(flown.axis_error_deg(np.array([1.0, 0.0, 0.0]))) < degrees


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three_star_spiral", "figure_eight"])
def test_the_paper_s_gains_reach_the_paper_s_accuracy(name):
    """Within 0.4 m on each axis, 4 deg in roll and pitch and 12 deg in yaw at all times."""
    flown = fly_scenario(name, gains="paper", duration=12.0)[0]
    assert np.abs(flown.position_error).max() < 0.4
    assert (np.abs(flown.attitude_error_deg).max(axis=0) < [4.0, 4.0, 12.0]).all()
    assert np.abs(flown.attitude_error_deg).max() > 0.1  # they are not the tuned ones


def test_the_tuned_gains_are_five_times_as_accurate_as_required():
    flown = fly_scenario("three_star_spiral", duration=8.0)[0]
    assert flown.position_rmse < 2e-3
    assert (rmse(flown.attitude_error_deg) < 0.025).all()


def test_both_engines_fly_the_same_flight():
    """Two independent dynamics under one controller: the closed loop stays within a millimetre."""
    a, b = (fly_scenario("three_star_spiral", engine=e, duration=6.0)[0] for e in ENGINES)
    assert np.abs(a.x[:, :, :3] - b.x[:, :, :3]).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["star", "line"])
@pytest.mark.parametrize("count", COUNTS)
def test_every_generated_platform_hovers(kind, count):
    flown = fly_scenario("hover", "start.lead_in=0.0", platform=f"{kind}_{count}", duration=3.0)[0]
    assert np.abs(flown.position_error).max() < 1e-3
    assert np.abs(flown.attitude_error_deg).max() < 0.05
    assert flown.thrust.shape[1] == count


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f450", "three_star_fixed", "star_5", "line_4", "star_2"])
def test_platforms_of_every_kind_hover_in_pybullet(name):
    flown = fly_scenario("hover", engine="pybullet", platform=name, duration=1.5)[0]
    assert np.abs(flown.position_error).max() < 1e-3
    assert np.abs(flown.attitude_error_deg).max() < 0.1


@every_engine
def test_a_flight_begins_hovering_with_the_rotors_at_hover(engine):
    """In balance at any attitude: nothing moves, no rotor speeds up."""
    tilted = "reference.rpy_deg=[10.0,-8.0,30.0]"
    flown = fly_scenario("hover", tilted, engine=engine, duration=0.5)[0]
    assert np.ptp(flown.rpm, axis=0).max() < 10.0
    assert np.abs(flown.position_error).max() < 1e-4
    assert np.abs(flown.attitude_error_deg).max() < 0.01
    thrusts = flown.thrust[0, :, None] * so3.rotate(flown.x[0, 1:, 3:7], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(thrusts.sum(axis=0), [0.0, 0.0, 5.9 * 9.81], atol=1e-6)


def test_start_attitude_and_thrust_of_each_aircraft_are_those_of_the_first_command():
    flown = fly_scenario("figure_eight", duration=0.1)[0]
    np.testing.assert_allclose(flown.x[0, 1:, 3:7], flown.q_WB[0], atol=1e-9)


# --- from the ground ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three_star", "f450", "three_line"])
def test_a_flight_from_the_ground_takes_off_hovers_and_lands(name):
    loop = Loop.of(
        scenario_of(
            "hover",
            "start.mode=ground",
            "reference.duration=1.0",
            engine="pybullet",
            platform=name,
        )
    )
    flown = loop.fly()[0]
    heights, clearance = flown.x[:, 0, 2], load_platform(name).ground_clearance
    airborne = (flown.t > loop.vehicles[0].timeline.lead) & (
        flown.t < loop.vehicles[0].timeline.lead + 1.0
    )
    assert heights[0] == pytest.approx(clearance)
    assert np.abs(heights[airborne] - 1.5).max() < 0.05
    assert heights[-1] == pytest.approx(clearance, abs=0.02)
    assert np.abs(flown.x[-1, 0, 7:]).max() < 0.05  # at rest
    idle = load_platform(name).aircraft.rotor.rpm_min
    assert flown.rpm[-1].max() < 1.1 * idle
    assert loop.vehicles[0].land_detector.has_landed
    loop.plant.engine.close()


def test_before_take_off_the_platform_stands_on_the_ground():
    flown = fly_scenario("hover", "start.mode=ground", engine="pybullet", duration=0.3)[0]
    assert np.abs(flown.x[:, 0, 2] - 0.25).max() < 0.02
    np.testing.assert_allclose(flown.rpm[0], load_platform("three_star").aircraft.rotor.rpm_min)


# --- headings ----------------------------------------------------------------------------------


def yaw_deg(q):
    return np.rad2deg(
        np.arctan2(
            2 * (q[..., 3] * q[..., 2] + q[..., 0] * q[..., 1]),
            1 - 2 * (q[..., 1] ** 2 + q[..., 2] ** 2),
        )
    )


def test_aircraft_follow_the_platform_s_yaw():
    flown = fly_scenario("three_star_spiral", duration=10.0)[0]
    difference = yaw_deg(flown.x[:, 1:, 3:7]) - yaw_deg(flown.x[:, :1, 3:7]) - [0.0, 120.0, -120.0]
    assert np.abs((difference + 180.0) % 360.0 - 180.0).max() < 2.0
    assert np.ptp(yaw_deg(flown.x[:, 0, 3:7])) > 30.0


def test_fixed_headings_stay_while_the_platform_turns():
    flown = fly_scenario("three_star_spiral", "control.yaw=hold", duration=10.0)[0]
    difference = yaw_deg(flown.x[:, 1:, 3:7]) - [0.0, 120.0, -120.0]
    assert np.abs((difference + 180.0) % 360.0 - 180.0).max() < 1.0
    assert flown.position_rmse < 0.01


def test_reference_headings_are_flown():
    sets = ("control.yaw=reference", "control.aircraft_yaw_deg=[90.0,90.0,-45.0]")
    flown = fly_scenario("three_star_spiral", *sets, duration=8.0)[0]
    np.testing.assert_allclose(
        yaw_deg(flown.x[:, 1:, 3:7]), np.tile([90.0, 90.0, -45.0], (len(flown.t), 1)), atol=1.0
    )
    assert flown.position_rmse < 0.01


# --- several vehicles --------------------------------------------------------------------------


@pytest.mark.slow
def test_two_platforms_fly_in_one_world_each_on_its_own_reference():
    loop = Loop.of(scenario_of("two_platforms", engine="pybullet", duration=8.0))
    first, second = loop.fly()
    loop.plant.engine.close()
    assert first.position_rmse < 0.01 and second.position_rmse < 0.01
    np.testing.assert_allclose(first.x[0, 0, :3], [0.0, 0.0, 2.0], atol=1e-9)
    assert second.x[0, 0, 0] > 3.0
    assert loop.monitor.collisions == []


def test_a_vehicle_flies_the_same_with_another_one_far_away():
    alone = fly_scenario(
        {
            "platform": "three_star",
            "reference": {
                "type": "hover",
                "duration": 20.0,
                "position": [0.0, 0.0, 2.0],
                "rpy_deg": [0.0, 0.0, 0.0],
            },
        },
        duration=1.5,
    )[0]
    beside = fly_scenario("two_platforms", duration=1.5)[0]
    np.testing.assert_array_equal(alone.x, beside.x)


def colliding():
    """One hovers, the other flies into it."""
    hover = {"type": "hover", "duration": 4.0, "position": [0.0, 0.0, 2.0], "rpy_deg": [0, 0, 0]}
    line = {"type": "line", "duration": 4.0, "start": [2.6, 0.0, 2.0], "end": [1.0, 0.0, 2.0]}
    floats = {
        key: [float(v) for v in value] if isinstance(value, list) else value
        for key, value in hover.items()
    }
    return {
        "vehicles": [
            {"name": "red", "platform": "three_star", "reference": floats},
            {"name": "blue", "platform": "three_star", "reference": {**line, "yaw_deg": 0.0}},
        ]
    }


@pytest.mark.slow
def test_a_collision_names_both_vehicles_and_moves_both():
    loop = Loop.of(
        scenario_of(colliding(), "vehicles.1.start.lead_in=0.0", engine="pybullet", duration=4.0)
    )
    red, blue = loop.fly()
    loop.plant.engine.close()
    assert [{a, b} for _, a, b in loop.monitor.collisions] == [{"red", "blue"}]
    t = loop.monitor.collisions[0][0]
    assert 0.5 < t < 4.0
    for flown in (red, blue):
        assert np.abs(flown.position_error[flown.t < t]).max() < 0.01
        assert np.abs(flown.position_error[flown.t > t]).max() > 0.02


@pytest.mark.slow
def test_metrics_name_the_vehicles_that_collided(tmp_path, capsys):
    """From a scenario file through the command line; a touch in the air does not end the flight."""
    path, out = tmp_path / "meet.yaml", tmp_path / "run"
    path.write_text(yaml.safe_dump(colliding()), encoding="utf-8")
    sets = ["--duration", "4", "--set", "vehicles.1.start.lead_in=0.0"]
    code = main(["run", str(path), "--out", str(out), "--no-plot", "--no-view", *sets])
    metrics = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    collision = metrics["collisions"][0]
    assert sorted(collision["vehicles"]) == ["blue", "red"]
    assert 1.5 < collision["t_s"] < 4.0
    assert set(metrics["vehicles"]) == {"blue", "red"}
    assert code == 0 and metrics["outcome"] == "completed"
    assert "collision" in capsys.readouterr().out
