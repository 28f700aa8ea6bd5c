# SPDX-License-Identifier: BSD-3-Clause
"""Figures of flights in README and docs/results, beside what commands give: within one unit of their last digit."""

import json
import math
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from iap_description.errors import BadInput
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import score
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.simulation.simulation import Simulation

ROW = re.compile(r"^\| `\./iap run ([^`]+)`([^|]*)\|(.*)\|$", re.MULTILINE)
NUMBER = r"([\d.]+)"
TRACKED = (  # cells of flights without a row of their own: pattern, keys of metrics.json, factor
    (f"^ {NUMBER} mm ", ("position_rmse_m",), 1e3),
    (f"{NUMBER}, {NUMBER}, {NUMBER} deg", tuple(f"attitude_rmse_deg.{i}" for i in range(3)), 1.0),
    (f"line {NUMBER} deg", ("axis_rmse_deg",), 1.0),
)
TOUCHING = {  # scenario -> patterns of its row
    "wall_push": (
        (f"RMSE {NUMBER} N", ("force_rmse_n.0",), 1.0),
        (f"largest {NUMBER} N", ("force_max_n",), 1.0),
        (f"approach at {NUMBER} m/s", ("approach_speed_max_mps",), 1.0),
    ),
    "slide_along_wall": ((f"RMSE {NUMBER} N", ("force_rmse_n.0",), 1.0),),
    "socket_push": ((f"RMSE {NUMBER}, {NUMBER} N", ("force_rmse_n.0", "force_rmse_n.1"), 1.0),),
    "peg_in_hole": (
        (f"{NUMBER} m into", ("depth_m",), 1.0),
        (f"yields by {NUMBER} deg, {NUMBER} N", ("settled_pitch_deg", "force_steady_n"), 1.0),
    ),
    "arm_path": ((f"{NUMBER} m, recorded", ("arm.position_rmse_m",), 1.0),),
    "arm_path_bodies": ((f"{NUMBER} mm RMSE", ("arm.tip_rmse_m",), 1e3),),
}


class ReadmeFigure(NamedTuple):
    """A figure that a page gives of a flight.

    Attributes:
        command: what is typed behind ``iap run``.
        key: dotted path in metrics.json.
        text: the figure as it stands there.
        factor: from the key's unit to the figure's.
    """

    command: str
    key: str
    text: str
    factor: float

    def is_met(self, metrics: Mapping[str, Any]) -> bool:
        """True if the flight has this figure, within one unit of its last digit."""
        digits = len(self.text.partition(".")[2])
        return abs(self.value(metrics) - float(self.text)) <= 10.0**-digits

    def value(self, metrics: Mapping[str, Any]) -> float:
        """What the flight has; NaN where that is nothing."""
        node: Any = metrics
        for part in self.key.split("."):
            node = node[int(part)] if isinstance(node, list) else node[part]
        return math.nan if node is None else self.factor * float(node)


def pages_with_figures(root: Path) -> str:
    """Text of README and of the pages of results, one after another."""
    pages = [root / "README.md", *sorted((root / "docs" / "results").glob("*.md"))]
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def readme_figures(text: str) -> list[ReadmeFigure]:
    """The figures of pages' text that flights of known keys give."""
    figures: list[ReadmeFigure] = []
    for command, _, cells in ROW.findall(text):
        for pattern, keys, factor in TOUCHING.get(command, TRACKED):
            match = re.search(pattern, cells)
            for key, number in zip(keys, match.groups() if match else (), strict=False):
                figures.append(ReadmeFigure(command, key, number, factor))
    return figures


def fly(command: str) -> dict[str, Any]:
    """Metrics of the flight that a command makes, without a recording."""
    name, *words = shlex.split(command)
    pairs = list(zip(words[::2], words[1::2], strict=True))
    options = {flag.removeprefix("--"): value for flag, value in pairs if flag != "--set"}
    settings = tuple(value for flag, value in pairs if flag == "--set")
    scenario, _ = resolve(name, Options(**options, assignments=settings))
    flight = Flight.of(scenario)
    with Simulation(flight) as simulation:
        return score(flight, simulation)[0]


def measured(figures: Sequence[ReadmeFigure]) -> Iterator[tuple[ReadmeFigure, float, bool]]:
    """Each figure with what its flight gives, and whether that is the same."""
    for command in dict.fromkeys(figure.command for figure in figures):
        metrics = fly(command)
        for figure in figures:
            if figure.command == command:
                yield figure, figure.value(metrics), figure.is_met(metrics)


def compare_readme(console: Console, *, as_json: bool = False) -> None:
    """Fly the commands of README and docs/results, and print their figures beside those that the pages give.

    Args:
        console: where the table goes.
        as_json: whether it is one line of JSON on standard output.

    Raises:
        BadInput: there is no README, or a figure differs.
    """
    roots = (*Path(__file__).resolve().parents, Path())
    checkouts = [root for root in roots if (root / "iap_bringup" / "setup.py").is_file()]
    if not checkouts:
        raise BadInput("experiment readme: no README here; run it from a checkout")
    table = Table("iap run", "key", "page", "here", "same")
    rows, differing = [], []
    figures = list(dict.fromkeys(readme_figures(pages_with_figures(checkouts[0]))))
    for figure, value, is_met in measured(figures):
        differing += [] if is_met else [f"{figure.command}: {figure.key}"]
        rows.append(
            {
                "command": figure.command,
                "key": figure.key,
                "page": float(figure.text),
                "here": None if math.isnan(value) else value,
                "is_met": is_met,
            }
        )
        table.add_row(
            figure.command, figure.key, figure.text, f"{value:.4g}", "yes" if is_met else "no"
        )
    if as_json:
        sys.stdout.write(json.dumps({"figures": rows, "differing": len(differing)}) + "\n")
    else:
        console.print(table)
    if differing:
        raise BadInput(f"experiment readme: {len(differing)} figures differ: {differing[0]}")
