# SPDX-License-Identifier: BSD-3-Clause
"""The study of ``iap experiment modules``: flights of modules beside the tables of Sugihara et al., "BEATLE"."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from iap_description.config import Positive, Record, validate
from iap_description.plain_yaml import read_yaml
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.sweeps.farm import LocalFarm
from iap_simulation.sweeps.flying import Chunk, Row, fly

FILE = Path(__file__).parents[1] / "data" / "published" / "beatle.yaml"
SEEDS = (1, 2, 3)
AXES = ("x, mm", "y, mm", "z, mm", "roll, mrad", "pitch, mrad", "yaw, mrad")
COMPLETED = "completed"
Three = tuple[Positive, Positive, Positive]
Six = tuple[Positive, Positive, Positive, Positive, Positive, Positive]


class Published(Record):
    """RMSE of places [m] and angles [rad] per axis."""

    hover: dict[int, Six]  # TABLE III, by the number of modules
    lemniscate: dict[int, Three]  # TABLE V, angles
    assembly: Six  # TABLE VI


class Case(NamedTuple):
    """A row of a table.

    Attributes:
        title: of its table.
        label: of it.
        scenario: that is flown.
        assignments: of its keys.
        module: whose errors count; None the largest of all modules.
        errors: key of what metrics.json says of `modules`.
        published: of the last so many axes; empty where nothing is.
    """

    title: str
    label: str
    scenario: str
    assignments: tuple[str, ...]
    module: str | None
    errors: str
    published: tuple[float, ...]

    @property
    def chunk(self) -> Chunk:
        """Its flights with all seeds."""
        _, tree = resolve(self.scenario, Options(assignments=self.assignments))
        return Chunk(f"{self.title} {self.label}", tree, SEEDS)


@cache
def published() -> Published:
    """The paper's numbers.

    Raises:
        BadInput: the file has a wrong key.
    """
    return validate(Published, read_yaml(FILE), source=str(FILE))


def cases() -> list[Case]:
    """All rows."""
    paper = published()
    return [*_hovers(paper), *_lemniscates(paper), *_assembly(paper)]


def modules(console: Console) -> None:
    """Joined modules in hover, on a lemniscate, and docking in flight, beside what is published (some minutes)."""
    wanted = cases()
    with console.status("") as status:
        found = {}
        for title, rows in flown(wanted):
            found[title] = rows
            status.update(f"{len(found)} of {len(wanted)}: {title}")
    for title in dict.fromkeys(case.title for case in wanted):
        own = [case for case in wanted if case.title == title]
        console.print(table(title, own, [found[case.chunk.name] for case in own]))


def flown(wanted: Sequence[Case]) -> Iterator[tuple[str, list[Row]]]:
    """The names of the cases' chunks and what came of them, in any order, on all processors."""
    with closing(LocalFarm().map(fly, [case.chunk for case in wanted])) as finished:
        for chunk, rows in finished:
            yield chunk.name, rows


def table(title: str, own: Sequence[Case], found: Sequence[list[Row]]) -> Table:
    """A table of cases and the rows of their flights: errors are the largest of all seeds, per axis."""
    out = Table("", title=f"{title}: RMSE, largest of {len(SEEDS)} seeds (published)")
    for name in (*AXES, "joints, N", "N m", "completed"):
        out.add_column(name, justify="right")
    for case, rows in zip(own, found, strict=True):
        out.add_row(case.label, *_cells(case, rows))
    return out


def errors_of(case: Case, rows: Sequence[Row]) -> list[float] | None:
    """Largest RMSE (6,) per axis of a case's flights [m], [rad]; None where one did not come to its end."""
    if any(row["outcome"] != COMPLETED for row in rows):
        return None
    per_module = [
        error
        for row in rows
        for name, error in row["modules"][case.errors].items()
        if case.module in (None, name)
    ]
    return [max(axis) for axis in zip(*per_module, strict=True)]


def _cells(case: Case, rows: Sequence[Row]) -> list[str]:
    errors, known = errors_of(case, rows), case.published
    paper = [""] * (len(AXES) - len(known)) + [f" ({1e3 * value:.3g})" for value in known]
    own = ["-"] * len(AXES) if errors is None else [f"{1e3 * value:.1f}" for value in errors]
    done = sum(row["outcome"] == COMPLETED for row in rows)
    worst = [_worst(rows, key) for key in ("joint_force_n", "joint_torque_nm")]
    return [*(a + b for a, b in zip(own, paper, strict=True)), *worst, f"{done} of {len(rows)}"]


def _worst(rows: Sequence[Row], key: str) -> str:
    """Largest mean wrench in a joint of all flights."""
    known: list[Any] = [row["modules"][key] for row in rows if "modules" in row]
    values = [value for value in known if value is not None]
    return f"{max(values):.3f}" if values else ""


def _hovers(paper: Published) -> list[Case]:
    title = "TABLE III, hover, last 30 s, module nearest the centre"
    every = [(n, "default") for n in (1, 2, 4, 8)] + [(n, "none") for n in (2, 4)]
    return [
        Case(
            title,
            f"n = {n}" + ("" if compensation == "default" else ", no compensation"),
            "module_hover",
            (f"modules.count={n}", f"modules.compensation={compensation}"),
            _central(n),
            "rmse_steady",
            paper.hover.get(n, ()) if compensation == "default" else (),
        )
        for n, compensation in every
    ]


def _lemniscates(paper: Published) -> list[Case]:
    title = "TABLE V, lemniscate, module nearest the centre"
    return [
        Case(
            title,
            f"n = {n}",
            "module_lemniscate",
            (f"modules.count={n}",),
            _central(n),
            "rmse",
            angles,
        )
        for n, angles in paper.lemniscate.items()
    ]


def _assembly(paper: Published) -> list[Case]:
    title = "TABLE VI, three modules dock and part, whole flight, worst module"
    return [Case(title, "n = 3", "module_assembly", (), None, "rmse", paper.assembly)]


def _central(n: int) -> str:
    """Name of the module nearest the centre of a chain, of equals the first."""
    return f"m{(n - 1) // 2 + 1}"
