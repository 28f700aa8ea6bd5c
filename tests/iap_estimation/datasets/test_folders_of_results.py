# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on a localisation and files of its folder, of bodies with and without a truth."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from tum_files import read_tum

from iap_estimation.datasets import results
from iap_estimation.datasets.method_results import LocalizationResults, MethodResult
from iap_estimation.evaluation.estimated_trajectory import EstimatedTrajectory
from iap_estimation.evaluation.truth import Truth
from iap_estimation.virpo.messages import Ranges

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
T = 0.1 * np.arange(30)


def poses(off=0.0):
    return np.hstack([np.stack([T, np.full(30, off), 0.0 * T], axis=1), np.tile(LEVEL, (30, 1))])


def trajectory(off, t=T):
    return EstimatedTrajectory(
        t, poses(off), np.zeros((30, 3)), np.zeros((30, 6)), np.tile(np.eye(15), (30, 1, 1))
    )


def localized(rounds=None, begins_true=True):
    truths = {
        "one": Truth(T, poses()),
        "two": None,
        "three": Truth(T, np.hstack([poses()[:, :3], np.full((30, 4), np.nan)])),
    }
    tally = SimpleNamespace(sentences=list, unpaired=0, gaps=[])
    data = SimpleNamespace(
        source="walk", notes=(), tally=tally, frontend=SimpleNamespace(preset="euroc", reason="why"), bodies=truths,
        start_ns=5_000_000_000, aircraft=[SimpleNamespace(name=n, p_BA_B=np.zeros(3)) for n in truths], anchor_name=str,
    )  # fmt: skip
    found = {"one": trajectory(0.5), "two": trajectory(1.0), "three": trajectory(0.25, T + 99.0)}
    methods = {
        "uwb": MethodResult("completed", found, 4, 2.0, ()),
        "vio": MethodResult("completed", {}, 4, 2.0, ()),
        "virpo": MethodResult("completed", {"one": trajectory(0.1)}, 4, 2.0, ()),
        "joint": MethodResult("failed: no", {}, 0, 0.0, ()),
    }  # fmt: skip
    stats = SimpleNamespace(seconds=[0.1], tracks=[1], stereo=[1])
    return LocalizationResults(data, methods, stats, 3.0, begins_true, rounds or {})


def test_every_body_is_judged_beside_its_truth_where_there_is_one():
    found = results.evaluate(localized(), {"lines": {"clock": ["fine"]}})
    estimation = found.metrics["estimation"]
    assert estimation["one"]["uwb"]["ate_rmse_m"] == pytest.approx(0.5)
    assert estimation["one"]["uwb"]["constant_velocity_rmse_m"] is None
    assert estimation["one"]["uwb"]["keyframe_ms"] == 500.0
    assert estimation["one"]["uwb"]["outcome"] == "completed"
    assert estimation["one"]["vio"]["outcome"] == "not estimated by vio"
    assert estimation["one"]["joint"]["outcome"] == "failed: no"
    none = {"ate_rmse_m": None, "ate_max_m": None, "drift_percent": None}
    assert none.items() <= estimation["two"]["uwb"].items()
    assert "constant_velocity_rmse_m" not in estimation["two"]["uwb"]
    assert estimation["one"]["virpo"]["ate_rmse_m"] == pytest.approx(0.1)
    assert "constant_velocity_rmse_m" not in estimation["one"]["virpo"]
    assert list(found.comparisons["one"]) == ["uwb", "virpo"] and found.comparisons["three"] == {}
    assert found.metrics["notes"] == [
        "three, uwb: the truth and the estimates have no time in common: no errors"
    ]
    assert found.metrics["understood"] == {"lines": {"clock": ["fine"]}}
    assert results.evaluate(localized()).metrics["understood"] == {}


@pytest.mark.parametrize("begins_true", [True, False])
def test_ranges_alone_are_judged_beside_the_method_that_goes_by_them(begins_true):
    anchors = np.array([[8.0, 6.0, 0.5], [-8.0, 6.0, 5.0], [-8.0, -6.0, 0.5], [8.0, -6.0, 5.0]])
    rounds = []
    for t, p in zip(T, poses(0.3)[:, :3], strict=True):
        ways = np.linalg.norm(anchors - p, axis=1)
        rounds.append(Ranges(t, np.arange(4), anchors, ways, np.full(4, 0.1)))
    found = results.evaluate(localized({0: rounds}, begins_true)).metrics["estimation"]["one"]
    beside = found["uwb"]["constant_velocity_rmse_m"]
    if begins_true:
        assert beside == pytest.approx(0.3, abs=0.03), "the anchors' map is 0.3 m off the truth"
    else:
        assert beside < 0.05, "once it is aligned"
    assert "constant_velocity_rmse_m" not in found["vio"]


def test_a_folder_has_trajectories_and_truths_in_the_datas_stamps(tmp_path):
    results.write_results(tmp_path, results.evaluate(localized()))
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == [
        "metrics.json",
        "trajectory_one_uwb.tum",
        "trajectory_one_virpo.tum",
        *(f"trajectory_{body}_uwb.tum" for body in ("three", "two")),
        "truth_one.tum",
    ]
    t, p = read_tum(tmp_path / "trajectory_one_uwb.tum")
    np.testing.assert_allclose(t, T + 5.0, atol=1e-9)
    np.testing.assert_allclose(p[:, 1], 0.5)
    t, p = read_tum(tmp_path / "truth_one.tum")
    np.testing.assert_allclose(t, T + 5.0, atol=1e-9)
    assert not p[:, 1].any()
    assert json.loads((tmp_path / "metrics.json").read_text())["source"] == "walk"
