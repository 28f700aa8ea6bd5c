# SPDX-License-Identifier: BSD-3-Clause
"""Whole estimators on made-up flights: they arrive where the truth is, know how well, and say when they do not."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic import Flight
from synthetic_fleet import Noise, fleet_of
from whole_estimators import SECONDS, SPEC

from iap_description.errors import BadInput
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.localizer import METHODS, make_localizer, pass_on
from iap_estimation.virpo.messages import ImuSample, Ranges, Tilt, Tracks
from iap_estimation.virpo.spec import PRESETS, load_spec

pytestmark = pytest.mark.slow


def first(flight):
    return lambda aircraft, t: flight.state(aircraft, t)


def hear(localizer, arrivals, flight) -> dict[int, np.ndarray]:
    """Position errors of every aircraft, and of the centre as -1; each with its NEES per degree of freedom."""
    found: dict[int, list] = {}
    last: dict[int, float] = {}
    for who, said in arrivals:
        is_new = False
        match said:
            case ImuSample():
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
    made = {name: make_localizer(name, flight.fleet, SPEC, first(flight)) for name in METHODS}
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


@pytest.mark.parametrize(("method", "since"), [("vio_uwb", 0.0), ("joint", 5.0)])
def test_an_anchor_behind_a_wall_does_no_harm(flight, stream, runs, method, since):
    def lengthen(arrival):
        said = arrival.message
        if not isinstance(said, Ranges) or said.t < since:
            return arrival
        return arrival._replace(message=replace(said, ranges=said.ranges + (said.anchors == 1)))

    localizer = make_localizer(method, flight.fleet, SPEC, first(flight))
    found = hear(localizer, [lengthen(arrival) for arrival in stream], flight)
    assert {(one.aircraft, one.anchor) for one in localizer.left_out} == {(a, 1) for a in range(3)}
    assert all(since < one.t < since + 1.5 for one in localizer.left_out)
    assert all(rmse(found[a]) < 2.0 * rmse(runs[method][a]) for a in found)


def test_one_blind_aircraft_is_carried_by_the_others(flight, stream):
    blind = [
        a
        for a in stream
        if not (a.aircraft == 0 and isinstance(a.message, Tracks) and 3.0 <= a.message.t < 9.0)
    ]
    localizer = make_localizer("joint", flight.fleet, SPEC, first(flight))
    found = hear(localizer, blind, flight)
    assert not localizer.faults
    assert rmse(found[0]) < 0.1


@pytest.mark.parametrize("method", ["vio_uwb", "virpo", "joint", "drift_filter"])
def test_without_images_ranges_bound_the_error_of_every_method_and_its_covariance(
    flight, stream, method
):
    blind = [a for a in stream if not (isinstance(a.message, Tracks) and 3.0 <= a.message.t < 9.0)]
    localizer = make_localizer(method, flight.fleet, SPEC, first(flight))
    found = hear(localizer, blind, flight)
    assert not localizer.faults
    assert all(rmse(found[a]) < 0.4 for a in range(3))
    assert np.mean([found[a][:, 3].mean() for a in range(3)]) < 4.0
    assert all(len(found[a]) > 7.0 * SECONDS for a in range(3))


def test_a_silent_aircraft_does_not_stop_one_window(flight, stream):
    silent = [a for a in stream if not (a.aircraft == 1 and 4.0 <= a.message.t < 7.0)]
    localizer = make_localizer("joint", flight.fleet, SPEC, first(flight))
    found = hear(localizer, silent, flight)
    assert not localizer.faults
    assert rmse(found[0]) < 0.1
    assert rmse(found[2]) < 0.1
    assert rmse(found[1]) < 0.3, "the joints carry it"
    assert len(found[0]) > 8.0 * SECONDS


def test_a_centre_without_samples_has_no_estimate_for_so_long(flight, stream):
    """Its velocity would be no number."""
    heard = [a for a in stream if a.message.t < 3.0]
    heard = [a for a in heard if not (isinstance(a.message, Tilt) and 1.5 <= a.message.t < 2.0)]
    localizer = make_localizer("joint", flight.fleet, SPEC, first(flight))
    estimates = []
    for arrival in heard:
        pass_on(localizer, *arrival)
        centre = localizer.centre()
        if centre is not None:
            assert np.isfinite([*centre.p_WB_W, *centre.q_WB, *centre.v_WB_W, *centre.w_B]).all()
            estimates.append(centre.t)
    assert min(estimates) < 1.5 and max(estimates) > 2.5
    assert not any(1.5 <= t < 2.0 for t in estimates)


@pytest.mark.parametrize("method", ["virpo", "drift_filter"])
def test_neighbours_that_fall_silent_do_no_harm(flight, stream, method):
    silent = [a for a in stream if not (a.aircraft == 1 and 4.0 <= a.message.t)]
    found = hear(make_localizer(method, flight.fleet, SPEC, first(flight)), silent, flight)
    assert rmse(found[0]) < 0.15
    assert rmse(found[2]) < 0.15
    assert len(found[0]) > 8.0 * SECONDS


def test_a_gyroscope_with_an_error_of_scale_weighs_less_while_it_turns():
    """A good unit whose scale is off by one percent: by its noise alone the estimate is lost, and sure of itself."""
    noise = Noise(1.7e-4, 2e-3, 2e-5, 3e-3, gyro_bias=0.003, accel_bias=0.05, pixels=0.3)
    flown = Flight.of(12.0, fleet=fleet_of(1), noise=noise, seed=5)
    wrong = np.array([1.01, 0.985, 1.01])
    arrivals = []
    for arrival in flown.stream():
        said = arrival.message
        if isinstance(said, ImuSample):
            arrivals.append(arrival._replace(message=replace(said, w_B=wrong * said.w_B)))
        elif isinstance(said, Tracks):
            arrivals.append(arrival)
    errors = {}
    for scale in (0.0, 0.01):
        density = scale * (2.0 * SPEC.inertial.scale_memory) ** 0.5
        believed = np.array([1.7e-4, 2e-3, 2e-5, 3e-3, density])
        one = replace(flown.fleet.aircraft[0], noise=believed)
        fleet = Fleet((one,), gravity=flown.fleet.gravity)
        localizer = make_localizer("vio", fleet, SPEC, first(flown))
        errors[scale] = hear(localizer, arrivals, flown)[0]
    assert rmse(errors[0.01]) < 0.5 * rmse(errors[0.0])
    assert errors[0.01][:, 3].mean() < 1.5 < errors[0.0][:, 3].mean()


def test_methods_and_presets_are_checked(flight):
    with pytest.raises(BadInput, match="no method 'magic': choose vio"):
        make_localizer("magic", flight.fleet, SPEC, first(flight))
    with pytest.raises(BadInput, match="joined"):
        make_localizer("joint", Fleet(flight.fleet.aircraft), SPEC, first(flight))
    with pytest.raises(BadInput, match="choose default, paper"):
        load_spec("other")
    assert PRESETS.names() == ["default", "paper"]
    assert load_spec("paper").range_deviation == 0.05
    assert load_spec("paper").physical.distance == 0.04
