# SPDX-License-Identifier: BSD-3-Clause
"""Orders of quaternions' numbers where a gentle flight's accelerations do not tell them."""

import numpy as np
import pytest
from made_up_samples import T, samples_of
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.quaternion_orders import check_level, check_standing, order_doubt

Array = NDArray[np.float64]
HOVER = np.tile([0.0, 0.0, 1.5], (len(T), 1))


def turns(axis: str, angles: Array) -> Array:
    """Quaternions (K, 4), xyzw, of turns about x or z."""
    return so3.quaternion_exp(angles[:, None] * np.eye(3)["xyz".index(axis)])


def w_first(q: Array) -> Array:
    """The numbers as a file with w first has them."""
    return q[:, [3, 0, 1, 2]]


@pytest.mark.parametrize("yaw", [2.6 + 0.0 * T, np.pi + 0.2 * T, -2.2 - 0.1 * T])
def test_a_hover_that_turns_by_its_yaw_and_has_w_first_is_refused_with_both_orders(
    yaw: Array,
) -> None:
    """Read w last, it leans about x by pi - yaw."""
    q = turns("z", yaw)
    check_level(samples_of(HOVER, q))
    with pytest.raises(BadInput, match="--quaternion wxyz reads .* --quaternion xyzw keeps"):
        check_level(samples_of(HOVER, w_first(q)))


def test_numbers_that_are_w_last_and_were_read_w_first_are_refused_likewise() -> None:
    """Read w first, (x, y, z, w) is taken as (w, x, y, z)."""
    q = turns("z", 0.4 + 0.0 * T)
    misread = q[:, [1, 2, 3, 0]]
    with pytest.raises(BadInput, match="--quaternion xyzw reads .* --quaternion wxyz keeps"):
        check_level(samples_of(HOVER, misread, about={"quaternion": "wxyz"}))


def test_a_platform_that_rolls_and_comes_back_level_is_what_it_says() -> None:
    roll = 0.6 * np.sin(np.pi * T / T[-1])
    check_level(samples_of(HOVER, turns("x", roll)))


def test_a_lean_that_is_none_in_any_order_is_the_bodys() -> None:
    q = so3.multiply(turns("z", 2.0 + 0.1 * T), turns("x", 0.4 + 0.0 * T))
    check_level(samples_of(HOVER, q))


def test_a_body_on_its_head_stands_in_the_other_order() -> None:
    q = turns("z", 0.1 * T)
    with pytest.raises(BadInput, match="--quaternion wxyz reads its numbers so that it stands"):
        check_standing(samples_of(HOVER, w_first(q)))


def test_a_body_that_starts_on_its_side_is_left_to_its_mounting() -> None:
    check_level(samples_of(HOVER, w_first(turns("z", 0.5 + 0.0 * T))))


def test_a_lean_about_one_axis_that_nothing_accelerates_by_is_noted_with_the_order() -> None:
    """w first near a yaw of 180 deg: some degrees of yaw are read as a roll."""
    sway, still = 0.05 * np.sin(T), np.tile([0.0, 0.0, 1.0], (len(T), 1))
    misread = samples_of(HOVER, w_first(turns("z", np.pi + sway)))
    up = so3.rotate(misread.q, still)
    doubt = order_doubt(misread, up, still)
    assert doubt is not None and "or with a yaw near 180 deg" in doubt and "wxyz reads" in doubt
    assert order_doubt(misread, up, up) is None  # it accelerates as it leans
    assert order_doubt(samples_of(HOVER), still, up) is None  # it does not lean
    both = so3.multiply(turns("x", sway), turns("y", 0.05 * np.cos(T)))
    assert order_doubt(samples_of(HOVER, both), so3.rotate(both, still), still) is None
