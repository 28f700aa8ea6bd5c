# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import transforms3d

from iap_description import frames
from iap_description.math import kernels, so3

RNG = np.random.default_rng(7)
ANGLES = [1e-9, 1e-7, 1e-4, 0.1, 1.0, 3.0, np.pi - 1e-7]


def random_vectors(n, scale=1.0):
    return scale * RNG.normal(size=(n, 3))


def random_quaternions(n):
    return so3.normalized(RNG.normal(size=(n, 4)))


def wxyz(q):
    return np.roll(q, 1, axis=-1)


def test_hat_makes_the_vector_product():
    a, b = random_vectors(20), random_vectors(20)
    np.testing.assert_allclose((so3.hat(a) @ b[..., None])[..., 0], np.cross(a, b), atol=1e-14)


def test_product_matrix_and_rotation_agree_with_transforms3d():
    for q, r, v in zip(
        random_quaternions(20), random_quaternions(20), random_vectors(20), strict=True
    ):
        R = transforms3d.quaternions.quat2mat(wxyz(q))
        np.testing.assert_allclose(so3.matrix_from_quaternion(q), R, atol=1e-14)
        np.testing.assert_allclose(so3.rotate(q, v), R @ v, atol=1e-13)
        product = transforms3d.quaternions.qmult(wxyz(q), wxyz(r))
        np.testing.assert_allclose(wxyz(so3.multiply(q, r)), product, atol=1e-14)


def test_conjugate_is_the_inverse_rotation():
    q, v = random_quaternions(20), random_vectors(20)
    np.testing.assert_allclose(so3.rotate(so3.conjugate(q), so3.rotate(q, v)), v, atol=1e-13)


def test_quarter_turn_about_z_takes_x_to_y():
    q = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    np.testing.assert_allclose(q, [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
    np.testing.assert_allclose(so3.rotate(q, np.array([1.0, 0.0, 0.0])), [0, 1, 0], atol=1e-15)


def test_quaternion_of_matrix_agrees_with_transforms3d_in_all_four_branches():
    near_half_turns = [so3.quaternion_exp((np.pi - 1e-3) * axis) for axis in np.eye(3)]
    for q in [*random_quaternions(40), *near_half_turns, np.array([0.0, 0.0, 0.0, 1.0])]:
        got = so3.quaternion_from_matrix(so3.matrix_from_quaternion(q))
        assert got[3] >= 0.0
        np.testing.assert_allclose(got, q if q[3] >= 0.0 else -q, atol=1e-12)


def test_the_quaternion_of_one_matrix_has_the_bits_of_that_of_many():
    """And those of turns by nothing and by halves, at which elements are alike."""
    halves = np.array([np.diag(2.0 * axis - 1.0) for axis in np.eye(3)])
    matrices = np.concatenate([so3.matrix_from_quaternion(random_quaternions(500)), halves])
    alone = [so3.quaternion_from_matrix(one) for one in [*matrices, np.eye(3)]]
    together = so3.quaternion_from_matrix(np.concatenate([matrices, np.eye(3)[None]]))
    np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_agrees_with_the_axis_angle_formula_and_log_undoes_it(angle):
    for axis in [*np.eye(3), *(v / np.linalg.norm(v) for v in random_vectors(10))]:
        R = so3.exp(angle * axis)
        np.testing.assert_allclose(
            R, transforms3d.axangles.axangle2mat(axis, angle, is_normalized=True), atol=1e-14
        )
        # Near pi the matrix holds the angle only to the root of the rounding.
        tolerance = 1e-8 if angle > 3.1 else 1e-14 + 1e-12 * angle
        np.testing.assert_allclose(so3.log(R), angle * axis, atol=tolerance)
        log = so3.quaternion_log(so3.quaternion_exp(angle * axis))
        np.testing.assert_allclose(log, angle * axis, rtol=1e-12, atol=1e-15)


def test_log_takes_the_short_way_and_zero_is_zero():
    q = so3.quaternion_exp(np.array([0.3, 0.0, 0.0]))
    np.testing.assert_allclose(so3.quaternion_log(-q), [0.3, 0.0, 0.0], atol=1e-14)
    np.testing.assert_array_equal(so3.quaternion_log(np.array([0.0, 0.0, 0.0, 1.0])), np.zeros(3))
    np.testing.assert_array_equal(so3.exp(np.zeros(3)), np.eye(3))


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.9e-4, 1.1e-4, 0.5, 3.0])
def test_right_jacobian_is_the_derivative_of_exp(angle):
    for axis in (v / np.linalg.norm(v) for v in random_vectors(5)):
        phi, h = angle * axis, 1e-5
        columns = [
            so3.log(so3.exp(phi - h * e).T @ so3.exp(phi + h * e)) / (2.0 * h) for e in np.eye(3)
        ]
        np.testing.assert_allclose(so3.right_jacobian(phi), np.stack(columns, -1), atol=1e-8)


