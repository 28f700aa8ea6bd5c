# SPDX-License-Identifier: BSD-3-Clause
"""Lenses by ROS' names of their models: `plumb_bob` (EuRoC's radial-tangential) and `equidistant` (fisheye)."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.bounds import are_plausible
from iap_description.config.record import Real
from iap_description.errors import BadInput, shown
from iap_description.sensors import equidistant, plumb_bob

LensModel = Literal["plumb_bob", "equidistant"]
Coefficients = Annotated[tuple[Real, ...], Field(min_length=4, max_length=5)]  # of one
PLUMB_BOB: LensModel = "plumb_bob"
EQUIDISTANT: LensModel = "equidistant"
FORMULAS: dict[str, ModuleType] = {PLUMB_BOB: plumb_bob, EQUIDISTANT: equidistant}
COEFFICIENTS: dict[str, tuple[int, ...]] = {
    PLUMB_BOB: (4, 5),
    EQUIDISTANT: (4,),
}  # numbers that a file may give


@dataclass(frozen=True, eq=False)
class Lens:
    """A lens before a pinhole.

    Attributes:
        model: a key of `FORMULAS`.
        D: its coefficients: (5,) k1, k2, p1, p2, k3 of `plumb_bob`, (4,) k1 to k4 of `equidistant`.
    """

    model: str
    D: Array

    @classmethod
    def of(cls, model: str, D: Sequence[float] | Array, *, source: str) -> Self:
        """A lens from the numbers of a file or a message; one with four of five coefficients has a zero as the last.

        Raises:
            BadInput: another model, or numbers that are none of it.
        """
        if model not in FORMULAS:
            known = " and ".join(FORMULAS)
            raise BadInput(
                f"{source}: distortion model {shown(model)}, but only {known} are known"
            )
        coefficients = np.array(D, dtype=float).ravel()
        if coefficients.size not in COEFFICIENTS[model] or not are_plausible(coefficients):
            numbers = " or ".join(map(str, COEFFICIENTS[model]))
            raise BadInput(
                f"{source}: {model} needs {numbers} numbers in D, not {coefficients.tolist()}"
            )
        return cls(
            model,
            np.concatenate([coefficients, np.zeros(max(COEFFICIENTS[model]) - coefficients.size)]),
        )

    @property
    def bends(self) -> bool:
        """True if straight lines are bent."""
        return self.model != PLUMB_BOB or bool(np.any(self.D))

    def distort(self, xy: Array) -> Array:
        """Images (..., 2) of normalised points (..., 2)."""
        return np.asarray(FORMULAS[self.model].distort(xy, self.D))

    def undistort(self, xy: Array) -> Array:
        """The normalised points (..., 2) seen at (..., 2); NaN where there is no single such point."""
        return np.asarray(FORMULAS[self.model].undistort(xy, self.D))


def check_coefficients(model: LensModel, D: Sequence[float], *, key: str) -> None:
    """Refuse coefficients of a record that are not all of its lens.

    Raises:
        ValueError: naming the key.
    """
    count = max(COEFFICIENTS[model])
    if len(D) != count:
        raise ValueError(f"key '{key}': {model} has {count} numbers, not {len(D)}")
