# SPDX-License-Identifier: BSD-3-Clause
"""Iterations and legs of a training by what is asked of their parts, which are made up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_learning.training import online
from iap_learning.training.online import OnlineStage

NOBODY = SimpleNamespace(success=np.zeros(0, bool), returns=np.zeros(0), seconds=np.zeros(0))


class State(SimpleNamespace):
    """A state of the training, as far as it is looked at."""

    def _replace(self, **changes: Any) -> "State":
        return State(**{**self.__dict__, **changes})


@pytest.fixture
def stage(monkeypatch) -> Any:
    """Seven iterations of 20 steps each, of which two go together and 50 steps count for the scaling."""
    made: Any = object.__new__(OnlineStage)
    ppo = SimpleNamespace(
        horizon=5, last_rate=0.0, critic_first=0, actor_rate=1.0, critic_rate=1.0
    )
    made._experiment = SimpleNamespace(
        seed=1, reward=0.1, worlds=4, normalisation=SimpleNamespace(least=0.1, until=50)
    )
    made._online, made._ppo = SimpleNamespace(together=2, curriculum=None, ppo=ppo), ppo
    made._level, made.steps_each, made.iterations, made._ended = 1.0, 20, 7, []
    made.rows, made._epoch, made._blocks = [], None, ()
    made._log = SimpleNamespace(add=lambda stage, steps, report: made.rows.append((steps, report)))
    made._judge = lambda network, scaler, steps: {"judged": (scaler, steps)}
    made.begun = []
    experience = SimpleNamespace(ended=NOBODY, observations="seen")
    made._collector = SimpleNamespace(
        collect=lambda *_: experience, restart=lambda seeds: made.begun.append(len(made.rows))
    )
    monkeypatch.setattr(online, "batch_of", lambda *_: None)
    monkeypatch.setattr(
        online, "improved", lambda ppo, epoch, learner, *_: (learner, {"loss": 0.5})
    )
    monkeypatch.setattr(online, "updated", lambda moments, seen: moments + 1)
    monkeypatch.setattr(online, "scaling", lambda moments, least: (moments, least))
    monkeypatch.setattr(online, "State", lambda learner, moments, level: State(
        learner=learner, moments=moments, level=level))  # fmt: skip
    monkeypatch.setattr(online.EndedEpisodes, "of", lambda parts: len(parts))
    return made


def begin(level: float = 1.0) -> State:
    actor = SimpleNamespace(network="net", log_sigma=np.zeros(2))
    return State(learner=SimpleNamespace(actor=actor), moments=0, level=np.array(level))


def test_legs_are_of_two_iterations_the_last_of_which_is_judged_and_end_with_the_training(stage):
    legs = list(stage.legs(begin(), 0))
    assert [done for _, done in legs] == [2, 4, 6, 7]
    assert [steps for steps, _ in stage.rows] == [20 * k for k in range(1, 8)]
    assert [steps for steps, row in stage.rows if "judged" in row] == [40, 80, 120, 140]
    assert stage.begun == [0, 2, 4, 6]  # worlds begin anew with every leg
    assert all(row["loss"] == 0.5 and row["sigma"] == 1.0 for _, row in stage.rows)
    assert list(stage.legs(begin(), 7)) == []


def test_a_training_goes_on_where_it_was(stage):
    assert [done for _, done in stage.legs(begin(), 4)] == [6, 7]
    assert [steps for steps, _ in stage.rows] == [100, 120, 140]


def test_what_is_seen_counts_for_the_scaling_until_its_steps(stage):
    (*_, last) = [state for state, _ in stage.legs(begin(), 0)]
    assert last.moments == 3  # at 0, 20 and 40 steps
    judged = [row["judged"] for _, row in stage.rows if "judged" in row]
    assert judged[0] == ((2, 0.1), 40) and judged[-1] == ((3, 0.1), 140)


def test_a_curriculum_rises_by_the_episodes_of_the_leg_and_worlds_are_of_its_level(
    stage, monkeypatch
):
    asked, flown = [], []
    stage._online.curriculum = SimpleNamespace(
        risen=lambda level, ended: asked.append((level, ended)) or min(level + 0.25, 1.0)
    )
    keys = {"task": "hold", "scenario": {}, "settings": None, "threads": 1}
    stage._experiment.__dict__.update(keys)
    stage._whole, stage._source = "whole", "task.yaml"
    same = stage._collector
    monkeypatch.setattr(online, "scenario_at", lambda curriculum, scenario, level: level)
    monkeypatch.setattr(online, "make_episodes", lambda *_, scenario, **__: scenario)
    monkeypatch.setattr(online, "Collector", lambda worlds, *_: flown.append(worlds) or same)
    levels = [float(state.level) for state, _ in stage.legs(begin(0.5), 0)]
    assert levels == [0.75, 1.0, 1.0, 1.0]
    assert asked == [(0.5, 2), (0.75, 2), (1.0, 2), (1.0, 1)]
    assert flown == [0.5, 0.75, "whole"]  # made where the level changes
