# SPDX-License-Identifier: BSD-3-Clause
"""Training: the same from the same seed, also when it goes on, and better at its end than at its beginning."""

import shutil

import numpy as np
import pytest
import yaml
from interruption import Interruption

pytest.importorskip("jax")

from iap_description.errors import BadInput
from iap_io.runs.run_folder import CHECKPOINT
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.training.checkpoints import load
from iap_learning.training.experiment import (
    EXPERIMENTS,
    Choice,
    make_experiment,
    read_experiment,
    write_experiment,
)
from iap_learning.training.log import TrainingLog, read_progress
from iap_learning.training.training import begin, go_on

SMALL = (
    "worlds=6",
    "threads=1",
    "online.together=2",
    "online.ppo.horizon=8",
    "online.ppo.minibatches=2",
)
CLONED = ("offline.data.episodes=7", "offline.together=20", "offline.bc.updates=60")


def small(name, steps, *sets, **choice):
    return make_experiment(name, Choice(steps=steps, assignments=(*SMALL, *sets), **choice))


def contents(folder):
    """All that is the same in two trainings of one seed."""
    rows = [
        {key: value for key, value in row.items() if key != "steps_per_s"}
        for row in read_progress(folder / "progress.csv")
    ]
    files = [(folder / name).read_bytes() for name in (CHECKPOINT, "policy.npz")]
    return rows, files


def trained(experiment, folder, *interruptions):
    """A folder in which training was interrupted after so many rows, each time."""
    folder.mkdir()
    for number, at in enumerate(interruptions):
        with pytest.raises(KeyboardInterrupt):
            begin(experiment, folder, Interruption(at)) if number == 0 else go_on(
                folder, Interruption(at)
            )
    go_on(folder) if interruptions else begin(experiment, folder)
    return contents(folder)


@pytest.fixture(scope="module")
def over(tmp_path_factory):
    """A folder of a training that is over, for those who only read it."""
    folder = tmp_path_factory.mktemp("over") / "run"
    trained(small("hold", 100), folder)
    return folder


@pytest.fixture
def copied(over, tmp_path):
    """Such a folder to write in."""
    return shutil.copytree(over, tmp_path / "run")


@pytest.mark.slow
def test_training_that_goes_on_is_bit_for_bit_the_one_that_was_not_interrupted(tmp_path):
    experiment = small("hold", 6 * 8 * 7)
    whole = trained(experiment, tmp_path / "whole")
    assert len(whole[0]) == 7
    assert trained(experiment, tmp_path / "parts", 4, 1) == whole
    assert trained(small("hold", 6 * 8 * 7, seed=1), tmp_path / "other") != whole


@pytest.mark.slow
def test_both_stages_go_on_bit_for_bit(tmp_path):
    experiment = small("docking", 6 * 8 * 4, *CLONED, offline="bc")
    whole = trained(experiment, tmp_path / "whole")
    assert [row["stage"] for row in whole[0]] == ["offline"] * 4 + ["online"] * 4
    assert trained(experiment, tmp_path / "parts", 2, 4) == whole


@pytest.mark.slow
@pytest.mark.parametrize("method", ["td3bc", "iql"])
def test_a_stage_offline_alone_goes_on_bit_for_bit_and_then_does_not_change(tmp_path, method):
    sets = [text.replace("bc.updates", f"{method}.updates") for text in CLONED]
    choice = Choice(assignments=("worlds=6", "threads=1", *sets), offline=method, online="none")
    experiment = make_experiment("docking", choice)
    whole = trained(experiment, tmp_path / "whole")
    assert [row["stage"] for row in whole[0]] == ["offline"] * 4
    assert trained(experiment, tmp_path / "parts", 2) == whole
    go_on(tmp_path / "parts")
    assert contents(tmp_path / "parts") == whole


def test_a_training_that_is_over_does_not_change(copied):
    whole = contents(copied)
    go_on(copied)
    assert contents(copied) == whole


@pytest.mark.slow
def test_threads_change_nothing(over, tmp_path):
    trained(small("hold", 100, "threads=2"), tmp_path / "two")
    arrays = [load(folder / CHECKPOINT).arrays for folder in (over, tmp_path / "two")]
    for name, array in arrays[0].items():
        np.testing.assert_array_equal(array, arrays[1][name])


def test_a_training_whose_table_has_a_foreign_column_does_not_go_on(tmp_path):
    (tmp_path / "progress.csv").write_text("stage,steps,[[epochs\nonline,16,3.0\n")
    with pytest.raises(BadInput, match=r"progress.csv: line 1 is damaged: .*\[\[epochs"):
        TrainingLog(tmp_path, known=1)


