# SPDX-License-Identifier: BSD-3-Clause
"""Policies with drawn weights, and observations for them."""

from typing import Any

import numpy as np

from iap_learning.policies.layout import ActionLayout, Hashes, Header
from iap_learning.policies.policy import Policy

SIZES = (54, 64, 64, 6)
SPAN = 4.0


def header(**changed: Any) -> Header:
    made = Header(
        task="docking",
        scenario="docking",
        platform="f450_dock",
        rate_hz=50.0,
        observation=(("position_error", 30, 1.0), ("velocity", 24, 2.0)),
        action=ActionLayout(kind="acceleration", low=(-SPAN,) * 6, high=(SPAN,) * 6),
        activation="tanh",
        hashes=Hashes(task="0" * 64, data=None),
        training={"seed": 3},
    )
    return made.model_copy(update=changed)


def policy(seed: int = 0) -> Policy:
    rng = np.random.default_rng(seed)
    pairs = list(zip(SIZES[:-1], SIZES[1:], strict=True))
    weights = [rng.normal(0.0, n**-0.5, (n, m)) for n, m in pairs]
    biases = [rng.normal(0.0, 0.1, m) for _, m in pairs]
    mean, deviation = rng.normal(size=SIZES[0]), rng.uniform(0.5, 2.0, SIZES[0])
    return Policy(header(), mean, deviation, weights, biases)


def observations(count: int) -> np.ndarray:
    return np.random.default_rng(1).normal(0.0, 2.0, (count, SIZES[0])).astype(np.float32)
