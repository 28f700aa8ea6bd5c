# SPDX-License-Identifier: BSD-3-Clause
"""Poses of parts in files of other programs, and the numbers of their texts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.config.bounds import LARGEST_NUMBER
from iap_description.errors import BadInput
from iap_description.math import euler

Tree = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Pose:
    """A pose: p (3,) [m] and R (3, 3)."""

    p: Array
    R: Array

    @classmethod
    def of(cls, xyz: str | None, rpy: str | None, source: str) -> "Pose":
        """The pose of three lengths [m] and three angles [rad], as texts.

        Raises:
            BadInput: they are not.
        """
        p, angles = numbers(xyz or "0 0 0", 3, source), numbers(rpy or "0 0 0", 3, source)
        return cls(p, euler.matrix_from_rpy(angles))

    def __matmul__(self, other: "Pose") -> "Pose":
        """The pose of another one's frame, given in this one's."""
        return Pose(self.p + self.R @ other.p, self.R @ other.R)

    @property
    def keys(self) -> Tree:
        """Its keys in a tree of `Shape`."""
        rpy = euler.rpy_deg_from_matrix(self.R)
        return {"position": rounded(self.p), "rpy_deg": [round(each, 6) + 0.0 for each in rpy]}


ORIGIN = Pose(np.zeros(3), np.eye(3))


def numbers(text: str, count: int, source: str) -> Array:
    """Numbers of a text.

    Raises:
        BadInput: they are not so many numbers.
    """
    try:
        values = np.array([float(each) for each in text.split()])
    except ValueError as error:
        raise BadInput(f"{source}: {count} numbers are expected (got '{text}')") from error
    if values.shape != (count,) or not (np.abs(values) <= LARGEST_NUMBER).all():
        raise BadInput(f"{source}: {count} numbers are expected (got '{text}')")
    return values


def rounded(values: Array) -> list[float]:
    """Numbers for a file, without the noise of a computation."""
    return [round(float(each), 12) + 0.0 for each in values]
