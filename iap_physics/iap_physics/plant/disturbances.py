# SPDX-License-Identifier: BSD-3-Clause
"""Disturbances: wrenches that act on vehicles for a while."""

from collections.abc import Sequence
from typing import Self

from pydantic import model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive, Vec3
from iap_physics.plant.part import PlantPart


class Disturbance(Record):
    """A constant wrench on the central body for a while, about its CoM, along the axes of `map`."""

    at: NonNegative  # when it begins [s]
    until: Positive  # when it ends [s]
    force: Vec3  # [N]
    torque: Vec3  # [N m]

    @model_validator(mode="after")
    def _lasts(self) -> Self:
        if self.until <= self.at:
            raise ValueError(f"key 'until': {self.until} is not after 'at', {self.at}")
        return self


class Disturbances(PlantPart):
    """Disturbances of each vehicle of a plant.

    Args:
        of_vehicles: the disturbances of each.
    """

    def __init__(self, of_vehicles: Sequence[Sequence[Disturbance]]) -> None:
        self._of_vehicles = of_vehicles

    def add_wrenches(self, times: Array, x: Array, out: Array) -> None:
        """Add what acts in every world at its time."""
        for wrenches, t in zip(out, times.tolist(), strict=True):
            for wrench, disturbances in zip(wrenches, self._of_vehicles, strict=False):
                add_disturbances(disturbances, t, wrench)


def add_disturbances(disturbances: Sequence[Disturbance], t: float, out: Array) -> None:
    """Add what acts at time `t` [s] to a wrench (6,), world axes."""
    for each in disturbances:
        if each.at <= t < each.until:
            out += (*each.force, *each.torque)
