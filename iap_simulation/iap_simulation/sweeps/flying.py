# SPDX-License-Identifier: BSD-3-Clause
"""The work of a sweep: some seeds of one combination flown and judged, a pure function of these."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from iap_description.errors import BadInput, FlightFailed
from iap_simulation.batch.batch_support import IN_CONTACT, unsupported
from iap_simulation.batch.scored_flights import score_worlds
from iap_simulation.batch.worlds import Worlds
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute, score
from iap_simulation.scenario.resolving import scenario_of
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation

# What depends on the machine and its load, or on the loop that flies, not on the run.
MEASURED = ("wall_s", "real_time_factor", "control_step_us", "images_per_s", "compiled_fraction")
SINGLE_RUNS, SIDE_BY_SIDE = 10, 64  # of a piece of work at most: some seconds, some 200 MB
REFUSED = "refused"  # outcome of a run whose drawn start is impossible

Row = dict[str, Any]


class Chunk(NamedTuple):
    """Runs that one process flies.

    Attributes:
        name: equal for equal work, see `iap_simulation.sweeps.study.fingerprint`.
        tree: resolved plain tree.
        seeds: of the runs.
    """

    name: str
    tree: dict[str, Any]
    seeds: tuple[int, ...]


def most_runs(tree: dict[str, Any]) -> int:
    """Number of runs of a resolved tree in a piece of work, so that it takes some seconds."""
    return SIDE_BY_SIDE if _fly_side_by_side(scenario_of(tree, "sweep")) else SINGLE_RUNS


def fly(chunk: Chunk) -> list[Row]:
    """Metrics of each run as ``iap run`` has them, in order of the seeds, with the reason of a failure.

    Side by side where the engine can, else one after the other: the rows are the same.
    """
    scenarios = _scenarios(chunk)
    if not _fly_side_by_side(scenarios[0]):
        return [_row(_scored, scenario) for scenario in scenarios]
    try:
        scores = score_worlds(Worlds(scenarios[0], chunk.seeds))
    except BadInput as error:  # of all of them, since they differ by what is drawn alone
        return [_refused(scenario, error) for scenario in scenarios]
    return [_plain(*each) for each in scores]


def _fly_side_by_side(scenario: Scenario) -> bool:
    """True if the runs are flown as worlds, in which nobody judges sensors, contact or landings."""
    first, in_contact = scenario.vehicles[0], scenario.engine.name in IN_CONTACT
    is_plain = len(scenario.vehicles) == 1 and not first.sensors.topics
    return is_plain and not in_contact and unsupported(scenario) is None


class RecordedChunks(NamedTuple):
    """Flies as `fly` does and keeps each run's folder, whose name its row has besides.

    Attributes:
        folder: of the run folders.
    """

    folder: Path

    def fly(self, chunk: Chunk) -> list[Row]:
        """Rows of the runs, whose folders are there as a whole or not at all."""
        return [self._kept(chunk.name, scenario) for scenario in _scenarios(chunk)]

    def _kept(self, name: str, scenario: Scenario) -> Row:
        place = self.folder / f"{name}_{scenario.seed}"
        begun = place.with_name(f"{place.name}.tmp")
        for left in (begun, place):  # by a process that died
            shutil.rmtree(left, ignore_errors=True)
        begun.mkdir(parents=True)
        row = _row(lambda one: _recorded(one, begun), scenario)
        if not begun.exists():  # nothing was recorded
            return {**row, "folder": None}
        begun.rename(place)
        return {**row, "folder": place.name}


def _scenarios(chunk: Chunk) -> list[Scenario]:
    scenario = scenario_of(chunk.tree, "sweep")
    return [scenario.model_copy(update={"seed": seed}) for seed in chunk.seeds]


def _scored(scenario: Scenario) -> tuple[dict[str, Any], str]:
    flight = Flight.of(scenario)
    with Simulation(flight) as simulation:
        return score(flight, simulation)


def _recorded(scenario: Scenario, folder: Path) -> tuple[dict[str, Any], str]:
    flight = Flight.of(scenario)
    tree = scenario.model_dump(mode="json")
    result = execute(flight, folder, tree)
    return result.metrics, result.failure or ""


def _row(do: Callable[[Scenario], tuple[dict[str, Any], str]], scenario: Scenario) -> Row:
    """The row of a run that may fail."""
    try:
        metrics, failure = do(scenario)
    except FlightFailed as error:
        metrics, failure = {"seed": scenario.seed, "outcome": error.outcome}, str(error)
    except BadInput as error:
        return _refused(scenario, error)
    return _plain(metrics, failure)


def _refused(scenario: Scenario, error: BadInput) -> Row:
    return _plain({"seed": scenario.seed, "outcome": REFUSED}, str(error))


def _plain(metrics: dict[str, Any], failure: str) -> Row:
    return {**{k: v for k, v in metrics.items() if k not in MEASURED}, "failure": failure}
