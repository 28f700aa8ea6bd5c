# SPDX-License-Identifier: BSD-3-Clause
"""Wrenches that act on a platform for a while, whatever they come from: a pull on a rope, a dropped load."""

from collections.abc import Sequence
from typing import Self

from pydantic import model_validator

from iap_description.arrays import Array
from iap_description.config import NonNegative, Positive, Record, Vec3


class Disturbance(Record):
    """A constant wrench on the central body, about its CoM, along the axes of `map`."""

    at: NonNegative  # when it begins [s]
    until: Positive  # when it ends [s]
    force: Vec3  # [N]
    torque: Vec3  # [N m]

    @model_validator(mode="after")
    def _lasts(self) -> Self:
        if self.until <= self.at:
            raise ValueError(f"key 'until': {self.until} is not after 'at', {self.at}")
        return self


def add_disturbances(disturbances: Sequence[Disturbance], t: float, out: Array) -> None:
    """Add what acts at time `t` [s] to a wrench (6,), world axes."""
    for each in disturbances:
        if each.at <= t < each.until:
            out += (*each.force, *each.torque)
