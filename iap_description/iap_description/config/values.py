# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of numbers and names in a configuration, each with the bounds within which what is computed of it is right.

Units are SI unless a name says otherwise. NaN is within no bounds.
"""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from iap_description.config.bounds import (
    LARGEST_NUMBER,
    LEAST_POSITIVE,
    MAX_COUNT,
    MAX_DEGREES,
    MAX_RATE,
    MAX_SEED,
    MAX_SI_NUMBER,
    MIN_RATE,
)


def _as_word(value: object) -> object:
    return ("off", "on")[value] if isinstance(value, bool) else value


AsWord = BeforeValidator(_as_word)  # of `on` and `off`, which YAML takes for switches


def _is_not_tiny(value: float) -> float:
    if value < LEAST_POSITIVE:
        raise ValueError(f"Input should be at least {LEAST_POSITIVE:g}")
    return value


Real = Annotated[
    float, Field(strict=True, allow_inf_nan=False, ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)
]
Positive = Annotated[
    float,
    Field(strict=True, allow_inf_nan=False, gt=0.0, le=LARGEST_NUMBER),
    AfterValidator(_is_not_tiny),
]
NonNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0, le=LARGEST_NUMBER)]
# Deviations, gates and weights of estimators and trainings: sums of their inverse squares remain accurate.
Magnitude = Annotated[float, Field(strict=True, ge=1e-9, le=1e6)]
Length = Annotated[float, Field(strict=True, ge=1e-5, le=1e5)]  # of what is seen and touched [m]
# Of a camera [pixels]: PyBullet's renderer has no end with more, and a view of one pixel is 0.2" wide.
FocalLength = Annotated[float, Field(strict=True, ge=1e-3, le=MAX_SI_NUMBER)]
PixelCoordinate = Annotated[float, Field(strict=True, ge=-MAX_SI_NUMBER, le=MAX_SI_NUMBER)]
Mass = Annotated[float, Field(strict=True, ge=1e-6, le=1e6)]  # of a body [kg]
# Of loops, sensors and lights.
Hertz = Annotated[float, Field(strict=True, ge=MIN_RATE, le=MAX_RATE)]
Degrees = Annotated[float, Field(strict=True, ge=-MAX_DEGREES, le=MAX_DEGREES)]
BelowOne = Annotated[float, Field(strict=True, ge=0.0, lt=1.0)]
Share = Annotated[float, Field(strict=True, ge=0.0, le=1.0)]
Count = Annotated[int, Field(strict=True, ge=1, le=MAX_COUNT)]
NonNegativeCount = Annotated[int, Field(strict=True, ge=0, le=MAX_COUNT)]
Seed = Annotated[int, Field(strict=True, ge=0, le=MAX_SEED)]
Flag = Annotated[bool, Field(strict=True)]
Vec3 = tuple[Real, Real, Real]
Coordinate = Annotated[float, Field(strict=True, ge=-MAX_SI_NUMBER, le=MAX_SI_NUMBER)]  # [m]
Position = tuple[Coordinate, Coordinate, Coordinate]
RpyDegrees = tuple[Degrees, Degrees, Degrees]  # roll, pitch, yaw
NonNegative3 = tuple[NonNegative, NonNegative, NonNegative]
# Names that become those of files: no slashes, no leading dot, and room for what is added.
VehicleName = Annotated[str, Field(max_length=60, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
FileName = Annotated[str, Field(strict=True, max_length=100, pattern=r"^\w[\w .,+=@()~-]*$")]
