# SPDX-License-Identifier: BSD-3-Clause
"""Use that each method makes of its measurements, by stand-ins of its windows."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_up_measurements import ranges, tracks
from synthetic_fleet import fleet_of

from iap_description.errors import BadInput
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.localizer import (
    JointLocalizer,
    all_propagated,
    make_localizer,
    named_estimates,
)
from iap_estimation.virpo.messages import CENTRE_NAME, Estimate, ImuSample
from iap_estimation.virpo.methods.drift_filter import DriftFilterLocalizer
from iap_estimation.virpo.methods.uwb import UwbLocalizer, mean_cost
from iap_estimation.virpo.methods.vio import SingleAircraft, VioLocalizer
from iap_estimation.virpo.spec import load_spec

SPEC, FLEET = load_spec(), fleet_of(2)
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def start(_, __):
    return np.r_[0.0, 0.0, 1.0, LEVEL, np.zeros(9)]


@pytest.mark.parametrize(
    ("method", "kind"),
    [("vio", VioLocalizer), ("virpo", VioLocalizer), ("uwb", UwbLocalizer), ("joint", JointLocalizer),
     ("drift_filter", DriftFilterLocalizer)],
)  # fmt: skip
def test_a_method_is_made_by_its_name(method, kind):
    made = make_localizer(method, FLEET, SPEC, start)
    assert type(made) is kind and made.estimates() == [] and made.centre() is None
    assert made.propagated(0) is None and not made.faults and not made.left_out
    assert len(made.estimators) == (1 if method == "joint" else 2)


@pytest.mark.parametrize("method", ["virpo", "joint", "drift_filter"])
def test_methods_of_joined_aircraft_are_refused_for_one_alone(method):
    with pytest.raises(BadInput, match=f"method '{method}' needs aircraft that are joined"):
        make_localizer(method, FLEET.alone(0), SPEC, start)
    with pytest.raises(BadInput, match="^no method 'slam'"):
        make_localizer("slam", FLEET, SPEC, start)
    with pytest.raises(BadInput, match="'virpo' needs aircraft that are joined"):
        SingleAircraft("virpo", FLEET.alone(0), 0, SPEC, start)


def test_an_aircraft_alone_keeps_its_gravity_and_has_no_joints():
    alone = Fleet(FLEET.aircraft, FLEET.d, gravity=3.7).alone(1)
    assert alone.aircraft == (FLEET.aircraft[1],) and alone.d is None and alone.gravity == 3.7


def told(t, p=(0.0, 0.0, 0.0), q=LEVEL, v=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0), C=None):
    C = np.eye(15) if C is None else C
    return Estimate(t, np.array(p), q, np.array(v), np.zeros(3), np.zeros(3), C, np.array(w))


def test_names_and_propagated_states_are_of_all_aircraft_or_of_none():
    one, two, centre = told(1.0), told(2.0), told(3.0)
    of = SimpleNamespace(
        estimates=lambda: [one], centre=lambda: None, propagated=[one, None].__getitem__
    )
    assert named_estimates(of, ["a", "b"]) == {} and all_propagated(of, 2) == []
    assert all_propagated(of, 1) == [one]
    of.estimates = lambda: [one, two]
    assert named_estimates(of, ["a", "b"]) == {"a": one, "b": two}
    of.centre = lambda: centre
    assert named_estimates(of, ["a", "b"]) == {"a": one, "b": two, CENTRE_NAME: centre}


def test_odometry_is_shown_at_common_times_while_there_is_sight():
    spec = SPEC.model_copy(
        update={"physical": SPEC.physical.model_copy(update={"exchange": 10.0, "sharing": "full"})}
    )
    one = SingleAircraft("virpo", FLEET, 1, spec, start)
    shown = []
    one.estimator.shared = lambda aircraft: shown.append(aircraft) or "odometry"
    one.tracks(tracks(1.0, spec.fewest_tracks))
    one.tracks(tracks(1.4, spec.fewest_tracks - 1))
    due = [
        t for t in (1.0, 1.04, 1.0495, 1.1, 1.15, 1.2, 1.4495, 1.55) if one.due(t) == "odometry"
    ]
    # Half a period behind keyframes, and half a second after the last tracks at most.
    assert due == [1.0, 1.0495, 1.15, 1.4495] and shown == [1] * 4
    assert len(one._all) == 1
    own = spec.model_copy(
        update={"physical": spec.physical.model_copy(update={"sharing": "self"})}
    )
    assert len(SingleAircraft("virpo", FLEET, 1, own, start)._all) == 2
    assert len(SingleAircraft("vio", FLEET, 1, own, start)._all) == 1


@pytest.mark.parametrize(("method", "count"), [("vio", 0), ("vio_uwb", 1), ("virpo", 2)])
def test_ranges_go_to_all_windows_of_methods_that_use_them(method, count):
    physical = SPEC.physical.model_copy(update={"sharing": "self"})
    one = SingleAircraft(method, FLEET, 1, SPEC.model_copy(update={"physical": physical}), start)
    heard = []
    for each in one._all:
        each.ranges = lambda who, measured: heard.append(who)
    one.ranges(ranges(1.0))
    assert heard == [0] * count


def test_a_round_of_ranges_is_a_keyframe_once_samples_have_reached_it():
    made, frames = UwbLocalizer(FLEET, SPEC, start, None), []
    assert all(one.fleet.aircraft[0].rig is None for one in made.estimators)
    assert (
        made.estimators[0].spec.range_gate is None and made.estimators[0].spec.detour_gate == 4.0
    )
    for a, single in enumerate(made.aircraft):
        single.tracks = lambda seen, a=a: frames.append((a, seen.t, len(seen.ids))) or True
        single.imu = lambda sample: False
    assert not made.tracks(0, tracks(0.5))
    made.ranges(1, ranges(1.0))
    made.ranges(1, ranges(1.05))
    assert not made.imu(1, sample(0.99)) and not made.imu(0, sample(1.5)) and frames == []
    assert made.imu(1, sample(1.0)) and not made.imu(1, sample(1.1))
    assert frames == [(1, 1.0, 0)]
    made.ranges(1, ranges(1.2))
    assert made.imu(1, sample(1.3)) and frames[1:] == [(1, 1.2, 0)]
    gated = UwbLocalizer(FLEET, SPEC.model_copy(update={"detour_gate": 2.5}), start, None)
    assert gated.estimators[0].spec.detour_gate == 2.5


def sample(t):
    return ImuSample(t, np.zeros(3), np.array([0.0, 0.0, 9.81]))


def test_a_mean_cost_is_that_of_windows_that_run():
    windows = [
        SimpleNamespace(is_running=True, window=SimpleNamespace(chi_square=c)) for c in (1.0, 4.0)
    ]
    of = SimpleNamespace(faults=[], estimators=windows)
    assert mean_cost(of) == 2.5
    windows[1].is_running = False
    assert mean_cost(of) == np.inf
    windows[1].is_running, of.faults = True, ["one"]
    assert mean_cost(of) == np.inf


def test_the_centre_needs_estimates_of_one_time():
    made = VioLocalizer("vio", FLEET, SPEC, start, None)
    made._centre = SimpleNamespace(estimate=lambda estimates: "centre", tilt=None)
    for t, found in ((1.0, "centre"), (1.0009, "centre"), (1.0011, None)):
        for single, at in zip(made.aircraft, (1.0, t), strict=True):
            single.estimator.estimates = lambda at=at: [told(at)]
        assert made.centre() == found
    made.aircraft[1].estimator.estimates = list
    assert made.centre() is None
