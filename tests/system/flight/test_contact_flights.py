# SPDX-License-Identifier: BSD-3-Clause
"""Flights that touch, shortened: they begin close to what they touch."""

import numpy as np
import pytest
from contact_engines import NAMES

from iap_description.errors import BadInput
from iap_io.runs.run_folder import load_run
from iap_simulation.flights.flight import Flight
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = pytest.mark.slow

NEAR_WALL = (
    "reference={type: hover, duration: 8.0, position: [-1.93, 0.0, 2.0], rpy_deg: [0.0, 0.0, 0.0]}",
    "push.at=0.5",
    "start.lead_in=0.0",
)
NEAR_SOCKET = (
    "reference={type: moves, position: [-1.70, 0.0, 2.25], rpy_deg: [0.0, 0.0, 0.0], ease: 0.5,"
    " moves: [{seconds: 4.0, by: [-0.2, 0.0, 0.0], turn_deg: [0.0, 0.0, 0.0]},"
    " {seconds: 11.0, by: [0.0, 0.0, 0.0], turn_deg: [0.0, 0.0, 0.0]}]}",
    "push.at=0.5",
    "start.lead_in=0.0",
)
NEAR_FUNNEL = (
    "reference={type: moves, position: [-1.9, 0.0, 2.1], rpy_deg: [0.0, 0.0, 0.0], ease: 1.0,"
    " moves: [{seconds: 5.0, by: [-0.7, 0.0, 0.0], turn_deg: [0.0, 0.0, 0.0]},"
    " {seconds: 7.0, by: [0.0, 0.0, 0.0], turn_deg: [0.0, 0.0, 0.0]}]}",
    "start.lead_in=0.0",
    "metrics.steady=2.0",
    "compare={}",
)


@pytest.fixture(params=NAMES)
def fly(tmp_path, request):
    def flown(name, *assignments, **options):
        given = Options(engine=request.param, assignments=assignments, **options)
        scenario, tree = resolve(name, given)
        folder = tmp_path / f"{name}_{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        result = execute(Flight.of(scenario), folder, tree)
        return result.metrics, load_run(folder).vehicles[0].columns

    return flown


@pytest.mark.parametrize("source", ["filtered", "estimated"])
def test_a_wall_is_pushed_with_the_force_that_is_asked_for(fly, source):
    metrics, _ = fly("wall_push", *NEAR_WALL, f"control.wrench_source={source}")
    assert metrics["outcome"] == "completed"
    assert metrics["force_rmse_n"][0] < 0.2
    assert metrics["force_max_n"] < 1.3 * 5.0
    assert metrics["approach_speed_max_mps"] < 0.1
    assert metrics["held_position_rmse_m"] < 0.02
    assert metrics["held_attitude_rmse_deg"] < 1.0


def test_a_wall_that_is_not_there_is_not_run_into_at_speed(fly):
    """The wall stands 3 m further away than the push expects: the platform looks for it at no more than 0.1 m/s."""
    away = "world.objects.wall.position=[-6.0, 0.0, 2.0]"
    metrics, c = fly("wall_push", *NEAR_WALL, away)
    assert metrics["first_contact_s"] is None
    assert metrics["approach_speed_max_mps"] < 0.1
    assert np.abs(c.x[:, 0, 7:10]).max() < 0.1


def test_a_wall_that_moves_away_for_good_ends_the_flight_with_its_time(fly):
    """It leaves at 0.5 m/s, five times as fast as the platform may follow."""
    wall = (
        "world.objects={wall: {type: wall, position: [-3.0, 0.0, 2.0], width: 4.0, height: 4.0,"
        " surface: {friction: 0.4, restitution: 0.0},"
        " motion: {type: velocity, velocity: [-0.5, 0.0, 0.0], start: 4.0}}}"
    )
    metrics, c = fly("wall_push", *NEAR_WALL, wall)
    assert metrics["outcome"] == "contact_lost"
    assert 6.0 < metrics["duration_s"] < 6.2  # 2 s later
    assert np.abs(c.x[:, 0, 7]).max() < 0.11


def test_a_button_is_pressed_for_two_seconds_and_let_go(fly):
    metrics, c = fly("push_button", *NEAR_WALL, "metrics.after_contact=1.5")
    felt, dt = c.wrench_record, 0.005
    pressed = (np.abs(felt.wrenches[:, 1, 0] - 5.0) < 0.5).sum() * dt
    assert 1.5 < pressed < 3.5
    assert felt.mode[-1] == 0
    assert not felt.wrenches[-200:, 0].any()
    assert np.abs(c.x[-1, 0, :3] - c.reference[-1, :3]).max() < 0.01
    assert metrics["outcome"] == "completed"


