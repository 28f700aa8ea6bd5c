# SPDX-License-Identifier: BSD-3-Clause
"""Options and rows of studies."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Report = Callable[[str], None]  # called with what is being done
Rows = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class ExperimentOptions:
    """Options of a study on the command line.

    Attributes:
        quick: less of it, in minutes.
        flights: recordings in place of the flights by hand.
        out: new folder for its results; None is the next free one in ``runs``.
        since: where in these recordings to begin [s].
        seconds: of a flight at most; None is as the study has it.
        scenarios: names of those that are flown; none is all of the study's.
    """

    quick: bool = False
    flights: Path | None = None
    out: Path | None = None
    since: float = 0.0
    seconds: float | None = None
    scenarios: tuple[str, ...] = ()


def bar_row(measured: float, bar: str) -> dict[str, str]:
    """A row of a study's table: a measured value, and what it must reach."""
    return {"measured": f"{measured:.3g}", "bar": bar}
