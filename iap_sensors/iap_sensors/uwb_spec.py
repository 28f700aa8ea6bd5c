# SPDX-License-Identifier: BSD-3-Clause
"""What ranging by ultra-wide band is like: strict records; presets are read from ``data/uwb/NAME.yaml``."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from iap_description.config import Flag, NonNegative, Positive, Presets, Record
from iap_sensors.anchors import Anchor, repeated

PRESETS = Presets(Path(__file__).parent / "data" / "uwb", "UWB")  # their anchors may be a name
Share = Annotated[float, Field(strict=True, ge=0.0, le=1.0)]


class Outliers(Record):
    """Ranges that are far off, always too long: the first path was missed."""

    share: Share  # of all ranges
    size: NonNegative  # mean of what they are too long, exponentially distributed [m]


class Obstruction(Record):
    """What becomes of a range whose line of sight goes through something that stands in the world."""

    lost: Share  # share of such ranges that do not come at all
    delay: NonNegative  # of the others, which are too long by this [m]
    noise: NonNegative  # and have this standard deviation on top [m]


class UwbSpec(Record):
    """A tag, its partners and its errors; iap_simulator V-D has the white noise alone."""

    mount: str  # of the aircraft, where the tag sits
    rate: Positive  # rounds with all partners [Hz]
    noise: NonNegative  # standard deviation of a range [m]
    bias: NonNegative  # standard deviation of a constant error, drawn for each partner [m]
    outliers: Outliers
    dropout: Share  # of the ranges that do not come, for no reason
    range_max: Positive  # [m]
    obstruction: Obstruction | None  # None: ranges go through walls
    between_aircraft: Flag  # whether tags range to each other as well
    anchors: tuple[Anchor, ...]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        twice = repeated(anchor.id for anchor in self.anchors)
        if twice is not None:
            raise ValueError(f"key 'anchors': id '{twice}' is given twice")
        return self
