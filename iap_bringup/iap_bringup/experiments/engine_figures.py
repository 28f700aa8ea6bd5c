# SPDX-License-Identifier: BSD-3-Clause
"""A flight's figures in the engines that are installed, and whether they are within their bars."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isinf
from typing import Any, NamedTuple

from iap_bringup.experiments.engine_bars import FLOORS, SHARE, Bar
from iap_io.runs.run_meta import COMPLETED

SIX = {"xyz": slice(0, 3), "rpy": slice(3, 6)}  # parts of errors per axis [m, rad]
EVERY = "*"
GROUPS = ("vehicles", "modules", "joints", "arm", "docking", "task", EVERY)  # not in titles
# Of a key's ending: the unit in which it is shown, and how many of it are one of its own.
UNITS = {
    "xyz": ("mm", 1e3),
    "rpy": ("mrad", 1e3),
    "rad": ("mrad", 1e3),
    "m": ("mm", 1e3),
    "mps": ("mm/s", 1e3),
    "deg": ("deg", 1.0),
    "n": ("N", 1.0),
    "nm": ("N m", 1.0),
    "s": ("s", 1.0),
}
SHOWN_THRESHOLD = 1e-5  # smaller figures are shown as 0, in these units


class Figure(NamedTuple):
    """One figure of a scenario in each engine.

    Attributes:
        key: where metrics.json has it, see `value`.
        numbers: of the engines; None where the flight has none.
        bar: see `iap_bringup.experiments.engine_bars`.
    """

    key: str
    numbers: tuple[float | None, ...]
    bar: Bar

    @property
    def limits(self) -> tuple[float, float]:
        """Least and largest value that the bar allows; any where one engine alone has nothing to be compared with."""
        if isinstance(self.bar, tuple):
            return self.bar
        if self.bar is not None:
            return 0.0, self.bar
        if len(self.numbers) == 1:
            return 0.0, inf
        return 0.0, SHARE * (self.numbers[0] or 0.0) + FLOORS[_unit(self.key)]

    @property
    def passes(self) -> bool:
        """True where all engines are within the bar; a figure that a flight lacks is not."""
        low, high = self.limits
        return all(each is not None and low <= each <= high for each in self.numbers)

    @property
    def line(self) -> tuple[str, ...]:
        """Cells of a table: name, each engine, difference of two, bar, and whether it is within."""
        numbers, unit = list(self.numbers), _unit(self.key)
        if len(numbers) == 2:
            first, second = numbers
            numbers.append(None if first is None or second is None else second - first)
        cells = [_text(each, unit) for each in numbers]
        return _title(self.key), *cells, self._allowed(unit), "yes" if self.passes else "no"

    def _allowed(self, unit: str) -> str:
        low, high = (_text(each, unit) for each in self.limits)
        if not isinstance(self.bar, tuple):
            return "-" if isinf(self.limits[1]) else f"<= {high}"
        return f">= {low}" if isinf(self.bar[1]) else f"{low} to {high}"


class EngineComparison(NamedTuple):
    """Outcomes and figures of a scenario in one engine, or in two.

    Attributes:
        scenario: its name.
        outcomes: of the flights.
        figures: of the flights.
    """

    scenario: str
    outcomes: tuple[str, ...]
    figures: tuple[Figure, ...]

    @property
    def ends_well(self) -> bool:
        """True if the flights end alike; one alone must be completed."""
        first, *others = self.outcomes
        return all(each == first for each in others) if others else first == COMPLETED

    @property
    def passes(self) -> bool:
        """True if the flights end well, and every figure is within its bar."""
        return self.ends_well and all(figure.passes for figure in self.figures)

    @property
    def outcome(self) -> str:
        """Outcomes in words."""
        return " / ".join(dict.fromkeys(self.outcomes))

    @property
    def lines(self) -> Iterator[tuple[str, ...]]:
        """A line of cells for each figure; the first says which outcomes are not as they must be."""
        if not self.ends_well:
            expected = ("", "the same") if self.outcomes[1:] else (COMPLETED,)
            yield "outcome", *self.outcomes, *expected, "no"
        yield from (figure.line for figure in self.figures)


def compared(
    scenario: str,
    bars: Mapping[str, Bar],
    *flights: Mapping[str, Any],
) -> EngineComparison:
    """Compare the metrics of a scenario's flights, one in each engine, by the bars of their figures."""
    figures = (
        Figure(key, tuple(value(each, key) for each in flights), bar) for key, bar in bars.items()
    )
    return EngineComparison(scenario, tuple(each["outcome"] for each in flights), tuple(figures))


def value(metrics: Any, key: str) -> float | None:  # noqa: ANN401 - a tree
    """A figure of metrics.json: the largest of its axes, and where the key says `EVERY` of all that there are.

    Args:
        metrics: the tree.
        key: dotted; its last part may be one of `SIX`.
    """
    first, _, rest = key.partition(".")
    if isinstance(metrics, list):
        return _largest(metrics[SIX[first]] if first else metrics)
    if not first or metrics is None:
        return metrics
    if first == EVERY:
        return _largest([value(each, rest) for each in metrics.values()])
    return value(metrics.get(first), rest)


def _largest(values: Sequence[float | None]) -> float | None:
    return max((abs(each) for each in values if each is not None), default=None)


def _unit(key: str) -> str:
    return key.rpartition(".")[2].rpartition("_")[2]


def _title(key: str) -> str:
    """A figure's name and unit for a table."""
    unit = _unit(key)
    words = " ".join(part for part in key.split(".") if part not in GROUPS)
    return f"{words.removesuffix(f'_{unit}').replace('_', ' ')}, {UNITS[unit][0]}"


def _text(number: float | None, unit: str) -> str:
    """A number in the unit in which it is shown; what rounding leaves is nothing."""
    if number is None:
        return "-"
    shown = UNITS[unit][1] * number
    return f"{shown:.3g}" if abs(shown) >= SHOWN_THRESHOLD else "0"
