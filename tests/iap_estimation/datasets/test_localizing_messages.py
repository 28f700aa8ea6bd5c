# SPDX-License-Identifier: BSD-3-Clause
"""Tracks and estimates through messages and back."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.nodes.odometry_messages import (
    estimate_of,
    put_estimate,
    put_motion,
    reader,
    shared_of,
)
from iap_estimation.nodes.track_messages import FEATURES, tracks_bytes, tracks_of
from iap_estimation.virpo.messages import Estimate, SharedOdometry, Tracks
from iap_io.wire.cdr import message, message_types
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.sample_views import OdometryMessage


@pytest.fixture
def told():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(15, 15))
    q = so3.normalized(rng.normal(size=4))
    return Estimate(
        12.345, *rng.normal(size=(1, 3)), q, *rng.normal(size=(3, 3)), A @ A.T, rng.normal(size=3)
    )


def sent(put, told):
    out = OdometryMessage.of("iap/drone_1_imu")
    put(out, told)
    return MessageReader(OdometryMessage).read(out.dump())


def test_tracks_come_back_as_they_were():
    views = np.array([[0.1, -0.2, 0.05, -0.2], [0.3, 0.4, np.nan, np.nan]])
    given = Tracks(1234.567890123, np.array([7, 2**40]), views, np.array([True, False]))
    back = tracks_of(tracks_bytes(given, "iap/drone_1_left_camera_optical"))
    assert back.t == pytest.approx(given.t, abs=1e-9)
    for name in ("ids", "views", "has_right"):
        np.testing.assert_array_equal(getattr(back, name), getattr(given, name))


def test_no_tracks_are_a_message_too():
    none = Tracks(0.0, np.zeros(0, np.int64), np.zeros((0, 4)), np.zeros(0, dtype=bool))
    assert tracks_of(tracks_bytes(none, "")).views.shape == (0, 4)


@pytest.mark.parametrize(
    ("views", "has_right", "reason"),
    [
        ([0.1, 0.2, 0.3], [True], "1 ids, 3 numbers, 1 flags"),
        ([0.1, 0.2, 0.3, 0.4], [], "0 flags"),
        ([0.1, np.inf, 0.3, 0.4], [False], "not finite"),
        ([0.1, 0.2, np.nan, 0.4], [True], "not finite"),
    ],
)
def test_tracks_that_cannot_be_are_refused(views, has_right, reason):
    store = message_types()
    fields = {
        "ids": np.array([1]),
        "views": np.array(views),
        "has_right": np.array(has_right, bool),
    }
    data = bytes(store.serialize_cdr(message(FEATURES, **fields), FEATURES))
    with pytest.raises(BadInput, match=reason):
        tracks_of(data)


def test_an_estimate_comes_back_with_the_covariances_of_each_quantity(told):
    back = estimate_of(sent(put_estimate, told))
    for name in ("p_WB_W", "q_WB", "v_WB_W", "w_B"):
        np.testing.assert_allclose(getattr(back, name), getattr(told, name), atol=1e-12)
    for part in (slice(0, 3), slice(3, 6)):
        np.testing.assert_allclose(back.covariance[part, part], told.covariance[part, part])


def test_covariances_of_odometry_are_those_of_samples(told):
    """Turns are about the axes of the map, velocities are along those of the body."""
    rng = np.random.default_rng(1)
    small = 1e-4
    errors = rng.multivariate_normal(np.zeros(15), small**2 * told.covariance, size=20000)
    q = so3.multiply(
        np.broadcast_to(told.q_WB, (len(errors), 4)), so3.quaternion_exp(errors[:, 3:6])
    )
    turn_W = so3.quaternion_log(
        so3.multiply(q, np.broadcast_to(so3.conjugate(told.q_WB), q.shape))
    )
    v_B = so3.rotate(so3.conjugate(q), told.v_WB_W + errors[:, 6:9])
    seen = np.hstack([errors[:, :3], turn_W]), np.hstack([v_B, -errors[:, 9:12]])
    message = sent(put_estimate, told)
    for samples, said in zip(
        seen, (message.pose_covariance, message.twist_covariance), strict=True
    ):
        found = np.cov(samples.T) / small**2
        scale = np.sqrt(np.outer(np.diag(said), np.diag(said)))
        assert np.abs((found - said) / scale).max() < 0.05


def test_what_a_neighbour_shows_comes_back(told):
    shared = SharedOdometry(told.t, 1, told.p_WB_W, told.q_WB, told.v_WB_W, told.w_B)
    back = shared_of(sent(put_motion, shared), 1)
    assert back.aircraft == 1
    for name in ("p_WB_W", "q_WB", "v_WB_W", "w_B"):
        np.testing.assert_allclose(getattr(back, name), getattr(shared, name), atol=1e-12)


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [(0, np.nan, "position.x is nan"), (6, 9.0, "no unit quaternion")],
)
def test_odometry_that_cannot_be_is_refused(told, place, value, reason):
    message = sent(put_motion, told)
    message.pose[place] = value
    with pytest.raises(BadInput, match=reason):
        reader(shared_of, 0)(message.dump())
