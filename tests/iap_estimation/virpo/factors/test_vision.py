# SPDX-License-Identifier: BSD-3-Clause
"""Projections of landmarks into cameras, and their elimination from the normal equations."""

import gtsam
import numpy as np
import pytest
from dense_vision import OPEN, ahead, any_rig, dense, look, of_view, seen_views
from gtsam_twins import by_pose, pose
from jacobians import assert_slopes, numeric
from synthetic_fleet import rig as rectified

from iap_description.math import so3
from iap_estimation.virpo.algebra.normal_equations import huber, soften
from iap_estimation.virpo.algebra.states import States, retract
from iap_estimation.virpo.factors.camera import StereoRig, scaled_point
from iap_estimation.virpo.factors.landmarks import Landmarks
from iap_estimation.virpo.factors.vision import (
    LandmarkElimination,
    System,
    add_vision,
    step_landmarks,
    vision_cost,
)

ALL = -1


def moved(states: States, table: Landmarks, step: np.ndarray) -> tuple[States, Landmarks]:
    """Both, moved by a step that has the landmarks at its end."""
    there, places = states.copy(), table._replace(place=table.place.copy())
    retract(there, step[: states.size])
    places.place[:] += step[states.size :].reshape(-1, 3)
    return there, places


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("side", [0, 1])
def test_derivatives_of_a_view(side, seed):
    """Also of the keyframe that first saw it, where those by the poses cancel."""
    states, eyes = ahead(3, seed=seed), any_rig(seed)
    table = look(states, [eyes], 6, seed=seed)
    for m, j, _ in [view for view in seen_views(table) if view[2] == 0]:
        J = of_view(states, table, eyes, m, j, side)[1]
        wide = np.zeros((2, states.size + 3 * len(table.host)))
        for part, at in enumerate((table.host[m], j)):
            wide[:, 15 * at : 15 * at + 6] += J[:, 6 * part : 6 * part + 6]
        wide[:, states.size + 3 * m : states.size + 3 * m + 3] = J[:, 12:]

        def residual(step: np.ndarray, m=m, j=j) -> np.ndarray:
            there, places = moved(states, table, step)
            return of_view(there, places, eyes, m, j, side)[0]

        assert_slopes(wide, numeric(residual, wide.shape[1], 1e-4))


def point_of(x: np.ndarray, place: np.ndarray, eyes: StereoRig) -> tuple[np.ndarray, np.ndarray]:
    """A landmark as a point of the frame of the states, and its derivative (3, 9) by host pose and place."""
    m, rho, R = np.array([place[0], place[1], 1.0]), place[2], so3.matrix_from_quaternion(x[3:7])
    body = eyes.R_BC[0] @ m / rho + eyes.p_BC_B[0]
    by_place = R @ eyes.R_BC[0] @ np.column_stack([np.eye(3)[:, :2] / rho, -m / rho**2])
    return x[:3] + R @ body, np.hstack([np.eye(3), -R @ so3.hat(body), by_place])


def sensor(eyes: StereoRig, side: int) -> gtsam.Pose3:
    return gtsam.Pose3(gtsam.Rot3(eyes.R_BC[side]), eyes.p_BC_B[side])


@pytest.mark.parametrize("side", [0, 1])
def test_any_camera_is_that_of_gtsam(side):
    states, eyes = ahead(3), any_rig()
    table = look(states, [eyes], 8, pixels=20.0)
    calibration = gtsam.Cal3_S2(320.0, 320.0, 0.0, 0.0, 0.0)
    noise = gtsam.noiseModel.Isotropic.Sigma(2, 1.5)
    for m, j, _ in [view for view in seen_views(table) if view[2] == side]:
        x_i, x_j = states.x[table.host[m], 0], states.x[j, 0]
        seen = 320.0 * table.views[m, j, 2 * side : 2 * side + 2]
        factor = gtsam.GenericProjectionFactorCal3_S2(
            seen, noise, 0, 1, calibration, sensor(eyes, side)
        )
        point, by_ours = point_of(x_i, table.place[m], eyes)
        compare(factor, x_j, point, by_ours, of_view(states, table, eyes, m, j, side))


def test_a_rectified_pair_is_that_of_gtsam():
    """gtsam has one row of both images; here it is that of the left."""
    states, eyes = ahead(3), rectified(0.7)
    table = look(states, [eyes], 8, pixels=20.0)
    calibration = gtsam.Cal3_S2Stereo(320.0, 320.0, 0.0, 0.0, 0.0, 0.12)
    noise = gtsam.noiseModel.Isotropic.Sigma(3, 1.0)
    for m, j, _ in [view for view in seen_views(table) if view[2] == 1]:
        left, J_left = of_view(states, table, eyes, m, j, 0)
        right, J_right = of_view(states, table, eyes, m, j, 1)
        uL, v, uR, _ = 320.0 * table.views[m, j]
        factor = gtsam.GenericStereoFactor3D(
            gtsam.StereoPoint2(uL, uR, v), noise, 0, 1, calibration, sensor(eyes, 0)
        )
        point, by_ours = point_of(states.x[table.host[m], 0], table.place[m], eyes)
        ours = np.r_[left[0], right[0], left[1]], np.stack([J_left[0], J_right[0], J_left[1]])
        compare(factor, states.x[j, 0], point, by_ours, ours)


