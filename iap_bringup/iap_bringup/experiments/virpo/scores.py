# SPDX-License-Identifier: BSD-3-Clause
"""Scores of estimates, and the figures of tables: means over seeds beside published ones and bars."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from iap_bringup.plots.localized_flights import Quartiles, quartiles_of
from iap_description.arrays import Array
from iap_estimation.evaluation.trajectory_errors import rmse_of_vectors

Figure = Literal["ate", "horizontal", "vertical", "attitude", "nees", "attitude_nees"]
FIGURES = (
    "measured",
    "spread",
    "seeds",
    "failed",
    "published",
    "bar",
    "unit",
)  # of a cell, as JSON
DIGITS = {"%": 1, "deg": 2, "": 2}  # behind the point of figures with these units; of others 3


class EstimateKey(NamedTuple):
    """Name of the estimator."""

    case: str
    method: str
    seed: int
    body: str


@dataclass(frozen=True)
class TrajectoryScore:
    """Errors of a trajectory against the truth, its first pose being the truth's.

    Attributes:
        ate: RMSE of the position error [m].
        horizontal: of its part in x and y [m].
        vertical: of its part in z [m].
        quartiles: least error, quartiles, and largest [m].
        attitude: root mean square of the attitude error [deg].
        nees: mean normalised squared error of the position for each degree of freedom; None where it was not computed.
        attitude_nees: the same of the attitude.
        biases: share of the inertial unit's biases within three deviations; None where there are none.
    """

    ate: float
    horizontal: float
    vertical: float
    quartiles: Quartiles
    attitude: float
    nees: float | None = None
    attitude_nees: float | None = None
    biases: float | None = None

    @classmethod
    def of(
        cls,
        errors: Array,
        turns: Array,
        nees: float | None = None,
        attitude_nees: float | None = None,
        biases: float | None = None,
    ) -> Self:
        """Scores of position errors (K, 3) [m] in `map`, and turns (K, 3) [rad] from the true attitudes; K > 0."""
        squares = np.mean(np.square(errors), axis=0)
        return cls(
            float(np.sqrt(squares.sum())),
            float(np.sqrt(squares[:2].sum())),
            float(np.sqrt(squares[2])),
            quartiles_of(errors),
            float(np.rad2deg(rmse_of_vectors(turns))),
            nees,
            attitude_nees,
            biases,
        )


@dataclass(frozen=True)
class FailedEstimate:
    """There is no estimate worth the name; `reason` says why in some words."""

    reason: str


EstimateResults = Mapping[EstimateKey, TrajectoryScore | FailedEstimate]


class SeedMean(NamedTuple):
    """Summary of a figure over seeds, with its standard deviation, how many there are and how many failed."""

    measured: float | None
    spread: float | None
    seeds: int
    failed: int


@dataclass(frozen=True)
class TableCell:
    """One figure of a table.

    Attributes:
        table: which.
        row: which, within it.
        method: which column.
        measured: mean over seeds; None where one failed, or there is none.
        spread: standard deviation over seeds; None with one seed.
        seeds: that it is a mean of.
        failed: how many more of the seeds have failed.
        published: None where there is nothing published.
        bar: what must be reached; None where nothing must.
        at_least: whether the bar is a least one, not a largest one.
        unit: of it all.
    """

    table: str
    row: str
    method: str
    measured: float | None
    spread: float | None
    seeds: int
    failed: int
    published: float | None = None
    bar: float | None = None
    at_least: bool = False
    unit: str = "m"

    @property
    def passed(self) -> bool | None:
        """True if the bar is reached; None without one, or without anything measured."""
        if self.bar is None or (self.seeds == 0 and self.failed == 0):
            return None
        if self.measured is None:
            return False
        return self.measured >= self.bar if self.at_least else self.measured <= self.bar

    @property
    def text(self) -> str:
        """`measured (published)` and whether it passed."""
        digits = DIGITS.get(self.unit, 3)
        if self.failed:
            value = f"failed {self.failed} of {self.failed + self.seeds}"
        else:
            value = "" if self.measured is None else f"{self.measured:.{digits}f}"
        beside = "" if self.published is None else f" ({self.published:.{digits}f})"
        mark = {None: "", True: " ok", False: " MISSED"}[self.passed]
        return (value + beside + mark).strip()


def over_seeds(
    results: EstimateResults, case: str, method: str, body: str
) -> tuple[list[TrajectoryScore], int]:
    """Scores of all seeds that did not fail, and how many did."""
    keys = sorted(
        key for key in results if (key.case, key.method, key.body) == (case, method, body)
    )
    scores = [each for each in map(results.get, keys) if isinstance(each, TrajectoryScore)]
    return scores, len(keys) - len(scores)


def mean_of(
    results: EstimateResults, case: str, method: str, bodies: Sequence[str], figure: Figure = "ate"
) -> SeedMean:
    """Mean over seeds of a figure's mean over bodies."""
    columns, failed = [], 0
    for body in bodies:
        scores, lost = over_seeds(results, case, method, body)
        values = [getattr(score, figure) for score in scores]
        columns.append([float(value) for value in values if value is not None])
        failed = max(failed, lost)
    seeds = min((len(column) for column in columns), default=0)
    if failed or not seeds:
        return SeedMean(None, None, seeds, failed)
    means = np.mean(columns, axis=0)
    spread = float(means.std(ddof=1)) if seeds > 1 else None
    return SeedMean(float(means.mean()), spread, seeds, 0)


