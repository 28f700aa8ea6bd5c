# SPDX-License-Identifier: BSD-3-Clause
"""An estimator's first steps with made-up measurements, so that whatever is loaded when first used is there."""

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.frontend.calibration import StereoCalibration
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.virpo.localizer import Localizer, all_propagated, make_localizer
from iap_estimation.virpo.messages import ImuSample, Ranges, Tilt, Tracks
from iap_estimation.virpo.spec import VirpoSpec

DURATION, SAMPLE_PERIOD = 0.6, 0.005  # [s]
SAMPLES_PER_IMAGE = 20  # inertial samples between two images
POINTS = np.array(
    [(x, y, z) for x in (-1, 0, 1) for y in (-0.5, 0.5) for z in (4, 6)], dtype=float
)
ANCHORS = 5.0 * np.eye(3)


def warm_up(method: str, sensor_set: SensorSet, spec: VirpoSpec) -> None:
    """Let all aircraft of a vehicle stand still for a moment under a method."""
    fleet = sensor_set.fleet(spec)
    positions = np.zeros((len(fleet.aircraft), 3)) if fleet.d is None else fleet.d
    first = [np.r_[place, so3.IDENTITY, np.zeros(9)] for place in positions]
    localizer = make_localizer(method, fleet, spec, lambda a, _: first[a].copy())
    views = [_views(one.cameras) for one in sensor_set.aircraft]
    for k in range(1, round(DURATION / SAMPLE_PERIOD)):
        _step(localizer, k, fleet.gravity, positions, views)
    localizer.estimates(), all_propagated(localizer, len(positions)), localizer.centre()  # noqa: B018 - loads what they need


def _step(
    localizer: Localizer, k: int, gravity: float, positions: Array, views: list[Array]
) -> None:
    t, up = k * SAMPLE_PERIOD, np.array([0.0, 0.0, gravity])
    localizer.tilt(Tilt(t, so3.IDENTITY, np.zeros(3), up))
    for a, place in enumerate(positions):
        if k % SAMPLES_PER_IMAGE == 0:
            ids, both = np.arange(len(POINTS)), np.ones(len(POINTS), dtype=bool)
            localizer.tracks(a, Tracks(t, ids, views[a], both))
            ways = np.linalg.norm(ANCHORS - place, axis=1)
            localizer.ranges(a, Ranges(t, np.arange(3), ANCHORS, ways, np.full(3, 0.1)))
        localizer.imu(a, ImuSample(t, np.zeros(3), up))


def _views(pair: StereoCalibration) -> Array:
    """Views (n, 4) of `POINTS`, which are in the left camera's frame."""
    right = POINTS @ pair.R_RL.T + pair.p_RL_R
    return np.hstack([POINTS[:, :2] / POINTS[:, 2:], right[:, :2] / right[:, 2:]])
