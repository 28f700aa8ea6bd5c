# SPDX-License-Identifier: BSD-3-Clause
"""The filter of capture and inertial unit on made-up motions: latency, offsets, noise, gaps and order."""

import math

import numpy as np
import pytest

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.readings import ImuReading, PoseReading, Reading, SensorSource
from iap_description.sensors.sensor_info import CaptureInfo, ImuInfo
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_estimation.capture.capture_filter import CaptureFilter
from iap_estimation.capture.gains import CaptureFilterSpec, steady_gain

G, DT, LATE = 9.81, 0.005, 0.01
FRAME = {"parent": "m1/base_link", "q_BS": (0.0, 0.0, 0.0, 1.0)}
IMU = ImuInfo(
    **FRAME,
    p_BS_B=(0.1, 0.0, 0.0),
    topic="/m1/imu",
    frame="m1/imu",
    rate=200.0,
    gyro_noise=3.4e-4,
    gyro_walk=3.9e-5,
    accel_noise=4e-3,
    accel_walk=6e-3,
)
CAPTURE = CaptureInfo(
    **FRAME,
    p_BS_B=(0.0, 0.05, 0.1),
    topic="/m1/motion_capture",
    frame="m1/markers",
    rate=100.0,
    position_deviation=1e-3,
    attitude_deviation=1e-3,
    latency=LATE,
)
UNIT, MARKERS = (SensorSource(each.topic, each.frame) for each in (IMU, CAPTURE))


def circling(t: float) -> Array:
    """State row (13,) of a body on a circle of 1 m at 1 rad/s that looks ahead."""
    out = np.zeros(13)
    out[:3] = np.cos(t), np.sin(t), 1.0
    out[3:7] = so3.quaternion_exp(np.array([0.0, 0.0, t]))
    out[7:10], out[12] = (-np.sin(t), np.cos(t), 0.0), 1.0
    return out


def sample(t: float, offset: Array, rng: np.random.Generator | None = None) -> ImuReading:
    """Mean over the period before t of a unit that is 0.1 m further out than the circling body."""
    f_S = np.array([-1.1, 0.0, G]) + offset[:3]
    w_S = np.array([0.0, 0.0, 1.0]) + offset[3:]
    if rng is not None:
        f_S = f_S + 0.15 * rng.standard_normal(3)
        w_S = w_S + 0.005 * rng.standard_normal(3)
    return ImuReading(UNIT, t, w_S, f_S)


def pose(t: float, rng: np.random.Generator | None = None) -> PoseReading:
    """Pose of the markers."""
    row = circling(t)
    p = row[:3] + so3.rotate(row[3:7], np.array(CAPTURE.p_BS_B))
    q = row[3:7]
    if rng is not None:
        p = p + 1e-3 * rng.standard_normal(3)
        q = so3.multiply(q, so3.quaternion_exp(1e-3 * rng.standard_normal(3)))
    return PoseReading(MARKERS, t, p, q)


def made(**changes: object) -> CaptureFilter:
    spec = CaptureFilterSpec.load("default").model_copy(update=changes)
    return CaptureFilter(IMU, CAPTURE, spec, G)


def take(one: CaptureFilter, reading: Reading) -> None:
    one.take_sample(reading) if isinstance(reading, ImuReading) else one.take_pose(reading)


def fly(
    one: CaptureFilter, seconds: float, offset: Array, *, noisy: bool = False, blind: float = 0.0
) -> Array:
    """Errors (T, 13) of state rows; poses come late by 10 ms, and none in the last seconds that are blind."""
    rng = np.random.default_rng(7) if noisy else None
    one.begin(0.0, circling(0.0))
    errors, row = [], np.zeros(13)
    for k in range(1, round(seconds / DT)):
        t = k * DT
        take(one, sample(t, offset, rng))
        if k % 2 == 0 and t - LATE >= 0.0 and t < seconds - blind:
            take(one, pose(t - LATE, rng))
        one.put_row(t, row)
        errors.append(row - circling(t))
    return np.array(errors)


def test_poses_that_come_late_correct_where_the_body_was() -> None:
    """At 1 m/s a filter that took them for new would trail by 10 mm and 10 mrad."""
    errors = fly(made(), 10.0, np.zeros(6))
    assert np.abs(errors[-400:, :3]).max() < 1e-4
    assert np.abs(errors[-400:, 3:7]).max() < 1e-4
    assert np.abs(errors[-400:, 7:10]).max() < 1e-3


def test_offsets_of_both_readings_are_found() -> None:
    offset = np.array([0.05, -0.03, 0.02, 0.002, -0.001, 0.003])
    one = made()
    errors = fly(one, 40.0, offset)
    np.testing.assert_allclose(one.offsets, offset, atol=1e-3)
    assert np.abs(errors[-400:, 7:10]).max() < 2e-3
    assert np.abs(errors[-400:, 10:]).max() < 1e-4


def test_velocity_is_ten_times_as_quiet_as_differences_of_poses() -> None:
    errors = fly(made(), 20.0, np.zeros(6), noisy=True)[400:]
    rms = np.sqrt((errors**2).mean(axis=0))
    assert rms[7:10].max() < 0.01  # differences of 1 mm at 100 Hz have 0.14 m/s
    assert rms[:3].max() < 5e-4
    assert 2.0 * rms[3:7].max() < 5e-4


def test_a_gap_of_half_a_second_is_flown_by_the_unit() -> None:
    errors = fly(made(), 20.0, np.array([0.02, 0.02, 0.02, 0.001, 0.001, 0.001]), blind=0.5)
    assert np.abs(errors[-1, :3]).max() < 3e-3


def test_the_order_in_which_samples_and_poses_arrive_makes_no_difference_to_the_last_bit() -> None:
    rng = np.random.default_rng(2)
    samples = [sample(k * DT, np.zeros(6), rng) for k in range(1, 101)]
    poses = [pose(k * 2 * DT, rng) for k in range(50)]
    rows = []
    for ahead in (0.0, LATE, 3.0 * LATE):  # of samples, by which poses come later or earlier
        one = made()
        one.begin(0.0, circling(0.0))
        mixed = [*samples, *poses]
        for each in sorted(mixed, key=lambda r: r.t + ahead * isinstance(r, PoseReading)):
            take(one, each)
        row = np.zeros(13)
        one.put_row(0.5, row)
        rows.append(row)
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])


def test_the_first_pose_begins_where_nobody_says_the_start() -> None:
    one = made()
    take(one, sample(0.5, np.zeros(6)))
    assert not math.isfinite(one.t)
    take(one, pose(0.5))
    row = np.zeros(13)
    one.put_row(0.5, row)
    np.testing.assert_allclose(row[:7], circling(0.5)[:7], atol=1e-12)


def test_a_steady_gain_is_that_of_the_riccati_equation() -> None:
    """A random walk: P = (q + sqrt(q^2 + 4 q r)) / 2 before a measurement (Bar-Shalom et al., 2001, 5.2.5)."""
    q, r = 0.3, 2.0
    P = 0.5 * (q + math.sqrt(q * q + 4.0 * q * r))
    gain, kept = steady_gain(np.eye(1), np.array([[q]]), r)
    assert gain[0] == pytest.approx(P / (P + r), rel=1e-9)
    assert kept == pytest.approx(P * r / (P + r), rel=1e-9)


def test_a_platform_of_several_bodies_is_refused() -> None:
    star = Assembly.of(load_platform("three_star"), "iap")
    with pytest.raises(BadInput, match="capture_inertial is for one body, and the platform has 4"):
        CaptureFilter.of(star, [IMU, CAPTURE], CaptureFilterSpec.load("default"), G)
