# SPDX-License-Identifier: BSD-3-Clause
"""Agents that dock: who succeeds how often, by which actions, and that their noise is the episode's own."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.datasets.rollouts import collect
from iap_learning.tasks.agents import EXPERTS, read_settings
from iap_learning.tasks.kinds.docking.kind import DockingAgent, DockingAgentSettings
from iap_learning.tasks.kinds.registry import agent_of, make_episodes

THRUSTS = {
    "action.kind": "thrust_rates",
    "action.low": [-0.8, -6.0, -6.0, -6.0],
    "action.high": [0.8, 6.0, 6.0, 6.0],
    "action.compensated": False,
}


def success(task, expert, count, settings=None):
    """Share of dockings that succeed."""
    episodes = make_episodes(task, count, settings=settings)
    flown = collect(episodes, agent_of(expert, episodes), range(count))
    return np.mean([each.success for each in flown])


@pytest.mark.parametrize(
    ("task", "expert", "settings", "least"),
    [
        ("docking", "script", None, 0.9),
        pytest.param("docking", "script", {"repeat": 1}, 0.9, marks=pytest.mark.slow),
        ("docking", "script", {"action.compensated": False}, 0.9),
        ("docking", "script", THRUSTS, 0.9),
        pytest.param("docking", "printed", None, 0.9, marks=pytest.mark.slow),
        ("docking_printed", "printed", None, 0.6),
    ],
)
def test_experts_succeed(task, expert, settings, least):
    assert success(task, expert, 16, settings) >= least


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "expert", "settings"),
    [
        ("docking", "noisy_script", None),
        ("docking_printed", "hasty_printed", None),
        ("docking_printed", "hasty_printed_slow", {"repeat": 4}),
    ],
)
def test_experts_that_are_worse_on_purpose_succeed_in_four_of_ten(task, expert, settings):
    """300 episodes tell 40 % from 31 or 49 % (three standard deviations)."""
    assert 0.31 < success(task, expert, 300, settings) < 0.49


def test_noise_stays_for_as_long_as_it_is_held():
    """Five steps of 20 ms are 0.1 s; the noise is the difference to the same agent without noise in the same states."""
    episodes = make_episodes("docking", 2, settings={"seconds": 0.4})
    settings = read_settings(DockingAgentSettings, "script").model_copy(
        update={"noise": 0.01, "noise_hold": 0.1}
    )
    quiet = DockingAgent(settings.model_copy(update={"noise": 0.0}), episodes)
    noisy = DockingAgent(settings, episodes)
    given = []
    for _ in range(10):
        given.append(noisy() - quiet())
        episodes.step(None)
    inside, across = np.diff(given, axis=0)[[0, 1, 2, 3]], np.diff(given, axis=0)[4]
    assert np.abs(inside).max() < 1e-6
    assert np.abs(across).min() > 1e-5


def test_noise_is_that_of_the_episode_s_seed():
    episodes = make_episodes("docking", 3, settings={"seconds": 0.2})
    settings = read_settings(DockingAgentSettings, "noisy_script").model_copy(
        update={"noise": 0.1}
    )
    quiet = DockingAgent(settings.model_copy(update={"noise": 0.0}), episodes)
    noisy = DockingAgent(settings, episodes)
    episodes.reset(seeds=[1, 2, 1])
    noisy.reset()
    given = noisy() - quiet()
    np.testing.assert_array_equal(given[0], given[2])
    assert np.abs(given[0] - given[1]).max() > 0.01
    draws = np.array([noisy() - quiet() for _ in range(10)])  # the same instant
    assert np.ptp(draws[:, 0], axis=0).max() < 1e-6
    later = []
    for _ in range(8):
        later.append(noisy() - quiet())
        episodes.step(quiet())
    assert np.ptp(np.array(later), axis=0).max() > 0.1  # at every instant another one


def test_actions_are_in_their_range():
    episodes = make_episodes("docking", 4, settings={"action.low": [-0.1] * 3})
    expert = agent_of("noisy_script", episodes)
    for _ in range(20):
        actions = expert()
        assert actions.dtype == np.float32
        assert np.abs(actions).max() <= 1.0
        episodes.step(actions)


def test_experts_are_data(tmp_path):
    text = EXPERTS.file("script").read_text(encoding="utf-8")
    path = tmp_path / "mine.yaml"
    for old, new, said in (
        ("noise: 0.0", "noise: -1.0", "key 'noise'"),
        ("guide: script", "guide: wrench", "key 'wrench': it goes with the guide 'wrench'"),
        ("noise: 0.0", "smell: 0.0", "'smell'|'noise'"),
    ):
        path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(BadInput, match=said):
            read_settings(DockingAgentSettings, str(path))
    path.write_text(text.replace("script: {}", "script: {haste: 1.0}"), encoding="utf-8")
    with pytest.raises(BadInput, match="haste"):
        agent_of(str(path), make_episodes("docking", 1))
