# SPDX-License-Identifier: BSD-3-Clause
"""Episodes as single runs in an engine: by which keys who flies them, how they end, and those that are shown."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput, FlightFailed
from iap_learning.evaluation import engines
from iap_learning.evaluation.results import Results
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import ARRIVED, CRASHED

TASK = SimpleNamespace(name="hold", settings={"a": 1, "b": 2})


class Episode:
    """An episode that ends after some periods."""

    def __init__(self, simulation, ends, outcome):
        self._simulation, self._ends, self._end = simulation, ends, outcome
        self.outcome, self.measures = RUNNING, {"time": 0.5}

    @property
    def succeeded(self):
        return self.outcome == ARRIVED

    def observe(self):
        if self._simulation.steps == self._ends:
            self.outcome = self._end


class Simulation:
    """A simulation that counts its steps, and may fail."""

    flight = "flight"

    def __init__(self, fails_at=None):
        self.steps, self.resets, self._fails_at = 0, 0, fails_at
        self.loop = SimpleNamespace(k=0)

    def step(self):
        self.steps += 1
        self.loop.k = self.steps
        if self.steps == self._fails_at:
            raise FlightFailed("hit_ground", 0.1, "it fell")

    def reset(self):
        self.steps, self.resets = 0, self.resets + 1


@pytest.fixture
def single(monkeypatch):
    """Single runs of a kind, whose episodes end after three periods."""
    run = SimpleNamespace(script="own", by_policy={"b": 3}, outcome=ARRIVED)
    run.episode = lambda simulation, task: Episode(simulation, 3, run.outcome)
    monkeypatch.setattr(engines, "single_run_of", lambda task: run)
    return run


@pytest.mark.parametrize(
    ("policy", "settings"),
    [
        ("", {"a": 1, "b": 2, "policy": None}),
        ("script", {"a": 1, "b": 2, "policy": "own"}),
        ("p.npz", {"a": 1, "b": 3, "policy": "p.npz"}),
    ],
)
def test_a_policy_flies_by_its_kind_s_keys_and_a_script_by_those_of_the_task(
    single, policy, settings
):
    flyer = SimpleNamespace(flies_alone=True, policy=policy, name="x")
    assert engines.run_settings(TASK, flyer) == settings
    flyer.flies_alone = False
    with pytest.raises(BadInput, match="'x' flies episodes alone, with --engine batched"):
        engines.run_settings(TASK, flyer)


@pytest.mark.parametrize(
    ("outcome", "ending"), [(ARRIVED, (True, "arrived")), (CRASHED, (False, "crashed"))]
)
def test_an_episode_is_flown_until_it_ends_and_waits_before_each_period(single, outcome, ending):
    single.outcome, simulation, waits = outcome, Simulation(), []
    found = engines._fly(simulation, TASK, lambda: waits.append(simulation.steps))
    assert found == (*ending, {"time": 0.5}) and waits == [0, 1, 2]


def test_a_flight_that_fails_is_a_failure_by_its_cause(single):
    assert engines._fly(Simulation(fails_at=2), TASK) == (False, "hit_ground", {"time": 0.5})


class Viewer:
    """Shows episodes, of which the first two shall begin again."""

    def __init__(self):
        self.said, self._wants = [], [True, True, False]

    def begin(self, flight):
        self.said.append(flight)

    def attach(self, simulation):
        pass

    def allow(self, k, periods):
        self.said.append((k, periods))

    @property
    def wants_reset(self):
        return self._wants.pop(0)


def test_an_episode_that_is_shown_begins_again_as_often_as_somebody_wants(single):
    simulation, viewer = Simulation(), Viewer()
    assert engines._show(simulation, TASK, viewer)[0] and simulation.resets == 2
    said = [each for each in viewer.said if each == "flight" or each[1] == 1]
    assert len(said) == len(viewer.said) == 12 and said[0] == said[4] == said[8] == "flight"
    assert [k for k, _ in said[1:4]] == [0, 1, 2]


def test_failures_are_recorded_once_a_cause_even_where_a_flight_left_nothing(
    single, monkeypatch, tmp_path
):
    flown, told = [], []

    def record(task, flyer, engine, seed, folder):
        flown.append((engine, seed, folder))
        if seed == 9:
            raise FlightFailed("hit_ground", 0.0, "")
        return SimpleNamespace(folder=folder, metrics={"outcome": "crashed"})

    monkeypatch.setattr(engines, "record_episode", record)
    results = Results(
        np.array([7, 8, 9, 10]), np.array([True, False, False, False]), ["a", "b", "c", "b"], {}
    )
    flyer = SimpleNamespace(flies_alone=True, policy="", name="x")
    made = engines.record_failures(results, TASK, flyer, "mujoco", tmp_path, told.append)
    home = tmp_path / "failures"
    assert flown == [("mujoco", 8, home / "b"), ("mujoco", 9, home / "c")]
    assert told == ["0 of 2: b", "1 of 2: c"]
    assert made["b"] == (home / "b", "mujoco", "crashed") and made["c"] == (
        None,
        "mujoco",
        "hit_ground",
    )


@pytest.mark.parametrize(
    ("asked", "closest", "engine"),
    [
        ("pybullet", "mujoco", "pybullet"),
        ("batched", "mujoco", "mujoco"),
        ("batched", "auto", "installed"),
    ],
)
def test_runs_that_stand_for_many_worlds_are_flown_in_the_closest_engine(
    single, monkeypatch, asked, closest, engine
):
    single.engine = closest
    monkeypatch.setattr(engines, "default_engine", lambda: "installed")
    assert engines.recording_engine(TASK, asked) == engine
