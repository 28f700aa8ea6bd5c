# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of responders: references, wrenches and what stays away."""

import numpy as np
import pytest

from iap_control.responders.blend import Blend
from iap_control.responders.inputs import SimpleInputs, world_rates
from iap_control.responders.pose_stream import InputLimits
from iap_control.responders.reference_input import ReferenceInput
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W

DT = 0.005
HERE = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, *np.zeros(6)])


def pose(x=0.0, y=0.0, z=1.0, yaw=0.0):
    return np.array([x, y, z, *so3.quaternion_exp(np.array([0.0, 0.0, yaw]))])


def rows_over(inputs, duration, start=0.0, at_each=lambda k, t: None):
    out = []
    for k in range(round(duration / DT)):
        at_each(k, start + k * DT)
        out.append(inputs.row(start + k * DT, HERE).copy())
    return np.array(out)


def assert_derivatives_fit(rows, tolerance=5e-3):
    """Central differences of pose and twist are the twist and the acceleration."""
    middle = rows[1:-1]
    v = (rows[2:, REF_P] - rows[:-2, REF_P]) / (2 * DT)
    a = (rows[2:, REF_V] - rows[:-2, REF_V]) / (2 * DT)
    turn = so3.multiply(so3.conjugate(rows[:-2, REF_Q]), rows[2:, REF_Q])
    w = so3.quaternion_log(turn) / (2 * DT)
    alpha = (rows[2:, REF_W] - rows[:-2, REF_W]) / (2 * DT)
    for have, want in ((v, REF_V), (a, REF_A), (w, REF_W), (alpha, REF_ALPHA)):
        np.testing.assert_allclose(have, middle[:, want], atol=tolerance)


def test_a_blend_starts_at_the_platform_ends_on_the_reference_and_is_smooth():
    have = np.array([1.0, -0.5, 0.8, *so3.quaternion_exp(np.array([0.3, -0.2, 0.9]))])
    spin = np.array([0.1, 0.2, -0.3])
    blend = None
    rows = []
    for k in range(800):
        t = k * DT
        row = np.zeros(19)
        row[REF_P], row[REF_V] = [0.2 * t, 0.0, 1.0], [0.2, 0.0, 0.0]
        row[REF_Q], row[REF_W] = so3.quaternion_exp(t * spin), spin
        blend = blend or Blend.between(t, have, row)
        plain = row.copy()
        blend.add_to(row, t)
        rows.append(row)
    rows = np.array(rows)
    np.testing.assert_allclose(rows[0, :3], have[:3], atol=1e-12)
    np.testing.assert_allclose(np.abs(rows[0, REF_Q] @ have[3:]), 1.0, atol=1e-12)
    np.testing.assert_array_equal(rows[-1], plain)
    assert_derivatives_fit(rows)


def test_a_longer_way_takes_longer():
    far = Blend.between(0.0, pose(x=10.0), pose())
    assert far.duration == pytest.approx(20.0)
    assert Blend.between(0.0, pose(x=0.1), pose()).duration == 3.0


def test_a_pose_that_is_set_is_reached_smoothly():
    inputs = SimpleInputs(3, InputLimits())
    inputs.row(0.0, HERE)
    inputs.take_pose(0.0, 0.0, pose(x=1.0, yaw=0.5))
    rows = rows_over(inputs, 4.0, start=DT)
    assert np.abs(rows[0, :3] - HERE[:3]).max() < 1e-6
    np.testing.assert_allclose(rows[-1, :7], pose(x=1.0, yaw=0.5), atol=1e-12)
    assert not rows[-1, 7:19].any()
    assert_derivatives_fit(rows)


def test_a_stream_of_poses_gives_its_velocity_by_its_own_stamps():
    inputs, epoch = SimpleInputs(3, InputLimits()), 1.7e9

    def send(k, t):
        if k % 5 == 0:  # 40 Hz, stamped by a clock of its own
            inputs.take_pose(t, epoch + t, pose(x=0.4 * t, yaw=0.2 * t))

    rows = rows_over(inputs, 5.0, at_each=send)
    t = (len(rows) - 1) * DT
    np.testing.assert_allclose(rows[-1, REF_P], [0.4 * t, 0.0, 1.0], atol=2e-3)
    np.testing.assert_allclose(rows[-1, REF_V], [0.4, 0.0, 0.0], atol=5e-3)
    np.testing.assert_allclose(rows[-1, REF_W], [0.0, 0.0, 0.2], atol=5e-3)


