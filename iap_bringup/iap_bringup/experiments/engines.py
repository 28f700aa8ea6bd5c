# SPDX-License-Identifier: BSD-3-Clause
"""The study of ``iap experiment engines``: every scenario in PyBullet and MuJoCo, beside its bars.

Where one of them is not installed, the scenarios are flown in the other alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from iap_bringup.experiments.engine_bars import BARS, QUICK
from iap_bringup.experiments.engine_figures import EngineComparison, compared
from iap_bringup.experiments.rows import Rows, print_json
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import work_bar
from iap_description.config.alternatives import alternatives
from iap_description.errors import BadInput
from iap_description.process.extras import install_line
from iap_io.runs.vehicle_meta import TRUTH
from iap_physics.engines.make import is_installed
from iap_simulation.scenario.resolving import SCENARIOS, Options, resolve
from iap_simulation.sweeps.flying import Chunk, Row, fly
from iap_simulation.sweeps.process_pool import ProcessPool

ENGINES = ("pybullet", "mujoco")  # bars were made for the first


class EngineFlight(NamedTuple):
    """A scenario in one engine.

    Attributes:
        scenario: its name.
        engine: that flies it.
        seconds: at most; None flies it to its end.
    """

    scenario: str
    engine: str
    seconds: float | None = None

    @property
    def chunk(self) -> Chunk:
        """The flight as a piece of work."""
        options = Options(
            engine=self.engine,
            duration=self.seconds,
            sensors=None if _flies_by_sensors(self.scenario) else "none",
            assignments=() if self.seconds is None else ("metrics.window=null",),
        )
        _, tree = resolve(self.scenario, options)
        return Chunk(f"{self.scenario} {self.engine}", tree, (tree["seed"],))


def compare_engines(
    console: Console, *, scenarios: Sequence[str] = (), quick: bool = False, json: bool = False
) -> None:
    """Every scenario in PyBullet and MuJoCo, or in the one installed, its figures beside their bars (ten minutes)."""
    engines = tuple(name for name in ENGINES if is_installed(name))
    if not engines:
        raise BadInput(
            f"experiment engines: neither engine is installed: {install_line('mujoco')}"
        )
    work = flights(scenarios, quick=quick, engines=engines)
    rows: dict[str, Row] = {}
    with work_bar(make_console(stderr=True)) as report:
        for name, row in fly_all(work):
            rows[name] = row
            report(f"{len(rows)} of {len(work)}: {name}")
    names = dict.fromkeys(flight.scenario for flight in work)
    comparisons = [comparison(name, rows, engines) for name in names]
    if json:
        print_json(console, engine_rows(comparisons, engines))
        return
    console.print(table(comparisons, engines))
    console.print(summary(comparisons))


def flights(
    scenarios: Sequence[str] = (), *, quick: bool = False, engines: Sequence[str] = ENGINES
) -> list[EngineFlight]:
    """Flights of the scenarios of ``iap list``, each in all engines.

    Args:
        scenarios: their names; none takes all of them.
        quick: the first seconds of flights without contact, and some short ones with it.
        engines: their names.

    Raises:
        BadInput: a name is unknown, or `quick` flies none of them.
    """
    names = [name for name in _known(scenarios) if not quick or name in QUICK]
    if not names:
        raise BadInput(f"experiment engines: --quick flies {', '.join(QUICK)}")
    seconds = QUICK if quick else {}
    return [EngineFlight(name, engine, seconds.get(name)) for name in names for engine in engines]


def _known(names: Sequence[str]) -> list[str]:
    """Scenarios by their names, without those whose plant was identified from logs, which have no engine."""
    with_engine = [name for name in SCENARIOS.names() if not _is_identified(name)]
    for name in names:
        if name in SCENARIOS.names() and name not in with_engine:
            raise BadInput(
                f"experiment engines: '{name}' flies a plant identified from logs, without an engine"
            )
        if name not in with_engine:
            raise BadInput(
                f"experiment engines: unknown scenario '{name}': {alternatives(name, with_engine)}"
            )
    return [name for name in with_engine if not names or name in names]


def _flies_by_sensors(name: str) -> bool:
    """True if a policy or an estimate flies a scenario; the sensors of others only cost time."""
    scenario, _ = resolve(name, Options())
    sources = {vehicle.control.state_source for vehicle in scenario.vehicles}
    return scenario.policy is not None or sources != {TRUTH}


def _is_identified(name: str) -> bool:
    return bool(SCENARIOS.tree(name).get("plant", {}).get("type") == "identified")


def fly_all(work: Sequence[EngineFlight]) -> Iterator[tuple[str, Row]]:
    """The names of the flights and what came of them, in any order, on all processors."""
    with closing(ProcessPool().map(fly, [flight.chunk for flight in work])) as finished:
        for chunk, rows in finished:
            yield chunk.name, rows[0]


def comparison(
    scenario: str, rows: Mapping[str, Row], engines: Sequence[str] = ENGINES
) -> EngineComparison:
    """Figures of a scenario in the engines; rows by the names of their flights."""
    return compared(
        scenario, BARS[scenario], *(rows[f"{scenario} {engine}"] for engine in engines)
    )


def engine_rows(comparisons: Sequence[EngineComparison], engines: Sequence[str]) -> Rows:
    """Outcomes and figures of the engines by scenario, as plain values, and the number within their bars."""
    rows: Rows = {
        each.scenario: {
            "outcomes": each.outcomes,
            "passes": each.passes,
            "figures": {
                figure.key: dict(zip(engines, figure.numbers, strict=True))
                for figure in each.figures
            },
        }
        for each in comparisons
    }
    passing = sum(each.passes for each in comparisons)
    return {"all": {"scenarios": len(comparisons), "passing": passing}, **rows}


def table(comparisons: Sequence[EngineComparison], engines: Sequence[str] = ENGINES) -> Table:
    """A part for each scenario, and in it a row for each figure."""
    title = f"every scenario in {' and '.join(engines)}"
    out = Table(title=title)
    out.add_column("figure", overflow="fold")
    differences = ("off by",) if len(engines) == len(ENGINES) else ()
    for name in (*engines, *differences, "bar", "within"):
        out.add_column(name, justify="right", no_wrap=True)
    for each in comparisons:
        out.add_row(Text.assemble((each.scenario, "bold"), f": {each.outcome}"))
        for line in each.lines:
            out.add_row(*line)
        out.add_section()
    return out


def summary(comparisons: Sequence[EngineComparison]) -> str:
    """The number of scenarios within their bars."""
    return f"{sum(each.passes for each in comparisons)} of {len(comparisons)} within their bars"
