# SPDX-License-Identifier: BSD-3-Clause
"""Parts of dockings: what is remembered of actions, what is reported, and episodes in an engine."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.tasks.kinds.docking import kind as docking
from iap_learning.tasks.kinds.docking.episodes import DockingEpisodes
from iap_learning.tasks.kinds.docking.pair import DockingPair, PairMemory
from iap_learning.tasks.kinds.docking.policy_pair import PairInput, PairResponder
from iap_learning.tasks.kinds.registry import make_task
from iap_physics.latching.latches import Phase
from iap_simulation.scenario.resolving import resolved
from iap_simulation.tasks.outcomes import ARRIVED, RUNNING


def test_three_actions_are_remembered_the_newest_first():
    memory = PairMemory.of(2, 2)
    for k in range(1, 5):
        memory.keep_action(np.array([[k, 10.0 * k], [-k, 0.0]]))
    np.testing.assert_array_equal(memory.actions, [[4, 40, 3, 30, 2, 20], [-4, 0, -3, 0, -2, 0]])
    assert memory.observers.shape[:2] == memory.predicted.shape[:2] == (2, 2)
    assert memory.coupled.shape[0] == memory.missed.shape[0] == 2


@pytest.fixture(scope="module")
def scenario():
    return resolved("docking", make_task("docking").settings, {})[0]


@pytest.fixture
def pair(scenario):
    task = make_task(
        "docking", {"observation": {"action": 1.0, "actions_before": 0.5, "latched": 0.25}}
    )
    return DockingPair(task, scenario)


def rows():
    x = np.zeros((2, 13))
    x[1, 0], x[:, 2], x[:, 6] = 2.0, 1.0, 1.0
    return x


def test_a_pair_sees_the_action_that_it_holds_and_those_before_and_the_latch(pair):
    size = pair.interface.scale.size
    for k, phase in ((1, Phase.OPEN), (2, Phase.CAUGHT)):
        pair.sense(rows(), np.zeros(6), phase)
        pair.take(np.full(size, 0.1 * k))
    pair.sense(rows(), np.zeros(6), Phase.CAUGHT)
    seen = pair.observe()
    np.testing.assert_allclose(seen[:size], 0.2)
    np.testing.assert_allclose(seen[size : 2 * size], 0.1 * 2)
    np.testing.assert_allclose(seen[2 * size : -1], 0.0)
    assert seen[-1] == 4.0
    pair.reset()
    pair.sense(rows(), np.zeros(6), Phase.OPEN)
    assert not pair.observe().any()
    pair.take(np.full(size, 9.0))
    np.testing.assert_allclose(pair.observe()[:size], 1.0)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (np.zeros(5), r"has shape \(5,\); \(6,\) is expected"),
        (np.full(6, np.nan), "a number is NaN"),
    ],
)
def test_an_action_that_is_none_is_refused(pair, action, why):
    with pytest.raises(BadInput, match=f"^action: {why}$"):
        pair.take(action)


def test_a_pair_that_hovers_is_asked_for_its_weight(pair):
    pair.sense(rows(), np.zeros(6), Phase.OPEN)
    pair.take(np.zeros(6))
    command = pair.command()
    params = pair.interface.control.laws.pair
    np.testing.assert_allclose(command[:, 0], params.mass * params.gravity, rtol=1e-6)
    np.testing.assert_allclose(command[:, 1:], 0.0, atol=1e-6)
    assert command is not pair.command()


def test_actions_without_accelerations_have_nothing_that_a_disturbance_is_taken_from():
    keys = {"action.kind": "thrust_rates", "action.low": [-1.0] * 4, "action.high": [1.0] * 4}
    assert make_task("docking", {**keys, "action.compensated": False}).action.columns == 4
    with pytest.raises(
        BadInput, match="key 'compensated': kind 'thrust_rates' commands no accelerations"
    ):
        make_task("docking", {**keys, "action.compensated": True})


def test_what_is_reported_of_a_docking_is_copied_from_its_records():
    records = SimpleNamespace(
        force_peak=np.array([1.0, 2.0]), closing_speed=np.array([0.1, 0.2]), lock=np.array([3.0, 4.0]),
        calm=np.array([5.0, 6.0]),
    )  # fmt: skip
    pairs = SimpleNamespace(caught=np.array([[7.0, 70.0], [8.0, 80.0]]))
    worlds = SimpleNamespace(records=records, pairs=pairs)
    references = np.array([[0.0, 2.0, 4.0], [2.0, 4.0, 8.0]])
    episodes = SimpleNamespace(worlds=worlds, interface=SimpleNamespace(references=references))
    report = DockingEpisodes.report(episodes)
    assert {key: each.tolist() for key, each in report.items()} == {
        "force_peak": [1.0, 2.0], "closing_speed": [0.1, 0.2], "latch_time": [7.0, 8.0], "time": [3.0, 4.0],
        "calm_from": [5.0, 6.0],
    }  # fmt: skip
    records.force_peak[:] = 9.0
    assert report["force_peak"].tolist() == [1.0, 2.0]
    place = DockingEpisodes.viewpoint.fget(episodes)
    assert [each.tolist() for each in place] == [[1.0, 3.0, 6.0]] * 2


class Monitor:
    """A monitor of a docking that is told what has come of it."""

    def __init__(self, scenario, spec, limits):
        self.limits, self.outcome, self.docked, self.seen = limits, RUNNING, [], []
        self.progress = SimpleNamespace(lock=3.0, calm=4.0, force_peak=5.0, closing_speed=0.1)

    def observe(self, plant):
        self.seen.append(plant)
        self.outcome = ARRIVED


@pytest.mark.parametrize(("seconds", "longest"), [(5.0, 5.0), (100.0, None)])
def test_a_docking_in_an_engine_ends_as_its_monitor_says(scenario, monkeypatch, seconds, longest):
    times = []
    monkeypatch.setattr(docking, "DockingMonitor", Monitor)
    monkeypatch.setattr(docking, "limits_of", lambda task, limits, seconds: times.append(seconds))
    task = make_task("docking", {"seconds": seconds})
    episode = docking.DockingEngineEpisode(SimpleNamespace(scenario=scenario, plant="plant"), task)
    success = scenario.docking.success
    assert times == [pytest.approx(longest or success.within + success.settle)]
    assert np.isnan(episode.measures["latch_time"]) and episode.outcome == RUNNING
    episode.observe()
    assert episode.succeeded and episode._monitor.seen == ["plant"]
    episode._monitor.docked += [1.5, 2.5]
    assert episode.measures == {
        "time": 3.0, "calm_from": 4.0, "force_peak": 5.0, "closing_speed": 0.1, "latch_time": 2.5,
    }  # fmt: skip


def test_a_scenario_that_docks_nothing_is_refused():
    simulation = SimpleNamespace(scenario=SimpleNamespace(docking=None))
    with pytest.raises(BadInput, match="^scenario 'docking' docks nothing$"):
        docking.DockingEngineEpisode(simulation, make_task("docking"))


def test_an_earlier_instant_of_the_target_begins_a_new_flight():
    made, answers = [], []

    class Pilot:
        inputs = ()

        def lacks(self, stamp, k):
            return ()

        def __call__(self, k, sensed):
            answers.append((k, sensed.phase))
            return np.full((2, 4), float(k))

    def make():
        made.append(1)
        return Pilot()

    responder = PairResponder(make)
    assert (responder.stamp, responder.sequence, len(made)) == (-1, 0, 1)
    for stamp, k in ((10, 2), (20, 3), (5, 1)):
        for source in (PairInput.TARGET, PairInput.CHASER):
            assert responder.take(source, stamp, k, np.zeros(13)) is None
        for source in (PairInput.TARGET_WRENCH, PairInput.CHASER_WRENCH):
            assert responder.take(source, stamp, 0, np.zeros(6)) is None
        answer = responder.take(PairInput.PHASE, stamp, 99, Phase.OPEN)
        np.testing.assert_array_equal(answer, k)
        assert (responder.stamp, responder.sequence) == (stamp, k)
    assert len(made) == 2 and responder.answered == 3 and answers[-1] == (1, Phase.OPEN)
