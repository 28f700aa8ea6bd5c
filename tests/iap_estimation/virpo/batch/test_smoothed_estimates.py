# SPDX-License-Identifier: BSD-3-Clause
"""Estimates of the batch in `map`, and what a log of keyframes keeps between them."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_up_measurements import ranges, tracks
from synthetic_fleet import fleet_of

from iap_description.math import so3
from iap_estimation.virpo.batch.keyframes import Keyframe, KeyframeLog
from iap_estimation.virpo.messages import Estimate, ImuSample
from iap_estimation.virpo.spec import load_spec

smoothing = pytest.importorskip("iap_estimation.virpo.batch.smoothing")
Q = so3.quaternion_exp(np.array([0.2, -0.3, 0.4]))
UP = np.array([0.0, 0.0, 9.81])


def told(t, x=0.0):
    return Estimate(
        t,
        np.array([x, 0.0, 0.0]),
        Q,
        np.ones(3),
        np.full(3, 0.1),
        np.full(3, 0.2),
        np.eye(15),
        np.full(3, 0.5),
    )


def test_a_covariance_of_the_graph_is_put_in_the_order_and_axes_of_an_estimate():
    x = np.r_[np.zeros(3), Q, np.zeros(9)]
    C = np.diag(
        np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 3)
    )  # turn, place in the body, velocity, both biases
    C[3, 3] = 9.0
    C[0, 12] = C[12, 0] = 0.5
    found = smoothing._in_map(C, x)
    R = so3.matrix_from_quaternion(Q)
    np.testing.assert_allclose(found[:3, :3], R @ np.diag([9.0, 2.0, 2.0]) @ R.T)
    np.testing.assert_allclose(np.diag(found)[3:], np.repeat([1.0, 3.0, 5.0, 4.0], 3))
    assert found[3, 9] == 0.5


def test_a_smoothed_estimate_has_its_rates_less_the_bias_that_was_found():
    one = Keyframe(told(2.5), None, None, False, False)
    np.testing.assert_array_equal(one.x, [0, 0, 0, *Q, 1, 1, 1, *[0.1] * 3, *[0.2] * 3])
    found = smoothing._estimate(one, np.arange(16.0), 7.0 * np.eye(15))
    assert found.t == one.t == 2.5 and found.covariance[0, 0] == 7.0
    assert found.p_WB_W.tolist() == [0, 1, 2] and found.q_WB.tolist() == [3, 4, 5, 6]
    assert found.v_WB_W.tolist() == [7, 8, 9] and found.gyro_bias.tolist() == [10, 11, 12]
    assert found.accel_bias.tolist() == [13, 14, 15]
    np.testing.assert_allclose(found.w_B, 0.6 - np.array([10.0, 11.0, 12.0]))


def test_a_log_keeps_what_came_between_keyframes():
    log = KeyframeLog(fleet_of(1), load_spec())
    window = SimpleNamespace(refused=[{1}], is_still=lambda a: log.keyframes == [])
    for k in range(41):
        t = k / 100
        log.imu(ImuSample(t, np.zeros(3), UP))
        if k in (10, 15, 30):
            log.tracks(tracks(t, k))
        if k == 20:
            log.ranges(ranges(t))
        if k in (10, 30):
            window.estimates = lambda t=t: [told(t)]
            log.keep(window)
    first, second = log.keyframes
    assert (len(first.tracks.ids), len(second.tracks.ids)) == (10, 30)
    assert first.interval is None and first.is_still and not second.is_still
    assert second.interval.span == pytest.approx(0.2) and not second.is_silent
    assert second.interval.ranges[0][:, 6].tolist() == [0.0, 2.0], "one anchor is refused"
    assert second.interval.ranges[0][0, 0] == pytest.approx(0.1)
    window.estimates = lambda: [told(2.0)]
    log.imu(ImuSample(2.0, np.zeros(3), UP))
    log.keep(window)
    assert log.keyframes[2].is_silent and log.keyframes[2].tracks is None
