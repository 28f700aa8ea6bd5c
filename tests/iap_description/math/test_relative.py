# SPDX-License-Identifier: BSD-3-Clause
"""State rows as seen from other bodies, against matrices."""

import numpy as np

from iap_description.math import so3
from iap_description.math.relative import joint_states, relative_pose
from iap_description.states import P, Q, V, W


def bodies():
    """Four bodies that move and turn."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4, 13))
    x[:, Q] = so3.quaternion_exp(rng.normal(size=(4, 3)))
    return x


def test_a_joint_turns_from_its_parent_to_its_child_at_the_difference_of_their_rates():
    x, ends = bodies(), np.array([[0, 1], [3, 2]])
    q_PB, w_PB_B = np.zeros((2, 4)), np.zeros((2, 3))
    joint_states(x, ends, q_PB, w_PB_B)
    for i, (parent, child) in enumerate(ends):
        R_P, R_B = (so3.matrix_from_quaternion(x[each, Q]) for each in (parent, child))
        np.testing.assert_allclose(so3.matrix_from_quaternion(q_PB[i]), R_P.T @ R_B, atol=1e-12)
        np.testing.assert_allclose(w_PB_B[i], R_B.T @ (x[child, W] - x[parent, W]), atol=1e-12)


def test_a_pose_in_another_bodys_frame_leads_back_to_the_pose_in_the_world():
    x, out = bodies(), np.zeros(7)
    relative_pose(x[2], x[0], out)
    back = x[2, P] + so3.rotate(x[2, Q], out[:3])
    np.testing.assert_allclose(back, x[0, P], atol=1e-12)
    turned = so3.matrix_from_quaternion(so3.multiply(x[2, Q], out[3:]))
    np.testing.assert_allclose(turned, so3.matrix_from_quaternion(x[0, Q]), atol=1e-12)
    assert np.abs(x[:, V]).min() > 0.0  # velocities play no part
