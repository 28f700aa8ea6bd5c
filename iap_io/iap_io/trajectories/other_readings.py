# SPDX-License-Identifier: BSD-3-Clause
"""Other readings of a recording's numbers: in other axes, units and orders, each by the option that asks for it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.math import euler, so3
from iap_io.trajectories.axes import CONVENTIONS, reordered
from iap_io.trajectories.conventions import QuaternionOrder
from iap_io.trajectories.samples import Samples

SCALES = (0.001, 0.01, 0.0254, 0.1, 0.3048, 1000.0)


class SampledMotion(NamedTuple):
    """Positions (K, 3), and attitudes (K, 3, 3) of a body in their world, at even times."""

    p: Array
    R: Array


def readings(motion: SampledMotion, samples: Samples) -> Iterator[tuple[str, SampledMotion]]:
    """Yield other readings of the numbers that were read as a motion, by the options that ask for them."""
    read = CONVENTIONS[samples.about.convention]
    p, R = motion.p @ read.positions, read.attitudes.T @ motion.R @ read.body
    for convention, axes in CONVENTIONS.items():
        if convention != samples.about.convention:
            other = SampledMotion(p @ axes.positions.T, axes.attitudes @ R @ axes.body.T)
            yield f"--convention {convention}", other
    unit = samples.about.scale
    if not isinstance(unit, tuple):
        for scale in SCALES:
            yield f"--scale {unit * scale:g}", SampledMotion(scale * motion.p, motion.R)
    angles = samples.about.angles
    if angles is not None:
        rpy = so3.euler_from_matrix(R) * (np.pi / 180.0 if angles == "rad" else 180.0 / np.pi)
        turned = so3.matrix_from_quaternion(euler.quaternions_from_rpy(rpy))
        other_unit = "deg" if angles == "rad" else "rad"
        yield (
            f"--angles {other_unit}",
            SampledMotion(motion.p, read.attitudes @ turned @ read.body.T),
        )
        return
    order = samples.about.quaternion
    q = so3.quaternion_from_matrix(R)
    if order in ("inverse", "inverse-pose"):
        return
    turned = np.swapaxes(R, 1, 2)
    yield (
        "--quaternion inverse-pose",
        SampledMotion(
            -np.einsum("kij,kj->ki", turned, p) @ read.positions.T,
            read.attitudes @ turned @ read.body.T,
        ),
    )
    others: tuple[QuaternionOrder, ...] = ("xyzw", "wxyz", "inverse")
    for other_order in others:
        if order != other_order:
            turned = so3.matrix_from_quaternion(reordered(q, order, other_order))
            yield (
                f"--quaternion {other_order}",
                SampledMotion(motion.p, read.attitudes @ turned @ read.body.T),
            )
