# SPDX-License-Identifier: BSD-3-Clause
"""Other readings of a recording's numbers: in other axes, units and orders, each by the option that asks for it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.math import euler, so3
from iap_io.trajectories.axes import CONVENTIONS, Axes, reordered
from iap_io.trajectories.conventions import AngleUnit, QuaternionOrder
from iap_io.trajectories.samples import Samples

SCALES = (0.001, 0.01, 0.0254, 0.1, 0.3048, 1000.0)


class SampledMotion(NamedTuple):
    """Positions (K, 3), and attitudes (K, 3, 3) of a body in their world, at even times."""

    p: Array
    R: Array


def readings(motion: SampledMotion, samples: Samples) -> Iterator[tuple[str, SampledMotion]]:
    """Yield other readings of the numbers that were read as a motion, by the options that ask for them."""
    about = samples.about
    read = CONVENTIONS[about.convention]
    numbers = SampledMotion(motion.p @ read.positions, read.attitudes.T @ motion.R @ read.body)
    for convention, axes in CONVENTIONS.items():
        if convention != about.convention:
            yield f"--convention {convention}", _in_axes(numbers, axes)
    if not isinstance(about.scale, tuple):
        for scale in SCALES:
            yield f"--scale {about.scale * scale:g}", SampledMotion(scale * motion.p, motion.R)
    others = (
        _orders(numbers, about.quaternion)
        if about.angles is None
        else _angles(numbers, about.angles)
    )
    for option, other in others:
        yield option, _in_axes(other, read)


def _in_axes(numbers: SampledMotion, axes: Axes) -> SampledMotion:
    """The motion in ENU/FLU of numbers in some axes."""
    return SampledMotion(numbers.p @ axes.positions.T, axes.attitudes @ numbers.R @ axes.body.T)


def _angles(numbers: SampledMotion, unit: AngleUnit) -> Iterator[tuple[str, SampledMotion]]:
    """Yield the reading by the other unit of angles."""
    rpy = so3.euler_from_matrix(numbers.R) * (np.pi / 180.0 if unit == "rad" else 180.0 / np.pi)
    turned = so3.matrix_from_quaternion(euler.quaternions_from_rpy(rpy))
    yield f"--angles {'deg' if unit == 'rad' else 'rad'}", SampledMotion(numbers.p, turned)


def _orders(numbers: SampledMotion, order: QuaternionOrder) -> Iterator[tuple[str, SampledMotion]]:
    """Yield readings by other orders of quaternions; a pose that was turned round is not turned round again."""
    if order in ("inverse", "inverse-pose"):
        return
    turned = np.swapaxes(numbers.R, 1, 2)
    places = -np.einsum("kij,kj->ki", turned, numbers.p)
    yield "--quaternion inverse-pose", SampledMotion(places, turned)
    q = so3.quaternion_from_matrix(numbers.R)
    others: tuple[QuaternionOrder, ...] = ("xyzw", "wxyz", "inverse")
    for other in others:
        if order != other:
            turned = so3.matrix_from_quaternion(reordered(q, order, other))
            yield f"--quaternion {other}", SampledMotion(numbers.p, turned)


def misread_angles(motion: SampledMotion) -> Iterator[tuple[str, SampledMotion]]:
    """Yield readings of attitudes whose yaw, pitch and roll were mistaken, by what is wrong with them."""
    rpy = so3.euler_from_matrix(motion.R)
    for name, mend in _MISTAKES.items():
        turned = so3.matrix_from_quaternion(euler.quaternions_from_rpy(rpy @ mend.T))
        yield name, SampledMotion(motion.p, turned)


_MISTAKES = {
    "the opposite yaw": np.diag([1.0, 1.0, -1.0]),
    "roll and pitch exchanged": np.eye(3)[[1, 0, 2]],
    "roll and yaw exchanged": np.eye(3)[[2, 1, 0]],
}
