# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the front end: strict records; presets are read from ``data/frontend/NAME.yaml``."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from iap_description.config.record import Presets, Record
from iap_description.config.values import AsWord, BelowOne, Count, Flag, NonNegative, Positive

PRESETS = Presets(Path(__file__).parent.parent / "data" / "frontend", "front end")
Side = Annotated[int, Field(strict=True, ge=5, le=63)]
Level = Annotated[int, Field(strict=True, ge=0, le=6)]
Spacing = Annotated[float, Field(strict=True, gt=0.0, le=16384.0)]  # no image is wider
Cells = Annotated[int, Field(strict=True, ge=1, le=1000)]
Margin = Annotated[int, Field(strict=True, ge=0)]


class FrontendSpec(Record):
    """Settings of a stereo tracker."""

    max_tracks: Count
    quality: Annotated[float, Field(strict=True, gt=0.0, lt=1.0)]  # share of the strongest corner
    contrast: NonNegative  # least of a corner: its gradient along the weak side [grey levels]
    eigenvalue_ratio: BelowOne  # least of a corner: its weak eigenvalue by the strong one
    spacing: Spacing  # between new corners and others [px]
    grid: tuple[Cells, Cells]  # rows and columns over which corners are spread
    border: Margin  # corners are no closer to the image's edge [px]
    window: Side  # of the patch that is followed [px]
    levels: Level  # of the image pyramid, above the image itself
    back_limit: Positive  # between a point and what following it there and back gives [px]
    patch: Side  # side of the patch to which a track is anchored [px]
    patch_limit: Positive  # of what the patch corrects [px]
    likeness: Annotated[float, Field(strict=True, gt=0.0, lt=1.0)]  # least correlation with it
    row_gate: Positive  # of a right point from the left one's epipolar line [px]
    nearest: Positive  # distance of what both cameras see along the view [m]
    clahe: Flag
    outliers: Annotated[Literal["off", "fundamental"], AsWord]
    outlier_limit: Positive  # from the epipolar line of the last image [px]

    @field_validator("window", "patch")
    @classmethod
    def _has_a_middle(cls, side: int) -> int:
        if side % 2 == 0:
            raise ValueError("an odd number is needed")
        return side

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.border <= self.patch // 2:
            raise ValueError(f"key 'border': a patch of {self.patch} pixels needs more of it")
        return self
