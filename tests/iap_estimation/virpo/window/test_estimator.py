# SPDX-License-Identifier: BSD-3-Clause
"""One aircraft by itself: images late, wrong, dark or none, samples that are missing, and how it begins."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic import Flight
from synthetic_fleet import TABLE_VI, fleet_of
from whole_estimators import SECONDS, SPEC

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.initial_states import level_state
from iap_estimation.virpo.messages import ImuSample, Ranges, Tracks
from iap_estimation.virpo.window import window
from iap_estimation.virpo.window.estimator import Estimator
from iap_estimation.virpo.window.window import solve


def one_of(flight, aircraft=0, **how):
    fleet = flight.fleet.alone(aircraft)
    return Estimator(fleet, SPEC, lambda _, t: flight.state(aircraft, t), **how)


def alone(estimator, arrivals, flight, aircraft=0):
    """Position errors of one aircraft by itself, with their times."""
    rows = []
    for who, said in arrivals:
        if who != aircraft:
            continue
        if isinstance(said, Ranges):
            estimator.ranges(0, said)
            continue
        if (estimator.imu if isinstance(said, ImuSample) else estimator.tracks)(0, said):
            one = estimator.estimates()[0]
            rows.append([one.t, *(one.p_WB_W - flight.truth(aircraft, one.t).p_WB_W)])
    return np.array(rows)


@pytest.fixture(scope="module")
def heard(flight, stream):
    """One that has heard everything in time, and its errors."""
    estimator = one_of(flight)
    return estimator, alone(estimator, stream, flight)


def test_two_estimators_of_one_stream_have_the_same_estimates(flight, stream):
    one, other = (alone(one_of(flight), stream[:4000], flight) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_the_head_is_the_state_at_the_newest_sample(flight, stream):
    estimator = one_of(flight)
    alone(estimator, [a for a in stream if a.message.t < 3.07], flight)
    propagated = estimator.propagated(0)
    assert propagated.t == pytest.approx(3.065)
    assert np.linalg.norm(propagated.p_WB_W - flight.truth(0, propagated.t).p_WB_W) < 0.1
    assert estimator.estimates()[0].t == pytest.approx(3.0)


@pytest.mark.slow
def test_images_that_are_late_give_the_same_estimates(flight, stream, heard):
    late = [(a.message.t + 0.2 * isinstance(a.message, Tracks), a) for a in stream]
    delayed = [arrival for _, arrival in sorted(late, key=lambda pair: pair[0])]
    _, there = heard
    here = alone(one_of(flight), delayed, flight)
    assert len(here) >= len(there) - 2
    np.testing.assert_allclose(here[:, 1:], there[: len(here), 1:], atol=1e-9)


@pytest.mark.slow
def test_images_that_are_always_too_late_are_waited_for(flight, stream):
    late = [(a.message.t + 0.9 * isinstance(a.message, Tracks), a) for a in stream]
    delayed = [arrival for _, arrival in sorted(late, key=lambda pair: pair[0])]
    estimator = one_of(flight)
    alone(estimator, delayed, flight)
    pairs = sum(a.aircraft == 0 and isinstance(a.message, Tracks) for a in stream)
    assert 0 < estimator.late < 0.2 * pairs
    assert not estimator.faults


def test_images_that_go_back_are_left_out(flight, stream):
    estimator = one_of(flight)
    images = [a for a in stream if a.aircraft == 0 and isinstance(a.message, Tracks)]
    alone(estimator, [a for a in stream if a.message.t <= 3.0], flight)
    assert not estimator.tracks(0, images[5].message)
    assert estimator.late == 1


@pytest.mark.slow
def test_no_anchor_is_left_out_that_is_honest(heard):
    estimator, _ = heard
    assert not estimator.left_out


def test_darkness_is_bridged(flight, stream):
    def see(arrival):
        said = arrival.message
        if not isinstance(said, Tracks) or not 4.0 <= said.t < 6.0:
            return arrival
        none = np.zeros(len(said.ids), dtype=bool)
        dark = Tracks(said.t, said.ids[none], said.views[none], said.has_right[none])
        return arrival._replace(message=dark)

    estimator = one_of(flight)
    rows = alone(estimator, [see(arrival) for arrival in stream], flight)
    assert not estimator.faults
    assert np.linalg.norm(rows[-1, 1:]) < 0.3


@pytest.mark.slow
def test_keyframes_go_on_without_images(flight, stream):
    blind = [a for a in stream if not (isinstance(a.message, Tracks) and 4.0 <= a.message.t < 6.0)]
    rows = alone(one_of(flight), blind, flight)
    assert np.diff(rows[:, 0]).max() < SPEC.patience + 0.05


def test_normal_equations_without_a_solution_are_tried_again_with_damping(
    flight, stream, monkeypatch
):
    refused = []

    def solve_or_not(H, g, damping, inner):
        if damping == 0.0 and len(refused) < 5:
            refused.append(damping)
            raise np.linalg.LinAlgError("singular")
        return solve(H, g, damping, inner)

    monkeypatch.setattr(window, "solve", solve_or_not)
    estimator = one_of(flight)
    rows = alone(estimator, [a for a in stream if a.message.t < 2.0], flight)
    assert len(refused) == 5
    assert not estimator.faults
    assert np.linalg.norm(rows[-1, 1:]) < 0.2


def test_normal_equations_that_no_damping_solves_are_a_stated_failure(flight, stream, monkeypatch):
    def never(H, g, damping, inner):
        raise np.linalg.LinAlgError("singular")

    monkeypatch.setattr(window, "solve", never)
    estimator = one_of(flight)
    alone(estimator, [a for a in stream if a.message.t < 1.0], flight)
    assert estimator.faults[0].reason == "the normal equations have no solution"


def test_a_third_of_wild_tracks_does_no_harm(flight, stream):
    rng = np.random.default_rng(0)

    def spoil(arrival):
        if not isinstance(arrival.message, Tracks):
            return arrival
        views = arrival.message.views.copy()
        wrong = rng.random(len(views)) < 0.3
        views[wrong] += rng.normal(size=(int(wrong.sum()), 4)) * 0.1
        return arrival._replace(message=replace(arrival.message, views=views))

    rows = alone(one_of(flight), [spoil(arrival) for arrival in stream], flight)
    assert np.sqrt(np.mean(np.sum(rows[:, 1:] ** 2, axis=1))) < 0.15


def test_a_gap_in_the_samples_is_a_stated_new_beginning(flight, stream):
    cut = [a for a in stream if not 5.0 < a.message.t < 6.0]
    estimator = one_of(flight)
    alone(estimator, cut, flight)
    assert [fault.reason for fault in estimator.faults] == ["a gap in the inertial samples"]
    assert 5.9 < estimator.faults[0].t < 6.3
    assert estimator.t > SECONDS - 0.3


@pytest.mark.slow
def test_a_short_gap_in_the_samples_is_bridged(flight, stream):
    cut = [a for a in stream if not (isinstance(a.message, ImuSample) and 5.0 < a.message.t < 5.3)]
    estimator = one_of(flight)
    rows = alone(estimator, cut, flight)
    assert not estimator.faults
    assert np.linalg.norm(rows[-1, 1:]) < 0.3


def test_a_bias_that_no_unit_has_is_a_stated_failure(flight, stream):
    def push(arrival):
        said = arrival.message
        if not isinstance(said, ImuSample) or said.t < 5.0:
            return arrival
        return arrival._replace(message=replace(said, f_B=said.f_B + [15.0, 0.0, 0.0]))

    estimator = one_of(flight)
    alone(estimator, [push(arrival) for arrival in stream], flight)
    assert estimator.faults
    assert any(word in estimator.faults[0].reason for word in ("bias", "jump", "speed"))


def test_an_unknown_start_in_motion_finds_speed_and_vertical(flight, stream):
    begin = 4.0
    later = [a for a in stream if a.message.t > begin - 0.1 and a.aircraft == 0]
    seen = [a for a in later if not (isinstance(a.message, Tracks) and a.message.t < begin)]
    forces = [a.message.f_B for a in later if isinstance(a.message, ImuSample)][:20]
    state = level_state(np.array(forces), 9.81, source="test")
    estimator = Estimator(flight.fleet.alone(0), SPEC, lambda *_: state, deviations=SPEC.unknown)
    for _, said in seen:
        if isinstance(said, Ranges):
            continue
        (estimator.imu if isinstance(said, ImuSample) else estimator.tracks)(0, said)
        if estimator.t >= begin + 3.0:
            break
    one, true = estimator.estimates()[0], flight.truth(0, estimator.t)
    up = np.array([0.0, 0.0, 1.0])
    tilt = so3.rotate(so3.conjugate(one.q_WB), up) - so3.rotate(so3.conjugate(true.q_WB), up)
    assert np.linalg.norm(tilt) < np.deg2rad(2.0)
    speed = np.linalg.norm(true.v_WB_W)
    assert speed > 0.5
    assert abs(np.linalg.norm(one.v_WB_W) - speed) < 0.15


def test_standing_still_is_noticed(flight):
    still = Flight.of(3.0, noise=replace(TABLE_VI, pixels=0.1, outliers=0.0), seed=1)
    still = replace(still, bodies=(_at_rest(),) * 3)
    estimator = one_of(still)
    rows = alone(estimator, still.stream(), still)
    assert np.linalg.norm(estimator.estimates()[0].v_WB_W) < 0.02
    assert np.linalg.norm(rows[-1, 1:]) < 0.03


def test_when_images_stop_at_rest_the_last_ones_still_count():
    still = Flight.of(4.0, fleet=fleet_of(1), noise=replace(TABLE_VI, pixels=0.3, outliers=0.0))
    still = replace(still, bodies=(_at_rest(),))
    estimator = Estimator(still.fleet, SPEC, still.state)
    deviations, errors = {}, {}
    for _, said in still.stream():
        is_new = False
        if isinstance(said, ImuSample):
            is_new = estimator.imu(0, said)
        elif isinstance(said, Tracks) and said.t < 2.95:
            is_new = estimator.tracks(0, said)
        if is_new:
            (one,) = estimator.estimates()
            at = round(one.t, 1)
            deviations[at] = np.sqrt(np.linalg.eigvalsh(one.covariance[:3, :3])[-1])
            errors[at] = np.linalg.norm(one.p_WB_W - still.truth(0, one.t).p_WB_W)
    # 2.3 times and 24 mm, were the keyframe of the last images dropped.
    assert deviations[3.1] < 1.3 * deviations[2.9]
    assert abs(errors[3.1] - errors[2.9]) < 0.012


def _at_rest():
    from analytic_motion import AnalyticMotion, Waves

    return AnalyticMotion(Waves((0, 0, 3), ()), Waves((0, 0, 0), ()), 0.0, 0.0)


def test_a_fall_does_not_say_where_the_vertical_is():
    with pytest.raises(BadInput, match="vertical"):
        level_state(np.zeros((5, 3)), 9.81, source="data")
    with pytest.raises(BadInput, match="no inertial samples"):
        level_state(np.zeros((0, 3)), 9.81, source="data")