def test_right_jacobian_joins_its_series_without_a_step():
    axis = np.array([0.6, 0.0, 0.8])
    below, above = so3.right_jacobian(0.99999e-4 * axis), so3.right_jacobian(1.00001e-4 * axis)
    np.testing.assert_allclose(below, above, atol=2e-9)


def test_euler_angles_agree_with_transforms3d():
    for rpy in RNG.uniform(-1.5, 1.5, size=(20, 3)):
        R = transforms3d.euler.euler2mat(*rpy, axes="sxyz")
        np.testing.assert_allclose(so3.matrix_from_euler(rpy), R, atol=1e-14)
        np.testing.assert_allclose(so3.euler_from_matrix(R), rpy, atol=1e-12)


def test_every_function_takes_stacks():
    q, v = random_quaternions(6).reshape(2, 3, 4), random_vectors(6).reshape(2, 3, 3)
    R = so3.matrix_from_quaternion(q)
    assert R.shape == so3.exp(v).shape == so3.right_jacobian(v).shape == (2, 3, 3, 3)
    assert so3.rotate(q, v).shape == so3.log(R).shape == so3.euler_from_matrix(R).shape == v.shape
    one = so3.rotate(q[1, 2], v[1, 2])
    np.testing.assert_allclose(so3.rotate(q, v)[1, 2], one, atol=1e-15)
    np.testing.assert_allclose(so3.log(R)[0, 1], so3.log(R[0, 1]), atol=1e-15)


def test_a_single_one_has_the_bits_that_it_has_in_a_stack():
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(2000, 3)) * 10.0 ** rng.integers(-9, 2, size=(2000, 1))
    vectors[:100] *= rng.integers(2, size=(100, 3))
    turns = np.concatenate(
        [so3.quaternion_exp(vectors), so3.normalized(rng.normal(size=(500, 4)))]
    )
    for function, stack in ((so3.quaternion_exp, vectors), (so3.quaternion_log, turns)):
        for one, row in zip(stack, function(stack), strict=True):
            assert function(one).tobytes() == row.tobytes()


def test_vector_kernels_agree_with_numpy():
    M = RNG.normal(size=(3, 3))
    for a, b in zip(random_vectors(10), random_vectors(10), strict=True):
        u, v = kernels.vec(a), kernels.vec(b)
        np.testing.assert_allclose(kernels.add(u, v), a + b)
        np.testing.assert_allclose(kernels.sub(u, v), a - b)
        np.testing.assert_allclose(kernels.scale(2.5, u), 2.5 * a)
        np.testing.assert_allclose(kernels.times(u, v), a * b)
        np.testing.assert_allclose(kernels.dot(u, v), a @ b, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(kernels.cross(u, v), np.cross(a, b), atol=1e-14)
        np.testing.assert_allclose(kernels.norm(u), np.linalg.norm(a))
        np.testing.assert_allclose(kernels.mul(M, u), M @ a, atol=1e-13)


def test_quaternion_kernels_agree_with_so3():
    pairs = zip(random_quaternions(20), random_quaternions(20), random_vectors(20), strict=True)
    for q, r, v in pairs:
        a, b, u = kernels.quat(q), kernels.quat(r), kernels.vec(v)
        np.testing.assert_allclose(kernels.rotate(a, u), so3.rotate(q, v), atol=1e-14)
        np.testing.assert_allclose(
            kernels.unrotate(a, u), so3.rotate(so3.conjugate(q), v), atol=1e-14
        )
        np.testing.assert_allclose(kernels.qconj(a), so3.conjugate(q))
        np.testing.assert_allclose(kernels.qmul(a, b), so3.multiply(q, r), atol=1e-15)
        np.testing.assert_allclose(kernels.qnormalize(kernels.quat(3.0 * q)), q, atol=1e-15)
        np.testing.assert_allclose(kernels.qlog(a), so3.quaternion_log(q), atol=1e-13)
        yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(q))[2]
        np.testing.assert_allclose(kernels.yaw_of(q), yaw, atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, *ANGLES])
