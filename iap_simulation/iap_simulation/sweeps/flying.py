# SPDX-License-Identifier: BSD-3-Clause
"""The work of a sweep: some seeds of one combination flown and judged, a pure function of these."""

from typing import Any, NamedTuple

from iap_description.errors import BadInput, FlightFailed
from iap_simulation.flight import Flight
from iap_simulation.run import score
from iap_simulation.scenario.resolving import scenario_of
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation import Simulation

# What depends on the machine and its load, not on the run.
MEASURED = ("wall_s", "real_time_factor", "control_step_us", "images_per_s")
REFUSED = "refused"  # outcome of a run whose drawn start is impossible

Row = dict[str, Any]


class Chunk(NamedTuple):
    """Runs that one process flies one after the other.

    Attributes:
        name: equal for equal work, see `iap_simulation.sweeps.study.fingerprint`.
        tree: resolved plain tree.
        seeds: of the runs.
    """

    name: str
    tree: dict[str, Any]
    seeds: tuple[int, ...]


def fly(chunk: Chunk) -> list[Row]:
    """Metrics of each run as ``iap run`` has them, in order of the seeds, with the reason of a failure."""
    scenario = scenario_of(chunk.tree, "sweep")
    return [_flown(scenario.model_copy(update={"seed": seed})) for seed in chunk.seeds]


def _flown(scenario: Scenario) -> Row:
    try:
        flight = Flight.of(scenario)
        with Simulation(flight) as simulation:
            metrics, failure = score(flight, simulation)
    except FlightFailed as error:
        metrics, failure = {"seed": scenario.seed, "outcome": error.outcome}, str(error)
    except BadInput as error:
        metrics, failure = {"seed": scenario.seed, "outcome": REFUSED}, str(error)
    return {**{k: v for k, v in metrics.items() if k not in MEASURED}, "failure": failure}
