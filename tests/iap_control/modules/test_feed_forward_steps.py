# SPDX-License-Identifier: BSD-3-Clause
"""Increments of a period to the feed-forward of modules, by hand."""

import numpy as np
import pytest
from support.module_joints import SIZE, STIFFNESS, WEIGHT, chain, lift, spec_of, told

from iap_control.modules.feed_forward import FeedForward, JointCompensation, increments
from iap_control.modules.joint_wrench import moved_to, potential_of_joints
from iap_control.modules.structure import Structure, structures
from iap_description.math import so3

LINE = {f"j{i}": {"leader": f"m{i}", "face": "+x", "follower": f"m{i + 1}"} for i in (1, 2)}
PLACES = np.array([[SIZE * i, 0.0, 1.0] for i in range(3)])


def feed_forward(count, limit=1.0):
    return FeedForward(lift(count), 0.2, "default", limit=limit)


def test_a_joint_of_two_gives_its_wrench_to_the_follower_about_its_own_com():
    """W on module b about the joint, halfway: b's arm from its CoM to the joint is -SIZE / 2 along x."""
    structure = Structure.of(chain(2), 0)
    joint_S = np.array([[1.0, 2.0, 4.0, 0.3, 0.5, 0.7]])
    y = potential_of_joints(structure, joint_S)
    changes = increments(structure, y, np.zeros((1, 6)), 0.1)
    assert not changes[0].any()  # of the leader
    torque = joint_S[0, 3:] + np.cross([-0.5 * SIZE, 0.0, 0.0], joint_S[0, :3])
    np.testing.assert_allclose(changes[1], [1.0, 2.0, 4.0, *torque])
    np.testing.assert_allclose(increments(structure, y, joint_S, 0.1), 0.0, atol=1e-12)


@pytest.mark.parametrize(("limit", "gain"), [(1.0, 0.2), (0.15, 0.15)])
def test_of_two_the_gain_is_whole_up_to_its_limit(limit, gain):
    feed = feed_forward(2, limit)
    structure, joint_S = Structure.of(chain(2), 0), np.eye(1, 6)
    for times in (1, 2):
        feed.update_measured(structure, joint_S, np.zeros((1, 6)))
        np.testing.assert_allclose(feed.wrenches_P[1, 0], times * gain)


def test_a_weight_is_borne_with_its_moment_about_the_centre():
    structure, feed = Structure.of(chain(3), 0, {2}), feed_forward(3)
    weight_S = np.array([3.0, -2.0, -WEIGHT])
    feed.bear(structure, 2, weight_S)
    total = moved_to(feed.wrenches_P, structure.offsets_S).sum(axis=0)
    expected = [-3.0, 2.0, WEIGHT, 0.0, -SIZE * WEIGHT, SIZE * 2.0]
    np.testing.assert_allclose(total, expected, atol=1e-9)
    assert not feed.wrenches_P[2].any()


