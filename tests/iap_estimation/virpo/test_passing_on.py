# SPDX-License-Identifier: BSD-3-Clause
"""Measurements and estimates on their way into and out of a localizer."""

from dataclasses import replace

import numpy as np

from iap_description.math import so3
from iap_estimation.virpo.localizer import pass_on
from iap_estimation.virpo.messages import Estimate, ImuSample, Ranges, Tilt, Tracks
from iap_estimation.virpo.methods.drift_filter import DriftFilterLocalizer


class Noting:
    """A localizer that notes what it gets; it has estimates after samples and tracks."""

    def __init__(self):
        self.got = []

    def imu(self, who, sample):
        self.got.append(("imu", who, sample))
        return True

    def tracks(self, who, tracks):
        self.got.append(("tracks", who, tracks))
        return True

    def ranges(self, who, ranges):
        self.got.append(("ranges", who, ranges))

    def tilt(self, tilt):
        self.got.append(("tilt", None, tilt))


def test_a_measurement_goes_to_its_own_update_and_only_samples_and_tracks_make_estimates():
    for kind, name, makes in (
        (ImuSample, "imu", True), (Tracks, "tracks", True), (Ranges, "ranges", False), (Tilt, "tilt", False),
    ):  # fmt: skip
        localizer, measured = Noting(), object.__new__(kind)
        assert pass_on(localizer, 2, measured) is makes
        assert localizer.got == [(name, None if name == "tilt" else 2, measured)]


def estimate(t, p, turn, v):
    zero = np.zeros(3)
    q = so3.quaternion_exp(np.array(turn))
    return Estimate(t, np.array(p), q, np.array(v), zero, zero, np.eye(15), zero)


def test_drift_found_at_one_instant_is_taken_out_of_the_odometry_of_a_later_one():
    """A frame of odometry that lies turned and shifted in the world lies so at any instant."""
    turn, shift = so3.quaternion_exp(np.array([0.0, 0.0, 0.4])), np.array([1.0, -2.0, 0.3])

    def moved(one):
        return replace(
            one,
            p_WB_W=shift + so3.rotate(turn, one.p_WB_W),
            q_WB=so3.multiply(turn, one.q_WB),
            v_WB_W=so3.rotate(turn, one.v_WB_W),
        )

    then = estimate(2.0, [5.0, 1.0, 1.2], [0.1, 0.2, 0.3], [0.5, 0.0, 0.1])
    now = estimate(2.1, [5.2, 1.3, 1.1], [0.0, 0.2, 0.5], [0.4, 0.3, 0.0])
    localizer = object.__new__(DriftFilterLocalizer)
    localizer._odometry = {(1, 2000): then}
    found, expected = localizer._corrected(1, moved(then), now), moved(now)
    assert found.t == now.t
    for name in ("p_WB_W", "q_WB", "v_WB_W"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)
    assert localizer._corrected(0, moved(then), now).t == then.t  # whose odometry is not known