def compare(factor, x_j: np.ndarray, point: np.ndarray, by_ours: np.ndarray, ours: tuple) -> None:
    """Residual and derivatives of a factor of a pose (0) and a point (1) with ours of a view."""
    at = gtsam.Values()
    at.insert(0, pose(x_j))
    at.insert(1, point)
    A, b = factor.linearize(at).jacobian()
    r, J = ours
    assert np.allclose(-b, r, rtol=1e-9, atol=1e-9)
    theirs = np.hstack(
        [A[:, 6:] @ by_ours[:, :6], by_pose(A[:, :6], x_j), A[:, 6:] @ by_ours[:, 6:]]
    )
    assert np.allclose(J, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


def two_aircraft(width: float) -> tuple:
    """A joint window whose views are off by much enough for the kernel to bend some."""
    states, rigs = ahead(4, 2, centre=True), [any_rig(1), any_rig(2)]
    return states, look(states, rigs, 12, pixels=2.0, seed=5), rigs, width


def schur(
    states: States, table: Landmarks, rigs: list[StereoRig], width: float
) -> tuple[np.ndarray, np.ndarray, float, list[LandmarkElimination]]:
    """H (both triangles), g and cost without landmarks."""
    H, g, cost = np.zeros((states.size, states.size)), np.zeros(states.size), 0.0
    outs = [LandmarkElimination.empty(len(table.host), len(states.x)) for _ in rigs]
    for a, eyes in enumerate(rigs):
        system = System(H, g, states.stride, outs[a])
        cost += add_vision(states.x, table, eyes, a, ALL, width, 0.0, system)
    assert np.array_equal(H, np.tril(H))
    return H + np.tril(H, -1).T, g, cost, outs


@pytest.mark.parametrize("width", [OPEN, 2.0])
def test_elimination_leaves_what_the_full_system_says(width):
    states, table, rigs, _ = two_aircraft(width)
    H, g, cost, outs = schur(states, table, rigs, width)
    full, slope, total = dense(states, table, rigs, width)
    known = np.random.default_rng(0).normal(size=(states.size, states.size))
    known = known @ known.T + 100.0 * np.eye(states.size)  # what all else says of the states
    n, used = states.size, slope.nonzero()[0]
    full[:n, :n] += known
    there = np.zeros(len(slope))
    rows = np.union1d(used, np.arange(n))
    there[rows] = np.linalg.solve(full[np.ix_(rows, rows)], -slope[rows])
    step = np.linalg.solve(H + known, -g)
    assert cost == pytest.approx(total, rel=1e-12)
    assert np.allclose(step, there[:n], rtol=0.0, atol=1e-9 * np.abs(there[:n]).max())
    before = table.place.copy()
    for out in outs:
        step_landmarks(step, table, len(states.x), states.stride, out)
    expected = before + there[n:].reshape(-1, 3)
    inside = (expected[:, 2] > 0.01) & (expected[:, 2] < 2.0)
    assert inside.sum() >= 22  # of 24; the others are held at the bounds of the inverse depth
    assert np.allclose(table.place[inside], expected[inside], rtol=0.0, atol=1e-9)


def test_the_gradient_is_the_derivative_of_the_cost():
    """With the kernel bending some views and not others."""
    states, table, rigs, width = two_aircraft(2.0)
    slope = dense(states, table, rigs, width)[1]

    def cost(step: np.ndarray) -> np.ndarray:
        there, places = moved(states, table, step)
        return np.array(
            [sum(vision_cost(there.x, places, eyes, a, width) for a, eyes in enumerate(rigs))]
        )

    numerical = numeric(cost, len(slope), 1e-6)[0]
    assert np.allclose(slope, numerical, rtol=0.0, atol=1e-6 * np.abs(slope).max())


def test_one_cost_whichever_way_it_is_asked_for():
    states, table, rigs, width = two_aircraft(2.0)
    table.place[3, 2] = 2.0  # one that is behind or too near
    table.place[3, :2] = 5.0
    total = schur(states, table, rigs, width)[2]
    assert total == pytest.approx(
        sum(vision_cost(states.x, table, eyes, a, width) for a, eyes in enumerate(rigs)), rel=1e-12
    )


def test_only_landmarks_of_a_host():
    states, table, rigs, width = two_aircraft(2.0)
    out = LandmarkElimination.empty(len(table.host), len(states.x))
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    system = System(H, g, states.stride, out)
    add_vision(states.x, table, rigs[0], 0, 1, width, 0.0, system)
    taken = (table.host == 1) & (table.aircraft == 0)
    assert taken.any() and np.array_equal(out.C[:, 0, 0] > 0.0, taken)
    kept = table._replace(host=np.where(taken, table.host, -1))
    expected = schur(states, kept, [rigs[0]], width)
    assert np.allclose(H, np.tril(expected[0])) and np.allclose(g, expected[1])


def test_a_landmark_behind_a_camera_says_nothing_there():
    """It costs a constant, brings no derivative, and its other views still count."""
    states, eyes = ahead(3), any_rig()
    table = look(states, [eyes], 1)
    table.host[0], table.sides[0] = 0, 3
    states.x[2, 0, :3] = 0.0, 0.0, 0.0
    at = point_of(states.x[0, 0], table.place[0], eyes)[0]
    states.x[2, 0, :3] = at + so3.rotate(states.x[2, 0, 3:7], np.array([3.0, 0.0, 0.0]))
    H, g, cost, outs = schur(states, table, [eyes], 2.0)
    assert np.isfinite(H).all() and np.isfinite(g).all()
    assert not H[30:45].any() and not g[30:45].any()
    table.sides[0, 2] = 0
    without = schur(states, table, [eyes], 2.0)
    assert np.allclose(H, without[0]) and np.allclose(g, without[1])
    assert cost == pytest.approx(without[2] + 2 * 0.5 * 2.0**2)


@pytest.mark.parametrize("depth", [-5.0, -0.01, 0.0, 0.01, 0.19])
def test_no_place_of_a_landmark_blows_up(depth):
    """Through the plane of a camera and beyond, at all distances and sideways."""
    states, eyes = ahead(2), any_rig()
    table = look(states, [eyes], 1)
    table.host[0], table.sides[0] = 0, 3
    at = point_of(states.x[0, 0], table.place[0], eyes)[0]
    camera = np.array([depth, 0.3, 0.0]) - eyes.p_BC_B[0]
    states.x[1, 0, :3] = at - so3.rotate(states.x[1, 0, 3:7], camera)
    H, g, cost, outs = schur(states, table, [eyes], 2.0)
    step_landmarks(np.zeros(states.size), table, 2, 15, outs[0])
    assert all(np.isfinite(part).all() for part in (H, g, cost, table.place))
    assert np.abs(H).max() < 1e8


def test_a_landmark_whose_depth_nothing_tells_is_left_out():
    """One camera that has not moved sees its direction only: no more is known of the poses for it."""
    states, eyes = ahead(2), any_rig()
    states.x[1] = states.x[0]
    table = look(states, [eyes], 1)
    table.host[0], table.sides[0] = 0, 1
    place = table.place[0].copy()
    H, g, _, outs = schur(states, table, [eyes], OPEN)
    assert np.abs(H).max() < 1e-6 and np.abs(g).max() < 1e-6
    step_landmarks(np.ones(states.size), table, 2, 15, outs[0])
    assert np.array_equal(table.place[0], place)


def test_information_of_vision_alone_knows_neither_place_nor_heading():
    """Moving everything at once changes no view: H has the six motions of the whole in its null space."""
    states, eyes = ahead(3), any_rig()
    table = look(states, [eyes], 20, pixels=0.0)
    H = schur(states, table, [eyes], OPEN)[0]
    whole = np.zeros((states.size, 6))
    for k in range(3):
        x = states.x[k, 0]
        whole[15 * k : 15 * k + 3, :3] = np.eye(3)
        whole[15 * k : 15 * k + 3, 3:] = -so3.hat(x[:3])
        whole[15 * k + 3 : 15 * k + 6, 3:] = so3.matrix_from_quaternion(x[3:7]).T
    assert np.abs(H @ whole).max() < 1e-7 * np.abs(H).max()


def test_the_kernel_is_quadratic_inside_and_linear_outside():
    for size in (0.5, 1.9, 2.1, 40.0):
        r = size * np.array([0.6, 0.8])
        weight, cost = huber(r, 2.0)
        assert cost == pytest.approx(0.5 * size**2 if size < 2.0 else 2.0 * size - 2.0)
        J = np.eye(2)
        softened = r.copy()
        assert soften(softened, J, 2.0) == pytest.approx(cost)
        slope = numeric(lambda step, r=r: np.array([huber(r + step, 2.0)[1]]), 2, 1e-4)[0]
        assert np.allclose(J.T @ softened, slope, rtol=1e-8)
        assert np.allclose(J, weight * np.eye(2))


def test_a_far_landmark_keeps_its_direction():
    """Scaled by the inverse depth the point stays finite: at none it is the bearing, turned."""
    states, eyes = ahead(2), any_rig()
    far = scaled_point(states.x[0, 0], states.x[1, 0], np.array([0.1, -0.2, 0.0]), eyes, 1)
    turn = so3.multiply(so3.conjugate(states.x[1, 0, 3:7]), states.x[0, 0, 3:7])
    ray = so3.rotate(turn, eyes.R_BC[0] @ [0.1, -0.2, 1.0])
    assert np.allclose(far, eyes.R_BC[1].T @ ray)
