# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of six numbers, rows and lanes, as numpy has them; each is compiled within one function."""

import numpy as np
import pytest
from numba import njit

from iap_description.math import kernels, lanes

RNG = np.random.default_rng(3)
A, B = RNG.normal(size=(2, 6))
M = RNG.normal(size=(6, 6))
V, W, Q, R = A[:3], B[:3], RNG.normal(size=4), RNG.normal(size=4)


@njit
def of_six(a, b, m):
    u, v, rows = kernels.six_at(a, 0), kernels.six_at(b, 1), kernels.mat6(m)
    return (
        kernels.combined6(2.0, u, -3.0, v),
        kernels.scale6(4.0, u),
        kernels.add6(u, v),
        kernels.sub6(u, v),
        kernels.times6(u, v),
        kernels.select6(True, u, v),
        kernels.select6(False, u, v),
        kernels.mv6(rows, u),
        kernels.six(kernels.angular(u), kernels.linear(v)),
        kernels.six_of_row(m, 4),
        kernels.dot6(u, v),
    )


def test_six_numbers_are_added_scaled_and_chosen_one_by_one():
    found = of_six(A, np.r_[9.0, B], M)
    expected = (
        2.0 * A - 3.0 * B, 4.0 * A, A + B, A - B, A * B, A, B, M @ A, np.r_[A[3:], B[:3]], M[4], A @ B,
    )  # fmt: skip
    for k, (one, other) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(one, other, rtol=1e-13, err_msg=str(k))


@njit
def of_rows(m, out):
    kernels.put_row(out, 1, kernels.vec_of_row(m, 2))
    kernels.put_row4(out, 3, kernels.quat_of_row(m, 4))
    kernels.put_at(out[0], 2, kernels.vec_at(m[1], 3))
    kernels.put_six(out[5], 1, kernels.six_at(m[0], 0))
    u, v = kernels.vec(m[0]), kernels.vec(m[1])
    q, r = kernels.quat_at(m[2], 1), kernels.quat(m[3])
    return (
        kernels.select3(True, u, v), kernels.select3(False, u, v),
        kernels.select4(True, q, r), kernels.select4(False, q, r),
    )  # fmt: skip


def test_rows_are_read_and_written_where_they_are():
    out, expected = np.zeros((6, 7)), np.zeros((6, 7))
    expected[1, :3], expected[3, :4] = M[2, :3], M[4, :4]
    expected[0, 2:5], expected[5, 1:] = M[1, 3:6], M[0]
    chosen = of_rows(M, out)
    np.testing.assert_array_equal(out, expected)
    for found, one in zip(chosen, (M[0, :3], M[1, :3], M[2, 1:5], M[3, :4]), strict=True):
        np.testing.assert_array_equal(found, one)


@pytest.mark.parametrize(
    ("place", "value"), [((0, 0), np.nan), ((2, 3), np.inf), ((1, 2), -np.inf)]
)
def test_one_number_that_is_none_is_found(place, value):
    array = np.zeros((3, 4))
    assert kernels.all_finite(array)
    array[place] = value
    assert not kernels.all_finite(array)


def test_a_product_of_a_matrix_that_is_not_square_overwrites_its_target():
    out = np.full(2, 7.0)
    kernels.matvec(M[:2], A, out)
    np.testing.assert_allclose(out, M[:2] @ A, rtol=1e-13)


@njit
def of_turns(q):
    return kernels.half_turn(q), kernels.yaw_parts(q), kernels.rotation_vector(q, 0.7)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_half_a_turn_is_the_shorter_way_round(sign):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    q = sign * np.array([*np.sin(0.35) * axis, np.cos(0.35)])
    (sine, cosine), _, vector = of_turns(tuple(q.tolist()))
    assert (sine, cosine) == pytest.approx((np.sin(0.35), np.cos(0.35)), rel=1e-14)
    np.testing.assert_allclose(vector, 1.4 * axis, rtol=1e-14)  # the angle is as it was given


def test_parts_of_a_yaw_are_of_the_heading_of_x():
    q = np.array([0.1, -0.2, 0.5, 0.8])
    q /= np.linalg.norm(q)
    _, (sine, cosine), _ = of_turns(tuple(q.tolist()))
    x, y, z, w = q
    assert sine == pytest.approx(2.0 * (w * z + x * y)) and cosine == pytest.approx(
        w * w + x * x - y * y - z * z
    )


ROW, LANE = np.uint64(2), np.uint64(5)


@njit
def of_lanes(block, row, lane, out):
    lanes.set1(block, row, 0, lane, 1.0)
    lanes.set3(block, row, 1, lane, (2.0, 3.0, 4.0))
    lanes.set4(block, row, 4, lane, (5.0, 6.0, 7.0, 8.0))
    lanes.set6(block, row, 8, lane, (9.0, 10.0, 11.0, 12.0, 13.0, 14.0))
    out[0] = lanes.row_at(row, lane)
    out[1] = lanes.get(block, row, 13, lane)
    return (
        lanes.get3(block, row, 1, lane), lanes.get4(block, row, 2, lane),
        lanes.get6(block, row, 3, lane), lanes.get9(block, row, 4, lane),
    )  # fmt: skip


def test_numbers_of_a_lane_follow_each_other_at_32():
    block, out = np.zeros(20 * lanes.LANES), np.zeros(2)
    found = of_lanes(block, ROW, LANE, out)
    assert out.tolist() == [2 * 32 + 5, 14.0]
    assert [list(each) for each in found] == [
        [2, 3, 4], [3, 4, 5, 6], [4, 5, 6, 7, 8, 9], [5, 6, 7, 8, 9, 10, 11, 12, 13],
    ]  # fmt: skip
    rows = block.reshape(-1, 32)
    assert rows[2:16, 5].tolist() == list(range(1, 15)) and np.count_nonzero(block) == 14


@njit
def of_worlds(first, end, worlds):
    begin, behind = lanes.lanes_from(first, end)
    lane = np.uint64(7)
    return (
        int(begin), int(behind), lanes.next_block(first), lanes.world_in(first, lane),
        lanes.world_at(first, lane, worlds),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("first", "end", "expected"),
    [
        (0, 1, (0, 8, 32, 7, 7)),
        (0, 8, (0, 8, 32, 7, 7)),
        (0, 9, (0, 16, 32, 7, 7)),
        (0, 90, (0, 32, 32, 7, 7)),
        (31, 90, (0, 8, 32, 38, 38)),
        (32, 90, (0, 32, 64, 39, 39)),
        (40, 90, (0, 24, 64, 47, 47)),
        (80, 90, (0, 16, 96, 87, 87)),
        (88, 90, (0, 8, 96, 95, 89)),
    ],
)
def test_worlds_fill_whole_vectors_of_a_block_and_the_last_one_those_that_are_left(
    first, end, expected
):
    assert of_worlds(first, end, 90) == expected


@pytest.mark.parametrize(("worlds", "blocks"), [(1, 1), (32, 1), (33, 2), (64, 2), (65, 3)])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_blocks_of_zeros_begin_at_a_cache_line(worlds, blocks, precision):
    made = lanes.zero_blocks(worlds, 3, precision)
    assert (made.shape, made.dtype) == ((blocks, 96), np.dtype(precision))
    assert made.ctypes.data % 64 == 0 and not made.any() and made.flags.c_contiguous
