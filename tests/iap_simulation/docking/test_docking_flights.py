# SPDX-License-Identifier: BSD-3-Clause
"""Dockings that the script flies: one by one in the engines, and many in the batched contact."""

import json

import numpy as np
import pytest
from contact_engines import NAMES

from iap_description.errors import BadInput
from iap_description.states import P, V
from iap_physics.latching.latches import Latches
from iap_simulation.docking.pair_laws import docked_positions
from iap_simulation.docking.pair_pilot import DockingPilot
from iap_simulation.docking.worlds import DockingWorlds
from iap_simulation.runs.run import record
from iap_simulation.simulation.simulation import Simulation

SCRIPT = {"policy": "script"}
LATE = {"latency": 0.01, "latency_spread": 0.01, "dropout": 0.1}  # of measured states


@pytest.fixture(scope="module")
def many():
    worlds = DockingWorlds.of("docking", 64)
    worlds.fly_script()
    return worlds


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.mark.slow
def test_the_script_docks_in_every_engine(name):
    with Simulation.of("docking", engine=name, seed=0, settings=SCRIPT) as simulation:
        while not simulation.is_done:
            simulation.step()
        task, plant = simulation.task, simulation.plant
        metrics = task.metrics(plant)
        assert task.failure is None
        assert metrics["latch_time_s"] < metrics["lock_time_s"] < metrics["docking_time_s"] - 3.0
        assert [event["what"] for event in metrics["events"]] == ["caught", "locked"]
        # both go on, as one body
        x = [simulation.state_of(vehicle)[0] for vehicle in ("target", "chaser")]
        np.testing.assert_allclose(x[0][10:], x[1][10:], atol=0.01)
        assert all(np.linalg.norm(row[V]) < 0.1 for row in x)
        middle = 0.5 * (x[0][P] + x[1][P])
        np.testing.assert_allclose(
            middle, docked_positions(simulation.scenario).mean(axis=0), atol=0.1
        )


def test_the_script_docks_nearly_always(many):
    records = many.records
    assert records.succeeded.sum() >= 62
    assert records.lock[records.succeeded].mean() < 3.0
    assert (records.calm - records.lock)[records.succeeded].mean() < 1.5
    assert np.quantile(records.force_peak, 0.95) < 60.0
    assert np.nanmax(records.closing_speed) < 0.5


@pytest.mark.parametrize(("delays", "within"), [((0.0, 0.0), 1e-3), ((0.03, 0.06), 3e-3)])
def test_engines_and_batch_fly_alike_until_they_touch(name, delays, within):
    """Also where commands and measurements are late by different times, some get lost, and laws assume others."""
    late = {f"vehicles.{i}.model_error.delay": delay for i, delay in enumerate(delays)}
    late["docking.script.assumed_delay"] = max(delays) / 2.0
    if max(delays) > 0.0:
        late |= {f"vehicles.{i}.state_noise.{key}": x for i in range(2) for key, x in LATE.items()}
    worlds = DockingWorlds.of("docking", [2], settings=late)
    with Simulation.of("docking", engine=name, seed=2, settings=SCRIPT | late) as simulation:
        while not worlds.pairs.touches[0]:
            worlds.step_script()
            simulation.step()
            for i, vehicle in enumerate(("target", "chaser")):
                own, other = simulation.state_of(vehicle)[0], worlds.pairs.x[0, i]
                assert np.abs(own[P] - other[P]).max() < within
        assert worlds.times[0] > 1.0


def test_gusts_push_a_pair_of_many_as_they_push_one_in_an_engine():
    """They are filtered white noise of the seed: what a control period adds depends on its length."""
    gusty = {"wind.speed": 2.0, "wind.turbulence": 8.0}
    worlds = DockingWorlds.of("docking", [2], settings=gusty)
    calm = DockingWorlds.of("docking", [2])
    with Simulation.of(
        "docking", engine="pybullet", seed=2, settings=SCRIPT | gusty
    ) as simulation:
        for _ in range(120):
            worlds.step_script()
            calm.step_script()
            simulation.step()
        apart = [
            np.abs(simulation.state_of(vehicle)[0, P] - worlds.pairs.x[0, i, P]).max()
            for i, vehicle in enumerate(("target", "chaser"))
        ]
    moved = np.abs(worlds.pairs.x[0, :, P] - calm.pairs.x[0, :, P]).max()
    assert moved > 5e-3
    assert max(apart) < 0.1 * moved


def test_a_world_of_many_is_that_world_alone_bit_for_bit(many):
    alone = DockingWorlds.of("docking", [7])
    alone.fly_script()
    assert alone.records.calm[0] == many.records.calm[7]
    assert alone.records.force_peak[0] == many.records.force_peak[7]
    np.testing.assert_array_equal(alone.pairs.caught[0], many.pairs.caught[7])


