# SPDX-License-Identifier: BSD-3-Clause
"""What an alignment may turn and move, and what it may not."""

import numpy as np
import pytest
from moved_poses import MOVE, TURN, curve, moved

from iap_description.math import so3
from iap_estimation.evaluation.alignment import se3_aligned, yaw_aligned

T = 0.1 * np.arange(300)  # [s]


def test_alignment_takes_out_what_it_may_turn() -> None:
    truth = curve(T)
    level, tilted = moved(truth, TURN, MOVE), moved(truth, np.array([0.3, 0.0, 0.0]), MOVE)
    for aligned in (yaw_aligned(level, truth), se3_aligned(tilted, truth)):
        np.testing.assert_allclose(aligned[:, :3], truth[:, :3], atol=1e-9)
        turned = so3.multiply(so3.conjugate(truth[:, 3:]), aligned[:, 3:])
        np.testing.assert_allclose(so3.quaternion_log(turned), 0.0, atol=1e-9)
    assert np.abs(yaw_aligned(tilted, truth)[:, :3] - truth[:, :3]).max() > 0.05


def test_no_turn_about_the_vertical_fits_better_than_the_alignment() -> None:
    rng = np.random.default_rng(3)
    truth = curve(T)
    noisy = moved(truth, TURN, MOVE)
    noisy[:, :3] += 0.2 * rng.normal(size=(len(truth), 3))
    best = yaw_aligned(noisy, truth)

    def cost(poses: np.ndarray) -> float:
        return float(np.sum((poses[:, :3] - truth[:, :3]) ** 2))

    middle = truth[:, :3].mean(axis=0)
    for angle in (-0.02, 0.02):
        phi = np.array([0.0, 0.0, angle])
        about = middle - so3.rotate(so3.quaternion_exp(phi), middle)
        assert cost(moved(best, phi, about)) > cost(best)


def test_a_mirror_image_is_turned_and_never_mirrored() -> None:
    truth = curve(T)
    mirrored = truth * [1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0]
    aligned = se3_aligned(mirrored, truth)
    edges = [path[[60, 130, 200], :3] - path[0, :3] for path in (mirrored, aligned)]
    np.testing.assert_allclose(*(np.linalg.det(each) for each in edges))
    assert np.abs(aligned[:, :3] - truth[:, :3]).max() > 0.1


@pytest.mark.parametrize("direction", [[0.0, 0.0, 0.0], [3.0, 1.0, 2.0]], ids=["place", "line"])
def test_a_place_and_a_line_leave_open_how_they_are_turned(direction) -> None:
    poses = np.zeros((200, 7))
    poses[:, :3] = 5.0 + np.linspace(0.0, 20.0, 200)[:, None] * direction
    poses[:, 6] = 1.0
    assert se3_aligned(poses, poses) is None
    assert yaw_aligned(poses, poses) is not None


def test_two_poses_are_not_aligned() -> None:
    assert se3_aligned(curve(T)[:2], curve(T)[:2]) is None
    assert yaw_aligned(curve(T)[:2], curve(T)[:2]) is None
