# SPDX-License-Identifier: BSD-3-Clause
"""Tasks that touch something: a world flies as its single run does, and an agent in it sees that world alone."""

import numpy as np
import pytest

from iap_learning.evaluation.engines import fly_in_engine
from iap_learning.evaluation.flyers import baseline
from iap_learning.tasks.episodes import step_until_over
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_physics.engines.make import is_installed
from iap_simulation.tasks.outcomes import OUTCOMES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco"),
]
FLOWN = [  # task, its agent, and the beginning of an episode in which both have touched [s]
    ("wall_push", "press", 7.0),
    ("slide_along_wall", "glide", 8.0),
    ("peg_in_hole", "insert", 9.0),
    ("push_object", "shove", 6.0),
    ("push_door", "swing", 6.0),
    ("turn_valve", "crank", 8.0),
    ("open_door", "handle", 8.0),
    ("perch_on_wall", "alight", 3.0),
]


def begun(task, count, seconds):
    """The beginning of an episode of so many worlds, as a task of its own."""
    episodes = make_episodes(make_task(task, {"seconds": seconds}), count)
    return episodes, episodes.reset(seeds=range(6 - count, 6))


@pytest.mark.parametrize(("task", "seconds"), [(task, seconds) for task, _, seconds in FLOWN])
def test_the_law_in_worlds_is_the_one_of_single_runs(task, seconds):
    episodes, observation = begun(task, 2, seconds)
    for _ in step_until_over(episodes, observation, lambda _: None):
        pass
    single = make_task(task, {"seconds": seconds})
    results = fly_in_engine(single, baseline("controller"), "mujoco", [5])
    assert list(results.outcomes) == [OUTCOMES[episodes.outcome[1]]]
    report = {name: values[1:] for name, values in episodes.report().items()}
    np.testing.assert_array_equal(results.measures["force_peak"], report["force_peak"])
    assert report["force_peak"] > 0.0
    for name, values in report.items():
        np.testing.assert_allclose(results.measures[name], values, rtol=1e-9)


@pytest.mark.parametrize(("task", "name", "seconds"), FLOWN)
def test_an_agent_flies_each_world_alone_as_with_others(task, name, seconds):
    flown = []
    for count in (2, 1):
        episodes, observation = begun(task, count, seconds)
        agent = agent_of(name, episodes)
        for _ in step_until_over(episodes, observation, lambda _, act=agent: act()):
            pass
        flown.append({key: values[-1] for key, values in episodes.report().items()})
    assert flown[0]["force_peak"] > 0.0
    assert flown[0].keys() == flown[1].keys()
    for key, value in flown[0].items():
        np.testing.assert_array_equal(value, flown[1][key])
