# SPDX-License-Identifier: BSD-3-Clause
"""Settings of an identification, from ``data/identification.yaml``."""

import math
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, override, validate
from iap_description.config.values import Count, Length, Mass, NonNegative, Positive
from iap_simulation.identification.log import LogUnits

MAX_STARTS = 20  # each is a fit
FILE = Path(__file__).parents[1] / "data" / "identification.yaml"


def _in_order(bounds: tuple[float, float]) -> tuple[float, float]:
    if not bounds[0] < bounds[1]:  # also of no numbers
        raise ValueError("expected the lower bound first, and a higher one")
    return bounds


Gain = Annotated[float, Field(strict=True, ge=-1e6, le=1e6)]
Pair = Annotated[tuple[Gain, Gain], AfterValidator(_in_order)]
PositivePair = Annotated[tuple[Positive, Positive], AfterValidator(_in_order)]


class SecondOrderSettings(Record):
    """Start and bounds of the search for a channel."""

    gain: Pair  # bounds
    frequency: PositivePair  # [rad/s]
    damping: PositivePair
    delay: Annotated[tuple[NonNegative, Positive], AfterValidator(_in_order)]  # [s]
    starts: Annotated[
        tuple[tuple[Positive, NonNegative], ...], Field(min_length=1, max_length=MAX_STARTS)
    ]  # frequency, delay


class RotorcraftSettings(Record):
    """Numbers of a platform that flight logs do not have."""

    start: str  # platform of one aircraft whose shapes and other numbers are taken
    mass: Mass | None = None  # of the vehicle [kg]; None: the start's
    arm: Length | None = None  # mean distance of its rotors from the CoM [m]; None: the start's


class Settings(Record):
    """Settings of an identification."""

    clock: Literal["measured", "nominal"]  # of logs in MATLAB files
    speed_unit: Positive = 1.0  # metres per second in one of the speeds of CSV logs
    angle_unit: Literal["rad", "deg"] = "rad"  # of their angles and rates
    bandwidth: Positive  # of the filter of equation errors [rad/s]
    alpha: Annotated[float, Field(strict=True, ge=0.0, lt=1.0)]  # share of the L1 term of (20)
    start: str  # identified plant whose parameters a dynamic fit starts from
    published: str  # identified plant beside which a model is shown
    steps: Count  # of a fit, at most
    second_order: SecondOrderSettings
    rotorcraft: RotorcraftSettings

    @property
    def units(self) -> LogUnits:
        """Units of CSV logs."""
        return LogUnits(self.speed_unit, 1.0 if self.angle_unit == "rad" else math.radians(1.0))


def load_settings(assignments: tuple[str, ...] = ()) -> Settings:
    """Settings with KEY=VALUE assignments.

    Raises:
        BadInput: an unknown key or a wrong value.
    """
    tree = override(read_yaml(FILE), list(assignments))
    return validate(Settings, tree, source="identification")
