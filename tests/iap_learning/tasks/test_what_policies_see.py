# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that policies and experts go by, against plain ones: potential fields, times, tips of arms, followers."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from iap_description.vehicles.serial_chain import Chain, tip_pose
from iap_learning.tasks.kinds.arm_reach.observations import TERMS as ARM_TERMS
from iap_learning.tasks.kinds.arm_reach.observations import ArmInputs, Tips
from iap_learning.tasks.kinds.module_docking.observations import TERMS, FollowerInputs
from iap_learning.tasks.kinds.navigate.field import gradient, least_times, value_at
from iap_learning.tasks.kinds.navigate.potential_field import TOUCHING, _follow

# attraction, cruise, repulsion, reach, radius, band, turn
NUMBERS = (0.8, 1.5, 0.6, 2.0, 0.3, 0.5, 1.1)


def plain_field(
    goal_W: np.ndarray, R: Rotation, depths: np.ndarray, ways: np.ndarray, p_PS: np.ndarray
) -> np.ndarray:
    """Velocity by Khatib's equations 9 and 14."""
    attraction, cruise, repulsion, reach, radius, band, _ = NUMBERS
    pull = attraction * goal_W
    v = pull * min(1.0, cruise / np.linalg.norm(pull))
    for depth, way in zip(depths, ways, strict=True):
        if np.isinf(depth):
            continue
        away = R.apply(p_PS + depth * way)
        rho = np.linalg.norm(away) - radius
        if rho < reach and abs(away[2]) <= band:
            rho = max(rho, TOUCHING)
            v -= (
                repulsion
                / len(depths)
                * (1.0 / rho - 1.0 / reach)
                / rho**2
                * away
                / np.linalg.norm(away)
            )
    return v


def test_a_potential_field_is_the_sum_of_its_pull_and_of_every_point_near_and_level() -> None:
    rng = np.random.default_rng(1)
    ways = rng.normal(size=(40, 3)) * [1.0, 1.0, 0.3]
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    p_PS = np.array([0.15, -0.05, 0.1])
    goals = np.array([[1.0, 0.5, 0.2], [9.0, -2.0, 1.0], [1.87, 0.0, 0.0], [1.88, 0.0, 0.0]])
    turns = Rotation.from_euler(
        "xyz", [[0.1, -0.2, 0.4], [0.0, 0.1, -2.0], [0, 0, 0], [0.3, 0, 1]]
    )
    depths = rng.uniform(0.1, 3.0, (4, 40))
    depths[:, ::9] = np.inf
    out = np.empty((4, 4))
    _follow(goals, turns.as_quat(), depths, ways, p_PS, np.array(NUMBERS), out)
    for b in range(4):
        expected = plain_field(turns[b].apply(goals[b]), turns[b], depths[b], ways, p_PS)
        np.testing.assert_allclose(out[b, :3], expected, atol=1e-12)
        assert out[b, 3] == pytest.approx(-NUMBERS[-1] * turns[b].as_euler("ZYX")[0])


@pytest.mark.parametrize(
    ("height", "counts"), [(0.49, True), (0.51, False), (-0.49, True), (-0.51, False)]
)
def test_a_point_above_or_below_the_band_does_not_matter(height: float, counts: bool) -> None:
    way = np.array([[np.sqrt(1.0 - height**2), 0.0, height]])
    out = np.empty((1, 4))
    quiet = np.array([[0.0, 0.0, 0.0, 1.0]])
    _follow(np.zeros((1, 3)), quiet, np.ones((1, 1)), way, np.zeros(3), np.array(NUMBERS), out)
    assert (out[0, 0] < 0.0) == counts
    assert np.isfinite(out).all()


def test_values_between_nodes_are_trilinear_and_slopes_go_to_the_border() -> None:
    """Of a product of the three places, which is what trilinear interpolation gives exactly."""
    i, j, k = np.meshgrid(np.arange(4), np.arange(3), np.arange(5), indexing="ij")
    values = (1.0 + i) * (2.0 + j) * (3.0 + k) * 1.0
    for u in ((0.0, 0.0, 0.0), (3.0, 2.0, 4.0), (1.25, 0.5, 2.75), (2.5, 1.999, 0.001)):
        expected = (1.0 + u[0]) * (2.0 + u[1]) * (3.0 + u[2])
        assert value_at(values, u) == pytest.approx(expected)
        slopes = [expected / (1.0 + u[0]), expected / (2.0 + u[1]), expected / (3.0 + u[2])]
        np.testing.assert_allclose(gradient(values, u), slopes, rtol=1e-12)
    squares = 1.0 * i**2 + 10.0 * j**2 + 100.0 * k**2
    assert value_at(squares, (2.5, 1.5, 3.5)) == pytest.approx(6.5 + 25.0 + 1250.0)  # last cells
    assert value_at(squares, (0.5, 0.5, 0.5)) == pytest.approx(0.5 + 5.0 + 50.0)
    np.testing.assert_allclose(gradient(squares, (2.0, 1.0, 2.0)), [4.0, 20.0, 400.0])  # central
    np.testing.assert_allclose(gradient(squares, (0.0, 0.0, 0.0)), [1.0, 10.0, 100.0])  # forward
    np.testing.assert_allclose(gradient(squares, (3.0, 2.0, 4.0)), [5.0, 30.0, 700.0])  # backward


