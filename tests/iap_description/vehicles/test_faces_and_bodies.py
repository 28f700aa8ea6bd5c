# SPDX-License-Identifier: BSD-3-Clause
"""Faces that catch, moments that a body may have, twists in body axes and the nearest points of triangles."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.math.relative import body_twist
from iap_description.vehicles.aircraft import obey_triangle_inequality, principal_moments
from iap_description.vehicles.face_latch import CatchLimits, catches, gap_and_offset, is_aligned
from iap_description.world.distances import nearest_of_triangle

LIMITS = CatchLimits(**{"gap": 0.02, "offset": 0.01, "angle": 0.1})


def test_an_offset_is_a_gap_along_the_face_and_the_rest_across():
    gap, across = gap_and_offset((0.3, 0.2, -0.1), (0.0, -1.0, 0.0))
    assert gap == pytest.approx(-0.2)
    np.testing.assert_allclose(across, (0.3, 0.0, -0.1), atol=1e-15)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_face_catches_within_its_limits_along_and_about_every_axis(axis, sign):
    unit = sign * np.eye(3)[axis]
    none = (0.0, 0.0, 0.0)
    near, far = tuple(0.0099 * unit), tuple(0.0101 * unit)
    straight, bent = tuple(0.099 * unit), tuple(0.101 * unit)
    assert is_aligned(near, straight, LIMITS)
    assert not is_aligned(far, none, LIMITS) and not is_aligned(none, bent, LIMITS)
    assert catches(0.0199, near, straight, LIMITS) and catches(-1.0, none, none, LIMITS)
    assert not catches(0.0201, none, none, LIMITS) and not catches(0.0, far, none, LIMITS)


def test_principal_moments_are_those_of_the_matrix_and_obey_the_triangle():
    assert principal_moments((3.0, 1.0, 2.0)).tolist() == [1.0, 2.0, 3.0]
    full = principal_moments((2.0, 2.0, 5.0, 1.0, 0.0, 0.0))
    np.testing.assert_allclose(full, [1.0, 3.0, 5.0])
    assert obey_triangle_inequality(1.0, 2.0, 3.0) and obey_triangle_inequality(1.0, 1.0, 1.0)
    assert not obey_triangle_inequality(1.0, 2.0, 3.001)


def test_a_twist_is_turned_into_the_bodys_axes():
    q = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2.0]))
    row, out = np.array([9.0, 9.0, 9.0, *q, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.zeros(6)
    body_twist(row, out)
    np.testing.assert_allclose(out, [2.0, -1.0, 3.0, 5.0, -4.0, 6.0], atol=1e-12)


@pytest.mark.parametrize(
    ("point", "nearest"),
    [
        ((-1.0, -1.0, 2.0), (0.0, 0.0, 0.0)),  # corners
        ((3.0, -1.0, 2.0), (2.0, 0.0, 0.0)),
        ((-1.0, 5.0, 2.0), (0.0, 2.0, 0.0)),
        ((0.5, -1.0, 2.0), (0.5, 0.0, 0.0)),  # edges
        ((-1.0, 1.5, 2.0), (0.0, 1.5, 0.0)),
        ((2.0, 1.0, 2.0), (1.5, 0.5, 0.0)),
        ((0.5, 0.25, -2.0), (0.5, 0.25, 0.0)),  # the face
        ((0.25, 0.75, 3.0), (0.25, 0.75, 0.0)),
    ],
)
def test_the_nearest_point_of_a_triangle_is_on_a_corner_an_edge_or_its_face(point, nearest):
    corners = ((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.0, 2.0, 0.0))
    np.testing.assert_allclose(nearest_of_triangle(point, *corners), nearest, atol=1e-12)
