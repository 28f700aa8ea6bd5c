# SPDX-License-Identifier: BSD-3-Clause
"""Flights of the study ``iap experiment modules``, and the tables of the BEATLE paper that they stand beside."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, validate
from iap_description.config.values import Positive
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.sweeps.flying import Chunk, Row
from iap_simulation.sweeps.study import seeds_fingerprint, tree_fingerprint

FILE = Path(__file__).parents[2] / "data" / "published" / "beatle.yaml"
SEEDS = (1, 2, 3)
COMPLETED = "completed"
SHORTER = "vehicles.0.reference.duration=40.0"  # of flights whose errors nobody compares [s]
# Stress: white noise in place of a motion capture, three to four times that of the authors' own simulation; the origin
# of places is off by 30 mm where that of markers is.
WHITE_NOISE = (
    "vehicles.*.state_noise={{position: 0.01, attitude_deg: 0.17, velocity: 0.02, rate_deg: 1.0,"
    " position_bias: {}}}"
)
EXACT = ("vehicles.*.sensors=none", "vehicles.*.control.state_source=truth")
Three = tuple[Positive, Positive, Positive]
Six = tuple[Positive, Positive, Positive, Positive, Positive, Positive]


class PublishedErrors(Record):
    """RMSE of places [m] and angles [rad] per axis."""

    hover: dict[int, Six]  # TABLE III, by the number of modules
    lemniscate: dict[int, Three]  # TABLE V, angles
    assembly: Six  # TABLE VI


class ModuleCase(NamedTuple):
    """Flights that differ by their seeds, as a rule a row of a table.

    Attributes:
        title: of its table.
        label: of it.
        scenario: that is flown.
        assignments: of its keys.
        module: whose errors count; None the largest of all modules.
        errors: key of what metrics.json says of `modules`.
        published: of the last so many axes; empty where nothing is.
        seeds: of the flights.
    """

    title: str
    label: str
    scenario: str
    assignments: tuple[str, ...]
    module: str | None
    errors: str
    published: tuple[float, ...]
    seeds: tuple[int, ...] = SEEDS

    @property
    def name(self) -> str:
        """Unique among all."""
        return f"{self.title} {self.label}"

    @property
    def flights(self) -> list[Chunk]:
        """Its flights, one for each seed."""
        _, tree = resolve(self.scenario, Options(assignments=self.assignments))
        of_tree = tree_fingerprint(tree)
        return [Chunk(seeds_fingerprint(of_tree, (seed,)), tree, (seed,)) for seed in self.seeds]


@cache
def published() -> PublishedErrors:
    """The paper's numbers.

    Raises:
        BadInput: the file has a wrong key.
    """
    return validate(PublishedErrors, read_yaml(FILE), source=str(FILE))


def cases(*, quick: bool = False) -> list[ModuleCase]:
    """All rows of the tables; with `quick` those of fewer modules, flown once.

    Flights of 100 s and those without compensation are flown once in any case.
    """
    every = [hover(n) for n in ((1, 2, 4) if quick else (1, 2, 4, 8))]
    once = [hover(n, "none") for n in ((2, 4) if quick else (2, 4, 8))]
    once += [lemniscate(n) for n in ((3,) if quick else published().lemniscate)]
    every += [case._replace(seeds=SEEDS[:1]) for case in once]
    every += [white(each) for each in (hover(1), hover(4), assembly())]
    every.append(assembly())
    return [case._replace(seeds=SEEDS[:1]) for case in every] if quick else every


def hover(n: int, compensation: str = "default") -> ModuleCase:
    """A chain of n modules in hover."""
    is_default = compensation == "default"
    return ModuleCase(
        "TABLE III, hover, last 30 s, module nearest the centre",
        f"n = {n}" + ("" if is_default else ", no compensation"),
        "module_hover",
        (
            f"modules.count={n}",
            f"modules.compensation={compensation}",
            *(() if is_default else (SHORTER,)),
        ),
        _central(n),
        "rmse_steady",
        published().hover.get(n, ()) if is_default else (),
    )


def white(case: ModuleCase) -> ModuleCase:
    """The same flights by white noise of 10 mm, 3 mrad, 0.02 m/s and 1 deg/s."""
    noise = WHITE_NOISE.format(0.0 if case.scenario == "module_assembly" else 0.03)
    assignments = (*case.assignments, *EXACT, noise)
    return case._replace(label=f"{case.label}, white noise", assignments=assignments)


def lemniscate(n: int) -> ModuleCase:
    """A chain of n modules on a lemniscate."""
    return ModuleCase(
        "TABLE V, lemniscate, module nearest the centre",
        f"n = {n}",
        "module_lemniscate",
        (f"modules.count={n}",),
        _central(n),
        "rmse",
        published().lemniscate[n],
    )


def assembly() -> ModuleCase:
    """Three modules that dock and part."""
    title = "TABLE VI, three modules dock and part, whole flight, worst module"
    return ModuleCase(title, "n = 3", "module_assembly", (), None, "rmse", published().assembly)


def errors_of(case: ModuleCase, rows: Sequence[Row]) -> list[float] | None:
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


def _central(n: int) -> str:
    """Name of the module nearest the centre of a chain, of equals the first."""
    return f"m{(n - 1) // 2 + 1}"
