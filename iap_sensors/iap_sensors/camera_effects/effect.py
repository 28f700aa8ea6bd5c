# SPDX-License-Identifier: BSD-3-Clause
"""The interface of camera effects: each plans how an image is taken, and changes it once it is drawn.

Images are of linear light until the image sensor has turned them to digital numbers; both are floats.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numba import njit

from iap_description.arrays import Array, Singles
from iap_description.config.record import Record


class EffectStage(IntEnum):
    """Order in which light goes through a camera; within a stage it is that of the table."""

    OPTICS = 1
    SHUTTER = 2
    MOSAIC = 3
    SENSOR = 4
    PROCESSING = 5
    DEPTH = 6
    TRANSPORT = 7


@dataclass(frozen=True)
class CameraGeometry:
    """A camera as its effects know it.

    Attributes:
        width: [pixels].
        height: [pixels].
        focal: fx and fy [pixels].
        center: cx and cy [pixels].
        rate: of its images [Hz].
        channels: of light, 1 or 3.
        outputs: of the camera.
        unproject: directions (..., 3) in C with z = 1 of pixels (..., 2).
    """

    width: int
    height: int
    focal: tuple[float, float]
    center: tuple[float, float]
    rate: float
    channels: int
    outputs: tuple[str, ...]
    unproject: Callable[[Array], Array]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of an image of light."""
        return (self.height, self.width, 3)[: 2 if self.channels == 1 else 3]

    @property
    def pixels(self) -> Array:
        """Columns and rows (h, w, 2)."""
        return np.stack(np.meshgrid(np.arange(self.width), np.arange(self.height)), -1)

    @property
    def tangents(self) -> Array:
        """Tangent (h, w) of each pixel's angle off the view."""
        return np.asarray(np.linalg.norm(self.unproject(self.pixels)[..., :2], axis=-1))


@dataclass(frozen=True)
class Exposure:
    """Exposure of an image; row v of h is exposed around t + (v - (h - 1) / 2) line_time.

    Attributes:
        time: over which a row is exposed [s]; 0: an instant.
        gain: amplification of the image sensor.
        line_time: from the exposure of a row to that of the next one [s]; 0: all rows at once.
        bands: of rows, each drawn from the place of its own instant.
        samples: instants spread over the exposure, whose mean the image is.
    """

    time: float = 0.0
    gain: float = 1.0
    line_time: float = 0.0
    bands: int = 1
    samples: int = 1

    def row_times(self, height: int) -> Array:
        """Times (h,) of the rows' middle exposures after the image's stamp [s]."""
        return np.asarray((np.arange(height) - 0.5 * (height - 1)) * self.line_time, float)


@dataclass(eq=False)
class CameraImage:
    """An image on its way through a camera.

    Attributes:
        light: (h, w) or (h, w, 3) linear light, behind the image sensor digital numbers over the largest one; effects
            write to it, or replace it.
        depth: (h, w) along the view [m], infinite where nothing is; None where no effect or output needs it.
        t: its stamp [s].
        exposure: how it was taken.
        luminance: of light 1 in the scene [cd/m^2]; None where the renderer does not know.
        key: from which effects draw, each its own (`drawn_key`).
        irradiation: of light 1 on the image sensor [lx s]; None without an exposure.
        black: digital number of no light over the largest one.
        is_lost: True if it never arrives.
    """

    light: Singles
    depth: Singles | None
    t: float
    exposure: Exposure
    luminance: float | None
    key: np.uint64
    irradiation: float | None = None
    black: float = 0.0
    is_lost: bool = False
    channels: int = field(init=False)

    def __post_init__(self) -> None:
        self.channels = 1 if self.light.ndim == 2 else self.light.shape[2]

    def drawn_key(self) -> np.uint64:
        """Draw the key of one effect's random numbers."""
        with np.errstate(over="ignore"):
            self.key = self.key * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        return self.key


class EffectSpec(Record):
    """Keys of an effect in a camera's description.

    Attributes:
        EFFECTS: classes of its effects, see `effect_of`.
        NEEDS: other effects that it builds on.
        NEEDS_COLOR: whether it works on colours alone.
        NEEDS_DEPTH: whether it needs the depth of each pixel.
    """

    EFFECTS: ClassVar[tuple[type["CameraEffect[Any]"], ...]] = ()
    NEEDS: ClassVar[tuple[str, ...]] = ()
    NEEDS_COLOR: ClassVar[bool] = False
    NEEDS_DEPTH: ClassVar[bool] = False

    def check(self, camera: CameraGeometry) -> None:
        """Refuse what does not fit the camera.

        Raises:
            ValueError: naming the key.
        """

    def effects(self, camera: CameraGeometry) -> tuple["CameraEffect[Any]", ...]:
        """Effects of this description in a camera."""
        return tuple(each(self, camera) for each in self.EFFECTS)


Spec = TypeVar("Spec", bound=EffectSpec)


class CameraEffect(Generic[Spec]):
    """One effect of one camera: it plans how an image is taken, and changes it once it is drawn.

    Methods that an effect leaves out do nothing.

    Args:
        spec: keys of the effect.
        camera: that has it.

    Attributes:
        stage: where it stands in the camera.
    """

    stage: ClassVar[EffectStage] = EffectStage.OPTICS

    def __init__(self, spec: Spec, camera: CameraGeometry) -> None:
        self._spec, self._camera = spec, camera

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew; what is fixed for a camera is drawn here."""

    def plan(self, exposure: Exposure) -> Exposure:
        """Exposure of the next image, out of the plan of the effects before."""
        return exposure

    def apply(self, image: CameraImage) -> None:
        """Change an image that is drawn."""


Made = TypeVar("Made", bound=CameraEffect[Any])


def effect_of(spec: type[EffectSpec]) -> Callable[[type[Made]], type[Made]]:
    """Let a description's keys turn a class of effects on."""

    def register(effect: type[Made]) -> type[Made]:
        spec.EFFECTS = (*spec.EFFECTS, effect)
        return effect

    return register


@njit(cache=True)
def scale_rows(light: Singles, factors: Singles) -> None:
    """Multiply rows (n, k) by factors (n,), in place."""
    if light.shape[1] == 1:  # this loop is one of vector instructions
        flat = light[:, 0]
        for i in range(factors.size):
            flat[i] *= factors[i]
        return
    for i in range(light.shape[0]):
        for j in range(light.shape[1]):
            light[i, j] *= factors[i]
