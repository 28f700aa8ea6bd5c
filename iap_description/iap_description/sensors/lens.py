# SPDX-License-Identifier: BSD-3-Clause
r"""Lenses by names of their models: `plumb_bob` (EuRoC's radial-tangential), `equidistant` and `double_sphere`.

All map the normalised point :math:`(x, y) = (X/Z, Y/Z)` of the camera's frame, with :math:`r^2 = x^2 + y^2`.
`plumb_bob` has two tangential and three radial coefficients, D = (k1, k2, p1, p2, k3):

.. math::
    x' &= x (1 + k_1 r^2 + k_2 r^4 + k_3 r^6) + 2 p_1 x y + p_2 (r^2 + 2 x^2) \\
    y' &= y (1 + k_1 r^2 + k_2 r^4 + k_3 r^6) + p_1 (r^2 + 2 y^2) + 2 p_2 x y

(OpenCV's documentation, camera calibration and 3-D reconstruction). The fisheyes are in `fisheye_models`. Points
of the plane z = 1 are less than 90 degrees off the view, whatever the lens sees.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.bounds import are_plausible
from iap_description.config.values import Real
from iap_description.errors import BadInput, shown
from iap_description.sensors.fisheye_models import (
    MAX_ANGLE,
    distort_double_sphere,
    distort_equidistant,
    fault_double_sphere,
    magnification_double_sphere,
    undistort_double_sphere,
    undistort_equidistant,
)

LensModel = Literal["plumb_bob", "equidistant", "double_sphere"]
Coefficients = Annotated[tuple[Real, ...], Field(min_length=2, max_length=5)]  # of one
PLUMB_BOB: LensModel = "plumb_bob"
EQUIDISTANT: LensModel = "equidistant"
DOUBLE_SPHERE: LensModel = "double_sphere"
MAX_ITERATIONS = 30  # of Newton's method; a lens that can be inverted needs fewer than ten
STEP_TOLERANCE = 1e-10  # last step of a `plumb_bob` inversion that succeeded, of the focal length
# Names of these models in files and drivers, in lower case and without what is no letter or digit.
RATIONAL = "rationalpolynomial"  # a `plumb_bob` where k4 and those after it are zero
ALIASES: dict[str, LensModel] = {
    **dict.fromkeys(
        "plumbbob radtan radtan5 radialtangential brown brownconrady opencv rationalpolynomial".split(),
        PLUMB_BOB,
    ),
    **dict.fromkeys(
        "equidistant equi fisheye opencvfisheye kannalabrandt kannalabrandt4 kannalabrandt8 kb4 kb8".split(),
        EQUIDISTANT,
    ),
    **dict.fromkeys("doublesphere ds".split(), DOUBLE_SPHERE),
}
# Others that are a pinhole where all coefficients are zero.
PINHOLES = set(
    " none pinhole perspective undistorted rectified thinprism inversebrownconrady modifiedbrownconrady".split(
        " "
    )
)


@dataclass(frozen=True, eq=False)
class Lens:
    """A lens before a pinhole.

    Attributes:
        model: a key of `MODELS`.
        D: its coefficients: (5,) k1, k2, p1, p2, k3 of `plumb_bob`, (4,) k1 to k4 of `equidistant`, (2,) xi, alpha of
            `double_sphere`.
    """

    model: str
    D: Array

    @classmethod
    def of(cls, model: str, D: Sequence[float] | Array, *, source: str) -> Self:
        """A lens from the numbers of a file or a message; one with four of five coefficients has a zero as the last.

        Zeros beyond the last coefficient that a lens has are left out.

        Args:
            model: a key of `MODELS`, or of `ALIASES` in any case.
            D: the numbers.
            source: to name in errors.

        Raises:
            BadInput: another model, or numbers that are none of it.
        """
        coefficients = np.array(D, dtype=float).ravel()
        name, model = model, lens_model(model, coefficients)
        if model == PLUMB_BOB and not coefficients.size:  # of drivers of ideal cameras
            coefficients = np.zeros(max(MODELS[model].counts))
        if model in MODELS:
            coefficients = _without_zeros(coefficients, max(MODELS[model].counts))
        is_rational = _plain(name) == RATIONAL and coefficients.size > max(MODELS[model].counts)
        if model not in MODELS or is_rational:
            known = ", ".join(MODELS)
            raise BadInput(f"{source}: distortion model {shown(name)}, but only {known} are known")
        if coefficients.size not in MODELS[model].counts or not are_plausible(coefficients):
            numbers = " or ".join(map(str, MODELS[model].counts))
            raise BadInput(
                f"{source}: {name} needs {numbers} numbers in D, not {coefficients.tolist()}"
            )
        return cls(
            model,
            np.concatenate(
                [coefficients, np.zeros(max(MODELS[model].counts) - coefficients.size)]
            ),
        )

    @property
    def magnification(self) -> float:
        """Size of the image on the axis, over that of a pinhole of the same focal length."""
        return MODELS[self.model].magnification(self.D)

    @property
    def bends(self) -> bool:
        """True if straight lines are bent."""
        return self.model != PLUMB_BOB or bool(np.any(self.D))

    def distort(self, xy: Array) -> Array:
        """Images (..., 2) of normalised points (..., 2)."""
        return np.asarray(MODELS[self.model].distort(xy, self.D))

    def undistort(self, xy: Array) -> Array:
        """The normalised points (..., 2) seen at (..., 2); NaN where there is no single such point."""
        return np.asarray(MODELS[self.model].undistort(xy, self.D))


def lens_model(name: str, D: Sequence[float] | Array = ()) -> str:
    """The key of `MODELS` that a name of a lens' model, with these coefficients, means; the name itself for another."""
    if _plain(name) in PINHOLES and not np.any(D):
        return PLUMB_BOB
    return ALIASES.get(_plain(name), name)


