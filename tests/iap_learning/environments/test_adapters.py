# SPDX-License-Identifier: BSD-3-Clause
"""Tasks in other libraries: the same steps, and truncations that have the value of the last observation."""

import sys
from importlib import import_module

import gymnasium
import numpy as np
import pytest

import iap_learning  # noqa: F401 - gymnasium knows the tasks from here on
from iap_description.errors import BadInput

WORLDS, GAMMA = 4, 0.9
SHORT = {"seconds": 0.1}  # five steps, after which episodes are truncated


def vector_env(**settings):
    chosen = {"settings": {**SHORT, **settings}, "vectorization_mode": "vector_entry_point"}
    return gymnasium.make_vec("iap/Hold-v0", WORLDS, **chosen)


def reference_steps(actions):
    """Observations before, after and at the ends of steps, of the vector environment with seed 0."""
    env = vector_env()
    rows, (seen, _) = [], env.reset(seed=0)
    for each in actions:
        following, reward, terminated, truncated, info = env.step(each)
        last = following.copy()
        for i in np.flatnonzero(terminated | truncated):
            last[i] = info["final_obs"][i]
        rows.append((seen.copy(), last, following.copy(), reward, terminated, truncated))
        seen = following
    return rows


def drawn_actions(steps):
    return np.random.default_rng(0).uniform(-0.1, 0.1, (steps, WORLDS, 4)).astype(np.float32)


@pytest.mark.parametrize(
    ("adapter", "module", "distribution"),
    [
        ("sb3", "stable_baselines3", "stable-baselines3"),
        ("skrl", "torch", "skrl"),
        ("rl_games", "torch", "rl-games"),
        ("torchrl", "torch", "torchrl"),
        ("sample_factory", "torch", "torch"),
        ("pettingzoo", "pettingzoo", "pettingzoo"),
    ],
)
def test_an_adapter_whose_library_is_not_installed_says_what_installs_it(
    adapter, module, distribution, monkeypatch
):
    name = f"iap_learning.environments.adapters.{adapter}"
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, name, raising=False)
    line = (
        f"adapter '{adapter}' needs {module}, which is not installed:"
        f" {sys.executable} -m pip install {distribution}"
    )
    with pytest.raises(BadInput) as refused:
        import_module(name)
    assert str(refused.value) == line


def test_stable_baselines_sees_the_last_observation_of_what_is_truncated():
    pytest.importorskip("stable_baselines3")
    from iap_learning.environments.adapters.sb3 import SB3Worlds

    env, actions = SB3Worlds(vector_env(), reward=0.5), drawn_actions(7)
    seen = env.reset()
    for each, (before, last, following, reward, _, truncated) in zip(
        actions, reference_steps(actions), strict=True
    ):
        np.testing.assert_array_equal(seen, before)
        seen, scaled, done, infos = env.step(each)
        np.testing.assert_array_equal(seen, following)
        np.testing.assert_allclose(scaled, 0.5 * reward, rtol=1e-6)
        np.testing.assert_array_equal(done, truncated)
        for i in np.flatnonzero(done):
            np.testing.assert_array_equal(infos[i]["terminal_observation"], last[i])
            assert infos[i]["TimeLimit.truncated"] and infos[i]["episode"]["l"] == 5
    assert env.env_is_wrapped(object) == [False] * WORLDS


def test_stable_baselines_adds_the_discounted_value_of_that_observation():
    pytest.importorskip("stable_baselines3")
    import torch
    from stable_baselines3 import PPO

    from iap_learning.environments.adapters.sb3 import SB3Worlds

    env = SB3Worlds(vector_env())
    rewards, lasts = [], []
    step = env.step_wait

    def noted():
        result = step()
        rewards.append(result[1].copy())
        lasts.append([info.get("terminal_observation") for info in result[3]])
        return result

    env.step_wait = noted
    model = PPO(
        "MlpPolicy",
        env,
        n_steps=6,
        batch_size=24,
        n_epochs=1,
        gamma=GAMMA,
        learning_rate=0.0,
        seed=0,
    )
    model.learn(6 * WORLDS)
    added = model.rollout_buffer.rewards - np.array(rewards)
    values = (
        model.policy.predict_values(torch.as_tensor(np.array(lasts[4]))).detach().numpy()[:, 0]
    )
    np.testing.assert_allclose(added[4], GAMMA * values, rtol=1e-4)
    assert not added[[0, 1, 2, 3, 5]].any()


