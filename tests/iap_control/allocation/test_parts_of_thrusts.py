# SPDX-License-Identifier: BSD-3-Clause
"""Parts of which allocation is made, by hand: limits of thrusts, their attitudes, headings, filters and means."""

import math

import numpy as np
import pytest

from iap_control.allocation.allocation import attitude_along, thrust_within
from iap_control.allocation.allocator import filter_share
from iap_control.allocation.thrust_vectors import (
    ThrustLimits,
    force_within,
    limits_at,
    shortage,
    within_travel,
    yaw_within,
)
from iap_control.modules.exchange import mean_wrench
from iap_control.references.replay import thrust_rate
from iap_control.responders.pose_stream import pose_distance
from iap_description.math import so3

LEVEL = (0.0, 0.0, 0.0, 1.0)
NONE = (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("wanted", "made"),
    [
        ((1.0, 0.0, 8.0), (1.0, 0.0, 8.0)),
        ((1.0, 0.0, 1.0), (1.0, 0.0, 2.0)),  # at least 2 N
        ((3.0, 4.0, 20.0), (0.0, 0.0, 10.0)),  # no room aside at 10 N
        ((6.0, 8.0, 6.0), (1.8, 2.4, 6.0)),  # tangent 0.5
        ((9.0, 12.0, 9.6), (1.68, 2.24, 9.6)),  # sqrt(100 - 9.6^2) = 2.8
    ],
)
def test_a_thrust_keeps_its_height_and_gives_up_what_is_beyond_its_cone_and_length(wanted, made):
    found = thrust_within(wanted, math.hypot(*wanted[:2]), 2.0, 10.0, 0.5)
    np.testing.assert_allclose(found, made, atol=1e-12)


@pytest.mark.parametrize("yaw", [0.0, 0.8, -2.0])
def test_an_attitude_along_a_thrust_has_its_z_axis_and_heading(yaw):
    f = np.array([1.0, -2.0, 5.0])
    c, s = math.cos(yaw), math.sin(yaw)
    q = np.array(attitude_along(tuple(f), c, s, math.hypot(c * f[0] + s * f[1], f[2])))
    R = so3.matrix_from_quaternion(q)
    np.testing.assert_allclose(R[:, 2], f / np.linalg.norm(f), atol=1e-12)
    assert so3.euler_from_matrix(R)[2] == pytest.approx(yaw)


def test_limits_are_those_of_the_aircraft():
    table = np.arange(8.0).reshape(2, 4)
    assert tuple(limits_at(table, 1)) == (4.0, 5.0, 6.0, 7.0)


def test_forces_give_way_to_tilting_torques_down_to_a_half_of_them():
    assert force_within(1.0, (0.0, 0.0, 8.0), (0.0, 0.0, 1.0), 10.0) == pytest.approx(1.0)
    assert force_within(1.0, (0.0, 0.0, 8.0), (0.0, 0.0, 4.0), 10.0) == pytest.approx(0.75)
    assert force_within(0.6, (0.0, 0.0, 8.0), (0.0, 0.0, 4.0), 10.0) == pytest.approx(0.6)
    assert force_within(1.0, (0.0, 0.0, 8.0), (0.0, 0.0, 9.0), 10.0) == pytest.approx(0.5)


def test_yaw_torques_take_what_length_and_tilt_of_the_thrust_leave():
    limits = ThrustLimits(1.0, 10.0, 0.5, math.inf)

    def kept(yaw, *, is_free, kept_yaw=1.0):
        return yaw_within(kept_yaw, 1.0, (0.0, 0.0, 6.0), NONE, yaw, LEVEL, is_free, limits)

    assert kept((2.0, 0.0, 0.0), is_free=True) == pytest.approx(1.0)
    assert kept((4.0, 0.0, 0.0), is_free=True) == pytest.approx(0.75)  # 0.5 of 6 N aside
    assert kept((4.0, 0.0, 0.0), is_free=False) == pytest.approx(1.0)
    assert kept((16.0, 0.0, 0.0), is_free=False) == pytest.approx(0.5)  # 6 and 8 N are 10 N
    assert kept((2.0, 0.0, 0.0), is_free=True, kept_yaw=0.3) == pytest.approx(0.3)


def test_a_joints_travel_turns_a_thrust_back_towards_the_platforms_axis():
    q = tuple(so3.quaternion_exp(np.array([0.0, 0.3, 0.0])).tolist())
    f_P = (3.0, 4.0, 6.0)
    f_W = tuple(so3.rotate(np.array(q), np.array(f_P)).tolist())
    assert within_travel(f_W, f_P, 5.0, q, 1.0) == f_W
    assert within_travel(f_W, f_P, 5.0, q, math.inf) == f_W
    turned = so3.rotate(so3.conjugate(np.array(q)), np.array(within_travel(f_W, f_P, 5.0, q, 0.5)))
    np.testing.assert_allclose(turned, (1.8, 2.4, 6.0), atol=1e-12)


def test_what_a_thrust_falls_short_of_counts_with_its_lever():
    arm = (0.5, 0.0, 0.0)
    parts = ((0.0, 0.0, 5.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    assert tuple(shortage(*parts, (0.0, 1.0, 6.0), LEVEL, arm)) == (0.0,) * 6
    np.testing.assert_allclose(
        shortage(*parts, (0.0, 1.0, 4.0), LEVEL, arm), (0.0, 0.0, 2.0, 0.0, -1.0, 0.0)
    )


def test_filters_means_and_distances():
    assert filter_share(0.03, 0.01) == pytest.approx(0.25) and filter_share(0.0, 0.01) == 1.0
    assert mean_wrench([]).tolist() == [0.0] * 6
    np.testing.assert_allclose(mean_wrench([np.ones(6), 4.0 * np.ones(6)]), 2.5)
    here = np.array([0.0, 0.0, 0.0, *LEVEL])
    turned = np.array([0.3, 0.0, 0.0, *so3.quaternion_exp(np.array([0.0, 0.4, 0.0]))])
    assert pose_distance(here, turned) == pytest.approx(0.4)
    assert pose_distance(turned, here) == pytest.approx(0.4)
    assert pose_distance(here, np.array([0.0, 0.5, 0.0, *turned[3:]])) == pytest.approx(0.5)


def test_thrusts_turn_at_the_fastest_between_neighbours():
    angles = np.array([0.0, 0.01, 0.04, 0.05])
    a = 9.81 * np.column_stack([np.sin(angles), 0.0 * angles, np.cos(angles) - 1.0])
    assert thrust_rate(a, 0.01) == pytest.approx(2.0 * np.sin(0.015) / 0.01)
    assert thrust_rate(a[:1], 0.01) == 0.0
