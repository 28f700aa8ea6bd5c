# SPDX-License-Identifier: BSD-3-Clause
"""Environments as gymnasium has them: names, checks, seeds, ends, pictures, and what is wrong."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import iap_learning  # noqa: F401 - gymnasium knows the tasks from here on
from iap_description.errors import BadInput
from iap_learning.registration import name_of
from iap_learning.tasks.task import TASKS
from iap_sensors.cameras.make import make_renderer

BRIEF = {"settings": {"seconds": 0.2}}


def many(name="iap/Hold-v0", count=5, **options):
    return gymnasium.make_vec(name, count, vectorization_mode="vector_entry_point", **options)


@pytest.mark.parametrize("task", TASKS.names())
@pytest.mark.filterwarnings("error")
def test_gymnasium_has_nothing_to_say(task):
    check_env(gymnasium.make(name_of(task)).unwrapped, skip_render_check=True)


def test_names():
    assert name_of("hold") == "iap/Hold-v0"
    assert name_of("aerial_gym_position") == "iap/AerialGymPosition-v0"


@pytest.mark.parametrize("name", ["iap/Hold-v0", "iap/Docking-v0"])
def test_pictures_of_all_steps_are_a_film_in_real_time(name):
    single, several = gymnasium.make(name).unwrapped, many(name, 2)
    for env in (single, several):
        assert env.metadata["render_fps"] == pytest.approx(1.0 / env.episodes.dt, abs=0.5)
        assert env.metadata["render_modes"] == ["rgb_array"]


def test_a_task_can_be_a_file(tmp_path):
    path = tmp_path / "brief.yaml"
    text = TASKS.file("hold").read_text(encoding="utf-8")
    path.write_text(text.replace("seconds: 5.0", "seconds: 0.04"), encoding="utf-8")
    env = gymnasium.make("iap/Hold-v0", task=str(path))
    env.reset(seed=0)
    assert [env.step(np.zeros(4, np.float32))[3] for _ in range(2)] == [False, True]


def test_spaces_are_those_of_float32():
    env = many()
    for space in (env.observation_space, env.action_space, env.single_observation_space):
        assert space.dtype == np.float32
    observation, _ = env.reset(seed=1)
    assert observation in env.observation_space
    assert env.step(env.action_space.sample())[0] in env.observation_space


def test_worlds_with_a_seed_are_single_environments_with_theirs():
    env, single = many(**BRIEF), gymnasium.make("iap/Hold-v0", **BRIEF)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (25, 5, 4)).astype(np.float32)
    observation, info = env.reset(seed=40)
    assert info["seed"].tolist() == [40, 41, 42, 43, 44]
    alone, said = single.reset(seed=43)
    assert said == {"seed": 43}
    np.testing.assert_array_equal(observation[3], alone)
    for each in actions:
        observation, reward, terminated, truncated, info = env.step(each)
        alone, gain, ended, cut, said = single.step(each[3])
        assert (reward[3], terminated[3], truncated[3]) == (gain, ended, cut)
        if ended or cut:
            np.testing.assert_array_equal(info["final_obs"][3], alone)
            alone, said = single.reset()
        np.testing.assert_array_equal(observation[3], alone)


def test_the_last_observation_of_an_episode_is_kept():
    env = many(**BRIEF)
    assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    first, _ = env.reset(seed=2)
    total = np.zeros(5)
    for _ in range(10):
        observation, reward, terminated, truncated, info = env.step(np.zeros((5, 4)))
        total += reward
    assert truncated.all()
    assert not terminated.any()
    assert info["_final_obs"].all()
    last = np.stack(info["final_obs"])
    assert last.shape == first.shape
    assert not np.array_equal(last, observation)  # which is a new episode's first
    np.testing.assert_allclose(info["final_info"]["return"], total)
    np.testing.assert_allclose(info["final_info"]["seconds"], 0.2)
    assert info["final_info"]["seed"].tolist() == [2, 3, 4, 5, 6]
    assert info["final_info"]["outcome"].tolist() == ["time"] * 5


def test_failures_are_terminated_and_not_truncated():
    env = many()
    env.reset(seed=1)
    actions = np.zeros((5, 4), np.float32)
    actions[2] = np.nan
    observation, _, terminated, truncated, info = env.step(actions)
    assert terminated.tolist() == [False, False, True, False, False]
    assert not truncated.any()
    assert np.isfinite(observation).all()
    assert info["final_info"]["outcome"].tolist() == [None, None, "invalid_command", None, None]
    assert info["final_obs"][0] is None
    assert np.isfinite(info["final_obs"][2]).all()


def test_gymnasium_s_own_vector_of_single_environments_is_the_same():
    options = {"autoreset_mode": AutoresetMode.SAME_STEP}
    sync = gymnasium.make_vec(
        "iap/Hold-v0", 3, vectorization_mode="sync", vector_kwargs=options, **BRIEF
    )
    env = many(count=3, **BRIEF)
    np.testing.assert_array_equal(sync.reset(seed=1)[0], env.reset(seed=1)[0])
    for k in range(12):
        actions = np.full((3, 4), 0.05 * k, np.float32)
        theirs, ours = sync.step(actions), env.step(actions)
        for one, other in zip(theirs[:4], ours[:4], strict=True):
            np.testing.assert_array_equal(one, other)
        assert set(theirs[4]) - {
            "seed",
            "_seed",
            "outcome",
            "_outcome",
            "seconds",
            "_seconds",
        } <= (set(ours[4]))


def test_some_worlds_are_reset_by_a_mask():
    env = many()
    env.reset(seed=1)
    for _ in range(3):
        before = env.step(env.action_space.sample())[0]
    mask = np.array([True, False, False, True, False])
    after, _ = env.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal(after[~mask], before[~mask])
    assert not (after[mask] == before[mask]).all(axis=1).any()


def test_a_seed_flies_the_same_again():
    flown = []
    for _ in range(2):
        env = many()
        rows = [env.reset(seed=[9, 3, 5, 1, 2])[0]]
        rows += [env.step(np.full((5, 4), 0.3))[0] for _ in range(5)]
        flown.append(np.stack(rows))
    np.testing.assert_array_equal(*flown)
    unseeded = [many().reset()[1]["seed"].tolist() for _ in range(2)]
    assert unseeded[0] != unseeded[1]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"scenario": {"wind.colour": 1}}, "unknown key 'wind.colour'"),
        ({"platform": "five_moons"}, "five_moons"),
        ({"render_mode": "smell"}, "render_mode 'smell': choose rgb_array"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_wrong_is_said_in_one_line(options, text):
    for make in (gymnasium.make, many):
        with pytest.raises(BadInput, match=text):
            make("iap/Hold-v0", **options)


def test_actions_and_seeds_of_another_shape_are_refused():
    env = gymnasium.make("iap/Hold-v0", disable_env_checker=True)
    env.reset(seed=1)
    with pytest.raises(BadInput, match=r"action: has shape \(3,\); \(4,\) is expected"):
        env.step(np.zeros(3))
    with pytest.raises(BadInput, match="reset: 5 seeds are expected, got 2"):
        many().reset(seed=[1, 2])


WITHOUT = """
import sys
sys.modules["gymnasium"] = None
import iap_learning.tasks.kinds.platform.episodes
import iap_learning.environments.task_env
"""


@pytest.mark.slow
def test_without_gymnasium_one_line_says_how_to_get_it():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "environments need gymnasium, which is not installed" in last
    assert "requirements/lock/learning.txt" in last


@pytest.fixture
def drawable():
    try:
        make_renderer("opengl").close()
    except BadInput as error:
        pytest.skip(str(error))


def test_pictures_show_the_platform(drawable):
    env = gymnasium.make("iap/Hold-v0", render_mode="rgb_array")
    env.reset(seed=1)
    first = env.render()
    assert first.shape == (360, 480, 3)
    assert first.dtype == np.uint8
    for _ in range(25):
        env.step(np.array([0.0, 1.0, 0.0, 0.0], np.float32))
    later = env.render()
    changed = (first.astype(int) - later).any(axis=2)
    assert 0.002 < changed.mean() < 0.5  # the platform has moved, the field has not
    env.close()
    pictures = many(count=2, render_mode="rgb_array")
    pictures.reset(seed=1)
    assert [each.shape for each in pictures.render()] == [(360, 480, 3)] * 2
    pictures.close()


def test_pictures_show_rotors_at_their_tilts(drawable):
    env = gymnasium.make("iap/Hold-v0", render_mode="rgb_array", platform="tilt_4")
    env.reset(seed=1)
    upright = env.render()
    tilts = env.unwrapped.episodes.worlds.plant.propulsion[0].rotors.tilt
    tilts += 0.7
    tilted = env.render()
    assert (upright.astype(int) - tilted).any(axis=2).sum() > 20
    env.close()


def test_pictures_show_the_obstacles_of_each_episode(drawable):
    """Two episodes that stand still at one place see other fields, one of them again the same."""
    env = gymnasium.make("iap/Navigate-v0", render_mode="rgb_array")
    first, other, again = (env.reset(seed=seed) and env.render() for seed in (1, 2, 1))
    assert (first != other).any(axis=2).mean() > 0.02
    np.testing.assert_array_equal(first, again)
    env.close()
