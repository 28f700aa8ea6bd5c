# SPDX-License-Identifier: BSD-3-Clause
"""DAgger: batches of whole episodes, a right error, flights that are kept, and a policy that learns by them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from interruption import Interruption

pytest.importorskip("jax")

from iap_description.errors import BadInput
from iap_io.runs.run_folder import CHECKPOINT
from iap_learning.policies.blocks.gru import Gru
from iap_learning.policies.policy import Policy
from iap_learning.training import policy_network
from iap_learning.training.aggregation import Flights
from iap_learning.training.dagger import (
    Dagger,
    Demonstration,
    DemonstrationBatch,
    begin,
    make_update,
)
from iap_learning.training.experiment import Choice, Experiment, make_experiment
from iap_learning.training.log import read_progress
from iap_learning.training.moments import Scaling
from iap_learning.training.offline import NetworkShape
from iap_learning.training.training import begin as train
from iap_learning.training.training import go_on

NUMBERS = Dagger(
    expert="field",
    first="field",
    first_episodes=4,
    episodes=3,
    rounds=3,
    together=2,
    first_updates=10,
    updates=5,
    batch=2,
    rate=0.003,
    last_rate=0.1,
    largest_gradient=1.0,
)
SAME = Scaling(np.zeros(2, np.float32), np.ones(2, np.float32))


def episode(steps: int, first: float = 0.0) -> Demonstration:
    observations = first + np.arange(2.0 * steps).reshape(-1, 2)
    return Demonstration(observations.astype(np.float16), np.full((steps, 1), first, np.float32))


def test_episodes_of_a_batch_begin_together_and_count_until_their_ends() -> None:
    scaling = Scaling(np.array([1.0, 0.0], np.float32), np.array([2.0, 1.0], np.float32))
    batch = DemonstrationBatch.of([episode(2), episode(5, 0.5)], scaling, 4)
    assert batch.observations.shape == (8, 2, 2) and batch.actions.shape == (8, 2, 1)
    np.testing.assert_array_equal(batch.weights.T, [[1] * 2 + [0] * 6, [1] * 5 + [0] * 3])
    np.testing.assert_array_equal(batch.observations[:3, 0], [[-0.5, 1.0], [0.5, 3.0], [0, 0]])
    np.testing.assert_array_equal(batch.actions[:, 1, 0], [0.5] * 5 + [0.0] * 3)


def test_updates_are_counted_over_the_rounds() -> None:
    assert [NUMBERS.updates_until(k) for k in range(4)] == [0, 10, 15, 20]
    assert NUMBERS.all_updates == 20


def test_a_memory_learns_what_no_single_observation_tells() -> None:
    """The action is the first observation of the episode: without a memory its mean square, 1, is all that is left."""
    rng, blocks = np.random.default_rng(0), (Gru(kind="gru", size=8),)
    shape = NetworkShape(rng, 2, 1, (8,), (8,))
    state = begin(NUMBERS, policy_network.begin(blocks, shape))
    update = make_update(NUMBERS, blocks)
    errors = []
    for _ in range(400):
        sign = rng.choice([-1.0, 1.0], 16)
        seen = np.zeros((6, 16, 2), np.float32)
        seen[0, :, 0] = sign
        actions = np.broadcast_to(sign[None, :, None], (6, 16, 1)).astype(np.float32)
        batch = DemonstrationBatch(seen, actions, np.ones((6, 16), np.float32))
        state, error = update(state, batch, np.float32(0.01))
        errors.append(float(error))
    assert errors[0] == pytest.approx(1.0, abs=0.05)
    assert errors[-1] < 0.01


def test_steps_behind_an_end_change_nothing() -> None:
    network = policy_network.begin((), NetworkShape(np.random.default_rng(0), 2, 1, (4,), (4,)))
    update, error = make_update(NUMBERS, ()), []
    for steps in (4, 8):
        batch = DemonstrationBatch.of([episode(3), episode(4, 0.5)], SAME, steps)
        error.append(float(update(begin(NUMBERS, network), batch, np.float32(0.0))[1]))
    assert error[0] == pytest.approx(error[1], rel=1e-6)


def test_flights_are_read_as_they_were_written_and_removed_at_the_end(tmp_path: Path) -> None:
    flights = Flights(tmp_path / "dagger")
    flights.add(0, [episode(2), episode(3, 1.0)])
    flights.add(1, [episode(1, 2.0)])
    again = Flights(tmp_path / "dagger")
    again.read(2)
    assert len(again.episodes) == 3
    for one, other in zip(flights.episodes, again.episodes, strict=True):
        np.testing.assert_array_equal(one.observations, other.observations)
        np.testing.assert_array_equal(one.actions, other.actions)
    with pytest.raises(BadInput, match=r"round_0002\.npz"):
        Flights(tmp_path / "dagger").read(3)
    again.remove()
    assert not (tmp_path / "dagger").exists()


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    """Imitation of the script by a policy with a memory, then PPO, on few dockings."""
    tree = {
        "extends": "docking",
        "worlds": 4,
        "threads": 1,
        "networks": {"actor": [8], "critic": [8], "blocks": [{"kind": "gru", "size": 8}]},
        "offline": None,
        "dagger": NUMBERS.model_dump() | {"expert": "script", "first": "noisy_script"},
        "online": {"together": 1, "steps": 64, "ppo": {"horizon": 8, "minibatches": 2}},
    }
    (tmp_path / "imitated.yaml").write_text(yaml.safe_dump(tree))
    return make_experiment(str(tmp_path / "imitated.yaml"), Choice())


def trained(experiment: Experiment, folder: Path, *interruptions: int) -> tuple[object, ...]:
    """Rows and files of a training that was interrupted after so many rows, each time."""
    folder.mkdir()
    for number, at in enumerate(interruptions):
        with pytest.raises(KeyboardInterrupt):
            watch = Interruption(at)
            train(experiment, folder, watch) if number == 0 else go_on(folder, watch)
    go_on(folder) if interruptions else train(experiment, folder)
    rows = read_progress(folder / "progress.csv")
    for row in rows:
        del row["steps_per_s"]
    return rows, *((folder / name).read_bytes() for name in (CHECKPOINT, "policy.npz"))


@pytest.mark.slow
def test_it_goes_on_bit_for_bit_with_its_flights_and_its_memory(
    experiment: Experiment, tmp_path: Path
) -> None:
    whole = trained(experiment, tmp_path / "whole")
    rows: Any = whole[0]
    assert [(row["stage"], row["steps"]) for row in rows] == [
        ("dagger", 10), ("dagger", 15), ("dagger", 20), ("online", 32), ("online", 64),
    ]  # fmt: skip
    assert ["judged_success" in row for row in rows] == [False, True, True, True, True]
    assert (
        rows[3]["divergence"] == 0.0
    )  # the critic learns first: densities are those of the flight
    assert trained(experiment, tmp_path / "parts", 2, 2) == whole
    assert not (tmp_path / "whole" / "dagger").exists()
    flown = Policy.load(tmp_path / "whole" / "policy.npz")
    assert flown.memory == 8 and [block.kind for block in flown.header.blocks] == ["gru"]


def test_an_expert_of_another_task_is_refused(experiment: Experiment, tmp_path: Path) -> None:
    numbers = NUMBERS.model_copy(update={"expert": "glide"})
    other = experiment.model_copy(update={"dagger": numbers})
    (tmp_path / "run").mkdir()
    with pytest.raises(BadInput, match="expert 'glide'"):
        train(other, tmp_path / "run")
