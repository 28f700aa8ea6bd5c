# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints: what is read is what was written, or one line says why not."""

import numpy as np
import pytest

pytest.importorskip("jax")

from iap_description.errors import BadInput
from iap_learning.training.checkpoints import TrainingProgress, load, restored, save
from iap_learning.training.experiment import Choice, make_experiment
from iap_learning.training.networks import make_network
from iap_learning.training.training import digest


def tree(size=4):
    network = make_network(np.random.default_rng(0), (3, size, 2), 1.0)
    return {"network": network, "count": np.array(7, np.int32)}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "checkpoint.npz"
    save(path, TrainingProgress(done=3), tree())
    return path


def test_a_checkpoint_has_all_bits(file):
    checkpoint = load(file)
    found = restored(checkpoint, tree())
    assert checkpoint.progress == TrainingProgress(done=3)
    assert found["count"] == 7
    for mine, wanted in zip(found["network"], tree()["network"], strict=True):
        np.testing.assert_array_equal(mine.weights, wanted.weights)
        assert mine.weights.dtype == np.float32


def test_equal_trees_give_equal_files(file, tmp_path):
    save(tmp_path / "other.npz", TrainingProgress(done=3), tree())
    assert (tmp_path / "other.npz").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_checkpoint_that_is_cut_short_is_refused_in_one_line(file, share):
    data = file.read_bytes()
    file.write_bytes(data[: int(share * len(data))])
    with pytest.raises(BadInput, match=r"checkpoint\.npz: not a checkpoint, or damaged") as error:
        load(file)
    assert "\n" not in str(error.value)


def test_a_flipped_bit_is_seen(file):
    data = bytearray(file.read_bytes())
    data[data.index(tree()["network"][0].weights.tobytes("A"))] ^= 1
    file.write_bytes(data)
    with pytest.raises(BadInput, match=r"checkpoint\.npz"):
        restored(load(file), tree())


def test_a_missing_checkpoint_is_refused(tmp_path):
    with pytest.raises(BadInput, match="there is no checkpoint to go on from"):
        load(tmp_path / "checkpoint.npz")


def test_a_checkpoint_of_other_networks_is_refused(file):
    with pytest.raises(BadInput, match=r"has shape \(3, 4\) of float32; \(3, 5\)"):
        restored(load(file), tree(5))
    with pytest.raises(BadInput, match="the experiment has other ones"):
        restored(load(file), {"network": tree()["network"]})


def test_an_experiment_is_identified_by_its_values_not_by_the_order_of_its_keys():
    one = make_experiment("hold", Choice())
    turned, other = (
        one.model_copy(update={"settings": each}) for each in ({"b": 2, "a": 1}, {"a": 1, "b": 3})
    )
    first = one.model_copy(update={"settings": {"a": 1, "b": 2}})
    assert digest(turned) == digest(first) != digest(other)