def test_a_step_of_references_is_held_by_the_stiffness_of_each_law_but_of_the_lost():
    structure, feed = Structure.of(chain(3), 0, {2}), feed_forward(3)
    estimates = told(0.0, PLACES).estimates
    estimates[1, 3:7] = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    feed.hold(structure, np.array([0.1, 0.2, -0.3]), estimates)
    steps = np.array([[0.1, 0.2, -0.3], [0.2, -0.1, -0.3], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(feed.wrenches_P[:, :3], -np.array(STIFFNESS) * steps, atol=1e-12)
    assert not feed.wrenches_P[:, 3:].any()


def test_one_that_parts_keeps_what_it_pushes_against_and_bears_nothing():
    structure, feed = Structure.of(chain(3), 0, {1}), feed_forward(3)
    feed.push_against(structure, np.array([2.0, -1.0, 0.0]), 0.25)
    feed.bear(structure, 1, np.array([0.0, 0.0, -WEIGHT]))
    feed.put(0, np.array([0.0, 0.0, 1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_allclose(feed.wrenches_P[0], [-0.5, 0.25, 1.0, 2.0, 3.0, 4.0])
    feed.bear(structures({}, range(3), {1})[1], 1, np.zeros(3))  # nobody carries it any more
    np.testing.assert_allclose(feed.wrenches_P[0], [-0.5, 0.25, 1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(feed.wrenches_P[2], [-0.5, 0.25, 0.0, 0.0, 0.0, 0.0], atol=1e-9)


def compensated(count=1, tilt=(0.0, 0.0, 0.0), docks=False, force=(2.0, 1.0, 0.5), **keys):
    """Feed-forward after one period under a force that all feel."""
    spec, feed = spec_of(LINE, **keys), feed_forward(count)
    reports = told(0.0, PLACES[:count])
    reports.estimates[:, 3:7] = so3.quaternion_exp(np.array(tilt))
    reports.external_P[:, :3] = force
    compensation = JointCompensation(spec, feed)
    compensation(Structure.of(chain(count), 0), reports, docks=docks)
    return feed.wrenches_P[:, :3]


@pytest.mark.parametrize("count", [1, 2])
def test_a_wind_is_pushed_against_by_the_share_of_a_period_in_its_time(count):
    share = 0.025 / (0.025 + 1.975)
    pushed = compensated(count, wind_time=1.975)
    np.testing.assert_allclose(pushed, [[-2.0 * share, -share, 0.0]] * count, atol=1e-12)


def test_a_tilted_structure_pushes_against_what_is_level_of_a_wind():
    """Rolled by 0.3 rad, its y axis feels cos 0.3 and its z axis -sin 0.3 of a level force along y."""
    c, s = np.cos(0.3), np.sin(0.3)
    felt = np.array([0.0, c * 2.0, -s * 2.0])
    up = np.array([0.0, s, c])  # of the world, in its axes: does not count
    pushed = compensated(1, (0.3, 0.0, 0.0), force=felt + 5.0 * up, wind_time=0.975)
    np.testing.assert_allclose(pushed, [-0.025 * felt], atol=1e-12)


@pytest.mark.parametrize(
    ("docks", "keys"),
    [
        (True, {}),
        (False, {"wind_time": 0.0}),
        (False, {"compensation": "none"}),
        (False, {"standing": 2.2}),  # the force is one of sqrt(5.25) N
    ],
)
def test_no_wind_is_pushed_against(docks, keys):
    assert not compensated(docks=docks, **keys).any()


def test_a_force_at_its_limit_is_a_wind_yet():
    assert compensated(standing=2.3).any()
    assert compensated(force=(2.0, 0.0, 0.0), standing=2.0).any()


def test_joints_that_measure_count_for_themselves_and_one_without_a_measurement_for_none():
    """The second joint's latch has caught in this period."""
    spec, feed = spec_of(LINE, wrench_source="joint", wind_time=0.0), feed_forward(3)
    reports = told(0.0, PLACES)._replace(joint_S={"j1": np.array([3.0, 0, 0, 0, 0, 0])})
    JointCompensation(spec, feed)(Structure.of(chain(3), 0), reports, docks=False)
    np.testing.assert_allclose(feed.wrenches_P[:, 0], [-0.6, 0.0, 0.0], atol=1e-12)


def test_wanted_wrenches_are_those_of_the_joints_by_their_names():
    joints = {**LINE, "j1": {**LINE["j1"], "desired": [0.0, 0.0, 5.0, 0.0, 0.0, 0.0]}}
    spec, feed = spec_of(joints, wind_time=0.0), feed_forward(3)
    JointCompensation(spec, feed)(Structure.of(chain(3), 0), told(0.0, PLACES), docks=False)
    np.testing.assert_allclose(feed.wrenches_P[:, 2], [1.0, 0.0, 0.0], atol=1e-12)
