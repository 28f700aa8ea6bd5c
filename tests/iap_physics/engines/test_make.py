# SPDX-License-Identifier: BSD-3-Clause
"""Engines by name: built-in ones and a user's own."""

import sys

import numpy as np
import pytest
from flying import fly_scenario

from iap_description.errors import BadInput
from iap_physics.engines.make import ENGINES, make_engine

OWN = """
from iap_physics.engines.closed_form import ClosedFormEngine

class Own(ClosedFormEngine):
    pass

class Lacking:
    def load(self, world, assemblies): pass
"""


@pytest.fixture(autouse=True)
def own_module(tmp_path, monkeypatch):
    (tmp_path / "own_engine.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("name", ENGINES)
def test_built_in_engines_are_made_by_name(name):
    engine = make_engine(name)
    try:
        assert engine.batch == 1
    finally:
        engine.close()


def test_an_engine_of_ones_own_flies_scenarios():
    own, closed = (
        fly_scenario("hover", engine=name, duration=0.5)[0].x
        for name in ("own_engine:Own", "closed_form")
    )
    np.testing.assert_array_equal(own, closed)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        (
            "raisim",
            "unknown name 'raisim' (choices: pybullet, mujoco, closed_form, or module:Class)",
        ),
        ("own_engine:Lacking", "has no method 'reset'"),
        ("iap_physics.engines.engine:Engine", "is a protocol"),
    ],
)
def test_what_is_no_engine_is_refused_in_one_line(name, named):
    with pytest.raises(BadInput) as refusal:
        make_engine(name)
    assert named in str(refusal.value) and "key 'engine.name'" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_an_engine_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, ENGINES["pybullet"].partition(":")[0], None)
    with pytest.raises(BadInput, match=r"engine\.name.*pybullet"):
        make_engine("pybullet")
