# SPDX-License-Identifier: BSD-3-Clause
"""Modules' knowledge of each other's places, and the steering of whole structures."""

import numpy as np
from support.module_joints import SIZE, chain, spec_of, told

from iap_control.modules.pose_errors import LeaderOffsets, PoseOffsets, Steering
from iap_control.modules.settings import SteeringSettings
from iap_control.modules.structure import structures
from iap_description.math import so3

DT = 1.0 / 40.0
SETTINGS = SteeringSettings(gain=10.0, filter_time=0.25, common_time=10.0, integral=0.0, limit=0.0)
LINE = np.array([[SIZE * i, 0.0, 1.0] for i in range(3)])


def test_all_of_a_structure_turn_against_its_leaders_error_and_single_ones_do_not() -> None:
    now = told(0.0, np.vstack([LINE, [[9.0, 0.0, 1.0]]]))
    steering = Steering(SETTINGS, DT)
    now.estimates[1, 3:7] = so3.quaternion_exp(np.array([0.0, 0.02, 0.0]))  # the leader
    now.estimates[3, 3:7] = so3.quaternion_exp(np.array([0.0, 0.0, 0.5]))
    found = structures(chain(3), range(4))
    for _ in range(400):
        turns = steering(found, now.estimates, now.nominal)
    np.testing.assert_allclose(turns[:3], np.tile([0.0, -0.2, 0.0], (3, 1)), atol=1e-9)
    assert not turns[3].any()


def test_noise_is_that_of_the_mean_and_what_lasts_the_leaders() -> None:
    """Behind a low-pass of T white noise s leaves s sqrt(dt / 2 T), the mean of n modules 1 / sqrt(n) of that."""
    rng, n, sigma = np.random.default_rng(1), 8, 3e-3
    now = told(0.0, np.array([[SIZE * i, 0.0, 1.0] for i in range(n)]))
    found, steering = structures(chain(n), range(n)), Steering(SETTINGS, DT)
    biases = 0.01 * rng.standard_normal((n, 3))
    turns = []
    for _ in range(8000):
        errors = biases + sigma * rng.standard_normal((n, 3))
        now.estimates[:, 3:7] = so3.quaternion_exp(errors)
        turns.append(steering(found, now.estimates, now.nominal)[0])
    told_by = -np.array(turns[2000:]) / SETTINGS.gain
    np.testing.assert_allclose(told_by.mean(axis=0), biases[found[0].leader], atol=2e-4)
    alone = sigma * np.sqrt(0.5 * DT / SETTINGS.filter_time)
    assert (told_by.std(axis=0) < 1.2 * alone / np.sqrt(n)).all()


def test_a_lasting_error_adds_up_to_a_limit_while_modules_are_joined() -> None:
    now = told(0.0, LINE)
    own = {"filter_time": 1e-3, "integral": 0.5, "limit": 0.02}
    steering = Steering(SETTINGS.model_copy(update=own), DT)
    now.estimates[1, 3:7] = so3.quaternion_exp(np.array([0.0, 0.0, 0.01]))
    found = structures(chain(3), range(3))
    for _ in range(80):
        turns = steering(found, now.estimates, now.nominal)
    np.testing.assert_allclose(turns[0, 2], -10.0 * (0.01 + 0.5 * 2.0 * 0.01))  # 2 s
    for _ in range(400):
        turns = steering(found, now.estimates, now.nominal)
    np.testing.assert_allclose(turns[0, 2], -10.0 * (0.01 + 0.02))
    steering(structures({}, range(3)), now.estimates, now.nominal)  # all part
    turns = steering(found, now.estimates, now.nominal)
    np.testing.assert_allclose(turns[0, 2], -10.0 * 0.01 * (1.0 + 0.5 * DT))


def test_it_acts_with_compensation_only() -> None:
    assert spec_of({}).steered.gain == spec_of({}).steering.gain > 0.0
    assert spec_of({}, compensation="none").steered.gain == 0.0


def test_the_suites_poses_follow_a_reference_that_moves_and_smooth_noise() -> None:
    rng, poses = np.random.default_rng(1), PoseOffsets(2.0, DT)
    bias = np.array([0.03, -0.02, 0.01])
    for k in range(800):
        now = told(k * DT, LINE + [0.2 * k * DT, 0.0, 0.0])
        now.estimates[:, :3] += bias + 0.01 * rng.standard_normal((3, 3))
        poses.update(now.estimates, now.nominal)
    place, attitude = poses.of(2, now.nominal[2])
    np.testing.assert_allclose(place - now.nominal[2, :3], bias, atol=0.004)
    np.testing.assert_allclose(attitude, [0.0, 0.0, 0.0, 1.0], atol=1e-12)


def test_a_leader_is_seen_in_the_frame_of_its_follower() -> None:
    seen, now = LeaderOffsets(2.0, DT), told(0.0, LINE)
    bias = np.array([0.03, -0.02, 0.01])
    now.estimates[1, :3] += bias
    seen.update(chain(3), now.estimates, now.shared, now.nominal)
    np.testing.assert_allclose(seen.of("j1"), bias)
    np.testing.assert_allclose(seen.of("j2"), 0.0, atol=1e-12)


def test_the_first_error_counts_whole_and_a_later_one_by_the_share_of_a_period_in_the_filters_times():
    """Of two that turn: the fast part, the mean of both, by 0.25 s; the leader's own, what is slow, by 10 s."""
    now = told(0.0, LINE[:2])
    found, steering = structures(chain(2), range(2)), Steering(SETTINGS, DT)
    assert not steering(found, now.estimates, now.nominal).any()
    now.estimates[0, 3:7] = so3.quaternion_exp(np.array([0.0, 0.0, 0.01]))
    turns = steering(found, now.estimates, now.nominal)
    fast, slow = 1.0 - np.exp(-DT / 0.25), 1.0 - np.exp(-DT / 10.0)
    expected = -10.0 * 0.01 * (slow + 0.5 * (fast - slow))
    np.testing.assert_allclose(turns, [[0.0, 0.0, expected]] * 2, atol=1e-12)


def test_offsets_follow_by_the_share_of_a_period_in_the_filters_time():
    share = 1.0 - np.exp(-DT / 2.0)
    poses, seen, now = PoseOffsets(2.0, DT), LeaderOffsets(2.0, DT), told(0.0, LINE)
    np.testing.assert_array_equal(poses.of(1, now.nominal[1])[0], LINE[1])
    for off in (0.0, 0.1):
        now.estimates[1, :3] = LINE[1] + [off, 0.0, 2.0 * off]
        now.estimates[1, 3:7] = so3.quaternion_exp(np.array([0.0, off, 0.0]))
        now.shared[0, 1] = 3.0 * off
        poses.update(now.estimates, now.nominal)
        seen.update(chain(3), now.estimates, now.shared, now.nominal)
    place, attitude = poses.of(1, now.nominal[1])
    np.testing.assert_allclose(place - LINE[1], share * np.array([0.1, 0.0, 0.2]), atol=1e-12)
    np.testing.assert_allclose(so3.quaternion_log(attitude), [0.0, share * 0.1, 0.0], atol=1e-12)
    np.testing.assert_allclose(seen.of("j1"), share * np.array([0.1, 0.3, 0.2]), atol=1e-12)
    np.testing.assert_allclose(seen.of("j2"), 0.0, atol=1e-12)
