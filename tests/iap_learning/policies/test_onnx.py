# SPDX-License-Identifier: BSD-3-Clause
"""Exported policies compute what the policy computes."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from made_up_policies import observations, policy

from iap_description.errors import BadInput
from iap_learning.policies.onnx import export, model_of


def test_an_exported_policy_acts_alike_on_a_thousand_observations(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    flown, seen, path = policy(), observations(1000), tmp_path / "policy.onnx"
    export(flown, path)
    (action,) = ReferenceEvaluator(onnx.load(str(path))).run(None, {"observation": seen})
    np.testing.assert_allclose(np.asarray(action), flown(seen), atol=1e-5)


def test_an_exported_policy_says_what_its_numbers_mean() -> None:
    pytest.importorskip("onnx")
    (prop,) = model_of(policy()).metadata_props
    assert prop.key == "header"
    assert json.loads(prop.value)["rate_hz"] == policy().header.rate_hz


def test_without_onnx_the_line_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(BadInput, match=r"requirements/lock/training\.txt"):
        model_of(policy())
