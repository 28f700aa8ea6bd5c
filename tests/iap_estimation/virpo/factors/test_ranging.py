# SPDX-License-Identifier: BSD-3-Clause
"""Ranges at any time between two keyframes, in a frame that is not the anchors'."""

import gtsam
import numpy as np
import pytest
from gtsam_twins import by_pose
from jacobians import along, assert_slopes, numeric, some_states
from synthetic import GRAVITY, Flight
from synthetic_fleet import fleet_of

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import States, retract
from iap_estimation.virpo.factors.ranging import (
    AIRCRAFT,
    ANCHOR,
    ARM,
    FRAME,
    LIFT,
    RANGE,
    SHARE,
    SIGMA,
    WIDTH,
    add_ranges,
    point_between,
    point_indices,
    ranges_cost,
    ranging,
    to_world,
    waypoints,
)

ANTENNA = np.array([0.1, -0.05, 0.2])
BEGIN, END = 2.0, 2.3
ALL, OPEN = -1, np.inf


@pytest.fixture(scope="module")
def flight() -> Flight:
    return Flight.of(4.0, fleet=fleet_of(1, antenna=tuple(ANTENNA)))


def rows_at(flight: Flight, times: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    rows = np.zeros((len(times), WIDTH))
    samples = flight.samples(0, BEGIN, END)
    at = np.zeros(6) if bias is None else bias
    waypoints(samples, at, times - BEGIN, ANTENNA, GRAVITY, rows)
    return rows


def antenna(flight: Flight, t: float) -> np.ndarray:
    now = flight.truth(0, t)
    return now.p_WB_W + so3.rotate(now.q_WB, ANTENNA)


def test_between_true_keyframes_the_antenna_is_where_it_was(flight):
    times = np.linspace(BEGIN, END, 25)
    rows = rows_at(flight, times)
    x_i, x_j = flight.state(0, BEGIN), flight.state(0, END)
    told = np.array([point_between(x_i, x_j, row) for row in rows])
    assert np.allclose(told, [antenna(flight, t) for t in times], rtol=0.0, atol=1e-4)


def test_neither_the_velocity_nor_a_wrong_accelerometer_s_bias_moves_it_by_much(flight):
    """A bias of 0.1 m/s^2 is off by a s (1 - s) T^2 / 2, an eighth of what it is from one keyframe alone."""
    wrong = np.array([0, 0, 0, 0, 0, 0.1])
    t = np.array([0.5 * (BEGIN + END)])
    x_i, x_j = flight.state(0, BEGIN), flight.state(0, END)
    x_i[7:10], x_j[7:10] = 9.0, -9.0
    off = np.array(point_between(x_i, x_j, rows_at(flight, t, wrong)[0])) - antenna(flight, t[0])
    assert np.linalg.norm(off) == pytest.approx(0.1 * 0.125 * (END - BEGIN) ** 2, rel=0.02)


def test_states_may_be_in_another_frame_than_the_anchors(flight):
    alignment = np.array([1.0, -2.0, 0.5, 0.8])
    x_i, x_j = (flight.state(0, t, alignment) for t in (BEGIN, END))
    t = np.array([BEGIN + 0.1])
    p = to_world(alignment, point_between(x_i, x_j, rows_at(flight, t)[0]))
    assert np.allclose(p, antenna(flight, t[0]), atol=1e-4)


def some_rows(n: int, frames: int, aircraft: int, seed: int = 0) -> np.ndarray:
    """Rows of any kind, ranges off by some deviations."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((n, WIDTH))
    rows[:, FRAME], rows[:, AIRCRAFT] = (
        rng.integers(frames - 1, size=n),
        rng.integers(aircraft, size=n),
    )
    rows[:, SHARE], rows[:, LIFT] = rng.uniform(size=n), rng.uniform(0, 0.1, n)
    rows[:, ARM : ARM + 3] = 0.2 * rng.normal(size=(n, 3))
    rows[:, ANCHOR : ANCHOR + 3] = rng.uniform(-8, 8, (n, 3))
    rows[:, RANGE], rows[:, SIGMA] = rng.uniform(4, 12, n), rng.uniform(0.3, 0.7, n)
    return rows


def of_row(states: States, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r, J, k, a = np.empty(1), np.empty((1, 13)), int(row[FRAME]), int(row[AIRCRAFT])
    ends = states.x[k, a], states.x[k + 1, a]
    ranging(*ends, states.alignment[a], row, r, J, np.empty((3, 13)))
    return r, J


def wide(states: States, row: np.ndarray) -> np.ndarray:
    """Derivatives by all places of the states (1, n)."""
    places, out = np.empty(13, dtype=np.int64), np.zeros((1, states.size))
    stride = states.stride
    point_indices(int(row[FRAME]), int(row[AIRCRAFT]), stride, len(states.x) * stride, places)
    assert (np.diff(places) > 0).all()
    out[:, places] = of_row(states, row)[1]
    return out


def test_derivatives_by_poses_and_alignment():
    states = some_states(3, 2, neighbours=1, centre=True)
    for row in some_rows(12, 3, 2):
        numerical = along(states, lambda there, row=row: of_row(there, row)[0])
        assert_slopes(wide(states, row), numerical)


def test_normal_equations_and_cost():
    """A kernel that bends some: the gradient is the derivative of the cost, H the sum of weighted squares."""
    states, rows, width = some_states(3, 2, centre=True), some_rows(20, 3, 2), 3.0
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    cost = add_ranges(states.x, states.alignment, rows, ALL, width, H, g, states.stride)
    assert cost == pytest.approx(ranges_cost(states.x, states.alignment, rows, width), rel=1e-12)
    numerical = along(
        states, lambda there: np.array([ranges_cost(there.x, there.alignment, rows, width)]), 1e-4
    )[0]
    assert np.allclose(g, numerical, atol=1e-6 * np.abs(g).max())
    expected = np.zeros_like(H)
    for row in rows:
        J = wide(states, row)
        size = abs(of_row(states, row)[0][0])
        expected += min(1.0, width / size) * J.T @ J
    assert np.allclose(H, np.tril(expected), atol=1e-9 * np.abs(H).max())


def test_only_ranges_that_follow_a_keyframe():
    states, rows = some_states(4, 1), some_rows(20, 4, 1)
    parts = []
    for chosen in (rows[rows[:, FRAME] == 1], rows):
        H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
        only = ALL if len(chosen) < len(rows) else 1
        cost = add_ranges(states.x, states.alignment, chosen, only, OPEN, H, g, states.stride)
        parts.append((H, g, cost))
    assert all(np.allclose(one, other) for one, other in zip(*parts, strict=True))


def at_keyframe(states: States, row: np.ndarray, arm: np.ndarray) -> None:
    row[FRAME], row[AIRCRAFT], row[SHARE], row[LIFT], row[ARM : ARM + 3] = 0, 0, 0, 0, arm


def world_pose(states: States) -> gtsam.Pose3:
    x, y, z, psi = states.alignment[0]
    L = gtsam.Pose3(gtsam.Rot3.Rz(psi), np.array([x, y, z]))
    R = so3.matrix_from_quaternion(states.x[0, 0, 3:7])
    return L.compose(gtsam.Pose3(gtsam.Rot3(R), states.x[0, 0, :3]))


def factors(row: np.ndarray, arm: np.ndarray) -> dict:
    """gtsam's factors of the same range at a keyframe: to a point, from an arm, and to a pose."""
    noise = gtsam.noiseModel.Isotropic.Sigma(1, row[SIGMA])
    tip = gtsam.Pose3(gtsam.Rot3(), arm)
    return {
        "point": gtsam.RangeFactor3D(0, 1, row[RANGE], noise),
        "arm": gtsam.RangeFactorWithTransform3D(0, 1, row[RANGE], noise, tip),
        "pose": gtsam.RangeFactorPose3(0, 1, row[RANGE], noise),
    }


@pytest.mark.parametrize("kind", ["point", "arm", "pose"])
def test_at_a_keyframe_it_is_gtsam_s_range(kind):
    """Residual and derivative by the pose, through the alignment, which gtsam's factors do not have."""
    states, row = some_states(2, 1), some_rows(1, 2, 1)[0]
    arm = ANTENNA if kind == "arm" else np.zeros(3)
    at_keyframe(states, row, arm)
    factor, at = factors(row, arm)[kind], gtsam.Values()
    anchor = row[ANCHOR : ANCHOR + 3]
    at.insert(0, world_pose(states))
    at.insert(1, gtsam.Pose3(gtsam.Rot3(), anchor) if kind == "pose" else anchor)
    A, b = factor.linearize(at).jacobian()
    r, J = of_row(states, row)
    assert np.allclose(-b, r, rtol=1e-12)
    assert np.allclose(J[:, :6], by_pose(A[:, :6], states.x[0, 0]), rtol=1e-9, atol=1e-12)

    def by_alignment(step: np.ndarray) -> np.ndarray:
        there, full = states.copy(), np.zeros(states.size)
        full[-4:] = step
        retract(there, full)
        at.update(0, world_pose(there))
        return factor.unwhitenedError(at) / row[SIGMA]

    assert_slopes(J[:, 9:], numeric(by_alignment, 4))