def test_a_stream_that_falls_silent_stands_still_at_its_last_pose():
    inputs = SimpleInputs(3, InputLimits())

    def send(k, t):
        if k % 5 == 0 and t < 4.0:
            inputs.take_pose(t, t, pose(x=0.4 * t))

    rows = rows_over(inputs, 9.0, at_each=send)
    assert not rows[-1, 7:19].any()
    np.testing.assert_allclose(rows[-1, REF_P], rows[-100, REF_P])
    assert rows[-1, 0] == pytest.approx(0.4 * 3.975)


def test_a_pose_elsewhere_in_a_stream_does_not_make_it_jump():
    inputs = SimpleInputs(3, InputLimits())

    def send(k, t):
        if k % 5 == 0:
            inputs.take_pose(t, t, pose(x=0.0 if t < 1.0 else 2.0))

    rows = rows_over(inputs, 6.0, at_each=send)
    assert np.abs(np.diff(rows[:, 0])).max() < 0.02
    assert rows[-1, 0] == pytest.approx(2.0)


def test_a_velocity_is_followed_within_the_limits_and_lost_in_silence():
    inputs = SimpleInputs(3, InputLimits(timeout=0.2, acceleration=2.0))

    def send(k, t):
        if t < 2.0:
            inputs.take_rates(t, "twist", np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.5]))

    rows = rows_over(inputs, 4.0, at_each=send)
    assert rows[380, REF_V][0] == pytest.approx(1.0)
    assert rows[380, REF_W][2] == pytest.approx(0.5)
    assert np.abs(rows[:, REF_A]).max() <= 2.0 + 1e-9
    assert not rows[-1, 7:19].any()
    assert rows[-1, 0] == pytest.approx(1.0 * (2.0 + 0.2), abs=0.02)


def test_an_acceleration_moves_the_reference_as_newton_says():
    inputs = SimpleInputs(3, InputLimits())

    def send(k, t):
        inputs.take_rates(t, "accel", np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0]))

    rows = rows_over(inputs, 2.0, at_each=send)
    assert rows[-1, REF_V][0] == pytest.approx(0.5 * 2.0, rel=0.01)
    assert rows[-1, 0] == pytest.approx(0.5 * 0.5 * 4.0, rel=0.01)


def test_rates_in_the_body_turn_with_it_and_rates_in_the_world_do_not():
    q_east_to_north = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    rates = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    in_body = world_rates(rates, q_east_to_north, in_body=True)
    in_world = world_rates(rates, q_east_to_north, in_body=False)
    np.testing.assert_allclose(in_body, [0.0, 1.0, 0.0, 1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(in_world, [1.0, 0.0, 0.0, 0.0, -1.0, 0.0], atol=1e-12)


def test_unless_asked_otherwise_rates_change_by_2_and_3_per_second_and_stop_half_a_second_after():
    inputs = SimpleInputs(3, InputLimits())
    rates = np.array([9.0, 0.0, 0.0, 0.0, 0.0, 9.0])
    inputs.take_rates(0.0, "twist", rates)
    rows = rows_over(inputs, 0.9)
    slope = np.diff(rows[:80], axis=0) / DT
    np.testing.assert_allclose(slope[5:, REF_V.start], 2.0)
    np.testing.assert_allclose(slope[5:, REF_W.stop - 1], 3.0)
    assert rows[:, REF_V.start].argmax() * DT == pytest.approx(0.5, abs=1.5 * DT)


@pytest.mark.parametrize("off", [-0.0105, 0.0105])
def test_a_pose_whose_quaternion_is_off_by_more_than_a_hundredth_is_refused(off):
    inputs = ReferenceInput(3, InputLimits(), "stamped", needs_headings=True)
    with pytest.raises(BadInput, match=r"reference/pose: no number, or no unit quaternion"):
        inputs.take_pose(0.0, 0.0, pose() * [1, 1, 1, *[1.0 + off] * 4])
    assert not inputs.follows_inputs
    inputs.take_pose(0.0, 0.0, pose(z=1.0) * [1, 1, 1, *[1.0 + 0.9 * off] * 4])
    assert inputs.follows_inputs
    q = inputs.at(0.0, 0, HERE).row[REF_Q]
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-12)
