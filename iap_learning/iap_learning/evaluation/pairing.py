# SPDX-License-Identifier: BSD-3-Clause
"""Two agents in the same episodes, draw by draw: means of each alone hide which draws either of them solves."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_learning.evaluation.results import Results
from iap_simulation.sweeps.statistics import wilson_interval


class PairedMeasure(NamedTuple):
    """A measure of both agents where both have succeeded.

    Attributes:
        episodes: in which both have the measure.
        mean: of the first agent.
        other_mean: of the other one.
        median_difference: of the first less the other.
        less: share of episodes in which the first has less.
        less_low: lower end of Wilson's interval of 95 % of that share.
        less_high: upper end of it.
    """

    episodes: int
    mean: float
    other_mean: float
    median_difference: float
    less: float
    less_low: float
    less_high: float

    @classmethod
    def of(cls, first: Array, other: Array) -> Self:
        """Of values (n,) in the same episodes, none of them NaN."""
        count, less = len(first), int((first < other).sum())
        means = float(first.mean()), float(other.mean())
        share = (less / count, *wilson_interval(less, count))
        return cls(count, *means, float(np.median(first - other)), *share)


class Pairing(NamedTuple):
    """Episodes of two agents with the same seeds.

    Attributes:
        both: episodes in which both succeed.
        first_alone: in which the first one does, and the other does not.
        other_alone: in which the other one does, and the first does not.
        neither: in which none does.
        measures: by their names in `iap_learning.evaluation.results.UNITS`, where some episode has them.
    """

    both: int
    first_alone: int
    other_alone: int
    neither: int
    measures: Mapping[str, PairedMeasure]

    @classmethod
    def of(cls, first: Results, other: Results) -> Self:
        """Of two agents' results.

        Raises:
            BadInput: they are of other seeds.
        """
        if not np.array_equal(first.seeds, other.seeds):
            raise BadInput("two agents are compared in the same episodes: their seeds differ")
        both = first.success & other.success
        measures: dict[str, PairedMeasure] = {}
        for name in first.measures.keys() & other.measures.keys():
            values = np.array([each.measures[name][both] for each in (first, other)])
            known = values[:, np.isfinite(values).all(axis=0)]
            if known.shape[1]:
                measures[name] = PairedMeasure.of(*known)
        return cls(
            both=int(both.sum()),
            first_alone=int((first.success & ~other.success).sum()),
            other_alone=int((other.success & ~first.success).sum()),
            neither=int((~first.success & ~other.success).sum()),
            measures=measures,
        )

    @property
    def tree(self) -> dict[str, Any]:
        """Content for a file."""
        return {
            **self._asdict(),
            "measures": {
                name: measure._asdict() for name, measure in sorted(self.measures.items())
            },
        }
