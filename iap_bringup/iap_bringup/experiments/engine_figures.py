# SPDX-License-Identifier: BSD-3-Clause
"""A flight's figures in two engines, and whether they are within their bars."""

from collections.abc import Iterator, Mapping, Sequence
from math import isinf
from typing import Any, NamedTuple

from iap_bringup.experiments.engine_bars import FLOORS, SHARE, Bar

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
    """One figure of a scenario in both engines.

    Attributes:
        key: where metrics.json has it, see `value`.
        first: PyBullet's; None where the flight has none.
        second: MuJoCo's.
        bar: see `iap_bringup.experiments.engine_bars`.
    """

    key: str
    first: float | None
    second: float | None
    bar: Bar

    @property
    def limits(self) -> tuple[float, float]:
        """Least and largest value that the bar allows."""
        if isinstance(self.bar, tuple):
            return self.bar
        if self.bar is not None:
            return 0.0, self.bar
        return 0.0, SHARE * (self.first or 0.0) + FLOORS[_unit(self.key)]

    @property
    def passes(self) -> bool:
        """True where both engines are within the bar; a figure that a flight lacks is not."""
        if self.first is None or self.second is None:
            return False
        low, high = self.limits
        return all(low <= each <= high for each in (self.first, self.second))

    @property
    def line(self) -> tuple[str, ...]:
        """Cells of a table: name, both engines, their difference, bar, and whether it is within."""
        off_by = None
        if self.first is not None and self.second is not None:
            off_by = self.second - self.first
        unit = _unit(self.key)
        numbers = [_text(each, unit) for each in (self.first, self.second, off_by)]
        return _title(self.key), *numbers, self._allowed(unit), "yes" if self.passes else "no"

    def _allowed(self, unit: str) -> str:
        low, high = (_text(each, unit) for each in self.limits)
        if not isinstance(self.bar, tuple):
            return f"<= {high}"
        return f">= {low}" if isinf(self.bar[1]) else f"{low} to {high}"


class EngineComparison(NamedTuple):
    """Outcomes and figures of a scenario in two engines.

    Attributes:
        scenario: its name.
        outcomes: of both flights.
        figures: of both.
    """

    scenario: str
    outcomes: tuple[str, str]
    figures: tuple[Figure, ...]

    @property
    def passes(self) -> bool:
        """True if both end alike, and every figure is within its bar."""
        first, second = self.outcomes
        return first == second and all(figure.passes for figure in self.figures)

    @property
    def outcome(self) -> str:
        """Comparison of both in words."""
        return " / ".join(dict.fromkeys(self.outcomes))

    @property
    def lines(self) -> Iterator[tuple[str, ...]]:
        """A line of cells for each figure; one says the difference where outcomes differ."""
        if self.outcomes[0] != self.outcomes[1]:
            yield "outcome", *self.outcomes, "", "the same", "no"
        yield from (figure.line for figure in self.figures)


def compared(
    scenario: str,
    bars: Mapping[str, Bar],
    first: Mapping[str, Any],
    second: Mapping[str, Any],
) -> EngineComparison:
    """Compare the metrics of a scenario's flights by the bars of their figures."""
    figures = (
        Figure(key, value(first, key), value(second, key), bar) for key, bar in bars.items()
    )
    return EngineComparison(scenario, (first["outcome"], second["outcome"]), tuple(figures))


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
