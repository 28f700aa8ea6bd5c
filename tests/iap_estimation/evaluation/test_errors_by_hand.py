# SPDX-License-Identifier: BSD-3-Clause
"""Errors of attitudes, headings and places, and their sizes, worked out by hand."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_estimation.evaluation.trajectory_errors import (
    ALL,
    HEADING,
    attitude_error,
    axis_error,
    controlled_error,
    heading_error,
    maximum,
    rmse,
    rmse_of_vectors,
)

X, Y, Z = np.eye(3)
ERRORS = np.array([[3.0, -1.0], [-4.0, 1.0], [0.0, -7.0]])


def test_sizes_of_errors_are_over_times_and_of_vectors_over_both():
    np.testing.assert_allclose(rmse(ERRORS), [np.sqrt(25.0 / 3.0), np.sqrt(51.0 / 3.0)])
    np.testing.assert_allclose(maximum(ERRORS), [4.0, 7.0])
    assert rmse_of_vectors(ERRORS) == pytest.approx(np.sqrt(76.0 / 3.0))


def turn(*vector):
    return so3.exp(np.array(vector))


def test_an_attitude_is_off_by_the_turn_from_its_reference_in_the_references_axes():
    R_ref = turn(0.3, -0.4, 0.5)
    np.testing.assert_allclose(
        attitude_error(R_ref, R_ref @ turn(0.1, 0.2, -0.3)), [0.1, 0.2, -0.3]
    )
    many = attitude_error(np.stack([R_ref] * 2), np.stack([R_ref, R_ref @ turn(0.1, 0.0, 0.0)]))
    np.testing.assert_allclose(many, [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_axis_is_off_by_its_angle_whatever_the_body_turns_about_it(axis):
    R_ref, about = turn(0.3, -0.4, 0.5), np.eye(3)
    off = 0.7 * about[(axis + 1) % 3]
    R = R_ref @ so3.exp(off) @ so3.exp(1.3 * about[axis])
    np.testing.assert_allclose(axis_error(R_ref, R, axis), off, atol=1e-12)
    np.testing.assert_allclose(axis_error(R_ref, R_ref @ so3.exp(1.3 * about[axis]), axis), 0.0)
    back = axis_error(R_ref, R_ref @ so3.exp(np.pi * about[(axis + 1) % 3]), axis)
    np.testing.assert_allclose(back, np.pi * about[(axis + 1) % 3], atol=1e-12)


@pytest.mark.parametrize(
    ("reference", "real", "difference"),
    [
        (3.0, -3.0, 2.0 * np.pi - 6.0),
        (-3.0, 3.0, 6.0 - 2.0 * np.pi),
        (0.0, 3.1, 3.1),
        (0.5, 0.2, -0.3),
    ],
)
def test_headings_differ_by_the_short_way(reference, real, difference):
    found = heading_error(turn(0.0, 0.0, reference), turn(0.0, 0.0, real))
    assert found == pytest.approx(difference)
    assert heading_error(np.eye(3), turn(0.0, 0.0, np.pi)) == pytest.approx(np.pi)


def test_only_what_is_controlled_has_an_error():
    R_ref = turn(0.0, 0.0, 0.4)
    R = R_ref @ turn(0.0, 0.2, 0.0) @ turn(0.5, 0.0, 0.0)
    free_roll = controlled_error(R_ref, R, (False, True, True))
    assert np.isnan(free_roll[0])
    np.testing.assert_allclose(free_roll[1:], [0.2, 0.0], atol=1e-12)
    heading = controlled_error(R_ref, turn(0.0, 0.0, 0.7) @ turn(0.0, 0.1, 0.0), HEADING)
    assert np.isnan(heading[:2]).all() and heading[2] == pytest.approx(0.3)
    np.testing.assert_allclose(controlled_error(R_ref, R, ALL), attitude_error(R_ref, R))
