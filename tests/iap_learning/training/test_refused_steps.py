# SPDX-License-Identifier: BSD-3-Clause
"""Steps to learn from: cut to their range, none at all, or of another task; weights of a critic's pull."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.training import cloning
from iap_learning.training.experiment import MOST_WEIGHTS, WIDEST, Networks
from iap_learning.training.td3bc import Pull, weight_by_value, weight_by_width
from iap_learning.training.transitions import Transitions


def steps(count: int, value: float = 0.5) -> Transitions:
    numbers = np.full((count, 2), value)
    return Transitions.of(
        numbers, 4.0 * numbers, numbers[:, 0], numbers, np.zeros(count, bool), source="data"
    )


def test_steps_are_single_numbers_with_actions_in_their_range():
    made = steps(3)
    assert (made.actions == 1.0).all() and made.rewards.dtype == np.float32
    with pytest.raises(BadInput, match="^data: has no steps$"):
        steps(0)
    with pytest.raises(BadInput, match="^data: 'observations': not all numbers are finite$"):
        steps(2, np.nan)


def read(monkeypatch, rollouts, observed=3, size=2):
    files = SimpleNamespace(read_dataset=lambda folder, task: SimpleNamespace(rollouts=rollouts))
    monkeypatch.setitem(sys.modules, "iap_learning.datasets.files", files)
    episodes: Any = SimpleNamespace(
        task=SimpleNamespace(name="hold"), observed=observed, size=size
    )
    return cloning._read("data", episodes)  # type: ignore[arg-type]


def test_a_data_set_is_of_the_numbers_of_its_task(monkeypatch):
    one = SimpleNamespace(observations=np.zeros((5, 3)), actions=np.zeros((4, 2)))
    assert read(monkeypatch, [one]) == [one]
    with pytest.raises(BadInput, match="^data: the data set has no episodes$"):
        read(monkeypatch, [])
    said = "^data: has 3 observed numbers and 2 of actions; task 'hold' has {}$"
    with pytest.raises(BadInput, match=said.format("4 and 2")):
        read(monkeypatch, [one], observed=4)
    with pytest.raises(BadInput, match=said.format("3 and 1")):
        read(monkeypatch, [one], size=1)


def test_a_pull_is_weighed_by_the_mean_size_of_values():
    pull = Pull(np.array([3.0, -5.0]), np.zeros((2, 1)), np.zeros((2, 1)))
    assert float(weight_by_value(pull)) == pytest.approx(0.25)


def test_a_pull_is_weighed_by_the_width_of_the_data_over_the_steeper_slope():
    slopes, errors = np.array([[3.0, 1.0], [1.0, 1.0]]), np.array([[2.0, 0.0], [0.0, 2.0]])
    found = np.asarray(weight_by_width(Pull(np.zeros(2), slopes, errors)))
    steep = np.array([5.0, 3.0])  # its own mean square, or that of all
    np.testing.assert_allclose(found, 2.0 / 2.0 * np.sqrt(2.0 / steep), rtol=1e-6)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((32, WIDEST + 1), f"{WIDEST + 1} units in a layer, at most {WIDEST}"),
        ((WIDEST, 1 + MOST_WEIGHTS // WIDEST), "weights between hidden layers, at most"),
    ],
)
@pytest.mark.parametrize("name", ["actor", "critic"])
def test_networks_that_memory_cannot_hold_are_refused(name, sizes, said):
    small = {"actor": (4,), "critic": (4,)}
    with pytest.raises(ValueError, match=f"key '{name}': .*{said}"):
        Networks(**{**small, name: sizes})
    assert Networks(**{**small, name: (WIDEST, MOST_WEIGHTS // WIDEST)})
    assert Networks(**{**small, name: ()})
