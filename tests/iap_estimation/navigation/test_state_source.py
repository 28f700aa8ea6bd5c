# SPDX-License-Identifier: BSD-3-Clause
"""Needs of a vehicle that flies on an estimate; its controller and autopilots use nothing else."""

from typing import get_args

import numpy as np
import pytest
from flying import Log, Loop, scenario_of
from refusals import refusal

from iap_description.math import so3
from iap_estimation.navigation.make import FLIGHT_METHODS
from iap_estimation.virpo.localizer import METHODS, OFFLINE
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.closed_loop import ClosedLoop
from iap_simulation.loop.estimate_monitor import EstimateGuidance
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.vehicle_spec import ONLY_RECORDED, StateSource


def flight(*assignments, source="joint", sensors="stereo", **options):
    given = Options(sensors=sensors, state_source=source, assignments=assignments, **options)
    return Flight.of(resolve("hover", given)[0])


def test_every_method_is_a_source():
    assert get_args(StateSource) == ("truth", *FLIGHT_METHODS)


@pytest.mark.parametrize("method", OFFLINE)
def test_a_method_of_recordings_cannot_fly(method):
    line = refusal(flight, source=method)
    assert f"method {method} is for recordings alone, by iap localize" in line
    assert all(name in line for name in METHODS)
    assert ONLY_RECORDED == OFFLINE


def test_an_unknown_method_is_refused_with_those_that_there_are():
    line = refusal(flight, source="gps")
    assert "state_source" in line and "gps" in line and "drift_filter" in line


@pytest.mark.parametrize(
    ("sensors", "source", "missing"),
    [
        ("none", "joint", "--state-source joint needs sensors: imu, attitude, stereo, uwb ("),
        ("imu,uwb", "vio_uwb", "vio_uwb needs sensors: stereo ("),
        ("imu", "vio", "vio needs sensors: stereo ("),
        ("depth", "vio", "vio needs sensors: stereo ("),
    ],
)
def test_what_is_missing_is_named(sensors, source, missing):
    assert missing in refusal(flight, sensors=sensors, source=source)


def test_ranges_need_anchors():
    assert "needs sensors: uwb (" in refusal(flight, "sensors.uwb.anchors=[]")
    flight("sensors.uwb.anchors=[]", source="vio")


def test_one_aircraft_alone_has_no_joints_to_use():
    assert "'joint' needs aircraft that are joined" in refusal(flight, platform="f450")
    flight(source="vio_uwb", platform="f450")


@pytest.mark.parametrize("key", ["estimator", "frontend"])
def test_unknown_settings_are_refused(key):
    assert "'bold'" in refusal(flight, f"control.{key}=bold")


def test_the_truth_needs_no_sensors():
    assert not flight(source="truth", sensors="none").navigators


class Offset:
    """Believes to be somewhere else, and turned."""

    def __init__(self, loop, shift, yaw=0.0):
        self._loop, self._shift = loop, np.array(shift)
        self._turn = so3.quaternion_exp(np.array([0.0, 0.0, yaw]))

    def state(self, t):
        x = self._loop.plant.state(0)[0].copy()
        x[:, :3] += self._shift
        x[:, 3:7] = so3.multiply(self._turn, x[:, 3:7])
        x[:, 7:10], x[:, 10:] = (
            so3.rotate(self._turn, x[:, at]) for at in (slice(7, 10), slice(10, 13))
        )
        return x


def hover_on(shift, yaw=0.0):
    loop, log = Loop.of(scenario_of("hover", duration=8.0)), Log(0)
    estimates = {0: Offset(loop, shift, yaw)}
    try:
        guidance = EstimateGuidance(loop.vehicles, estimates, {}, loop.monitor)
        ClosedLoop(loop.plant, loop.vehicles, guidance=[guidance], observers=[log, guidance]).fly(
            lambda _: None
        )
    finally:
        loop.plant.engine.close()
    return log.flown()


def test_who_believes_to_be_elsewhere_flies_elsewhere():
    shift = np.array([0.1, -0.2, 0.05])
    flown = hover_on(shift)
    np.testing.assert_allclose(flown.position_error[-1], -shift, atol=2e-3)
    assert np.abs(flown.x[0, 0, :3] - flown.reference[0, :3]).max() < 1e-9


def test_autopilots_share_the_belief():
    """A heading that is wrong for all, centre and aircraft, turns the whole platform and tips nothing over."""
    yaw = np.deg2rad(5.0)
    flown = hover_on((0.0, 0.0, 0.0), yaw)
    end = so3.quaternion_log(so3.multiply(so3.conjugate(flown.q_WB[-1]), flown.x[-1, 1:, 3:7]))
    np.testing.assert_allclose(flown.attitude_error_deg[-1], [0.0, 0.0, -5.0], atol=0.05)
    np.testing.assert_allclose(np.rad2deg(end[:, 2]), -5.0, atol=0.1)
    assert np.abs(flown.position_error[-1]).max() < 5e-3
