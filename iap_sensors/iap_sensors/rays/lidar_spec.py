# SPDX-License-Identifier: BSD-3-Clause
"""A lidar as a record: aerial_gym III-D; its beams are in `patterns`.

Presets are read from ``data/lidar/NAME.yaml``.
"""

from pathlib import Path
from typing import ClassVar, Self

from pydantic import model_validator

from iap_description.config.record import Presets, Record
from iap_description.config.values import Count, Degrees, Hertz, NonNegative, Positive, Share

LIDAR = "lidar"  # key under `sensors`, and last part of the topics
PRESETS = Presets(Path(__file__).parents[1] / "data" / "lidar", "lidar")
MAX_BEAMS = 1 << 20  # in a turn; real ones have 262144


class LidarSpec(Record):
    """A lidar, or a depth camera by rays: a grid of beams in azimuth and elevation."""

    IS_CAMERA: ClassVar[bool] = False  # whose rays are pixels

    mount: str  # of the aircraft
    rate: Hertz  # turns [Hz]
    channels: Count  # beams one above the other
    columns: Count  # beams side by side
    elevation_deg: tuple[Degrees, Degrees]  # of the lowest and the highest channel
    azimuth_deg: tuple[
        Degrees, Degrees
    ]  # of the first and last column; a full turn has its end once
    range_min: Positive  # [m]
    range_max: Positive  # [m]
    noise: NonNegative  # standard deviation of a range [m]
    noise_share: NonNegative = 0.0  # and of it in proportion to the range, added to the former
    resolution: NonNegative = 0.0  # of the ranges that it gives [m]; 0: any
    dropout: Share  # of the points that do not come back

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of its image, which are channels and azimuths."""
        return self.channels, self.columns

    @model_validator(mode="after")
    def _can_be_built(self) -> Self:
        beams = self.channels * self.columns
        if beams > MAX_BEAMS:
            raise ValueError(
                f"key 'channels': {beams} beams in a turn (channels x columns), at most {MAX_BEAMS} are expected"
            )
        low, high = self.elevation_deg
        if not -90.0 <= low <= high <= 90.0:
            raise ValueError(
                "key 'elevation_deg': [lowest, highest] within -90 and 90 is expected"
            )
        first, last = self.azimuth_deg
        if not 0.0 <= last - first <= 360.0:
            raise ValueError("key 'azimuth_deg': [first, last], at most 360 apart, is expected")
        if self.range_min >= self.range_max:
            raise ValueError(
                f"key 'range_min': {self.range_min} m is not below {self.range_max} m"
            )
        return self
