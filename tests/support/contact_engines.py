# SPDX-License-Identifier: BSD-3-Clause
"""The engines with contact, for tests that hold for each; one that is an extra is left out where it is not installed."""

import importlib.util

import pytest

from iap_physics.engines.make import ENGINES, make_engine

HAS_MUJOCO = importlib.util.find_spec("mujoco") is not None
NEEDS_MUJOCO = pytest.mark.skipif(not HAS_MUJOCO, reason="mujoco is an extra, and not installed")
NAMES = ["pybullet", pytest.param("mujoco", marks=NEEDS_MUJOCO)]


def engine_of(name):
    """A fresh engine."""
    assert name in ENGINES
    return make_engine(name)
