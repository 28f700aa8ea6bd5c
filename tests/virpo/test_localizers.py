# SPDX-License-Identifier: BSD-3-Clause
"""Whole estimators on made-up flights: they arrive where the truth is, know how well, and say when they do not."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic import Flight
from synthetic_crew import TABLE_VI

from iap_description import so3
from iap_description.errors import BadInput
from iap_estimation.virpo.crew import Crew
from iap_estimation.virpo.localizer import METHODS, make_localizer
from iap_estimation.virpo.messages import Inertial, Ranges, Tilt, Tracks
from iap_estimation.virpo.spec import load_spec, preset_names
from iap_estimation.virpo.start import level_state
from iap_estimation.virpo.window.estimator import Estimator

SPEC = load_spec().model_copy(update={"pixels": 1.0})
SECONDS = 12.0


@pytest.fixture(scope="module")
def flight() -> Flight:
    return Flight.of(SECONDS, noise=replace(TABLE_VI, gyro_bias=0.0, accel_bias=0.0), seed=3)


@pytest.fixture(scope="module")
def stream(flight) -> list:
    return list(flight.stream())


def first(flight):
    return lambda aircraft, t: flight.state(aircraft, t)


def hear(localizer, arrivals, flight) -> dict[int, np.ndarray]:
    """Position errors of every aircraft, and of the centre as -1; each with its NEES per degree of freedom."""
    found: dict[int, list] = {}
    last: dict[int, float] = {}
    for who, said in arrivals:
        is_new = False
        match said:
            case Inertial():
                is_new = localizer.imu(who, said)
            case Tracks():
                is_new = localizer.tracks(who, said)
            case Ranges():
                localizer.ranges(who, said)
            case Tilt():
                localizer.tilt(said)
        told = dict(enumerate(localizer.estimates())) if is_new else {}
        if is_new and (centre := localizer.centre()) is not None:
            told[-1] = centre
        for body, one in told.items():
            if one.t > last.get(body, -1.0):
                last[body] = one.t
                error = one.p_WB_W - flight.truth(body, one.t).p_WB_W
                C = one.covariance[:3, :3]
                found.setdefault(body, []).append(
                    [*error, error @ np.linalg.solve(C, error) / 3.0]
                )
    return {body: np.array(rows) for body, rows in found.items()}


def rmse(rows: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.sum(rows[:, :3] ** 2, axis=1))))


@pytest.fixture(scope="module")
def runs(flight, stream) -> dict[str, dict[int, np.ndarray]]:
    made = {name: make_localizer(name, flight.crew, SPEC, first(flight)) for name in METHODS}
    return {name: hear(localizer, stream, flight) for name, localizer in made.items()}


def mean(runs, method) -> float:
    return float(np.mean([rmse(runs[method][a]) for a in range(3)]))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_follows_all_bodies(runs, method):
    assert sorted(runs[method]) == [-1, 0, 1, 2]
    assert all(rmse(rows) < 0.15 for rows in runs[method].values())
    assert all(len(rows) > 8.0 * SECONDS for rows in runs[method].values())


def test_ranges_help_and_one_window_helps_more(runs):
    assert mean(runs, "vio_uwb") < mean(runs, "vio")
    assert mean(runs, "joint") < 0.8 * mean(runs, "vio_uwb")
    assert rmse(runs["joint"][-1]) < rmse(runs["vio_uwb"][-1]) + 0.01


@pytest.mark.parametrize("method", ["vio", "vio_uwb", "virpo", "joint"])
def test_estimators_know_how_wrong_they_are(runs, method):
    nees = np.mean([runs[method][a][:, 3].mean() for a in range(3)])
    assert 0.25 < nees < 3.0


def one_of(flight, aircraft=0, **how):
    crew = flight.crew.alone(aircraft)
    return Estimator(crew, SPEC, lambda _, t: flight.state(aircraft, t), **how)


def alone(estimator, arrivals, flight, aircraft=0):
    """Position errors of one aircraft by itself, with their times."""
    rows = []
    for who, said in arrivals:
        if who != aircraft:
            continue
        if isinstance(said, Ranges):
            estimator.ranges(0, said)
            continue
        if (estimator.imu if isinstance(said, Inertial) else estimator.tracks)(0, said):
            one = estimator.estimates()[0]
            rows.append([one.t, *(one.p_WB_W - flight.truth(aircraft, one.t).p_WB_W)])
    return np.array(rows)


def test_estimates_are_the_same_when_heard_again(flight, stream):
    one, other = (alone(one_of(flight), stream[:4000], flight) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_the_head_is_the_state_at_the_newest_sample(flight, stream):
    estimator = one_of(flight)
    alone(estimator, [a for a in stream if a.message.t < 3.07], flight)
    head = estimator.head(0)
    assert head.t == pytest.approx(3.065)
    assert np.linalg.norm(head.p_WB_W - flight.truth(0, head.t).p_WB_W) < 0.1
    assert estimator.estimates()[0].t == pytest.approx(3.0)


def test_images_that_are_late_give_the_same_estimates(flight, stream):
    late = [(a.message.t + 0.2 * isinstance(a.message, Tracks), a) for a in stream]
    delayed = [arrival for _, arrival in sorted(late, key=lambda pair: pair[0])]
    there = alone(one_of(flight), stream, flight)
    here = alone(one_of(flight), delayed, flight)
    assert len(here) >= len(there) - 2
    np.testing.assert_allclose(here[:, 1:], there[: len(here), 1:], atol=1e-9)


def test_images_that_go_back_are_left_out(flight, stream):
    estimator = one_of(flight)
    images = [a for a in stream if a.aircraft == 0 and isinstance(a.message, Tracks)]
    alone(estimator, [a for a in stream if a.message.t <= 3.0], flight)
    assert not estimator.tracks(0, images[5].message)
    assert estimator.late == 1


@pytest.mark.parametrize(("method", "since"), [("vio_uwb", 0.0), ("joint", 5.0)])
def test_an_anchor_behind_a_wall_does_no_harm(flight, stream, runs, method, since):
    def lengthen(arrival):
        said = arrival.message
        if not isinstance(said, Ranges) or said.t < since:
            return arrival
        return arrival._replace(message=replace(said, ranges=said.ranges + (said.anchors == 1)))

    localizer = make_localizer(method, flight.crew, SPEC, first(flight))
    found = hear(localizer, [lengthen(arrival) for arrival in stream], flight)
    assert {(one.aircraft, one.anchor) for one in localizer.left_out()} == {
        (a, 1) for a in range(3)
    }
    assert all(since < one.t < since + 1.5 for one in localizer.left_out())
    assert all(rmse(found[a]) < 2.0 * rmse(runs[method][a]) for a in found)


def test_no_anchor_is_left_out_that_is_honest(flight, stream):
    estimator = one_of(flight)
    alone(estimator, stream, flight)
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


def test_keyframes_go_on_without_images(flight, stream):
    blind = [a for a in stream if not (isinstance(a.message, Tracks) and 4.0 <= a.message.t < 6.0)]
    rows = alone(one_of(flight), blind, flight)
    assert np.diff(rows[:, 0]).max() < SPEC.patience + 0.05


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


@pytest.mark.parametrize("length", [0.1, 0.3])
def test_a_short_gap_in_the_samples_is_bridged(flight, stream, length):
    cut = [
        a
        for a in stream
        if not (isinstance(a.message, Inertial) and 5.0 < a.message.t < 5.0 + length)
    ]
    estimator = one_of(flight)
    rows = alone(estimator, cut, flight)
    assert not estimator.faults
    assert np.linalg.norm(rows[-1, 1:]) < 0.3


def test_a_bias_that_no_unit_has_is_a_stated_failure(flight, stream):
    def push(arrival):
        said = arrival.message
        if not isinstance(said, Inertial) or said.t < 5.0:
            return arrival
        return arrival._replace(message=replace(said, f_B=said.f_B + [15.0, 0.0, 0.0]))

    estimator = one_of(flight)
    alone(estimator, [push(arrival) for arrival in stream], flight)
    assert estimator.faults
    assert any(word in estimator.faults[0].reason for word in ("bias", "jump", "speed"))


def test_one_blind_aircraft_is_carried_by_the_others(flight, stream):
    blind = [
        a
        for a in stream
        if not (a.aircraft == 0 and isinstance(a.message, Tracks) and 3.0 <= a.message.t < 9.0)
    ]
    localizer = make_localizer("joint", flight.crew, SPEC, first(flight))
    found = hear(localizer, blind, flight)
    assert not localizer.faults()
    assert rmse(found[0]) < 0.1


def test_a_silent_aircraft_does_not_stop_one_window(flight, stream):
    silent = [a for a in stream if not (a.aircraft == 1 and 4.0 <= a.message.t < 7.0)]
    localizer = make_localizer("joint", flight.crew, SPEC, first(flight))
    found = hear(localizer, silent, flight)
    assert not localizer.faults()
    assert rmse(found[0]) < 0.1
    assert rmse(found[2]) < 0.1
    assert rmse(found[1]) < 0.3, "the joints carry it"
    assert len(found[0]) > 8.0 * SECONDS


@pytest.mark.parametrize("method", ["virpo", "drift_filter"])
def test_neighbours_that_fall_silent_do_no_harm(flight, stream, method):
    silent = [a for a in stream if not (a.aircraft == 1 and 4.0 <= a.message.t)]
    found = hear(make_localizer(method, flight.crew, SPEC, first(flight)), silent, flight)
    assert rmse(found[0]) < 0.15
    assert rmse(found[2]) < 0.15
    assert len(found[0]) > 8.0 * SECONDS


def test_an_unknown_start_in_motion_finds_speed_and_vertical(flight, stream):
    begin = 4.0
    later = [a for a in stream if a.message.t > begin - 0.1 and a.aircraft == 0]
    seen = [a for a in later if not (isinstance(a.message, Tracks) and a.message.t < begin)]
    forces = [a.message.f_B for a in later if isinstance(a.message, Inertial)][:20]
    state = level_state(np.array(forces), 9.81, source="test")
    estimator = Estimator(flight.crew.alone(0), SPEC, lambda *_: state, begins=SPEC.unknown)
    for _, said in seen:
        if isinstance(said, Ranges):
            continue
        (estimator.imu if isinstance(said, Inertial) else estimator.tracks)(0, said)
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


def _at_rest():
    from analytic_motion import Flown, Waves

    return Flown(Waves((0, 0, 3), ()), Waves((0, 0, 0), ()), 0.0, 0.0)


def test_a_fall_does_not_say_where_the_vertical_is():
    with pytest.raises(BadInput, match="vertical"):
        level_state(np.zeros((5, 3)), 9.81, source="data")
    with pytest.raises(BadInput, match="no inertial samples"):
        level_state(np.zeros((0, 3)), 9.81, source="data")


def test_methods_and_presets_are_checked(flight):
    with pytest.raises(BadInput, match="no method 'magic' .choices: vio"):
        make_localizer("magic", flight.crew, SPEC, first(flight))
    with pytest.raises(BadInput, match="joined"):
        make_localizer("joint", Crew(flight.crew.crafts), SPEC, first(flight))
    with pytest.raises(BadInput, match="presets: default, paper"):
        load_spec("other")
    assert preset_names() == ["default", "paper"]
    assert load_spec("paper").range_deviation == 0.05
    assert load_spec("paper").physical.distance == 0.04
