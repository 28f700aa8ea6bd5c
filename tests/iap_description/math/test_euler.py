# SPDX-License-Identifier: BSD-3-Clause
"""Roll, pitch and yaw of people's files and messages."""

import numpy as np
import pytest

from iap_description.math import euler, so3

ANGLES = np.array([[0.3, -0.2, 2.9], [-3.0, 1.2, -0.4], [0.0, 0.0, -1.5], [1.0, 0.0, 0.0]])


def test_one_rotation_is_that_of_the_same_angles_among_many():
    many = so3.matrix_from_euler(ANGLES)
    np.testing.assert_allclose([euler.matrix_from_rpy(row) for row in ANGLES], many, atol=1e-15)
    np.testing.assert_allclose(
        euler.quaternions_from_rpy(ANGLES), so3.quaternion_from_matrix(many), atol=1e-15
    )
    for row, R in zip(ANGLES, many, strict=True):
        np.testing.assert_allclose(euler.rpy_from_matrix(R), row, atol=1e-14)
        np.testing.assert_allclose(euler.rpy_deg_from_matrix(R), np.rad2deg(row), atol=1e-12)


@pytest.mark.parametrize("pitch", [90.0, -90.0])
@pytest.mark.parametrize(("roll", "yaw"), [(0.0, 0.0), (30.0, 0.0), (0.0, 70.0), (-20.0, 110.0)])
def test_a_body_on_its_nose_has_angles_that_give_its_attitude_back(roll, pitch, yaw):
    R = euler.matrix_from_rpy_deg([roll, pitch, yaw])
    angles = euler.rpy_deg_from_matrix(R)
    assert angles[1] == pytest.approx(pitch)
    assert angles[2] == 0.0
    np.testing.assert_allclose(euler.matrix_from_rpy_deg(angles), R, atol=1e-15)


def test_right_angles_are_exact_to_rounding():
    np.testing.assert_allclose(
        euler.quaternion_from_rpy_deg([0.0, 0.0, 90.0]), [0.0, 0.0, 0.5**0.5, 0.5**0.5], atol=1e-16
    )


def test_a_table_without_rows_has_no_attitudes():
    assert euler.quaternions_from_rpy(np.empty((0, 3))).shape == (0, 4)