def _plain(name: str) -> str:
    """A name in lower case, without what is no letter or digit."""
    return "".join(filter(str.isalnum, name.lower()))


def _without_zeros(D: Array, most: int) -> Array:
    """Coefficients without the zeros beyond the last that a lens has, as drivers of other lenses' messages add them."""
    return D[:most] if not np.any(D[most:]) else D


def check_coefficients(model: LensModel, D: Sequence[float], *, key: str) -> None:
    """Refuse coefficients of a record that are not all of its lens.

    Raises:
        ValueError: naming the key.
    """
    count = max(MODELS[model].counts)
    if len(D) != count:
        raise ValueError(f"key '{key}': {model} has {count} numbers, not {len(D)}")
    fault = MODELS[model].fault(np.array(D, dtype=float))
    if fault is not None:
        raise ValueError(f"key '{key}': {fault}")


def distort_plumb_bob(xy: Array, D: Array) -> Array:
    """Images (..., 2) of normalised points (..., 2) under a lens D (5,)."""
    k1, k2, p1, p2, k3 = D
    x, y = xy[..., 0], xy[..., 1]
    r2 = x * x + y * y
    radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
    return np.stack(
        [
            x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x),
            y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y,
        ],
        -1,
    )


def undistort_plumb_bob(xy: Array, D: Array) -> Array:
    """The points (..., 2) that a lens D (5,) puts at (..., 2); NaN where there is no single such point.

    Newton's method from the distorted point. Beyond the radius at which the lens folds the image
    over, points have no inverse.
    """
    target = np.asarray(xy, dtype=float)
    undistorted = target.copy()
    if not np.any(D):
        return undistorted
    with np.errstate(all="ignore"):  # what runs away is refused below
        for _ in range(MAX_ITERATIONS):
            a, b, c, d = _jacobian(undistorted, D)
            error = distort_plumb_bob(undistorted, D) - target
            step = np.stack(
                [d * error[..., 0] - b * error[..., 1], a * error[..., 1] - c * error[..., 0]], -1
            )
            step /= (a * d - b * c)[..., None]
            undistorted -= step
            if np.nanmax(np.abs(step), initial=0.0) < STEP_TOLERANCE:
                break
        left = np.abs(distort_plumb_bob(undistorted, D) - target).max(axis=-1)
        fits = (left < 10.0 * STEP_TOLERANCE) & (
            np.sum(undistorted * undistorted, axis=-1) < _squared_folding_radius(D)
        )
    return np.where(fits[..., None], undistorted, np.nan)


def _jacobian(xy: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """dx'/dx, dx'/dy, dy'/dx and dy'/dy, each (...)."""
    k1, k2, p1, p2, k3 = D
    x, y = xy[..., 0], xy[..., 1]
    r2 = x * x + y * y
    radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
    slope = 2.0 * (k1 + r2 * (2.0 * k2 + 3.0 * r2 * k3))
    mixed = slope * x * y + 2.0 * p1 * x + 2.0 * p2 * y
    along_x = radial + slope * x * x + 2.0 * p1 * y + 6.0 * p2 * x
    along_y = radial + slope * y * y + 6.0 * p1 * y + 2.0 * p2 * x
    return along_x, mixed, mixed, along_y


def _squared_folding_radius(D: Array) -> float:
    """Square of the radius at which the image of a lens stops growing, infinite if it never does."""
    k1, k2, _, _, k3 = D
    roots = np.roots([7.0 * k3, 5.0 * k2, 3.0 * k1, 1.0])
    real = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0.0)]
    return float(real.min(initial=np.inf))


class LensFormulas(NamedTuple):
    """A model of lenses.

    Attributes:
        distort: images (..., 2) of normalised points (..., 2) under coefficients.
        undistort: its inverse, NaN where there is none.
        counts: numbers of coefficients that a file may have; the last one is what the formulas take.
        magnification: on the axis, under coefficients.
        fault: what is impossible about coefficients.
    """

    distort: Callable[[Array, Array], Array]
    undistort: Callable[[Array, Array], Array]
    counts: tuple[int, ...]
    magnification: Callable[[Array], float] = lambda _: 1.0
    fault: Callable[[Array], str | None] = lambda _: None


MODELS: dict[str, LensFormulas] = {
    PLUMB_BOB: LensFormulas(distort_plumb_bob, undistort_plumb_bob, (4, 5)),
    EQUIDISTANT: LensFormulas(distort_equidistant, undistort_equidistant, (4,)),
    DOUBLE_SPHERE: LensFormulas(
        distort_double_sphere,
        lambda xy, D: undistort_double_sphere(xy, D, float(MAX_ANGLE)),
        (2,),
        magnification_double_sphere,
        fault_double_sphere,
    ),
}


@dataclass(frozen=True, eq=False)
class PinholeCamera:
    """A pinhole behind a lens.

    Attributes:
        width: [px].
        height: [px].
        K: (3, 3) camera matrix [px].
        lens: before it.
    """

    width: int
    height: int
    K: Array
    lens: Lens

    @cached_property
    def focal(self) -> Array:
        """Focal lengths (2,) along x and y [px]."""
        return np.array([self.K[0, 0], self.K[1, 1]])

    @cached_property
    def center(self) -> Array:
        """The principal point (2,) [px]."""
        return self.K[:2, 2].copy()
