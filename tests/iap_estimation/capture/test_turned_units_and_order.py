# SPDX-License-Identifier: BSD-3-Clause
"""The filter of a capture with units and markers that are turned, and what it takes of readings in odd order."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.readings import ImuReading, PoseReading, SensorSource
from iap_description.sensors.sensor_info import CaptureInfo, ImuInfo
from iap_estimation.capture.capture_filter import LAST_POSES, CaptureFilter
from iap_estimation.capture.gains import CaptureFilterSpec

SPEC = CaptureFilterSpec.load("default")
Q_BI, Q_BS, Q_WB = (
    so3.quaternion_exp(np.array(each)) for each in ([0.1, 0.2, 1.5], [-0.4, 0.3, 0.2], [0.2, -0.1, 0.7])
)  # fmt: skip
P_BI, P_BS = np.array([0.1, -0.2, 0.05]), np.array([0.0, 0.05, 0.1])
IMU = ImuInfo(
    parent="m1/base_link", p_BS_B=tuple(P_BI), q_BS=tuple(Q_BI), topic="/m1/imu", frame="m1/imu", rate=200.0,
    gyro_noise=3.4e-4, gyro_walk=3.9e-5, accel_noise=4e-3, accel_walk=6e-3,
)  # fmt: skip
CAPTURE = CaptureInfo(
    parent="m1/base_link", p_BS_B=tuple(P_BS), q_BS=tuple(Q_BS), topic="/m1/motion_capture", frame="m1/markers",
    rate=100.0, position_deviation=1e-3, attitude_deviation=1e-3, latency=0.01,
)  # fmt: skip
UNIT, MARKERS = (SensorSource(each.topic, each.frame) for each in (IMU, CAPTURE))
PLACE = np.array([1.0, 2.0, 3.0])
LEVEL_F = so3.rotate(so3.conjugate(so3.multiply(Q_WB, Q_BI)), np.array([0.0, 0.0, 9.81]))


def made():
    return CaptureFilter(IMU, CAPTURE, SPEC, 9.81)


def sample(t, w=(0.0, 0.0, 0.0)):
    """Of a unit that hovers and turns about its own axes [rad/s]."""
    return ImuReading(UNIT, t, np.array(w), LEVEL_F)


def pose(t, p=PLACE):
    return PoseReading(MARKERS, t, p + so3.rotate(Q_WB, P_BS), so3.multiply(Q_WB, Q_BS))


def row_at(one, t):
    out = np.zeros(13)
    one.put_row(t, out)
    return out


def test_the_first_pose_says_where_the_body_is_whatever_the_turns_of_unit_and_markers():
    one = made()
    one.take_pose(pose(2.0))
    assert (one.t, one.t_pose) == (2.0, 2.0)
    np.testing.assert_allclose(row_at(one, 2.0), [*PLACE, *Q_WB, *[0.0] * 6], atol=1e-12)
    assert not one.offsets.any()


def test_a_begin_is_met_at_the_unit_and_left_at_the_body():
    row = np.array([*PLACE, *Q_WB, 0.5, -0.4, 0.3, 0.2, 0.1, -0.6])
    one = made()
    one.begin(1.5, row)
    found = row_at(one, 1.5)
    np.testing.assert_allclose(found[:7], row[:7], atol=1e-12)
    # Without a sample nothing says how it turns: the body goes as its unit does.
    at_unit = row[7:10] + np.cross(row[10:13], so3.rotate(Q_WB, P_BI))
    np.testing.assert_allclose(found[7:], [*at_unit, 0.0, 0.0, 0.0], atol=1e-12)
    w_I = so3.rotate(so3.conjugate(so3.multiply(Q_WB, Q_BI)), row[10:13])
    one.take_sample(ImuReading(UNIT, 1.5 + 2e-6, w_I, LEVEL_F))
    np.testing.assert_allclose(row_at(one, 1.5 + 2e-6), row, atol=1e-5)


def test_a_row_between_samples_goes_on_at_the_twist_of_the_body():
    row = np.array([*PLACE, *Q_WB, 0.5, -0.4, 0.3, 0.0, 0.0, 0.0])
    one = made()
    one.begin(0.0, row)
    one.take_sample(sample(0.005))
    now, later = row_at(one, 0.005), row_at(one, 0.009)
    np.testing.assert_allclose(now[:3], PLACE + 0.005 * row[7:10], atol=1e-12)
    np.testing.assert_allclose(later[:3], PLACE + 0.009 * row[7:10], atol=1e-12)
    np.testing.assert_allclose(later[3:], now[3:], atol=1e-12)
    np.testing.assert_allclose(row_at(one, 0.005 + 5e-7), now, atol=0.0)


def test_samples_and_poses_that_are_no_newer_do_not_count():
    one = made()
    one.take_sample(sample(1.0))
    assert one.t == -math.inf, "nothing says where it begins"
    one.take_pose(pose(2.0))
    one.take_sample(sample(2.01))
    before = row_at(one, 2.01)
    for t in (1.0, 2.01):
        one.take_sample(sample(t, (9.0, 9.0, 9.0)))
    for t in (1.0, 2.0):
        one.take_pose(pose(t, PLACE + 5.0))
    assert (one.t, one.t_pose) == (2.01, 2.0)
    np.testing.assert_array_equal(row_at(one, 2.01), before)
    one.take_pose(pose(2.005, PLACE + 0.1))
    assert row_at(one, 2.01)[0] > PLACE[0]
    one.reset()
    assert (one.t, one.t_pose) == (-math.inf, -math.inf)


def test_a_pose_waits_for_its_sample_and_of_too_many_the_last_ones():
    one, at_once = made(), made()
    for each in (one, at_once):
        each.take_pose(pose(0.0))
    one.take_pose(pose(0.01, PLACE + 0.1))
    np.testing.assert_allclose(row_at(one, 0.0)[:3], PLACE, atol=1e-12)
    for each in (one, at_once):
        each.take_sample(sample(0.01))
    at_once.take_pose(pose(0.01, PLACE + 0.1))
    np.testing.assert_array_equal(row_at(one, 0.01), row_at(at_once, 0.01))
    for k in range(LAST_POSES + 6):
        one.take_pose(pose(1.0 + 0.01 * k))
    times = [t for t, _ in one._waiting]
    assert len(times) == LAST_POSES == 64
    assert (times[0], times[-1]) == pytest.approx((1.06, 1.69))


def assembly(*bodies):
    return SimpleNamespace(name="m1", bodies=[SimpleNamespace(name=each) for each in bodies])


def _moved(sensor, parent):
    return sensor.model_copy(update={"parent": parent})


def test_a_filter_is_of_the_unit_and_the_markers_on_its_body():
    other = _moved(IMU, "m2/base_link"), _moved(CAPTURE, "m1/arm")
    found = CaptureFilter.of(assembly("base_link"), [*other, CAPTURE, IMU], SPEC, 9.81)
    assert found.imu is IMU and found.capture is CAPTURE
    for sensors in ([*other, IMU], [*other, CAPTURE], []):
        with pytest.raises(
            BadInput, match="^vehicle 'm1': method capture_inertial needs sensors: imu, motion_cap"
        ):
            CaptureFilter.of(assembly("base_link"), sensors, SPEC, 9.81)
    with pytest.raises(BadInput, match="is for one body, and the platform has 2$"):
        CaptureFilter.of(assembly("base_link", "arm"), [CAPTURE, IMU], SPEC, 9.81)
