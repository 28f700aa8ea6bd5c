# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of depth cameras by rays: strict records; presets are read from ``data/depth_cameras/NAME.yaml``."""

import math
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from iap_description.config.record import Presets, Record
from iap_description.config.values import Hertz, NonNegative, Positive, Share
from iap_description.sensors.lens import EQUIDISTANT, PLUMB_BOB
from iap_description.sensors.sensor_info import Size

DEPTH_CAMERA = "depth_camera"  # key under `sensors`, and last part of the topics
PRESETS = Presets(Path(__file__).parents[1] / "data" / "depth_cameras", "depth camera")
Angle = Annotated[float, Field(strict=True, gt=0.0, le=360.0)]
DepthOutput = Literal["depth", "segmentation"]
FLAT = 180.0  # a pinhole sees less than this [deg]


class DepthCameraSpec(Record):
    """A depth camera whose pixels are rays.

    The image is centred on the view. A pinhole measures along the view: its ranges are depths; an equidistant fisheye
    (r = f theta) measures along each ray.
    """

    IS_CAMERA: ClassVar[bool] = True  # whose rays are pixels

    mount: str  # of the aircraft
    rate: Hertz  # [Hz]
    outputs: Annotated[tuple[DepthOutput, ...], Field(min_length=1)]  # that are recorded
    projection: Literal["pinhole", "equidistant"]
    width: Size  # [pixels]
    height: Size
    hfov_deg: Angle  # between the outer edges of the outermost pixels
    vfov_deg: Angle
    range_min: Positive  # what is nearer or farther is not measured [m]
    range_max: Positive
    baseline: (
        NonNegative  # from the left imager, which sees, to the right one [m]; 0: not by stereo
    )
    disparity_noise_deg: NonNegative  # standard deviation of the parallax, as an angle
    noise: NonNegative  # standard deviation of a range besides [m]
    dropout: Share  # of the pixels that give nothing
    resolution: NonNegative  # of the ranges that it gives [m]; 0: any

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of its image."""
        return self.height, self.width

    @model_validator(mode="after")
    def _can_be_built(self) -> Self:
        if self.range_min >= self.range_max:
            raise ValueError(
                f"key 'range_min': {self.range_min} m is not below {self.range_max} m"
            )
        is_pinhole = self.projection == "pinhole"
        for key in ("hfov_deg", "vfov_deg"):
            if is_pinhole and getattr(self, key) >= FLAT:
                raise ValueError(f"key '{key}': a pinhole sees less than {FLAT:.0f} deg")
        if not is_pinhole and self.baseline > 0.0:
            raise ValueError("key 'baseline': only pinholes measure by stereo")
        if self.baseline == 0.0 and self.disparity_noise_deg > 0.0:
            raise ValueError("key 'disparity_noise_deg': there is no parallax without a baseline")
        if not is_pinhole and "depth" in self.outputs:
            raise ValueError(
                "key 'outputs': a fisheye measures along its rays, and gives no depth"
            )
        if len(set(self.outputs)) < len(self.outputs):
            raise ValueError("key 'outputs': one is given twice")
        return self

    @property
    def focal(self) -> tuple[float, float]:
        """Focal lengths [pixels]; of a fisheye pixels per radian."""
        return self._focal(self.width, self.hfov_deg), self._focal(self.height, self.vfov_deg)

    @property
    def center(self) -> tuple[float, float]:
        """The view's pixel; the first one's middle is (0, 0)."""
        return 0.5 * (self.width - 1), 0.5 * (self.height - 1)

    def _focal(self, pixels: int, fov_deg: float) -> float:
        half = math.radians(0.5 * fov_deg)
        return 0.5 * pixels / (math.tan(half) if self.projection == "pinhole" else half)

    @property
    def lens(self) -> dict[str, Any]:
        """The lens in the words of sensor_msgs/CameraInfo; neither bends anything besides."""
        is_pinhole = self.projection == "pinhole"
        model = PLUMB_BOB if is_pinhole else EQUIDISTANT
        return {"distortion_model": model, "D": (0.0,) * (5 if is_pinhole else 4)}

    @property
    def parallax_noise(self) -> float:
        """Standard deviation of a depth over its square [1/m]: sigma_z = z^2 sigma_disparity / (f b)."""
        if self.baseline == 0.0:
            return 0.0
        return math.tan(math.radians(self.disparity_noise_deg)) / self.baseline