def test_in_a_socket_the_lever_makes_the_torque_of_the_force(fly):
    metrics, _ = fly("socket_push", *NEAR_SOCKET)
    assert metrics["contact_fraction"] > 0.99
    assert max(metrics["force_rmse_n"][:2]) < 0.2
    assert metrics["torque_rmse_nm"][2] < 0.2
    assert metrics["held_attitude_rmse_deg"] < 1.0


def test_the_paper_s_wrench_control_holds_contact(fly):
    metrics, _ = fly("socket_push", *NEAR_SOCKET, "control.wrench_mode=paper")
    assert metrics["outcome"] == "completed"
    assert metrics["contact_fraction"] > 0.99


def test_the_pose_command_yields_until_the_rod_is_in_the_bore(fly):
    metrics, c = fly("peg_in_hole", *NEAR_FUNNEL)
    assert metrics["depth_m"] > 0.5
    assert max(metrics["bore_offset_m"]) < 0.015
    assert 11.0 < metrics["settled_pitch_deg"] < 12.6
    assert metrics["force_max_n"] < 20.0
    assert np.abs(c.wrench_record.tracked[-1, :3] - c.reference[-1, :3]).max() > 0.03


def test_seeds_draw_other_starts_and_friction(fly):
    """The same seed gives the same flight, bit for bit, in contact too."""
    short = ("compare={}", *NEAR_FUNNEL[:2])
    flights = [fly("peg_in_hole", *short, seed=seed, duration=4.0)[1] for seed in (1, 1, 2)]
    np.testing.assert_array_equal(flights[0].x, flights[1].x)
    np.testing.assert_array_equal(
        flights[0].wrench_record.wrenches, flights[1].wrench_record.wrenches
    )
    assert 1e-4 < np.abs(flights[2].x[0, 0, :3] - flights[0].x[0, 0, :3]).max() < 0.04
    factors = [drawn_friction("peg_in_hole", seed) for seed in (1, 1, 2)]
    assert factors[0] == factors[1] != factors[2]
    assert all(0.8 <= factor <= 1.2 for factor in factors)


def drawn_friction(name, seed):
    """The friction of a seed over the scenario's, which is the same of every surface that is flown."""
    scenario, _ = resolve(name, Options(seed=seed))
    spec = plant_spec(scenario)
    surfaces = [(scenario.world.surface, spec.world.surface)]
    surfaces += [
        (item.surface, spec.world.objects[key].surface)
        for key, item in scenario.world.objects.items()
    ]
    (vehicle,), (flown,) = scenario.vehicles, spec.vehicles
    surfaces.append((vehicle.platform.tool.surface, flown.assembly.bodies[0].surface))
    (factor,) = {round(drawn.friction / own.friction, 12) for own, drawn in surfaces}
    return factor


def test_a_tool_inside_an_object_at_the_start_is_refused(fly):
    with pytest.raises(BadInput, match="inside the object 'wall'"):
        fly("wall_push", "world.objects.wall.position=[-2.5, 0.0, 2.0]")


def test_a_push_along_what_the_platform_cannot_push_is_refused():
    scenario, _ = resolve("wall_push", Options(platform="three_star_fixed"))
    with pytest.raises(BadInput, match="axis 'x'"):
        Flight.of(scenario)


@pytest.mark.parametrize(
    ("assignment", "named"),
    [
        ("world.objects.wall.surface.friction=-0.1", "world.objects.wall.surface.friction"),
        ("world.objects.wall.width=0.0", "world.objects.wall.width"),
        ("push.begin=soon", "push.begin"),
        ("control.wrench_mode=both", "control.wrench_mode"),
        ("control.wrench_source=guessed", "control.wrench_source"),
    ],
)
def test_a_bad_key_of_contact_is_named(assignment, named):
    with pytest.raises(BadInput, match=named.replace(".", r"\.")):
        resolve("wall_push", Options(assignments=(assignment,)))


def test_a_disturbance_is_estimated_where_nothing_is_touched(fly):
    step = "disturbances=[{at: 1.0, until: 9.0, force: [0.0, 5.0, 0.0], torque: [0.0, 0.0, 1.0]}]"
    _, c = fly("hover", step, duration=2.0)
    estimate = c.wrench_record.wrenches[300, 2]  # half a second later
    assert estimate[1] == pytest.approx(5.0, rel=0.05)
    assert estimate[5] == pytest.approx(1.0, rel=0.05)
    assert not c.wrench_record.wrenches[:, 0].any()
