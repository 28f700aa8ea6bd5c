# SPDX-License-Identifier: BSD-3-Clause
"""Policies that see images fly single flights: as their episodes do, with the camera that they were trained with."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from contact_engines import NAMES

from iap_description.errors import BadInput
from iap_learning.evaluation.batched import fly_batched
from iap_learning.evaluation.engines import fly_in_engine
from iap_learning.evaluation.flyers import baseline
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.platform.kind import PlatformMonitor
from iap_learning.tasks.kinds.registry import make_episodes, task_of_policy
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.vehicles.vehicle import Vehicle

SEED = 7


def test_in_the_closed_form_it_flies_as_its_episodes_do_bit_for_bit() -> None:
    policy = Policy.load("navigate")
    episodes = make_episodes("navigate", 2)
    seen = episodes.reset(seeds=[SEED - 1, SEED])
    with Simulation.of("navigate", engine="closed_form", seed=SEED) as simulation:
        for _ in range(30):
            seen = episodes.step(policy(seen)).observation
            for _ in range(10):
                simulation.step()
            np.testing.assert_array_equal(simulation.state, episodes.worlds.state[1])
        assert simulation.state[0, 0] > 1.0


def test_a_flight_that_is_cut_has_not_arrived(tmp_path: Path) -> None:
    result = record("navigate", engine="closed_form", duration=1.0, folder=tmp_path / "run")
    assert result.metrics["outcome"] == "not_arrived"
    assert not result.metrics["task"]["success"]
    assert result.metrics["task"]["distance_m"] > 10.0
    assert result.metrics["task"]["time_s"] is None
    assert result.failure == "task 'navigate' has not succeeded after 1.00 s"


def test_a_monitor_judges_the_distance_at_the_end_and_the_time_in_whole_steps() -> None:
    task = task_of_policy(Policy.load("navigate"))
    scenario = resolve("navigate", Options(engine="closed_form", seed=SEED))[0]
    vehicle = Vehicle.of(scenario, scenario.vehicles[0])
    monitor, x = PlatformMonitor(task, scenario, vehicle), vehicle.start[None].copy()
    plant: Any = SimpleNamespace(state=lambda _: x, t=0.0)
    assert monitor.metrics(plant)["distance_m"] is None
    start, goal = x[0, 0, :3].copy(), vehicle.timeline.goal[:3]
    for n in range(3 * task.repeat + task.repeat // 2):  # half a step more, which does not count
        x[0, 0, :3] = start + 0.1 * (n // task.repeat) * (goal - start)
        monitor.observe(plant)
    whole = np.linalg.norm(goal - start)
    np.testing.assert_allclose(monitor.distances, whole * np.array([1.0, 0.9, 0.8]), rtol=1e-6)
    judged = monitor.metrics(plant)
    assert judged["distance_m"] == pytest.approx(0.8 * whole, rel=1e-6)
    assert (judged["success"], judged["time_s"], monitor.is_over) == (False, None, False)
    assert monitor.time == pytest.approx(3 * task.repeat * scenario.dt)
    x[0, 0, :3] = goal
    while not monitor.is_over:
        monitor.observe(plant)
    judged, arrived = monitor.metrics(plant), monitor.time
    assert (judged["outcome"], judged["success"]) == ("arrived", True)
    assert judged["time_s"] == arrived and judged["distance_m"] == pytest.approx(0.0, abs=1e-6)
    assert monitor.success == f"arrived after {arrived:.2f} s, 0.00 m from the goal"
    assert monitor.failure is None
    for _ in range(2 * task.repeat):
        monitor.observe(plant)  # after its end
    assert monitor.time == arrived


def test_a_monitor_says_what_became_of_a_task_only_once_it_is_over() -> None:
    task = task_of_policy(Policy.load("navigate"))
    scenario = resolve("navigate", Options(engine="closed_form", seed=SEED))[0]
    vehicle = Vehicle.of(scenario, scenario.vehicles[0])
    monitor, x = PlatformMonitor(task, scenario, vehicle), vehicle.start[None].copy()
    plant: Any = SimpleNamespace(state=lambda _: x, t=0.0)
    for _ in range(task.repeat):
        monitor.observe(plant)
    so_far = f"task '{task.name}' has not succeeded after {task.repeat * scenario.dt:.2f} s"
    assert (monitor.failure, monitor.is_over) == (so_far, False)
    x[0, 0, :3] += 1000.0
    for _ in range(task.repeat):
        monitor.observe(plant)
    late = f"task '{task.name}' has not succeeded after {2 * task.repeat * scenario.dt:.2f} s"
    assert monitor.is_over and not monitor.succeeded
    assert monitor.failure == f"{late}: out_of_bounds"
    assert monitor.metrics(plant)["outcome"] == "out_of_bounds"
    assert monitor.metrics(plant)["time_s"] is None


def test_it_goes_on_from_a_snapshot_and_begins_anew_after_a_reset() -> None:
    with Simulation.of("navigate", engine="closed_form", seed=SEED) as simulation:
        begun = simulation.snapshot()
        flown = [[simulation.step() for _ in range(60)][-1]]
        simulation.restore(begun)
        flown.append([simulation.step() for _ in range(60)][-1])
        simulation.reset()
        flown.append([simulation.step() for _ in range(60)][-1])
        for again in flown[1:]:
            np.testing.assert_array_equal(again, flown[0])


@pytest.mark.slow
@pytest.mark.parametrize("engine", NAMES)
def test_with_contact_it_arrives_and_the_flight_ends_there(engine: str, tmp_path: Path) -> None:
    result = record("navigate", engine=engine, seed=SEED, folder=tmp_path / "run")
    assert result.metrics["outcome"] == "completed"
    assert result.metrics["policy"]["name"] == "navigate"
    judged = result.metrics["task"]
    assert (judged["name"], judged["success"], judged["outcome"]) == ("navigate", True, "arrived")
    assert judged["distance_m"] <= 0.5
    assert 4.0 < judged["time_s"] < 10.0


@pytest.mark.slow
def test_who_sees_nothing_flies_into_what_stands_there() -> None:
    task = task_of_policy(Policy.load("navigate"))
    many = fly_batched(task, baseline("controller"), [SEED, SEED + 2])
    blind = fly_in_engine(task, baseline("controller"), "closed_form", [SEED, SEED + 2])
    assert blind.outcomes == many.outcomes
    assert "collided" in blind.outcomes


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"sensors.depth_camera": None}, "key 'sensors.depth_camera': .* there is no camera"),
        ({"sensors.depth_camera.width": 64}, "key 'sensors.depth_camera.width': 64, but policy"),
        ({"sensors.depth_camera.rate": 30.0}, "key 'sensors.depth_camera.rate': 28.57.* 20 Hz"),
        (
            {"sensors.depth_camera.outputs": ["segmentation"]},
            "key 'sensors.depth_camera.outputs'",
        ),
    ],
)
def test_another_camera_is_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(BadInput, match=named):
        Simulation.of("navigate", engine="closed_form", settings=settings)
