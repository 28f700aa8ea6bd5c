# SPDX-License-Identifier: BSD-3-Clause
"""Policies, their files and ONNX."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_policies import header, observations, policy

from iap_description.errors import BadInput
from iap_learning.policies.layout import Layout
from iap_learning.policies.onnx import export, model_of
from iap_learning.policies.policy import Policy


def by_matrices(flown: Policy, observation: np.ndarray) -> np.ndarray:
    h = (observation - flown.mean) / flown.deviation
    for weights, biases in zip(flown.weights[:-1], flown.biases[:-1], strict=True):
        h = np.tanh(h @ weights + biases)
    return np.clip(h @ flown.weights[-1] + flown.biases[-1], -1.0, 1.0)


def test_actions_are_those_of_products_of_matrices() -> None:
    flown, seen = policy(), observations(1000)
    np.testing.assert_allclose(flown(seen), by_matrices(flown, seen), atol=2e-6)


def test_a_row_has_the_same_bits_in_every_batch() -> None:
    flown, seen = policy(), observations(257)
    together = flown(seen)
    for i in (0, 1, 100, 256):
        np.testing.assert_array_equal(flown(seen[i]), together[i])
        np.testing.assert_array_equal(flown(seen[: i + 1])[i], together[i])


def test_actions_are_clipped_and_what_is_no_number_stays_none() -> None:
    flown = policy()
    flown.biases[-1][:] = 9.0
    flown = Policy(flown.header, flown.mean, flown.deviation, flown.weights, flown.biases)
    seen = observations(2)
    seen[1, 3] = np.nan
    action = flown(seen)
    assert (action[0] == 1.0).all()
    assert np.isnan(action[1]).all()


def test_a_file_gives_back_the_policy_and_equal_policies_give_equal_files(tmp_path: Path) -> None:
    flown, path = policy(), tmp_path / "one.npz"
    flown.save(path)
    read = Policy.load(path)
    assert read.header == flown.header
    assert read.digest == flown.digest == policy().digest
    np.testing.assert_array_equal(read(observations(9)), flown(observations(9)))
    assert read.digest != policy(1).digest


def test_another_layout_is_refused_by_the_key_that_differs() -> None:
    flown = policy()
    mine = flown.header.layout
    flown.check(mine, "here")
    others: dict[str, dict[str, Any]] = {
        "platform": {"platform": "f450"},
        "rate_hz": {"rate_hz": 200.0},
        "observation": {"observation": (("velocity", 54, 2.0),)},
        "observation.velocity": {
            "observation": (("position_error", 30, 1.0), ("velocity", 24, 1.0))
        },
        "action.kind": {"action": mine.action.model_copy(update={"kind": "thrust_rates"})},
        "action.low": {"action": mine.action.model_copy(update={"low": (-5.0,) * 6})},
    }
    for key, changed in others.items():
        with pytest.raises(BadInput, match=f"key '{key}'"):
            flown.check(Layout(**{**dict(mine), **changed}), "scenario 'docking'")


def damaged(path: Path, **changed: Any) -> None:
    """Write a policy's file with other arrays; None leaves one out."""
    policy().save(path)
    with np.load(path) as archive:
        arrays = {**{name: archive[name] for name in archive.files}, **changed}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"mean": None}, "array 'mean' is missing"),
        ({"biases_1": None}, "array 'biases_1' is missing"),
        ({"header": None}, "array 'header' is missing"),
        ({"header": np.array("{")}, "header: not JSON"),
        ({"header": np.array(json.dumps({**header().model_dump(), "format": 2}))}, "key 'format'"),
        ({"weights_1": np.zeros((64, 32))}, "array 'weights_1'"),
        ({"biases_2": np.full(6, np.nan)}, "array 'biases_2'"),
        ({"deviation": np.zeros(54)}, "array 'deviation'"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    tmp_path: Path, changed: dict[str, Any], named: str
) -> None:
    path = tmp_path / "bad.npz"
    damaged(path, **changed)
    with pytest.raises(BadInput, match=named) as refused:
        Policy.load(path)
    assert str(path) in str(refused.value)


def test_a_file_cut_short_or_absent_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "short.npz"
    policy().save(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(BadInput, match="damaged"):
        Policy.load(path)
    with pytest.raises(BadInput, match="no policy 'nowhere'"):
        Policy.load("nowhere")


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


def test_an_exported_policy_asks_for_a_set_of_operators_that_runtimes_of_2022_know() -> None:
    """Opset 17 came with onnxruntime 1.12; a newer one would shut those out."""
    pytest.importorskip("onnx")
    assert [each.version for each in model_of(policy()).opset_import] == [17]
