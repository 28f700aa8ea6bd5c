# SPDX-License-Identifier: BSD-3-Clause
"""Episodes of tasks that touch in an engine, and what they take from their scenarios."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.touch_places import yaw

from iap_description.errors import BadInput
from iap_learning.tasks.kinds.hinge_turn.arc import Arc, turned_object
from iap_learning.tasks.kinds.hinge_turn.counts import TurnCounts
from iap_learning.tasks.kinds.hinge_turn.episodes import TurnEpisodes
from iap_learning.tasks.kinds.peg_in_hole.holes import Holes
from iap_learning.tasks.kinds.perch_on_wall.approach_line import latch_of, line_of
from iap_learning.tasks.kinds.push_object.goals import Goals
from iap_learning.tasks.kinds.registry import kind_of, make_task
from iap_learning.tasks.push_line import PushLine
from iap_physics.latching.kernel import LOCKED
from iap_physics.latching.latches import Latches
from iap_simulation.scenario.resolving import resolved
from iap_simulation.tasks.outcomes import FELL, RUNNING

DT = 0.005
FORCE = np.array([3.0, 4.0, 0.0, 9.0, 9.0, 9.0])


def scenario_of(task):
    return resolved(task.scenario, task.settings, {"engine": "mujoco"})[0]


def first_row(scenario):
    row = np.zeros(19)
    row[:3], row[6] = scenario.vehicles[0].reference.position, 1.0
    return row


def simulated(name):
    """A simulation at its start, of which an episode sees no more than this."""
    task = make_task(name)
    scenario = scenario_of(task)
    row = first_row(scenario)
    objects = np.zeros((len(scenario.world.objects), 13))
    for state, item in zip(objects, scenario.world.objects.values(), strict=True):
        state[:3], state[3:7] = item.position, item.q_WO
    x = np.zeros((1, 1, 13))
    x[0, 0, :7] = row[:7]
    working = [SimpleNamespace(name=each, latch=latch) for each, latch in scenario.latches.items()]
    latches = SimpleNamespace(numbers=[LOCKED], events=[], working=working)
    plant = SimpleNamespace(
        engine=SimpleNamespace(object_states=objects.copy), contact_wrench=lambda body: FORCE + body,
        state=lambda body: x + body, part={Latches: latches}.get,
    )  # fmt: skip
    timeline = SimpleNamespace(row=lambda k: row + k)
    vehicle = SimpleNamespace(timeline=timeline)
    simulation = SimpleNamespace(
        scenario=scenario, plant=plant, loop=SimpleNamespace(vehicles=[vehicle])
    )
    episode = kind_of(task).single_run.episode(simulation, task)
    return episode, SimpleNamespace(objects=objects, x=x[0, 0], latches=latches, task=task)


def observed(episode, periods=2):
    for _ in range(periods):
        episode.observe()
    assert episode.outcome == RUNNING
    assert episode.measures["time"] == pytest.approx(periods * DT)
    return episode.measures


def test_a_turn_in_an_engine_is_that_of_its_object_from_where_it_hangs():
    episode, at = simulated("push_door")
    at.objects[0, 3:7] = yaw(0.3)
    found = observed(episode)
    assert found["angle"] == pytest.approx(np.rad2deg(0.3)) and found["force_peak"] == 5.0


def test_a_shove_in_an_engine_is_that_of_its_object_to_the_goal_of_the_scenarios_seed():
    episode, at = simulated("push_object")
    goals = Goals.of(at.task, scenario_of(at.task), 1)
    goals.draw(0, at.task, scenario_of(at.task).seed)
    at.objects[1, :2] = [0.2, 0.01]
    found = observed(episode)
    assert found["goal_distance"] == pytest.approx(np.hypot(*(goals.ways[0] - [0.2, 0.01])))
    assert found["force_peak"] == 5.0 and found["angle"] == pytest.approx(0.0)


def test_a_peg_in_an_engine_is_as_deep_as_its_tip():
    episode, at = simulated("peg_in_hole")
    before = observed(episode)["depth"]
    at.x[0] -= 0.3
    episode.observe()
    assert episode.measures["depth"] - before == pytest.approx(
        0.3 * np.cos(np.deg2rad(10.0)), abs=0.06
    )
    assert episode.measures["force_peak"] == 5.0


@pytest.mark.parametrize("name", ["wall_push", "slide_along_wall"])
def test_the_force_of_a_wall_in_an_engine_is_what_is_against_the_push(name):
    episode, at = simulated(name)
    assert observed(episode)["force_peak"] == 3.0
    if name == "slide_along_wall":
        at.x[1] -= 0.5
        for _ in range(40):
            episode.observe()
        assert episode._counts.progress[0] == pytest.approx(0.5)


def test_a_perch_in_an_engine_is_held_by_its_latch_and_ends_by_its_events():
    episode, at = simulated("perch_on_wall")
    found = observed(episode)
    assert found["lock_time"] == pytest.approx(DT) and found["force_peak"] == 5.0
    assert np.isnan(found["closing_speed"])
    probes = [SimpleNamespace(closing=each, radius=0.0) for each in (0.3, 0.7)]
    at.latches.events = [
        SimpleNamespace(latch="other", what="lost", probe=probes[1], slip=0.0),
        SimpleNamespace(latch="patch", what="caught", probe=probes[0], slip=0.0),
        SimpleNamespace(latch="patch", what="broken", probe=probes[1], slip=0.0),
    ]
    episode.observe()
    assert episode.measures["closing_speed"] == 0.3
    assert episode.outcome == FELL


def test_an_arc_is_about_the_hinge_of_the_object_that_is_turned():
    task = make_task("push_door")
    scenario = scenario_of(task)
    row = first_row(scenario)
    arc = Arc.of(task, scenario, row, 3)
    np.testing.assert_allclose(arc.believed, [-3.0, 0.0, 2.0])
    np.testing.assert_allclose(arc.axis, [0.0, 0.0, 1.0])
    np.testing.assert_allclose(arc.start, row[:3] + arc.tip_P)
    assert arc.points.shape == arc.axes.shape == (3, 3) and arc.reach == pytest.approx(
        1.05, abs=0.6
    )
    arc.draw(1, "door", scenario)
    assert np.abs(arc.points[1] - arc.believed).max() > 0.0
    np.testing.assert_array_equal(arc.points[0], arc.believed)
    with pytest.raises(
        BadInput, match=r"key 'turned': no object 'gate' with a hinge \(such: door\)"
    ):
        turned_object(task.model_copy(update={"turned": "gate"}), scenario)


def stub(scenario, **vehicle):
    """A scenario of which some of the vehicle is otherwise."""
    first = scenario.vehicles[0]
    keys = {"push": first.push, "platform": first.platform, "name": first.name, **vehicle}
    return SimpleNamespace(
        vehicles=[SimpleNamespace(**keys)], world=scenario.world, latches=scenario.latches
    )


def test_a_line_of_a_push_goes_against_the_force_that_is_asked_for():
    task = make_task("wall_push")
    scenario = scenario_of(task)
    row = first_row(scenario)
    line = PushLine.of("t", "wall", scenario, row)
    np.testing.assert_allclose(
        line.axes, [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]], atol=1e-12
    )
    assert line.desired == 5.0
    np.testing.assert_allclose(line.wall, scenario.world.objects["wall"].position)
    np.testing.assert_allclose(line.start, row[:3])
    np.testing.assert_allclose(line.start_tip, line.tip_P)
    two = stub(scenario, push=SimpleNamespace(force=(0.0, 3.0, 4.0)))
    assert PushLine.of("t", "wall", two, row).desired == 5.0
    axes = PushLine.of("t", "wall", two, row).axes
    np.testing.assert_allclose(axes, [[0, -0.6, -0.8], [1, 0, 0], [0, -0.8, 0.6]], atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "wall", "why"),
    [
        ({"push": None}, "wall", "the scenario needs one vehicle with a tool, and its key 'push'"),
        (
            {"push": SimpleNamespace(force=(0.0, 0.0, 0.0))},
            "wall",
            "key 'push.force' of the scenario is zero",
        ),
        (
            {"push": SimpleNamespace(force=(1.0, 0.0, 9.0))},
            "wall",
            "key 'push.force' of the scenario is not level",
        ),
        ({}, "gate", r"key 'wall': no object 'gate' \(objects: wall\)"),
    ],
)
def test_a_push_that_has_no_line_is_refused(changes, wall, why):
    scenario = scenario_of(make_task("wall_push"))
    with pytest.raises(BadInput, match=f"^task 't': {why}$"):
        PushLine.of("t", wall, stub(scenario, **changes), first_row(scenario))


def test_goals_and_bores_are_those_of_the_objects_that_a_task_names():
    task = make_task("push_object")
    scenario = scenario_of(task)
    goals = Goals.of(task, scenario, 2)
    assert goals.number == 1 and goals.yaw == 0.0
    np.testing.assert_allclose(goals.start, [0.0, 0.0, 1.06])
    np.testing.assert_allclose(goals.ways, [[0.5, 0.0]] * 2)
    np.testing.assert_allclose(goals.axes, np.eye(2))
    with pytest.raises(BadInput, match=r"key 'pushed': no loose object 'table' \(such: box\)"):
        Goals.of(task.model_copy(update={"pushed": "table"}), scenario, 1)
    task = make_task("peg_in_hole")
    scenario = scenario_of(task)
    holes = Holes.of(task, scenario, 2)
    np.testing.assert_allclose(holes.positions, [scenario.world.objects["funnel"].position] * 2)
    np.testing.assert_allclose(holes.believed, holes.positions[0])
    np.testing.assert_allclose(
        holes.axes()[0], [-np.cos(np.pi / 18), 0.0, -np.sin(np.pi / 18)], atol=1e-12
    )
    holes.draw(1, "funnel", scenario)
    assert np.abs(holes.positions[1] - holes.believed).max() > 0.0
    with pytest.raises(BadInput, match=r"key 'hole': no funnel 'wall' \(funnels: funnel\)"):
        Holes.of(task.model_copy(update={"hole": "wall"}), scenario, 1)


@pytest.mark.parametrize("make", [Goals.of, Holes.of, turned_object])
def test_what_touches_needs_one_vehicle_with_a_tool(make):
    task = SimpleNamespace(name="t")
    bare = SimpleNamespace(vehicles=[SimpleNamespace(platform=SimpleNamespace(tool=None))])
    several = SimpleNamespace(vehicles=[SimpleNamespace(platform=SimpleNamespace(tool="rod"))] * 2)
    for scenario in (bare, several):
        arguments = (task, scenario) if make is turned_object else (task, scenario, 1)
        with pytest.raises(
            BadInput, match="^task 't': the scenario needs one vehicle with a tool$"
        ):
            make(*arguments)


def test_a_patch_comes_to_its_wall_along_the_normal():
    task = make_task("perch_on_wall")
    scenario = scenario_of(task)
    row = first_row(scenario)
    line, wall = line_of(task, scenario, row), scenario.world.objects["wall"]
    np.testing.assert_allclose(
        line.axes, [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]], atol=1e-12
    )
    np.testing.assert_allclose(line.wall, wall.position)
    np.testing.assert_allclose(line.start, row[:3])
    assert line.desired == 0.0
    why = "key 'latch': the scenario needs one vehicle, and a latch 'hook' whose socket"
    with pytest.raises(BadInput, match=rf"{why} is an object \(such: patch\)"):
        latch_of(task.model_copy(update={"latch": "hook"}), scenario)
    probe = scenario.latches["patch"].model_copy(update={"probe": "iap/port"})
    other = SimpleNamespace(vehicles=scenario.vehicles, latches={"patch": probe})
    with pytest.raises(BadInput, match="key 'latch': the probe of 'patch' is no tool's tip"):
        latch_of(task, other)


def test_a_camera_looks_from_where_a_platform_starts_to_what_it_turns():
    arc, row = SimpleNamespace(believed=np.array([7.0, 8.0, 9.0])), np.arange(19.0)
    turns = SimpleNamespace(
        _row=row,
        arc=arc,
        _counts=TurnCounts.of(2),
        worlds=SimpleNamespace(scenario=SimpleNamespace(dt=DT)),
    )
    place = TurnEpisodes.viewpoint.fget(turns)
    assert [each.tolist() for each in place] == [[0.0, 1.0, 2.0], [7.0, 8.0, 9.0]]
    assert set(TurnEpisodes.report(turns)) == {"force_peak", "angle", "turn_time"}
