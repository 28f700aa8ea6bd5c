# SPDX-License-Identifier: BSD-3-Clause
"""A motion capture tells late where markers were, with its noise and an origin of each flight's own."""

import numpy as np
import pytest
from watched_flights import watch

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.readings import PoseReading
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_sensors.mounted import motion_capture
from iap_sensors.mounted.motion_capture import (
    PRESETS,
    MotionCaptures,
    MotionCaptureSpec,
    vehicle_bias,
)

BEETLE = Assembly.of(load_platform("beetle"), "m1")


def capture(preset: str = "jsk", seed: int = 1, **changes: object) -> MotionCaptures:
    spec = MotionCaptureSpec(**{**PRESETS.tree(preset), **changes})
    return MotionCaptures(spec, BEETLE, seed=seed, control_hz=200.0)


def row(x: float) -> np.ndarray:
    """State rows (1, 13) of a body at rest, x along the first axis [m]."""
    out = np.zeros((1, 13))
    out[0, 0], out[0, 6] = x, 1.0
    return out


def test_a_pose_is_of_the_instant_of_its_stamp_and_comes_late_by_the_latency() -> None:
    markers = capture("perfect", latency=0.015)
    arrived = [(k, each) for k in range(40) for each in markers.sample(k, k / 200.0, row(k), None)]
    assert [k for k, _ in arrived] == list(range(3, 40, 2))
    for k, each in arrived:
        assert isinstance(each, PoseReading)
        assert each.t == pytest.approx((k - 3) / 200.0)
        assert each.p_WS_W[0] == k - 3
    assert markers.infos[0].latency == pytest.approx(0.015)


def test_noise_is_white_and_the_origin_is_off_by_one_bias_for_all_of_a_flight() -> None:
    markers = capture(latency=0.0, position_bias=0.03)
    said = [r for k in range(8000) for r in markers.sample(k, k / 200.0, row(0.0), None)]
    p = np.array([each.p_WS_W for each in said])
    turns = so3.quaternion_log(np.array([each.q_WS for each in said]))
    np.testing.assert_allclose(p.std(axis=0), 0.001, rtol=0.05)
    np.testing.assert_allclose(turns.std(axis=0), 0.001, rtol=0.05)
    followed = (
        np.mean(np.diff(p[:, 0]) ** 2) / 2.0
    )  # variance, where successive ones are independent
    assert followed == pytest.approx(0.001**2, rel=0.1)
    bias = vehicle_bias(markers.spec, BEETLE, 1)
    np.testing.assert_allclose(p.mean(axis=0), bias, atol=1e-4)
    assert np.abs(bias - vehicle_bias(markers.spec, BEETLE, 2)).max() > 0.005


def test_a_flight_reported_anew_says_the_same_and_nothing_that_was_on_its_way() -> None:
    markers = capture()
    first = [r.p_WS_W for k in range(20) for r in markers.sample(k, k / 200.0, row(k), None)]
    markers.reset(1)
    again = [r.p_WS_W for k in range(20) for r in markers.sample(k, k / 200.0, row(k), None)]
    np.testing.assert_array_equal(first, again)


def test_markers_of_a_capture_are_seen_in_a_flight_whose_other_sensors_they_do_not_change() -> (
    None
):
    alone = watch("beetle_hover", sensors="imu", duration=0.3)
    both = watch("beetle_hover", "sensors.motion_capture=vicon", sensors="imu", duration=0.3)
    a, b = (np.array([each.w_WS_S for each in one.inertial("/iap/imu")]) for one in (alone, both))
    np.testing.assert_array_equal(a, b)
    poses = both.of("/iap/motion_capture")
    assert len(poses) == pytest.approx(29, abs=1)
    assert np.linalg.norm(poses[-1].p_WS_W - both.x[-1, 0, :3]) < 0.01


def test_an_unknown_capture_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadInput, match="no motion capture 'kinect': choose jsk, .*vicon"):
        MotionCaptures.preset("kinect")


def test_poses_do_not_depend_on_how_many_errors_are_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def poses() -> list[np.ndarray]:
        markers = capture(latency=0.0)
        readings = [
            each for k in range(400) for each in markers.sample(k, k / 200.0, row(k), None)
        ]
        return [np.append(each.p_WS_W, each.q_WS) for each in readings]

    expected = poses()
    monkeypatch.setattr(motion_capture, "POSES_DRAWN_AT_ONCE", 7)
    assert len(expected) > 150
    np.testing.assert_array_equal(poses(), expected)
