# SPDX-License-Identifier: BSD-3-Clause
"""Landings of all platforms that can stand, alone and joined, in all engines with contact that are installed."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from iap_bringup.experiments.rows import Report, Rows
from iap_description.vehicles.platform import platform_names
from iap_physics.engines.make import is_installed
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import score
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

ENGINES = ("pybullet", "mujoco")
FAMILIES = ("star_5", "tilt_4")  # one of each family of made platforms that the others do not show
MAX_TOUCH = 0.12  # [m/s]
MAX_FORCE = 100.0  # [N]
MAX_FORCE_LARGE = 150.0  # of three_star, and of modules that are joined [N]
GROUND: dict[str, Any] = {"start.mode": "ground", "reference.duration": 1.0, "sensors": "none"}
FINE_STEPS = {  # platforms whose servos need another rate of the physics [Hz]
    "m100_gripper": 2000.0,
    "three_star_pen": 2400.0,
}
COLUMNS = (
    "outcome",
    "touch_speed_mps",
    "force_n",
    "force_limit_n",
    "cut_height_m",
    "stands",
    "passes",
)
JOINED: dict[str, Any] = {"modules.count": 4, "vehicles.0.reference.duration": 10.0}


class LandingFlight(NamedTuple):
    """A flight of which the landing is measured.

    Attributes:
        name: of its row.
        scenario: that is flown.
        settings: keys of it.
        platform: in place of the scenario's.
        limit: of the mean force of 5 ms on a vehicle [N].
    """

    name: str
    scenario: str
    settings: dict[str, Any]
    platform: str | None
    limit: float


def flights(*, quick: bool = False) -> Iterator[LandingFlight]:
    """The flights: every platform from the ground and back to it, and a chain of four modules; `quick` is two."""
    names = ("f450",) if quick else (*platform_names(), *FAMILIES)
    for name in names:
        settings = dict(GROUND)
        if name in FINE_STEPS:
            settings["rates.physics_hz"] = FINE_STEPS[name]
        limit = MAX_FORCE_LARGE if name.startswith("three_star") else MAX_FORCE
        yield LandingFlight(name, "hover", settings, name, limit)
    less = {"modules.count": 2, "vehicles.0.reference.duration": 3.0} if quick else {}
    joined: dict[str, Any] = {**JOINED, **less}
    yield LandingFlight(
        f"{joined['modules.count']} joined modules",
        "module_hover",
        joined,
        None,
        MAX_FORCE_LARGE,
    )


def landings(report: Report, *, quick: bool = False) -> Rows:
    """Landings by platform and engine, with the limit of their force and whether they are soft.

    Args:
        report: called with the name of every flight.
        quick: two flights an engine.
    """
    rows: Rows = {}
    engines = filter(is_installed, ENGINES)
    cases = [(engine, flight) for engine in engines for flight in flights(quick=quick)]
    for number, (engine, flight) in enumerate(cases):
        name = f"{flight.name}, {engine}"
        report(f"{number} of {len(cases)}: {name}")
        row = landing_of(flight, engine)
        rows[name] = {
            **row,
            "force_limit_n": flight.limit,
            "passes": is_soft(row, flight.limit),
        }
    return rows


def is_soft(row: Mapping[str, Any], limit: float) -> bool:
    """True if a landing is below both limits, and ends with all vehicles at rest on the ground, rotors ended."""
    if not row.get("stands", False):
        return False
    return bool(row["touch_speed_mps"] < MAX_TOUCH and row["force_n"] <= limit)


def landing_of(flight: LandingFlight, engine: str) -> dict[str, Any]:
    """Outcome of a flight and the worst of its vehicles' landings; without a landing nothing but the outcome."""
    settings = {**flight.settings, "engine.name": engine}
    options = {} if flight.platform is None else {"platform": flight.platform}
    scenario, _ = resolved(flight.scenario, settings, options)
    ready = Flight.of(scenario)
    with Simulation(ready) as simulation:
        metrics, _ = score(ready, simulation)
    scores = {key: value for key, value in metrics.get("landing", {}).items() if key != "vehicles"}
    return {"outcome": metrics["outcome"], **scores}
