# SPDX-License-Identifier: BSD-3-Clause
"""Data sets hold what was flown, to the bit, and other programs read them by Minari alone."""

import json

import numpy as np
import pytest

from iap_bringup.cli.main import main
from iap_description.errors import BadInput
from iap_learning.datasets.rollouts import collect
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task

pytest.importorskip("minari")

from iap_learning.datasets.files import _rollout, free_id, read_dataset, write_dataset
from iap_learning.registration import spec_of

BRIEF = {"seconds": 0.2}


def flown(count, seeds, settings=BRIEF):
    episodes = make_episodes("docking", count, settings=settings)
    expert = agent_of("noisy_script", episodes)
    return episodes, collect(episodes, expert, seeds)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    root = tmp_path_factory.mktemp("datasets")
    episodes, rollouts = flown(3, range(5, 12))
    name = free_id(root, "docking", "noisy_script")
    spec = spec_of("docking", BRIEF)
    return root, name, rollouts, write_dataset(root, name, rollouts, episodes, "expert", spec)


def test_what_is_read_is_what_was_flown(written):
    root, name, rollouts, folder = written
    assert folder == root / "iap/docking/noisy_script-v0"
    read = read_dataset(folder, make_task("docking", BRIEF))
    assert read.metadata["iap_successes"] == 0
    for one, other in zip(rollouts, read.rollouts, strict=True):
        for key in one._fields:
            np.testing.assert_array_equal(getattr(one, key), getattr(other, key), strict=True)
    assert free_id(root, "docking", "noisy_script") == "iap/docking/noisy_script-v1"


def test_minari_itself_reads_them_and_makes_their_environment(written, monkeypatch):
    import minari

    root, name, rollouts, _ = written
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(root))
    dataset = minari.load_dataset(name)
    assert dataset.total_episodes == len(rollouts)
    env = dataset.recover_environment()
    for rollout, episode in zip(rollouts, dataset.iterate_episodes(), strict=True):
        np.testing.assert_array_equal(episode.observations, rollout.observations)
        observation, _ = env.reset(seed=rollout.seed)
        np.testing.assert_array_equal(observation, rollout.observations[0])
        for k, action in enumerate(rollout.actions):  # it flies the same again
            observation, reward, *_ = env.step(action)
            np.testing.assert_array_equal(observation, rollout.observations[k + 1])
            assert reward == rollout.rewards[k]


def test_an_episode_does_not_depend_on_how_many_worlds_there_are(written):
    _, _, rollouts, _ = written
    _, alone = flown(1, range(5, 12))
    for one, other in zip(rollouts, alone, strict=True):
        assert one.seed == other.seed
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.observations, other.observations)


def test_a_data_set_of_another_task_is_refused(written):
    *_, folder = written
    with pytest.raises(BadInput, match="key 'iap_task_sha256': it is of task 'docking'"):
        read_dataset(folder, make_task("docking"))


def test_what_is_no_data_set_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no data set of Minari"):
        read_dataset(tmp_path, make_task("docking"))


@pytest.mark.parametrize(
    ("about", "seed", "success", "outcome"),
    [
        ({}, 0, False, "unknown"),
        ({"seed": None, "options": {"success": True}}, 0, True, "unknown"),
        ({"seed": 7, "options": {"outcome": "time"}}, 7, False, "time"),
    ],
)
def test_an_episode_of_another_program_may_tell_neither_its_seed_nor_how_it_ended(
    about, seed, success, outcome
):
    arrays = {
        "observations": [[1.0, 2.0], [3.0, 4.0]],
        "actions": [[0.5]],
        "rewards": [0.25],
        "terminations": [0],
        "truncations": [1],
    }
    read = _rollout((arrays, about))
    assert (read.seed, read.success, read.outcome) == (seed, success, outcome)
    kinds = [str(getattr(read, key).dtype) for key in arrays]
    assert kinds == ["float32", "float32", "float64", "bool", "bool"]
    assert (read.observations[1, 0], read.actions[0, 0], read.rewards[0]) == (3.0, 0.5, 0.25)
    assert not read.terminations[0] and read.truncations[0]


def test_a_task_without_that_expert_is_refused():
    with pytest.raises(BadInput, match="expert 'script' flies dockings, not task 'hold'"):
        agent_of("script", make_episodes("hold", 1))


def test_the_command_writes_one(tmp_path, capsys):
    given = ["--policy", "script", "--episodes", "4", "--set", "seconds=0.1", "--json"]
    assert main(["dataset", "docking", *given, "--out", str(tmp_path)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["episodes"] == 4
    assert said["steps"] == 20
    assert said["outcomes"] == {"time": 4}
    assert main(["dataset", "docking", "--policy", "nobody", "--out", str(tmp_path)]) == 2
    assert "unknown expert 'nobody'" in capsys.readouterr().err


def test_a_data_set_goes_to_a_folder_that_is_named_from_here(tmp_path, monkeypatch, capsys):
    """As by default, ``datasets``; of another task than dockings, with its own expert."""
    monkeypatch.chdir(tmp_path)
    command = ["dataset", "arm_reach", "--policy", "kinematic", "--episodes", "2"]
    assert main([*command, "--set", "seconds=0.3"]) == 0
    assert "success 0.0 %" in capsys.readouterr().out
    folder = tmp_path / "datasets/iap/arm_reach/kinematic-v0"
    read = read_dataset(folder, make_task("arm_reach", {"seconds": 0.3}))
    assert [len(each.actions) for each in read.rollouts] == [3, 3]
