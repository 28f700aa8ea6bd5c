# SPDX-License-Identifier: BSD-3-Clause
r"""A curriculum: draws of the scenario that widen while the policy succeeds.

A level L from 0 to 1 sets every key of the curriculum to

.. math:: v(L) = v_0 + L (v_1 - v_0)

It begins at 0, and rises after a leg in which enough of the episodes that ended were successes. Policies are judged,
and kept, on the whole task alone.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.config.record import Record
from iap_description.config.values import Magnitude, Real, Share
from iap_learning.training.experience import EndedEpisodes

Value = Annotated[int, Field(strict=True)] | Real | tuple[Real, ...]


class Curriculum(Record):
    """Numbers of a curriculum.

    Attributes:
        keys: of the scenario by their dotted paths, such as `draw.position`, each with its values at levels 0 and 1:
            numbers, whole numbers, or lists of numbers of one length.
        success: share of successes in a leg from which on the level rises.
        rise: of the level after such a leg.
    """

    keys: Annotated[dict[str, tuple[Value, Value]], Field(min_length=1)]
    success: Share
    rise: Magnitude

    @model_validator(mode="after")
    def _have_one_shape(self) -> Self:
        for key, ends in self.keys.items():
            if len({np.shape(end) for end in ends}) > 1:
                raise ValueError(f"key 'keys.{key}': both values need one length")
        return self

    def scenario(self, level: float) -> dict[str, Any]:
        """Values of the keys at a level."""
        return {key: _between(*ends, level) for key, ends in self.keys.items()}

    def risen(self, level: float, ended: EndedEpisodes) -> float:
        """The level after a leg."""
        succeeds = len(ended.success) > 0 and float(ended.success.mean()) >= self.success
        return min(1.0, level + self.rise) if succeeds else level


def _between(low: Any, high: Any, level: float) -> Any:  # noqa: ANN401 - a `Value`
    """The value at a level; whole between whole numbers."""
    mixed = np.asarray(low) + level * (np.asarray(high, float) - np.asarray(low))
    is_whole = mixed.ndim == 0 and np.asarray([low, high]).dtype.kind == "i"
    return round(float(mixed)) if is_whole else mixed.tolist()


def scenario_at(
    curriculum: Curriculum | None, scenario: Mapping[str, Any], level: float
) -> dict[str, Any]:
    """Values of a scenario's keys in training at a level; without a curriculum those of the experiment alone."""
    return {**scenario, **({} if curriculum is None else curriculum.scenario(level))}