def test_reset_worlds_fly_as_fresh_ones():
    late = {f"vehicles.{i}.state_noise.{key}": x for i in range(2) for key, x in LATE.items()}
    worlds = DockingWorlds.of("docking_hard", 3, settings=late)
    for _ in range(150):
        worlds.step_script()
    worlds.reset([1], seeds=[11])
    fresh = DockingWorlds.of("docking_hard", [11], settings=late)
    for _ in range(100):
        worlds.step_script()
        fresh.step_script()
    np.testing.assert_array_equal(worlds.pairs.x[1], fresh.pairs.x[0])
    np.testing.assert_array_equal(worlds.rpm[1], fresh.rpm[0])


def test_a_flight_goes_on_from_a_snapshot_across_the_latch():
    with Simulation.of("docking", engine="mujoco", seed=3, settings=SCRIPT) as simulation:
        while not simulation.plant.part(Latches).events:
            simulation.step()
        before = simulation.snapshot()
        rows = [simulation.step().copy() for _ in range(60)]
        assert len(simulation.plant.part(Latches).events) == 2
        simulation.restore(before)
        again = [simulation.step().copy() for _ in range(60)]
        np.testing.assert_array_equal(again, rows)
        first = simulation.reset()
        assert not simulation.plant.part(Latches).events
        np.testing.assert_array_equal(
            first, Simulation.of("docking", engine="mujoco", seed=3, settings=SCRIPT).state
        )


@pytest.mark.slow
def test_a_run_tells_when_and_how_it_docked(tmp_path):
    result = record("docking", folder=tmp_path / "run", seed=2, settings=SCRIPT)
    docking = result.metrics["docking"]
    assert result.metrics["outcome"] == "completed"
    assert docking["success"]
    assert result.metrics["collisions"] == []  # they are meant to touch
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["docking"] == docking
    caught = docking["events"][0]
    assert caught["what"] == "caught"
    assert caught["depth_m"] >= 0.115
    assert caught["closing_mps"] <= 0.5
    assert 0.0 < docking["force_peak_n"] <= 60.0
    assert result.metrics["duration_s"] == pytest.approx(docking["docking_time_s"], abs=0.006)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"docking.success.peak_force": 1.0}, "more than the 1 N of a docking"),
        ({"latches.dock.depth": 0.13}, "was not locked within 4 s"),
        ({"docking.success.speed": 1e-3}, "were not calm for 3 s within 4 s"),
    ],
)
def test_what_is_no_docking_says_why(tmp_path, settings, fault):
    settings = {**SCRIPT, "docking.success.within": 4.0, "docking.success.settle": 4.0, **settings}
    result = record("docking", folder=tmp_path / "run", engine="mujoco", seed=2, settings=settings)
    assert result.metrics["outcome"] == "not_docked"
    assert fault in result.failure
    assert not result.metrics["docking"]["success"]


@pytest.mark.slow
def test_undocked_the_vehicles_part(tmp_path):
    settings = {**SCRIPT, "latches.dock.release": 2.9, "duration": 3.5}
    result = record("docking", folder=tmp_path / "run", engine="mujoco", seed=2, settings=settings)
    events = [event["what"] for event in result.metrics["docking"]["events"]]
    assert events == ["caught", "locked", "released"]


@pytest.mark.parametrize(
    ("scenario", "settings", "fault"),
    [
        ("two_platforms", {}, "no key 'docking'"),
        ("docking", {"draw.com": 0.01}, "draw no com"),
        ("docking", {"latches.dock.release": 3.0}, "one latch that stays"),
        (
            "docking",
            {"vehicles.0.model_error.com": [0.01, 0.0, 0.0]},
            "no faults, disturbances or",
        ),
        ("docking", {"docking.script.assumed_delay": 0.2}, "docking.script.assumed_delay"),
        ("docking", {"docking.success.calm_time": 7.5}, "calm_time"),
    ],
)
def test_what_worlds_do_not_have_is_refused(scenario, settings, fault):
    with pytest.raises(BadInput, match=fault):
        DockingWorlds.of(scenario, 2, settings=settings)


@pytest.mark.slow
def test_the_hard_script_docks_mostly():
    worlds = DockingWorlds.of("docking_hard", 128)
    worlds.fly_script()
    assert worlds.records.succeeded.mean() > 0.95


def test_of_a_pair_the_target_alone_follows_a_reference():
    pilot = object.__new__(DockingPilot)
    pilot._numbers = (1, 0)  # target and chaser
    assert list(pilot.followers) == [1]
