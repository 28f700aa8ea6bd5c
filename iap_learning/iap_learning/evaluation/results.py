# SPDX-License-Identifier: BSD-3-Clause
"""Results of many episodes, and figures of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_simulation.sweeps.statistics import wilson_interval

UNITS = {  # of what is known of episodes
    "time": "s",
    "latch_time": "s",
    "calm_from": "s",
    "force_peak": "N",
    "force_error": "N",
    "path_error": "m",
    "settling_time": "s",
    "force_steady": "N",
    "depth": "m",
    "depth_time": "s",
    "angle": "deg",
    "turn_time": "s",
    "lock_time": "s",
    "take_time": "s",
    "goal_distance": "m",
    "goal_time": "s",
    "closing_speed": "m/s",
    "offset": "m",
    "error": "m",
}


class Results(NamedTuple):
    """Results of n episodes, one of each seed.

    Attributes:
        seeds: (n,).
        success: (n,) whether each is one.
        outcomes: (n,) why each ended, words of `iap_simulation.tasks.outcomes.OUTCOMES`.
        measures: (n,) each, by the names of `UNITS`; NaN where there is none.
    """

    seeds: Integers
    success: Booleans
    outcomes: Sequence[str]
    measures: Mapping[str, Array]

    @classmethod
    def joined(cls, parts: Sequence["Results"]) -> Self:
        """Parts one after the other."""
        names = parts[0].measures
        return cls(
            np.concatenate([part.seeds for part in parts]),
            np.concatenate([part.success for part in parts]),
            [outcome for part in parts for outcome in part.outcomes],
            {name: np.concatenate([part.measures[name] for part in parts]) for name in names},
        )

    @property
    def figures(self) -> dict[str, float | int | None]:
        """Share of successes with its Wilson interval; means and quantiles of 95 %, times of successes alone."""
        count, good = len(self.success), int(self.success.sum())
        low, high = wilson_interval(good, count)
        out: dict[str, float | int | None] = {
            "episodes": count,
            "successes": good,
            "success_rate": good / count,
            "success_low": low,
            "success_high": high,
        }
        for name, values in self.measures.items():
            known = values[self.success] if UNITS[name] == "s" else values
            known = known[np.isfinite(known)]
            out[f"{name}_mean"] = float(known.mean()) if len(known) else None
            out[f"{name}_95"] = float(np.quantile(known, 0.95)) if len(known) else None
        return out

    @property
    def causes(self) -> dict[str, int]:
        """Numbers of failures by their causes, the most frequent first."""
        failed = (each for each, good in zip(self.outcomes, self.success, strict=True) if not good)
        return dict(Counter(failed).most_common())

    @property
    def first_failures(self) -> dict[str, int]:
        """Seed of the first failure of each cause."""
        seeds: dict[str, int] = {}
        rows = zip(self.outcomes, self.success.tolist(), self.seeds.tolist(), strict=True)
        for outcome, good, seed in rows:
            if not good:
                seeds.setdefault(outcome, seed)
        return {cause: seeds[cause] for cause in self.causes}

    @property
    def rows(self) -> list[dict[str, float | int | str | bool]]:
        """A row of each episode."""
        columns = {"seed": self.seeds.tolist(), "success": self.success.tolist()}
        columns |= {"outcome": list(self.outcomes)}
        columns |= {name: values.tolist() for name, values in self.measures.items()}
        return [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
