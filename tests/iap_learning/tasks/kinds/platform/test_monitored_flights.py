# SPDX-License-Identifier: BSD-3-Clause
"""A task that a flight follows: what is monitored of it, who flies it, and the rules that it makes."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.tasks.kinds.platform import clearance as clearances
from iap_learning.tasks.kinds.platform import kind
from iap_learning.tasks.kinds.platform.outcome import Rules
from iap_learning.tasks.kinds.platform.quantities import QUANTITIES
from iap_learning.tasks.kinds.platform.rewards import RewardTerms
from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.plant_senses import senses_of
from iap_learning.tasks.senses import Sense
from iap_learning.tasks.shapes import GAUSS, INVERSE, LINEAR, SQUARE
from iap_physics.arm.gripper import Gripper
from iap_physics.latching.latches import Latches
from iap_simulation.scenario.resolving import resolved
from iap_simulation.tasks.outcomes import ARRIVED, OUT_OF_BOUNDS, RUNNING, TIME_IS_UP


def row(x=0.0, z=2.0):
    out = np.zeros(22)
    out[0], out[2], out[6] = x, z, 1.0
    return out


def monitored(name="hold", **keys):
    """A monitor, the plant that it observes, and its task; the goal moves by 1 m/s along x."""
    task = make_task(name, keys)
    scenario = resolved(task.scenario, task.settings, {})[0]
    bodies = np.zeros((1, 13))
    bodies[0, 2], bodies[0, 6] = 2.0, 1.0
    vehicle = SimpleNamespace(
        start=bodies, reference=lambda k: SimpleNamespace(row=row(scenario.dt * k)),
        timeline=SimpleNamespace(goal=row(z=0.25)),
    )  # fmt: skip
    plant = SimpleNamespace(state=lambda i: bodies[None], t=0.0, bodies=bodies)
    return kind.PlatformMonitor(task, scenario, vehicle), plant, task, scenario


def test_the_last_instant_of_every_step_counts():
    monitor, plant, task, scenario = monitored()
    for _ in range(2 * task.repeat + 1):
        monitor.observe(plant)
    assert monitor.distances == pytest.approx(
        [task.repeat * scenario.dt, 2 * task.repeat * scenario.dt]
    )
    assert monitor.time == pytest.approx(2 * task.repeat * scenario.dt)
    assert monitor.outcome == RUNNING and not monitor.is_over and not monitor.succeeded
    assert monitor.failure == f"task 'hold' has not succeeded after {monitor.time:.2f} s"
    assert monitor.metrics(plant) == {
        "name": "hold", "success": False, "outcome": "running", "time_s": None, "distance_m": monitor.distances[-1],
    }  # fmt: skip


def test_a_task_that_lasts_succeeds_by_what_is_kept_to_until_its_time_is_up():
    monitor, plant, task, scenario = monitored()
    for k in range(1, round(task.seconds / scenario.dt) + 10):
        plant.bodies[0, 0], plant.bodies[0, 7] = k * scenario.dt, 0.0
        monitor.observe(plant)
        if k == round(0.9 / scenario.dt):
            assert not monitor.succeeded
        if k == round(1.1 / scenario.dt):
            assert monitor.succeeded and monitor.failure is None and not monitor.is_over
    assert monitor.outcome == TIME_IS_UP and monitor.is_over and monitor.succeeded
    assert monitor.success == "task 'hold' has succeeded"
    assert monitor.time == pytest.approx(task.seconds)


def test_a_task_fails_beyond_its_bounds_and_observes_nothing_more():
    monitor, plant, task, _ = monitored()
    plant.bodies[0, 0] = 9.0
    for _ in range(3 * task.repeat):
        monitor.observe(plant)
    assert monitor.outcome == OUT_OF_BOUNDS and len(monitor.distances) == 1
    assert (
        monitor.failure
        == f"task 'hold' has not succeeded after {monitor.time:.2f} s: out_of_bounds"
    )
    assert monitor.metrics(plant)["outcome"] == "out_of_bounds"


def test_a_task_whose_goal_is_the_last_reference_arrives_there():
    monitor, plant, task, _ = monitored("land")
    for z in (0.4, 0.29):
        plant.bodies[0, 2] = z
        for _ in range(task.repeat):
            monitor.observe(plant)
    assert monitor.distances == pytest.approx([0.15, 0.04])
    assert monitor.outcome == ARRIVED and monitor.succeeded
    assert monitor.success == f"arrived after {monitor.time:.2f} s, 0.04 m from the goal"
    found = monitor.metrics(plant)
    assert found["time_s"] == monitor.time and found["distance_m"] == pytest.approx(0.04)


def test_what_is_compiled_beforehand_counts_nothing():
    monitor, _, _, _ = monitored()
    monitor.warm_up()
    assert monitor.distances == [] and monitor.time == 0.0 and monitor.outcome == RUNNING
    assert monitor.metrics(None)["distance_m"] is None


def test_an_episode_in_an_engine_has_the_mean_distance_of_its_last_second():
    monitor, plant, task, scenario = monitored()
    loop = SimpleNamespace(vehicles=[monitor._vehicle])
    simulation = SimpleNamespace(scenario=scenario, plant=plant, loop=loop)
    episode = kind.PlatformEngineEpisode(simulation, task)
    assert episode.measures["time"] == 0.0 and np.isnan(episode.measures["error"])
    step = task.repeat * scenario.dt
    for _ in range(round(2.0 / scenario.dt)):
        episode.observe()
    last = round(1.0 / step)
    expected = np.mean(step * np.arange(round(2.0 / step) - last + 1, round(2.0 / step) + 1))
    assert episode.measures["error"] == pytest.approx(expected)
    assert episode.measures["time"] == pytest.approx(2.0) and not episode.succeeded
    assert episode.outcome == RUNNING


@pytest.mark.parametrize(("name", "duration"), [("hold", 5.0), ("land", None)])
def test_a_run_that_stands_for_an_episode_is_as_long_where_its_goal_is_the_present_one(
    name, duration
):
    assert kind.PLATFORM.single_run.duration(make_task(name)) == duration


@pytest.mark.parametrize("count", [0, 2])
def test_a_policy_of_one_platform_flies_one_vehicle(count):
    scenario = SimpleNamespace(vehicles=[None] * count, policy="p")
    with pytest.raises(BadInput, match=f"'p' flies one vehicle, not {count}$"):
        kind.check_alone(scenario)
    kind.check_alone(SimpleNamespace(vehicles=[None], policy="p"))


@pytest.mark.parametrize("references", [True, False])
def test_a_pilot_hands_references_to_the_vehicle_and_commands_on(references):
    asked = []

    class Flown:
        info, inputs, gives_references, asks_for = "info", ("eye",), references, ()
        closes = None

        def __call__(self, *each):
            asked.append(each)
            return "output"

    vehicle = SimpleNamespace(
        command=lambda *each: ("command", *each), known_state=lambda x: f"estimate of {x}",
    )  # fmt: skip
    plant = SimpleNamespace(
        state=lambda i: ["x"], contact_wrench=lambda i: "wrench", propulsion=[SimpleNamespace(rpm=["rpm"])], t=3.0,
    )  # fmt: skip
    pilot = kind.PlatformPilot(Flown(), vehicle, task=None, followers=(0,))
    out = pilot.command(7, plant, [SimpleNamespace(row="row")])
    assert asked == [(7, "estimate of x", "rpm", "row", ("wrench", *[None] * 5))]
    assert out == {
        0: ("command", 3.0, "estimate of x", "wrench", "output") if references else "output"
    }
    assert pilot.info == "info" and pilot.sinks == ("eye",) and pilot.followers == (0,)


def test_a_policy_is_given_of_the_plant_what_it_asks_for():
    latches = {Latches: SimpleNamespace(phase_numbers=np.array([[2, 0]]))}
    engine = SimpleNamespace(object_states=lambda: "objects")
    plant = SimpleNamespace(
        contact_wrench=lambda i: ("wrench", i), part=latches.get, engine=engine
    )
    nothing = (None,) * 4
    assert senses_of(plant, ()) == (("wrench", 0), None, *nothing)
    assert senses_of(plant, (Sense.WRENCH,)) == (("wrench", 0), None, *nothing)
    assert senses_of(plant, (Sense.WRENCH, Sense.OBJECTS))[1:] == ("objects", *nothing)
    _, objects, phases, *_ = senses_of(plant, (Sense.PHASES,))
    assert objects is None and phases.tolist() == [2, 0]
    latches.clear()
    with pytest.raises(BadInput, match="the policy watches latches, and the scenario has none"):
        senses_of(plant, (Sense.PHASES,))


def test_a_policy_is_told_of_joints_and_of_a_gripper_that_goes_by_commands():
    arm = SimpleNamespace(q=np.array([0.1, 0.2]), v=np.array([0.3, 0.4]))
    gripper = SimpleNamespace(holds=True, borne=2.5, spec=SimpleNamespace(is_commanded=True))
    parts = {Gripper: gripper}
    plant = SimpleNamespace(contact_wrench=lambda i: i, part=parts.get, arm={0: arm}.get)
    senses = senses_of(plant, (Sense.JOINTS, Sense.GRIPPER))
    np.testing.assert_array_equal(senses.joints, [arm.q, arm.v])
    assert senses.gripper.tolist() == [1.0, 2.5]
    gripper.spec.is_commanded = False
    with pytest.raises(BadInput, match="no gripper with gripper.close=null"):
        senses_of(plant, (Sense.GRIPPER,))
    plant.arm = {}.get
    with pytest.raises(BadInput, match="watches joints of an arm, and the scenario has none"):
        senses_of(plant, (Sense.JOINTS,))


def test_rules_are_the_bounds_of_a_task_by_its_quantities_in_steps():
    task, step = make_task("land", {"clearance": 0.35, "success.lasting": 0.5}), 0.02
    rules = Rules.of(task, step, ("my.module:far",))
    at = {name: i for i, name in enumerate(QUANTITIES)}
    assert len(rules.within) == len(rules.beyond) == len(QUANTITIES) + 1
    assert rules.within[at["distance"]] == 0.05 and rules.within[at["speed"]] == 0.3
    assert rules.beyond[at["below"]] == 0.02 and rules.beyond[at["distance"]] == 5.0
    assert np.isinf(rules.within).sum() == len(QUANTITIES) + 1 - 3
    assert tuple(rules[2:]) == (0.35, 25, True, 500, -10.0, 10.0)
    bare = Rules.of(make_task("hold"), step)
    assert bare.clearance == 0.0 and bare.lasting == 50 and not bare.arrives
    assert Rules.of(make_task("land"), step).lasting == 1


def test_a_reward_has_each_different_factor_once():
    """Of `hold`: near has one factor, there two and calm one, of distances, an angle and a change."""
    terms, at = RewardTerms.of(make_task("hold").reward), QUANTITIES.index
    assert terms.weights.tolist() == [0.5, 0.5, -0.05] and terms.counts.tolist() == [1, 2, 1]
    assert terms.factor_of.tolist() == [0, 1, 2, 3] and terms.user == 0
    distance = at("distance")
    assert terms.columns.tolist() == [distance, distance, at("angle"), at("action_change")]
    assert terms.shapes.tolist() == [INVERSE, GAUSS, INVERSE, SQUARE]
    assert terms.k.tolist() == [4.0, 100.0, 10.0, 1.0]
    same = {"of": "speed", "shape": "linear", "k": 2.0}
    twice = {
        "a": {"weight": 1.0, "factors": [same, same]},
        "b": {"weight": 3.0},
        "c": {"weight": 2.0, "factors": [same]},
    }
    terms = RewardTerms.of(make_task("hold", {"reward.terms": twice}).reward)
    assert terms.factor_of.tolist() == [0, 0, 0] and terms.counts.tolist() == [2, 0, 1]
    assert terms.shapes.tolist() == [LINEAR] and terms.k.tolist() == [2.0]


def test_distances_from_obstacles_are_taken_anew_where_seeds_draw_others(monkeypatch):
    class Around:
        def __init__(self, each, others):
            self.worlds = list(each)

        def set_world(self, i, world):
            self.worlds[i] = world

        def distances(self, places, states):
            return list(self.worlds)

    monkeypatch.setattr(clearances, "Surroundings", Around)
    seeds = np.array([5, 6, 7])
    objects = SimpleNamespace(world=lambda i: int(seeds[i]), is_drawn=True)
    worlds = SimpleNamespace(
        seeds=seeds, objects=objects, state=np.zeros((3, 1, 13)), object_states=None,
        scenario=SimpleNamespace(vehicles=[None]),
    )  # fmt: skip
    clearance = clearances.Clearance(worlds)
    assert clearance() == [5, 6, 7]
    seeds[1] = 9
    assert clearance() == [5, 9, 7] and clearance() == [5, 9, 7]
    seeds[0] = 1
    objects.is_drawn = False
    assert clearance() == [5, 9, 7]
    objects.is_drawn = True
    assert clearance() == [1, 9, 7]