def test_a_training_leaves_all_its_files(over):
    names = {path.name for path in over.iterdir()}
    assert names == {
        CHECKPOINT,
        "experiment.yaml",
        "policy.npz",
        "progress.csv",
        "tensorboard",
    }
    assert any((over / "tensorboard").iterdir())
    assert read_experiment(over) == small("hold", 100)


def test_the_policy_s_file_is_the_network_that_was_judged(over):
    policy = Policy.load(over / "policy.npz")
    assert (policy.header.task, policy.header.platform) == ("hold", "three_star")
    assert policy.header.rate_hz == 50.0
    assert policy.header.training["seed"] == 0
    arrays = load(over / CHECKPOINT).arrays
    assert policy.weights[0].shape == arrays[".learner.actor.network.layers[0].weights"].shape
    episodes = make_episodes("hold", 3)
    assert policy(episodes.observe()).shape == (3, 4)


def test_a_reward_that_is_not_finite_ends_training_in_one_line(tmp_path):
    factor = "{of: clearance, shape: linear, k: 1.0e+15}"  # 10 m without obstacles
    huge = f"{{reward.terms: {{a: {{weight: 1.0, factors: [{', '.join([factor] * 20)}]}}}}}}"
    (tmp_path / "run").mkdir()
    with pytest.raises(
        BadInput, match=r"hold\.yaml: key 'reward': a reward is not finite \(got inf\)"
    ):
        begin(small("hold", 100, f"settings={huge}"), tmp_path / "run")


def test_a_checkpoint_is_of_its_own_experiment(copied):
    write_experiment(copied, small("hold", 100, seed=1))
    with pytest.raises(BadInput, match=r"experiment\.yaml: is not the experiment of"):
        go_on(copied)


@pytest.mark.parametrize(
    ("name", "choice", "message"),
    [
        ("dive", {}, "unknown experiment 'dive': choose"),
        ("hold", {"offline": "bc"}, "--offline bc: .* has no numbers for it in key 'offline'"),
        ("hold", {"online": "none"}, "nothing is trained"),
        ("hold", {"assignments": ("online.ppo.gama=1",)}, "unknown key 'online.ppo.gama'"),
        ("hold", {"assignments": ("online.ppo.gamma=2",)}, "key 'online.ppo.gamma'"),
        ("hold", {"steps": 0}, "key 'online.steps'"),
        ("hold", {"seed": -1}, "key 'seed'"),
    ],
)
def test_experiments_that_cannot_be_are_refused_in_one_line(name, choice, message):
    with pytest.raises(BadInput, match=message):
        make_experiment(name, Choice(**choice))


def test_data_of_an_expert_there_is_not_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    with pytest.raises(BadInput, match="nobody"):
        begin(small("docking", 100, "offline.data.policy=nobody"), tmp_path / "run")


@pytest.mark.parametrize("name", EXPERIMENTS.names())
def test_every_experiment_is_complete(name):
    experiment = make_experiment(name, Choice())
    assert yaml.safe_load(yaml.safe_dump(experiment.model_dump(mode="json")))
    own = {"settings": experiment.settings, "scenario": experiment.scenario}
    assert make_episodes(experiment.task, 1, **own).size


@pytest.mark.slow
def test_a_minute_of_training_raises_success(tmp_path):
    """From the flights of an expert that fails more often than not; not every seed's clone is good so soon."""
    sets = ("threads=1", "online.together=10", "offline.data.episodes=256")
    sets += ("offline.bc.updates=2000", "worlds=128")
    experiment = make_experiment("docking", Choice(steps=90_000, seed=1, assignments=sets))
    (tmp_path / "run").mkdir()
    best = begin(experiment, tmp_path / "run").best
    rows = read_progress(tmp_path / "run/progress.csv")
    (cloned,) = [row for row in rows if "data_success" in row]
    assert cloned["data_success"] < 0.6
    assert cloned["judged_success"] > cloned["data_success"] + 0.2
    assert best.success >= max(cloned["judged_success"], 0.95)


def test_more_parts_of_an_epoch_than_it_has_steps_are_refused():
    """Of none of them anything would be learned."""
    sets = ("worlds=4", "online.ppo.horizon=8", "online.ppo.minibatches=33")
    with pytest.raises(
        BadInput, match="'online.ppo.minibatches': 33 parts of an epoch's 32 steps"
    ):
        make_experiment("hold", Choice(assignments=sets))
