# SPDX-License-Identifier: BSD-3-Clause
"""The axes of a pose that are tracked where the wrench along the others is controlled."""

from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.laws.tracking import Errors
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Six,
    Vec,
    add,
    cross,
    formula,
    put,
    six_at,
    times6,
    vec,
)


class TrackedAxes(NamedTuple):
    """The tracked part of the pose where the wrench is controlled besides.

    Attributes:
        axes: (6,) 1 where the pose is tracked, 0 on axes of P that are left to the wrench.
        pivot_P: (3,) the point that stays where it is along the latter while the platform turns, in P [m].
    """

    axes: Array
    pivot_P: Array

    @classmethod
    def all(cls) -> "TrackedAxes":
        """Every axis is tracked."""
        return cls(np.ones(6), np.zeros(3))


class TrackedAxesNumbers(NamedTuple):
    """`TrackedAxes` in numbers."""

    axes: Six
    pivot_P: Vec


@formula
def tracked_axes_numbers(tracked: TrackedAxes) -> TrackedAxesNumbers:
    """The numbers of tracked axes."""
    return TrackedAxesNumbers(six_at(tracked.axes, 0), vec(tracked.pivot_P))


@formula
def tracked_part(errors_P: Errors, axes: Six) -> Errors:
    """Errors and nominal motion without those along axes that are not held."""
    e_T, e_xi = times6(errors_P.e_T, axes), times6(errors_P.e_xi, axes)
    return Errors(e_T, e_xi, times6(errors_P.xi_r, axes), times6(errors_P.dxi_r, axes))


@formula
def turn_about(tracked: TrackedAxesNumbers, alpha: Vec) -> Vec:
    """Acceleration of P's origin, along axes that are not held, in a turn `alpha` about the pivot."""
    turning, axes = cross(tracked.pivot_P, alpha), tracked.axes
    return (
        (1.0 - axes[0]) * turning[0],
        (1.0 - axes[1]) * turning[1],
        (1.0 - axes[2]) * turning[2],
    )


@njit(cache=True)
def turn_about_pivot(tracked: TrackedAxes, alpha: Vec, a: Array) -> None:
    """Let P's origin accelerate, `a` (3+), along axes that are not held as in a turn `alpha` about the pivot."""
    put(a, add(vec(a), turn_about(tracked_axes_numbers(tracked), alpha)))
