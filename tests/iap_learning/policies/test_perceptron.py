# SPDX-License-Identifier: BSD-3-Clause
"""The perceptron of policies beside its formula in numpy."""

import numpy as np
import pytest

from iap_learning.policies.perceptron import Network


def made(sizes, scale=1.0):
    rng = np.random.default_rng(sum(sizes))
    pairs = list(zip(sizes[:-1], sizes[1:], strict=True))
    weights = [(scale * rng.normal(size=pair)).astype(np.float32) for pair in pairs]
    biases = [rng.normal(size=n).astype(np.float32) for n in sizes[1:]]
    mean, deviation = rng.normal(size=sizes[0]), rng.uniform(0.5, 2.0, sizes[0])
    return mean.astype(np.float32), deviation.astype(np.float32), weights, biases


@pytest.mark.parametrize("sizes", [(3, 2), (5, 7, 2), (4, 2, 9, 3)])
def test_layers_are_bent_but_the_last_which_is_cut_at_one(sizes):
    mean, deviation, weights, biases = parts = made(sizes, 0.4)
    network = Network.of(*parts)
    o = np.random.default_rng(1).normal(size=(50, sizes[0])).astype(np.float32)
    h = (o - mean) / deviation
    for W, b in zip(weights[:-1], biases[:-1], strict=True):
        h = np.tanh(h @ W + b)
    raw = h @ weights[-1] + biases[-1]
    assert (np.abs(raw) > 1.0).any() and (np.abs(raw) < 1.0).any()
    np.testing.assert_allclose(network(o), np.clip(raw, -1.0, 1.0), atol=2e-6)
    np.testing.assert_array_equal(network(o)[7], network(o[7:8])[0])
    assert network.sizes.tolist() == list(sizes)


def test_what_is_no_number_stays_none():
    network = Network.of(*made((3, 4, 2)))
    actions = network(np.array([[0.0, np.nan, 0.0], [0.0, 0.0, 0.0]], np.float32))
    assert np.isnan(actions[0]).all() and np.isfinite(actions[1]).all()