def gain_of(
    results: EstimateResults, pairs: Iterable[tuple[str, str]], method: str, over: str = "vio_uwb"
) -> SeedMean:
    """Mean share by which errors fall from one method to another, over pairs of case and body.

    The share is taken of the means over seeds, as the papers take it of each number of a table.
    """
    shares, failed, count = [], 0, 0
    for case, body in pairs:
        before, after = (mean_of(results, case, each, (body,)) for each in (over, method))
        failed = max(failed, before.failed, after.failed)
        if before.measured is not None and after.measured is not None:
            shares.append(1.0 - after.measured / before.measured)
        count = max(count, after.seeds + after.failed)
    if failed or not shares:
        return SeedMean(None, None, max(0, count - failed), failed)
    return SeedMean(100.0 * float(np.mean(shares)), None, count, 0)


@dataclass(frozen=True)
class Ranking:
    """Ranking of methods by their mean errors, here and in the papers.

    Attributes:
        table: which.
        group: of flights.
        measured: methods and their means [m], in the paper's order of columns.
        published: the same of the paper; empty where it says only that errors fall.
        noise: difference [m] that counts as none.
    """

    table: str
    group: str
    measured: tuple[tuple[str, float], ...]
    published: tuple[tuple[str, float], ...]
    noise: float

    @property
    def against(self) -> list[str]:
        """Pairs of methods that rank the other way here, by more than the noise."""
        here = dict(self.measured)
        there = dict(self.published) or {name: -k for k, (name, _) in enumerate(self.measured)}
        names = [name for name in there if name in here]
        return [
            f"{a} {here[a]:.3f}, {b} {here[b]:.3f}"
            for i, a in enumerate(names)
            for b in names[i + 1 :]
            if (there[a] - there[b]) * (here[a] - here[b]) < 0.0
            and abs(here[a] - here[b]) > self.noise
        ]

    @property
    def text(self) -> str:
        """`as published`, or the pairs that are not."""
        return "; ".join(self.against) or "as published"


@dataclass(frozen=True)
class Tables:
    """All figures.

    Attributes:
        cells: in the order of tables, rows and columns.
        orders: how methods rank.
    """

    cells: tuple[TableCell, ...]
    orders: tuple[Ranking, ...]

    @property
    def missed(self) -> list[TableCell]:
        """Figures that do not reach their bars."""
        return [cell for cell in self.cells if cell.passed is False]

    def pivot(self, table: str) -> dict[str, dict[str, str]]:
        """A table as text: rows, and in each the columns."""
        rows: dict[str, dict[str, str]] = {}
        for cell in self.cells:
            if cell.table == table:
                rows.setdefault(cell.row, {})[cell.method] = cell.text
        return rows

    @property
    def tree(self) -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
        """Figures of each method by table and row."""
        out: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
        for cell in self.cells:
            methods = out.setdefault(cell.table, {}).setdefault(cell.row, {})
            figures = {name: getattr(cell, name) for name in FIGURES}
            methods[cell.method] = {**figures, "passes": cell.passed}
        return out

    @property
    def names(self) -> list[str]:
        """Text of the tables."""
        return list(dict.fromkeys(cell.table for cell in self.cells))


def ranked(means: Iterable[tuple[str, float]]) -> str:
    """Methods with their means, the worst first."""
    worst_first = sorted(means, key=lambda pair: -pair[1])
    return " > ".join(f"{name} {mean:.3f}" for name, mean in worst_first)