def test_times_of_the_nodes_around_a_goal_are_godunovs_by_hand() -> None:
    """Of a grid of 2 x 2 x 2 with one second to cross it: along edges, over faces, and through the cube."""
    face = 1.0 + np.sqrt(0.5)
    cube = face + np.sqrt(1.0 / 3.0)
    for goal in np.ndindex(2, 2, 2):
        times = least_times(np.full((2, 2, 2), 0.5), 0.5, goal)
        away = np.abs(np.subtract(list(np.ndindex(2, 2, 2)), goal)).sum(axis=1)
        np.testing.assert_allclose(
            times.ravel(), np.array([0.0, 1.0, face, cube])[away], rtol=1e-9
        )


def test_a_tip_moves_as_its_pose_changes_and_its_error_is_along_the_heading() -> None:
    rng = np.random.default_rng(4)
    chain = Chain(
        np.zeros(3, np.int64), np.eye(3)[[2, 1, 0]].copy(), rng.normal(size=(3, 3)) * 0.3,
        Rotation.random(3, rng=2).as_matrix().copy(), np.array([0.1, 0.2, 0.3]),
    )  # fmt: skip
    pose, q, v = rng.normal(size=(3, 4)), rng.normal(size=(3, 3)), rng.normal(size=(3, 7))
    targets, tips = rng.normal(size=(3, 3)), Tips.empty(3)
    plants: Any = SimpleNamespace(pose=pose, q=q, v=v)
    tips.look(np.array([0, 2]), plants, chain, targets)
    assert not any(part[1].any() for part in tips)  # it was not chosen

    def tip_W(b: int, at: float) -> np.ndarray:
        """Place in `map` after a time; velocities are along the heading."""
        R = Rotation.from_euler("z", pose[b, 3]).as_matrix()
        p = pose[b, :3] + R @ v[b, :3] * at
        heading = Rotation.from_euler("z", pose[b, 3] + v[b, 3] * at).as_matrix()
        return np.asarray(tip_pose(chain, p, heading, q[b] + v[b, 4:] * at)[0])

    for b in (0, 2):
        R = Rotation.from_euler("z", pose[b, 3]).as_matrix()
        np.testing.assert_allclose(pose[b, :3] + R @ tips.p_PE_H[b], tip_W(b, 0.0), atol=1e-12)
        np.testing.assert_allclose(tip_W(b, 0.0) + R @ tips.error_H[b], targets[b], atol=1e-12)
        slope = (tip_W(b, 1e-5) - tip_W(b, -1e-5)) / 2e-5
        np.testing.assert_allclose(R @ tips.v_WE_H[b], slope, atol=1e-8)
    scales = {name: 1.0 for name in ARM_TERMS}
    action = rng.uniform(-0.9, 0.9, (3, 7))
    observer = ARM_TERMS.observer(scales, 7)
    parts = (tips.error_H, tips.p_PE_H, tips.v_WE_H, q, v[:, :3], v[:, 3:], action)
    assert observer.size == sum(part.shape[1] for part in parts)
    for name, part in zip(ARM_TERMS, parts, strict=True):
        term, out = ARM_TERMS[name], np.empty((2, part.shape[1]))
        term.fill(ArmInputs(tips, plants, action), np.array([2, 0]), out)
        np.testing.assert_array_equal(out, part[[2, 0]])


def test_a_follower_sees_itself_from_its_leader() -> None:
    rng = np.random.default_rng(6)
    leader, follower = rng.normal(size=(2, 3, 13))
    turns_L, turns_F = Rotation.random(3, rng=7), Rotation.random(3, rng=8)
    leader[:, 3:7], follower[:, 3:7] = turns_L.as_quat(), turns_F.as_quat()
    filtered, action, home = (
        rng.normal(size=(3, 6)),
        rng.normal(size=(3, 4)),
        np.array([0.5, -0.1, 0.2]),
    )
    inputs = FollowerInputs(leader, follower, filtered, action, home)
    back_L, back_F = turns_L.inv(), turns_F.inv()
    expected = {
        "offset": back_L.apply(follower[:, :3] - leader[:, :3]) - home,
        "angles": (back_L * turns_F).as_rotvec(),
        "filtered_offset": filtered[:, :3],
        "filtered_angles": filtered[:, 3:],
        "closing": back_L.apply(follower[:, 7:10] - leader[:, 7:10]),
        "velocity": back_F.apply(follower[:, 7:10]),
        "rates": back_F.apply(follower[:, 10:13]),
        "up": back_F.apply([0.0, 0.0, 1.0]),
        "action": action,
    }
    assert [*expected] == [*TERMS]
    for name, rows in expected.items():
        out = np.empty((2, rows.shape[1]))
        TERMS[name].fill(inputs, np.array([2, 1]), out)
        np.testing.assert_allclose(out, rows[[2, 1]], atol=1e-12, err_msg=name)
