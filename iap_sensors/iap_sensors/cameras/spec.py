# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of cameras: strict records; presets are read from ``data/cameras/NAME.yaml``."""

from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import Presets, Record
from iap_description.config.values import (
    FocalLength,
    Hertz,
    NonNegative,
    PixelCoordinate,
    Position,
    Positive,
    RpyDegrees,
)
from iap_description.sensors.lens import (
    PLUMB_BOB,
    Coefficients,
    Lens,
    LensModel,
    check_coefficients,
)
from iap_description.sensors.sensor_info import Output, Size
from iap_sensors.camera_effects.effect import CameraGeometry
from iap_sensors.camera_effects.table import CameraEffects

PICTURE_RANGE_M = 0.1, 100.0  # along the view of cameras whose pictures people look at
PRESETS = Presets(Path(__file__).parents[1] / "data" / "cameras", "camera")  # without places


Tone = Literal["linear", "srgb", "filmic"]


class Blur(Record):
    """Motion blur: the mean of images at instants spread over the exposure, whose middle is the stamp."""

    exposure_time: Positive  # [s]
    samples: Annotated[int, Field(strict=True, ge=2, le=64)]


class CameraSpec(Record):
    """A camera on a mount, or one that stands in the world.

    The centre of the first pixel is (0, 0), so the middle of the image is (width - 1) / 2. A
    mount, and `rpy_deg` of a camera in the world, look along x with z upwards.
    """

    mount: str | None = None  # of the aircraft
    position: Position | None = None  # in `map` [m], in place of a mount
    rpy_deg: RpyDegrees | None = None
    right_of: str | None = None  # the left camera of the stereo pair of which this is the right
    width: Size  # [pixels]
    height: Size
    fx: FocalLength  # focal lengths and centre [pixels]
    fy: FocalLength
    cx: PixelCoordinate
    cy: PixelCoordinate
    distortion_model: LensModel = PLUMB_BOB
    distortion: Coefficients = (0.0,) * 5  # plumb_bob: k1, k2, p1, p2, k3; equidistant: k1 to k4
    rate: Hertz  # [Hz]
    outputs: Annotated[tuple[Output, ...], Field(min_length=1)]
    near: Positive  # what is closer or farther along the view is not seen [m]
    far: Positive
    exposure: Annotated[float, Field(strict=True, ge=-30.0, le=30.0)] = (
        0.0  # brighter by 2^exposure [EV]
    )
    vignetting: Annotated[float, Field(strict=True, ge=0.0, lt=1.0)] = 0.0  # lost in the corner
    noise: NonNegative = 0.0  # standard deviation per pixel and image [grey levels]
    blur: Blur | None = None
    antialiasing: Literal[1, 4] = 1  # samples per pixel at the edges of surfaces
    tone: Tone | None = (
        None  # from light to levels; None: filmic in physical light, linear behind effects
    )
    effects: CameraEffects | None = (
        None  # of optics, exposure, image sensor, readout and processing
    )

    @classmethod
    def for_pictures(cls, size: tuple[int, int], focal: float, **others: object) -> Self:
        """A camera without a lens, whose pictures people look at.

        Args:
            size: width and height of its pictures [pixels].
            focal: focal length over the width.
            others: remaining keys.
        """
        width, height = size
        near, far = PICTURE_RANGE_M
        tree: dict[str, object] = {"near": near, "far": far, "rate": 1.0, "antialiasing": 4}
        tree |= {"width": width, "height": height, "fx": focal * width, "fy": focal * width}
        tree |= {"cx": 0.5 * (width - 1), "cy": 0.5 * (height - 1), **others}
        return cls.model_validate(tree)

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        if (self.position is None) != (self.rpy_deg is None):
            raise ValueError("keys 'position' and 'rpy_deg' come together or not at all")
        if self.mount is not None and self.position is not None:
            raise ValueError("key 'mount': a camera on a mount has no 'position'")
        return self

    @model_validator(mode="after")
    def _can_be_built(self) -> Self:
        if self.near >= self.far:
            raise ValueError(f"key 'near': {self.near} m is not below far, {self.far} m")
        if len(set(self.outputs)) < len(self.outputs):
            raise ValueError(f"key 'outputs': one is given twice in {', '.join(self.outputs)}")
        if self.blur is not None and self.blur.exposure_time > 1.0 / self.rate:
            raise ValueError(
                f"key 'blur.exposure_time': {self.blur.exposure_time} s is longer than an image"
                f" at {self.rate} Hz"
            )
        return self

    @model_validator(mode="after")
    def _has_each_effect_once(self) -> Self:
        if self.effects is None:
            return self
        if self.blur is not None:
            raise ValueError("key 'blur': 'effects.motion_blur' takes its place")
        if self.vignetting > 0.0 and self.effects.vignetting is not None:
            raise ValueError("key 'vignetting': 'effects.vignetting' takes its place")
        if not {"mono8", "rgb8", "depth"} & set(self.outputs) and self.effects.specs:
            raise ValueError("key 'effects': there is neither image nor depth among the outputs")
        for each in self.effects.specs.values():
            each.check(self.geometry)
        return self

    @model_validator(mode="after")
    def _sees_all_of_its_image(self) -> Self:
        check_coefficients(self.distortion_model, self.distortion, key="distortion")
        if not np.isfinite(self.lens.undistort(self._border)).all():
            fault = "folds the image over itself"
            if self.distortion_model != PLUMB_BOB:
                fault += ", or sees 89 degrees off its axis or more, which is not drawn"
            raise ValueError(f"key 'distortion': such a lens {fault}")
        return self

    @property
    def geometry(self) -> CameraGeometry:
        """The camera as its effects know it."""
        focal, center = (self.fx, self.fy), (self.cx, self.cy)

        def unproject(uv: Array) -> Array:
            xy = self.lens.undistort((np.asarray(uv, float) - center) / focal)
            return np.concatenate([xy, np.ones_like(xy[..., :1])], -1)

        in_color = self.effects is not None and self.effects.needs_color
        channels = 3 if in_color or "rgb8" in self.outputs else 1
        size = self.width, self.height
        return CameraGeometry(*size, focal, center, self.rate, channels, self.outputs, unproject)

    @property
    def gives_light(self) -> bool:
        """True if its images are drawn as linear light, for its effects."""
        return self.effects is not None and bool(self.effects.specs)

    @property
    def lens(self) -> Lens:
        """The lens before the pinhole."""
        return Lens(self.distortion_model, np.array(self.distortion))

    @property
    def _border(self) -> np.ndarray:
        """Normalised points around the image."""
        u, v = np.linspace(0, self.width - 1, 33), np.linspace(0, self.height - 1, 33)
        u = np.concatenate([u, u, np.zeros(33), np.full(33, self.width - 1)])
        v = np.concatenate([np.zeros(33), np.full(33, self.height - 1), v, v])
        return np.stack([(u - self.cx) / self.fx, (v - self.cy) / self.fy], -1)
