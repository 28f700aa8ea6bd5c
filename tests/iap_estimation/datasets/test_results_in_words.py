# SPDX-License-Identifier: BSD-3-Clause
"""Results of methods on a data set: speeds, notes and losses, of few numbers and to the letter."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_estimation.datasets import loss_checks, results
from iap_estimation.datasets.method_results import LocalizationResults, MethodResult
from iap_estimation.virpo.messages import Ranges
from iap_estimation.virpo.window.failure_checks import Fault

WHOLE = " the estimates are of 0.0 s to 9.0 s"


def ran(outcome="completed", keyframes=4, seconds=2.0, faults=(), left_out=()):
    return MethodResult(outcome, {}, keyframes, seconds, faults, left_out)


def localized(methods, seconds=(0.5, 2.5), duration=5.0, rounds=None, **dataset):
    tally = SimpleNamespace(sentences=lambda: ["odd"], unpaired=3, gaps=["gap"])
    data = SimpleNamespace(
        source="walk", notes=("first",), tally=tally, frontend=SimpleNamespace(preset="euroc", reason="why"), **dataset
    )  # fmt: skip
    stats = SimpleNamespace(seconds=list(seconds), tracks=[10, 30], stereo=[4, 8])
    return LocalizationResults(data, methods, stats, duration, True, rounds or {})


def test_speeds_are_those_after_the_first_second():
    found = localized({"vio": ran(), "still": ran(keyframes=0)})
    assert found.keyframe_ms("vio") == 500.0 and found.keyframe_ms("still") is None
    # Four fifths of the data, and as much of the front end's three seconds.
    assert found.real_time_factor("vio") == pytest.approx(0.8 * 5.0 / (0.8 * 3.0 + 2.0))
    assert localized({"vio": ran(seconds=0.0)}, seconds=()).real_time_factor("vio") is None
    assert localized({"vio": ran()}, duration=0.5).real_time_factor("vio") == 0.0
    assert localized({"vio": ran()}, duration=0.0).real_time_factor("vio") == 0.0


@pytest.mark.parametrize(
    ("outcome", "failed", "lost"),
    [("completed", False, False), ("failed: x", True, False), ("lost: y", False, True)],
)
def test_an_outcome_says_whether_anything_is_to_be_judged(outcome, failed, lost):
    assert (ran(outcome).has_failed, ran(outcome).is_lost) == (failed, lost)


def test_the_heading_has_what_all_bodies_share():
    faults = (Fault(1.5, "speed"),)
    methods = {
        "vio": ran(faults=faults),
        "uwb": ran("lost: off", left_out=((2.0, "one", 7),)),
        "x": ran("failed: z"),
    }
    found = results._heading(localized(methods), ["more"])
    assert found["outcome"] == "uwb lost: off; x failed: z"
    assert found["notes"] == ["first", "odd", "more"]
    assert (found["unpaired_images"], found["gaps"], found["duration_s"]) == (3, 1, 5.0)
    assert found["frontend"] == {
        "preset": "euroc", "reason": "why", "pairs": 2, "pair_ms": 1500.0, "tracks": 20.0, "stereo_tracks": 6.0
    }  # fmt: skip
    assert found["methods"]["vio"]["faults"] == [{"t_s": 1.5, "reason": "speed"}]
    assert found["methods"]["vio"]["keyframe_ms"] == 500.0
    assert "ranges_off_m" not in found["methods"]["vio"]
    assert found["methods"]["uwb"]["ranges_off_m"] == {}
    assert found["methods"]["uwb"]["anchors_left_out"] == [
        {"t_s": 2.0, "aircraft": "one", "anchor": 7}
    ]
    assert found["methods"]["x"]["keyframe_ms"] is None
    assert found["methods"]["x"]["real_time_factor"] is None
    none = results._heading(localized({"vio": ran()}, seconds=()), [])
    assert none["outcome"] == "completed"
    assert none["frontend"]["pair_ms"] is None and none["frontend"]["tracks"] is None


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (0.0, 9.0, []),
        (0.99, 8.01, []),
        (1.01, 9.0, ["one, vio: judged from 1.0 s to 9.0 s, where the truth is known;" + WHOLE]),
        (0.0, 7.99, ["one, vio: judged from 0.0 s to 8.0 s, where the truth is known;" + WHOLE]),
    ],
)  # fmt: skip
def test_a_second_of_estimates_without_a_truth_is_noted(first, last, said):
    trajectory, one = (
        SimpleNamespace(t=np.array([0.0, 9.0])),
        SimpleNamespace(t=np.array([first, last])),
    )
    assert results._unjudged("one", "vio", trajectory, one) == said
    (text,) = results._unjudged("one", "vio", trajectory, None)
    assert text == "one, vio: the truth and the estimates have no time in common: no errors"


def test_the_table_has_the_whole_alignment_where_yaw_alone_says_nothing():
    record = {"ate_yaw_rmse_m": None, "ate_se3_rmse_m": 2.0, "ate_max_m": None}
    assert results.tabulated(record, "ate_yaw_rmse_m") == 2.0
    assert results.tabulated(record, "ate_max_m") is None
    assert (
        results.tabulated({"ate_yaw_rmse_m": 0.0, "ate_se3_rmse_m": 2.0}, "ate_yaw_rmse_m") == 0.0
    )


def _round(t, off=0.0, anchors=(0, 1, 2, 3)):
    places = np.array([[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 5.0]])[
        list(anchors)
    ]
    d = np.linalg.norm(places - [1.0, 1.0, 1.0], axis=1) + off
    return Ranges(t, np.array(anchors), places, d, np.full(len(d), 0.1))


def _with_ranges(off, place=(1.0, 1.0, 1.0), names=()):
    """Results of uwb that stands at a place, whose ranges are off by some lengths."""
    rounds = [_round(0.1 * k, np.array(each)) for k, each in enumerate(off)]
    pose = np.array([*place, 0.0, 0.0, 0.0, 1.0])
    path = SimpleNamespace(t=np.array([0.0, 9.0]), poses=np.stack([pose, pose]))
    one = SimpleNamespace(name="tag", p_BA_B=np.zeros(3))
    found = localized(
        {"uwb": MethodResult("completed", {"tag": path}, 4, 2.0, ())},
        rounds={0: rounds}, aircraft=(one,), anchor_name=lambda k: names[k] if names else str(k),
    )  # fmt: skip
    return found


def test_what_ranges_to_an_anchor_are_too_long_is_their_median_and_its_robust_deviation():
    found = _with_ranges(
        [(0.1, 0.0, 0.0, 0.0), (0.2, 0.0, 0.0, 0.0), (0.9, 0.3, 0.0, -0.1)], names="dcba"
    )
    table = results._range_errors(found, "uwb")
    assert list(table) == ["a", "b", "c", "d"]
    assert table["d"] == pytest.approx({"median_m": 0.2, "deviation_m": 0.14826, "count": 3})
    assert table["a"]["median_m"] == pytest.approx(0.0) and table["c"]["count"] == 3


@pytest.mark.parametrize(("away", "is_said"), [(0.079, False), (0.083, True)])
def test_estimates_that_ranges_contradict_more_than_places_of_ranges_alone_are_noted(
    away, is_said
):
    place = np.array([1.0, 1.0, 1.0]) + away * np.array([1.0, 1.0, 1.0])
    found = _with_ranges([np.zeros(4)] * 40, place)
    off = np.concatenate(list(loss_checks.range_errors(found, "uwb").values()))
    scale = float(np.median(np.abs(off))) / away
    found = _with_ranges([np.zeros(4)] * 40, np.ones(3) + away / scale * np.ones(3))
    notes = loss_checks.doubts(found)
    assert bool(notes) is is_said
    if is_said:
        assert notes[0].startswith(
            "uwb: its places are 0.08 m off the ranges in the median, and those of"
        )
        assert "the ranges alone 0.0" in notes[0]
    assert loss_checks.doubts(localized({"uwb": ran(), "vio": ran()})) == []


def test_a_method_whose_ranges_contradict_it_is_lost_with_the_reason():
    found = loss_checks.with_losses(_with_ranges([np.full(4, 0.6)] * 3))
    assert found.methods["uwb"].outcome == (
        "lost: its places do not fit the ranges, 0.60 m in the median: are the anchors' places right?"
    )
    failed = localized({"uwb": ran("failed: x")})
    assert loss_checks.with_losses(failed).methods["uwb"].outcome == "failed: x"
