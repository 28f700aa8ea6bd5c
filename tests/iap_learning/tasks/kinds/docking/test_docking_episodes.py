# SPDX-License-Identifier: BSD-3-Clause
"""Dockings as episodes: how they end, and that a pair alone, as engines and nodes fly it, is a world of many."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.tasks.kinds.docking.pair import DockingPair
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_physics.latching.latches import PHASES
from iap_simulation.docking.worlds import DockingWorlds
from iap_simulation.tasks.outcomes import OUTCOMES

STILL = {"draw.position": [0.0, 0.0, 0.0], "draw.attitude_deg": [0.0, 0.0, 0.0]}


def words(episodes):
    return [OUTCOMES[number] for number in episodes.outcome.tolist()]


@pytest.mark.slow
def test_without_actions_the_script_flies_as_it_does_without_episodes():
    episodes, worlds = (
        make_episodes("docking_hard", 3),
        DockingWorlds.of("docking_hard", [4, 5, 6]),
    )
    episodes.reset(seeds=[4, 5, 6])
    for _ in range(200):
        episodes.step(None)
        for _ in range(4):
            worlds.step_script()
    np.testing.assert_array_equal(episodes.worlds.pairs.x, worlds.pairs.x)


def test_the_script_arrives_and_reports_what_is_known():
    episodes = make_episodes("docking", 4)
    episodes.reset(seeds=range(4))
    assert np.isnan(episodes.report()["latch_time"]).all()
    over, success, known = np.zeros(4, bool), np.zeros(4, bool), {}
    while not over.all():
        step = episodes.step(None)
        new = (step.terminated | step.truncated) & ~over
        over |= new
        success |= new & step.success
        known = episodes.report()
    assert success.all()
    assert not step.truncated.any()
    assert (known["force_peak"] < 60.0).all()
    assert (known["closing_speed"] <= 0.5).all()
    assert (known["latch_time"] > 1.0).all()


@pytest.mark.parametrize(
    ("settings", "action", "word"),
    [
        ({"seconds": 0.1}, 0.0, "time"),
        ({"fails_beyond": 0.5}, 0.0, "out_of_bounds"),
        ({}, np.nan, "invalid_command"),
        ({"fails_beyond": 10.0}, -1.0, "crashed"),
    ],
)
def test_ends(settings, action, word):
    """Without action the chaser is 0.67 m from where it is docked; with the lowest thrust both fall."""
    kind = {"action.kind": "thrust_rates", "action.low": [-1.0] * 4, "action.high": [1.0] * 4}
    own = kind if word == "crashed" else {}
    sink = {"action.compensated": False, **own} if own else {}
    episodes = make_episodes("docking", 2, settings={**sink, **settings}, scenario=STILL)
    actions = np.zeros((2, episodes.size))
    actions[0, 0 :: episodes.size // 2] = action
    for _ in range(episodes.limit):
        step = episodes.step(actions)
        if step.terminated[0] or step.truncated[0]:
            break
    assert words(episodes)[0] == word
    assert step.truncated[0] == (word == "time")
    assert not step.success[0]
    assert np.isfinite(step.observation).all()
    assert np.isfinite(step.reward).all()
    if word in ("invalid_command", "crashed"):
        assert words(episodes)[1] == "running"
    if word != "time":
        assert step.reward[0] < episodes.task.reward.failure + 0.5


def test_too_large_a_force_ends_an_episode():
    episodes = make_episodes("docking", 1, settings={"force": 5.0})
    while not (step := episodes.step(None)).terminated[0]:
        pass
    assert words(episodes) == ["too_forceful"]
    assert not step.success[0]
    assert episodes.report()["force_peak"][0] > 5.0


@pytest.mark.parametrize("task", ["docking", "docking_hard"])
def test_a_pair_alone_is_a_world_of_many(task):
    episodes = make_episodes(task, 3)
    seen = episodes.reset(seeds=[7, 8, 9])
    pair = DockingPair(make_task(task), episodes.worlds.scenario)
    rng = np.random.default_rng(0)
    worlds = DockingWorlds.of(task, [8])
    for _ in range(60):
        actions = rng.uniform(-1.0, 1.0, (3, episodes.size))
        for k in range(4):
            phase = PHASES[worlds.pairs.phase[0]]
            pair.sense(worlds.measured()[0], worlds.pairs.contact[0], phase)
            if k == 0:
                np.testing.assert_array_equal(pair.observe(), seen[1])
                pair.take(actions[1])
            out = pair.command()
            worlds.advance(out[None, :, 0], out[None, :, 1:])
        seen = episodes.step(actions).observation
    np.testing.assert_array_equal(worlds.pairs.x[0], episodes.worlds.pairs.x[1])


def test_a_pair_refuses_what_is_no_action():
    episodes = make_episodes("docking", 1)
    pair = DockingPair(make_task("docking"), episodes.worlds.scenario)
    with pytest.raises(BadInput, match=r"action: has shape \(3,\); \(6,\) is expected"):
        pair.take(np.zeros(3))
    with pytest.raises(BadInput, match="action: a number is NaN"):
        pair.take(np.full(6, np.nan))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            {"episodes": "chess"},
            "key 'episodes': docking, module_docking, .*, perch_on_wall, or module:NAME",
        ),
        ({"action.kind": "magic"}, "key 'action.kind'"),
        ({"action.low": [0.0]}, "key 'low': kind 'acceleration' has 3 columns"),
        ({"action.kind": "printed"}, "key 'low': kind 'printed' has 6 columns"),
        ({"reward.potential.along": "much"}, "key 'reward.potential.along'"),
        ({"force": 0.0}, "key 'force'"),
    ],
)
def test_what_is_wrong_with_a_task_is_named(settings, text):
    with pytest.raises(BadInput, match=text) as error:
        make_task("docking", settings)
    assert "\n" not in str(error.value)


def test_a_preset_extends_its_task(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("extends: docking\nseconds: 3.0\n", encoding="utf-8")
    own, base = make_task(str(path)), make_task("docking")
    assert own == base.model_copy(update={"name": "mine", "seconds": 3.0})
    path.write_text("extends: nowhere\n", encoding="utf-8")
    with pytest.raises(BadInput, match="unknown task 'nowhere'"):
        make_task(str(path))
