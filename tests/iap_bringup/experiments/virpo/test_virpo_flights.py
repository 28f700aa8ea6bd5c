# SPDX-License-Identifier: BSD-3-Clause
"""Faults, noise and scores of the studies of localisation are what they are named, on made-up measurements."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from made_up_measurements import events, of, ranges, tracks
from rich.console import Console

from iap_bringup.experiments.virpo import faults, runs
from iap_bringup.experiments.virpo.cases import LocalizationCase
from iap_bringup.experiments.virpo.scores import FailedEstimate, TrajectoryScore
from iap_description.math import so3
from iap_estimation.virpo.messages import CENTRE_NAME, Estimate, Ranges, Tracks

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def test_three_tenths_of_the_tracks_are_off_by_thirty_pixels_and_the_same_ones_each_time():
    many = [(0, tracks(0.0, 20000)), (0, ranges(0.1))]
    (_, spoilt), (_, other) = faults.outliers(many)
    wrong = spoilt.views.any(axis=1)
    assert wrong.mean() == pytest.approx(0.3, abs=0.01)
    assert spoilt.views[wrong].std() == pytest.approx(30.0 / 320.0, rel=0.02)
    assert not many[0][1].views.any() and other is many[1][1]
    np.testing.assert_array_equal(faults.outliers(many)[0][1].views, spoilt.views)


def test_nobody_has_tracks_in_darkness_and_new_ones_after_it():
    found = faults.darkness(events())
    assert len(found) == len(events())
    for each in of(Tracks, found):
        dark, after = 8.0 <= each.t < 10.0, each.t >= 10.0
        assert len(each.ids) == len(each.views) == len(each.has_right) == (0 if dark else 4)
        assert (each.ids >= 10**9).all() == (after or dark)
    assert all((each.ids < 4).all() for each in of(Tracks, found) if each.t < 8.0)


def test_images_come_late_and_in_order_of_their_coming():
    made = [(0, tracks(1.0)), (0, ranges(1.1)), (0, ranges(1.19)), (0, ranges(1.3))]
    assert [type(m) for _, m in faults.delay(made)] == [Ranges, Ranges, Tracks, Ranges]
    assert faults.delay(made)[2][1].t == 1.0


def test_no_tag_measures_for_ten_seconds_and_one_aircraft_is_blind_for_as_long():
    silent = faults.no_ranges(events())
    assert {each.t for each in of(Ranges, silent)} == {*map(float, range(8)), 18.0, 19.0}
    assert len(of(Tracks, silent)) == 40
    blind = faults.one_blind(events())
    assert {each.t for each in of(Tracks, blind, 0)} == {*map(float, range(8)), 18.0, 19.0}
    assert all((each.ids >= 10**9).all() == (each.t >= 18.0) for each in of(Tracks, blind, 0))
    assert len(of(Tracks, blind, 1)) == 20 and len(of(Ranges, blind)) == 40
    assert all((each.ids < 4).all() for each in of(Tracks, blind, 1))


def test_an_error_with_a_fault_may_be_twice_that_of_the_clean_flight():
    assert faults._row(0.2, 0.1) == {"ATE, m": "0.200", "of the clean one": "2.00 ok (<= 2)"}
    assert faults._row(0.21, 0.1)["of the clean one"] == "2.10 MISSED (<= 2)"
    lost = FailedEstimate("blind")
    assert faults._row(lost, 0.1) == {"ATE, m": "failed: blind", "of the clean one": ""}
    assert faults._row(0.1, lost)["of the clean one"] == ""


@pytest.mark.parametrize(("quick", "seconds"), [(True, 20.0), (False, 60.0)])
def test_every_method_is_tried_with_every_fault_of_one_flight(quick, seconds, monkeypatch):
    flown = []

    def watch_case(case, seed):
        flown.append((case.name, case.duration, seed))
        return SimpleNamespace(events=[])

    monkeypatch.setattr(faults, "watch_case", watch_case)
    errors = iter(0.125 * (1 + np.arange(100)))
    monkeypatch.setattr(faults, "_error", lambda observed, events, method: float(next(errors)))
    console = Console(file=io.StringIO(), width=160)
    faults.run_faults(console, quick=quick)
    said = console.file.getvalue()
    assert flown == [("a2", seconds, 1)] and f"{seconds:.0f} s" in said
    for method in ("vio_uwb", "virpo", "joint", "drift_filter"):
        assert f"{method}: clean" in said and all(
            f"{method}: {name}" in said for name in faults.FAULTS
        )
    assert "0.125" in said and "3.500" in said and "1.75 ok" in said and "7.00 MISSED" in said


def test_the_error_of_a_method_is_the_mean_over_bodies(monkeypatch):
    monkeypatch.setattr(
        faults, "estimated", lambda *_: dict(zip(faults.BODIES, range(4), strict=True))
    )
    monkeypatch.setattr(
        faults, "score_of", lambda observed, body, estimate: SimpleNamespace(ate=estimate)
    )
    assert faults._error(None, [], "joint") == 1.5
    monkeypatch.setattr(faults, "estimated", lambda *_: FailedEstimate("lost"))
    assert faults._error(None, [], "joint").reason == "lost"


def test_ranges_count_of_the_first_anchors_alone():
    made = [(0, ranges(0.0, (3, 0, 1))), (1, tracks(0.1))]
    (_, few), other = runs.with_anchors(made, 2)
    assert few.anchors.tolist() == [0, 1] and few.ranges.tolist() == [3.0, 4.0]
    assert len(few.p_W) == len(few.deviations) == 2 and other[1] is made[1][1]
    assert [m for _, m in runs.with_anchors(made, None)] == [m for _, m in made]
    assert len(next(runs.with_anchors(made, 0))[1].ranges) == 0


def estimate(t, p=(0.0, 0.0, 0.0), q=LEVEL, gyro_bias=0.0, sigma=0.1):
    """An estimate whose deviations are all alike."""
    bias = np.full(3, gyro_bias)
    return Estimate(
        t, np.array(p), np.array(q), np.zeros(3), bias, np.zeros(3), sigma**2 * np.eye(15)
    )


def observed_flight():
    """A vehicle of two aircraft; the first stands 1 m along x, turned by 90 deg, the second at the origin."""
    t = np.arange(0.0, 1.01, 0.1)
    x = np.zeros((len(t), 3, 13))
    x[..., 6] = 1.0
    x[:, 1, 0], x[:, 0, 2] = 1.0, t
    x[:, 1, 5:7] = np.sqrt(0.5)
    unit = SimpleNamespace(unit=lambda row: row)
    aircraft = [SimpleNamespace(name="drone_1"), SimpleNamespace(name="drone_2")]
    own = SimpleNamespace(aircraft=aircraft, mounts=[unit, unit], rows=[1, 2])
    biases = np.column_stack([t, *(0.01 * (k + 1) * np.ones(len(t)) for k in range(6))])
    return SimpleNamespace(
        t=t,
        x=x,
        own=own,
        biases=lambda aircraft: biases,
        events=[],
        anchors=np.zeros((2, 3)),
        scenario=SimpleNamespace(seed=1),
    )


def test_a_score_is_of_the_body_at_the_times_of_its_estimates():
    flown = observed_flight()
    turned = so3.multiply(
        np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]),
        so3.quaternion_exp(np.array([0.0, 0.1, 0.0])),
    )
    made = [estimate(t, (1.0, 0.3, 0.4), turned) for t in (0.2, 0.5)]
    score = runs.score_of(flown, "drone_1", made)
    assert (score.ate, score.horizontal, score.vertical) == pytest.approx((0.5, 0.3, 0.4))
    assert score.attitude == pytest.approx(np.rad2deg(0.1))
    assert score.nees == pytest.approx(0.25 / 0.01 / 3.0) and score.attitude_nees == pytest.approx(
        0.01 / 0.01 / 3.0
    )
    assert score.biases == pytest.approx(1.0)
    centre = runs.score_of(
        flown, CENTRE_NAME, [estimate(0.3, (0.0, 0.0, 0.3)), estimate(0.7, (0.0, 0.0, 0.7))]
    )
    assert centre.ate == pytest.approx(0.0, abs=1e-12) and centre.biases is None
    assert runs.score_of(flown, "drone_2", [estimate(0.3, (0.0, 0.2, 0.0))]).ate == pytest.approx(
        0.2
    )


def test_biases_are_inside_within_three_of_their_own_deviations():
    flown = observed_flight()  # true ones are 0.01 to 0.06, estimated ones 0
    assert runs.biases_inside(flown, 0, [estimate(0.5, sigma=0.0101)]) == pytest.approx(0.5)
    assert runs.biases_inside(flown, 0, [estimate(0.5, sigma=0.0201)]) == 1.0
    assert runs.biases_inside(flown, 0, [estimate(9.9, sigma=1e-6)]) == 0.0


def test_estimates_are_kept_once_a_time_and_failures_are_said(monkeypatch):
    flown = observed_flight()
    flown.own.fleet = lambda spec: ("fleet", spec)
    newest = [estimate(0.1), estimate(0.1), estimate(0.2), estimate(0.3)]

    class Localizer:
        faults = ()

        def __init__(self, *made):
            self.made = made

    made = []

    def make(base, fleet, spec, first):
        made.append((base, fleet, first(0, 0.5)))
        return Localizer()

    seen = []

    def pass_on(localizer, who, measurement):
        seen.append((who, measurement))
        return measurement < 3

    monkeypatch.setattr(runs, "make_localizer", make)
    monkeypatch.setattr(runs, "pass_on", pass_on)
    monkeypatch.setattr(
        runs, "named_estimates", lambda localizer, names: {names[1]: newest[len(seen) - 1]}
    )
    found = runs.estimated(flown, [(0, 0), (1, 1), (0, 2), (1, 3)], "joint", "spec")
    assert [each.t for each in found["drone_2"]] == [0.1, 0.2]
    assert seen == [(0, 0), (1, 1), (0, 2), (1, 3)]
    assert made[0][:2] == ("joint", ("fleet", "spec")) and made[0][2][0] == 1.0
    assert runs.estimated(flown, [], "joint", "spec").reason == "no estimate came"
    seen.clear()
    Localizer.faults = [SimpleNamespace(t=4.25, reason="jumped")]
    assert runs.estimated(flown, [(0, 0)], "joint", "spec").reason == "at 4.2 s: jumped"

    def lose(*_):
        raise runs.LOST[0]("gone") if isinstance(runs.LOST, tuple) else runs.LOST("gone")

    monkeypatch.setattr(runs, "pass_on", lose)
    assert "gone" in runs.estimated(flown, [(0, 0)], "joint", "spec").reason


def test_a_case_is_flown_once_and_estimated_with_the_noise_of_every_seed(monkeypatch):
    case = LocalizationCase(
        "a", "A", "figure_eight", "open_field", ("vio", "size_1"), ("drone_1", "center")
    )
    flown = observed_flight()
    asked = []
    monkeypatch.setattr(
        runs, "watch_case", lambda case, seed: asked.append(("watch", seed)) or flown
    )
    monkeypatch.setattr(
        runs, "observe", lambda case, seed, *_: asked.append(("observe", seed)) or f"noise {seed}"
    )
    monkeypatch.setattr(runs, "with_noise_of", lambda rendered, other: other)
    score = TrajectoryScore(0.1, 0.1, 0.1, (0.0, 0.1, 0.2, 0.3, 0.4), 1.0)
    path = runs.BodyPath(np.zeros(1), np.ones((1, 3)))

    def scored(case, name, observed):
        asked.append((name, observed if isinstance(observed, str) else "rendered"))
        return dict.fromkeys(case.bodies, score), path

    monkeypatch.setattr(runs, "_scored", scored)
    found = runs.run_case(case, (1, 2))
    assert asked == [
        ("watch", 1), ("vio", "rendered"), ("size_1", "rendered"),
        ("observe", 2), ("vio", "noise 2"), ("size_1", "noise 2"),
    ]  # fmt: skip
    assert len(found.scores) == 2 * 2 * 2 and set(found.drawn.estimates) == {"vio"}
    drawn = found.drawn
    assert (drawn.title, drawn.scene, drawn.body) == ("A", "open_field", "center")
    assert drawn.quartiles == {"vio": {"drone_1": score.quartiles, "center": score.quartiles}}
    assert len(drawn.true.t) == 2 and drawn.true.p[1, 2] == pytest.approx(1.0)


def test_a_method_is_scored_for_every_body_and_fails_for_all_at_once(monkeypatch):
    case = LocalizationCase(
        "a", "A", "figure_eight", "open_field", ("vio",), ("drone_1", "center")
    )
    flown = observed_flight()
    monkeypatch.setattr(runs, "estimated", lambda *_: {"center": [estimate(0.5, (0.0, 0.0, 0.5))]})
    scores, path = runs._scored(case, "vio", flown)
    assert scores["drone_1"].reason == "no estimate came" and scores[
        "center"
    ].ate == pytest.approx(0.0, abs=1e-9)
    assert path.t.tolist() == [0.5] and path.p.tolist() == [[0.0, 0.0, 0.5]]
    monkeypatch.setattr(runs, "estimated", lambda *_: FailedEstimate("lost"))
    scores, path = runs._scored(case, "vio", flown)
    assert {each.reason for each in scores.values()} == {"lost"} and path is None
    flown.own.aircraft = flown.own.aircraft[:1]
    assert runs._known_as("anything", flown) == "drone_1"