def test_skrl_adds_the_discounted_value_of_the_last_observation():
    pytest.importorskip("skrl")
    torch = pytest.importorskip("torch")
    from skrl.envs.wrappers.torch import wrap_env

    from iap_learning.environments.adapters.skrl import bootstrap_from_last

    recorded = []

    class Agent:
        def record_transition(self, **given):
            recorded.append(given)

    agent, env, actions = Agent(), wrap_env(vector_env()), drawn_actions(6)
    bootstrap_from_last(agent)
    env._seed = 0
    env.reset()
    for each, (_, last, following, *_, truncated) in zip(
        actions, reference_steps(actions), strict=True
    ):
        seen, reward, _, cut, infos = env.step(torch.as_tensor(each))
        agent.record_transition(next_observations=seen, infos=infos, rewards=reward)
        np.testing.assert_array_equal(cut.numpy()[:, 0], truncated)
        np.testing.assert_array_equal(seen.numpy(), following)
        np.testing.assert_array_equal(recorded[-1]["next_observations"].numpy(), last)


def test_torchrl_resets_by_mask_and_keeps_the_last_observation():
    pytest.importorskip("torchrl")
    import torch
    from tensordict import TensorDict
    from torchrl.envs.utils import check_env_specs

    from iap_learning.environments.adapters.torchrl import TorchRLWorlds

    env = TorchRLWorlds("hold", WORLDS, settings=SHORT, reward=0.5)
    check_env_specs(env)
    env.set_seed(0)
    actions = drawn_actions(7)
    state = env.reset()
    for each, (before, last, following, reward, _, truncated) in zip(
        actions, reference_steps(actions), strict=True
    ):
        np.testing.assert_array_equal(state["observation"].numpy(), before)
        state["action"] = torch.as_tensor(each)
        whole, state = env.step_and_maybe_reset(state)
        np.testing.assert_array_equal(whole["next", "observation"].numpy(), last)
        np.testing.assert_array_equal(state["observation"].numpy(), following)
        np.testing.assert_allclose(whole["next", "reward"].numpy()[:, 0], 0.5 * reward, rtol=1e-6)
        np.testing.assert_array_equal(whole["next", "truncated"].numpy()[:, 0], truncated)
        assert not whole["next", "terminated"].any()
    assert isinstance(state, TensorDict)


def test_pettingzoo_has_an_agent_for_each_vehicle():
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import parallel_api_test

    from iap_learning.environments.adapters.pettingzoo import ParallelTask

    env = ParallelTask("docking", settings={"seconds": 0.2})
    assert len(env.possible_agents) == 2
    parallel_api_test(env, num_cycles=30)
    alone = gymnasium.make("iap/Docking-v0", settings={"seconds": 0.2})
    observations, _ = env.reset(seed=3)
    wanted, _ = alone.reset(seed=3)
    halves = np.random.default_rng(1).uniform(-1.0, 1.0, (2, 3)).astype(np.float32)
    for _ in range(10):
        for seen in observations.values():
            np.testing.assert_array_equal(seen, wanted)
        actions = dict(zip(env.agents, halves, strict=True))
        observations, rewards, terminated, truncated, _ = env.step(actions)
        wanted, reward, is_over, is_cut, _ = alone.step(halves.ravel())
        assert set(rewards.values()) == {reward}
        assert set(terminated.values()) == {is_over} and set(truncated.values()) == {is_cut}
    assert is_cut and env.agents == []


def test_rl_games_rewards_with_the_discounted_value_of_the_last_observation():
    pytest.importorskip("rl_games")
    from types import SimpleNamespace

    from iap_learning.environments.adapters.rl_games import RLGamesWorlds

    env, actions = RLGamesWorlds(vector_env()), drawn_actions(6)
    env.algo = SimpleNamespace(
        device="cpu",
        gamma=GAMMA,
        rewards_shaper=SimpleNamespace(scale_value=0.1),
        get_values=lambda seen: seen["obs"][:, :1] + 2.0,
    )
    seen = env.reset()
    for each, (before, last, following, reward, _, truncated) in zip(
        actions, reference_steps(actions), strict=True
    ):
        np.testing.assert_array_equal(seen, before)
        seen, found, over, _ = env.step(each)
        np.testing.assert_array_equal(seen, following)
        np.testing.assert_array_equal(over, truncated)
        added = np.where(truncated, GAMMA * (last[:, 0] + 2.0) / 0.1, 0.0)
        np.testing.assert_allclose(found, reward + added, rtol=1e-5)
    assert len(env.success) == WORLDS


def test_sample_factory_tells_time_limits_from_ends():
    pytest.importorskip("sample_factory")
    from iap_learning.environments.adapters.sample_factory import SampleFactoryWorlds

    env, actions = SampleFactoryWorlds(vector_env()), drawn_actions(6)
    assert env.num_agents == WORLDS
    seen, _ = env.reset()
    for each, (before, _, following, reward, terminated, truncated) in zip(
        actions, reference_steps(actions), strict=True
    ):
        np.testing.assert_array_equal(seen["obs"].numpy(), before)
        seen, found, ended, cut, _ = env.step(each)
        np.testing.assert_array_equal(seen["obs"].numpy(), following)
        np.testing.assert_allclose(found.numpy(), reward, rtol=1e-6)
        np.testing.assert_array_equal(ended.numpy(), terminated)
        np.testing.assert_array_equal(cut.numpy(), truncated)