def test_log_kernel_agrees_with_so3_at_small_and_large_angles(angle):
    q = so3.quaternion_exp(angle * np.array([0.0, 0.6, -0.8]))
    np.testing.assert_allclose(kernels.qlog(kernels.quat(q)), so3.quaternion_log(q), atol=1e-14)
    np.testing.assert_allclose(kernels.qlog(kernels.quat(-q)), so3.quaternion_log(q), atol=1e-14)


def test_rate_kernel_is_the_derivative_of_the_attitude():
    for q, w in zip(random_quaternions(10), random_vectors(10, 3.0), strict=True):
        h = 1e-5
        ahead, behind = (so3.multiply(q, so3.quaternion_exp(s * h * w)) for s in (1.0, -1.0))
        rate = kernels.qrate(kernels.quat(q), kernels.vec(w))
        np.testing.assert_allclose(rate, (ahead - behind) / (2.0 * h), atol=1e-8)


def test_quaternion_of_axes_agrees_with_so3_in_all_four_branches():
    half_turns = [so3.quaternion_exp(3.0 * axis) for axis in np.eye(3)]
    for q in [*random_quaternions(40), *half_turns]:
        R = so3.matrix_from_quaternion(q)
        got = np.array(kernels.quat_from_axes(*(kernels.vec(R[:, k].copy()) for k in range(3))))
        np.testing.assert_allclose(got * np.sign(got @ q), q, atol=1e-12)


def test_put_writes_and_leaves_the_rest():
    out = np.full(6, 9.0)
    kernels.put(out, (1.0, 2.0, 3.0))
    np.testing.assert_array_equal(out, [1, 2, 3, 9, 9, 9])
    kernels.put4(out[1:], (4.0, 5.0, 6.0, 7.0))
    np.testing.assert_array_equal(out, [1, 4, 5, 6, 7, 9])


def test_world_frames_swap_north_and_east_and_turn_down_to_up():
    north, east, down = np.eye(3)
    np.testing.assert_array_equal(frames.swap_world(north), [0.0, 1.0, 0.0])
    np.testing.assert_array_equal(frames.swap_world(east), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(frames.swap_world(down), [0.0, 0.0, -1.0])


def test_body_frames_keep_forward_and_turn_right_to_left():
    forward, right, down = np.eye(3)
    np.testing.assert_array_equal(frames.swap_body(forward), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(frames.swap_body(right), [0.0, -1.0, 0.0])
    np.testing.assert_array_equal(frames.swap_body(down), [0.0, 0.0, -1.0])


def test_frame_swaps_are_rotations_and_their_own_inverses():
    v, R = random_vectors(10), so3.exp(random_vectors(10))
    for swap, matrix in (
        (frames.swap_world, frames.R_ENU_NED),
        (frames.swap_body, frames.R_FLU_FRD),
    ):
        assert np.linalg.det(matrix) == pytest.approx(1.0)
        np.testing.assert_array_equal(swap(v), v @ matrix.T)
        np.testing.assert_array_equal(swap(swap(v)), v)
    np.testing.assert_allclose(frames.swap_attitude(frames.swap_attitude(R)), R, atol=1e-15)


def test_heading_north_in_ned_is_yaw_90_degrees_in_enu():
    R_ENU_FLU = frames.swap_attitude(np.eye(3))  # level, nose to the north
    np.testing.assert_allclose(so3.euler_from_matrix(R_ENU_FLU), [0.0, 0.0, np.pi / 2], atol=1e-15)


def test_ned_euler_angles_become_enu_ones_with_pitch_reversed():
    roll, pitch, yaw = 0.1, 0.2, 0.3
    got = so3.euler_from_matrix(frames.swap_attitude(so3.matrix_from_euler([roll, pitch, yaw])))
    np.testing.assert_allclose(got, [roll, -pitch, np.pi / 2 - yaw], atol=1e-12)


def test_attitude_swap_and_vector_swaps_commute():
    R_NED_FRD, v_FRD = so3.exp(random_vectors(1)[0]), random_vectors(1)[0]
    turned_then_swapped = frames.swap_world(R_NED_FRD @ v_FRD)
    swapped_then_turned = frames.swap_attitude(R_NED_FRD) @ frames.swap_body(v_FRD)
    np.testing.assert_allclose(turned_then_swapped, swapped_then_turned, atol=1e-14)
