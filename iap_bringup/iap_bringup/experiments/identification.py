# SPDX-License-Identifier: BSD-3-Clause
"""The study of ``iap experiment identification``: rotorcraft of drawn masses, thrusts and lags, identified and checked.

Each seed draws a vehicle, flies it with inertial units, and identifies it from its recording alone. Errors are against
what was drawn. An interval counts as right where it has the truth in it; it is never below 1 %. A last part of each
flight that is not fitted is predicted, and its error is relative to that of a state that stays. Flights that the
identification refuses as a whole are named by their seeds.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from iap_bringup.experiments.rows import Report, Rows
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.vehicles.assembly import Assembly
from iap_io.flight_logs.flight_log import FlightLog
from iap_io.flight_logs.run_folders import read_run
from iap_physics.propulsion.deviation import Deviation
from iap_simulation.identification.rotorcraft.estimate import Parameter
from iap_simulation.identification.rotorcraft.fleet import identify_fleet
from iap_simulation.identification.rotorcraft.flight_table import flight_table
from iap_simulation.identification.rotorcraft.rotorcraft import flight_model, identify_rotorcraft
from iap_simulation.runs.run import record
from iap_simulation.scenario.randomization import drawn_deviation
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario

SEEDS, QUICK, FEW = 40, 4, 10  # flights of each kind, quickly, and of kinds that repeat one fact
WIDTH = 0.1  # of draws, relative
DRAWN = tuple(f"draw.{key}={WIDTH}" for key in ("mass", "inertia", "thrust", "rotor_lag"))
DRAG = (
    "drag=on",
    "platform.aircraft.drag.quadratic=[0.0,0.0,0.0]",
)  # of which the linear one is the truth
GUSTS = (*DRAG, "wind.speed=2.0", "wind.turbulence=3.0")
GENTLE = tuple(
    f"reference.{key}"
    for key in (
        "acceleration=0.01", "yaw_acceleration=0.005", "doublet=0.0005", "yaw_doublet_deg=0.02", "step=0.002",
        "length=0.5", "speed=0.1",
    )
)  # fmt: skip
SOON = 0.25  # of predictions [s]
BARS = {  # largest errors [%]
    "full thrust per mass": 2.0, "roll": 2.0, "pitch": 2.0, "yaw": 2.0, "lag up": 10.0, "lag down": 10.0,
    "attitude predicted": 5.0, "velocity predicted": 5.0,
}  # fmt: skip
PREDICTED = ("attitude predicted", "velocity predicted")


class FlightKind(NamedTuple):
    """Flights of one kind.

    Attributes:
        scenario: that is flown.
        assignments: besides the draws.
        seeds: number of flights.
    """

    scenario: str
    assignments: tuple[str, ...]
    seeds: int


class Outcome(NamedTuple):
    """One aircraft, or one platform.

    Attributes:
        truth: parameters as they were drawn, by name.
        estimates: by name.
        predicted: errors after `SOON` relative to that of what stays, by name.
    """

    truth: Mapping[str, float]
    estimates: Mapping[str, Parameter]
    predicted: Mapping[str, float] = {}


KINDS: Mapping[str, FlightKind] = {
    "calm": FlightKind("identification_flight", DRAG, SEEDS),
    "gusts": FlightKind("identification_flight", GUSTS, SEEDS),
    "gentle": FlightKind("identification_flight", GENTLE, FEW),
    "three_star": FlightKind("identification_star", (), FEW),
}


def identification_rows(report: Report, *, quick: bool = False) -> Rows:
    """Errors and intervals of each parameter over seeds, beside their bars.

    Args:
        report: called with the number of every flight.
        quick: fewer flights.
    """
    results: Rows = {}
    for name, kind in KINDS.items():
        count = min(kind.seeds, QUICK) if quick else kind.seeds
        flights: list[Outcome] = []
        refused: list[int] = []
        for seed in range(1, count + 1):
            report(f"{seed - 1} of {count}: {name}")
            try:
                flights += _flight(seed, kind)
            except RefusedFlight:
                refused.append(seed)
        rows = _rows(flights)
        if refused:
            seeds = ", ".join(map(str, refused))
            rows["flights"] = {
                "determined": f"{count - len(refused)} of {count}: not seed {seeds}"
            }
        results |= {f"{name}, {key}": row for key, row in rows.items()}
    return results


class RefusedFlight(Exception):
    """A flight that the identification refuses, such as one with a motor at its end too often."""


def _flight(seed: int, kind: FlightKind) -> list[Outcome]:
    """Truth and estimates of one flight.

    Raises:
        RefusedFlight: the identification refuses it as a whole.
        BadInput: it cannot be flown or read.
    """
    options = Options(seed=seed, assignments=(*DRAWN, *kind.assignments))
    scenario, _ = resolve(kind.scenario, options)
    with TemporaryDirectory() as place:
        folder = Path(place) / "run"
        record(kind.scenario, folder=folder, **options.model_dump(exclude_none=True))
        logs = read_run(folder)
    try:
        return [_alone(scenario, logs[0])] if len(logs) == 1 else list(_of_fleet(scenario, logs))
    except BadInput as error:
        raise RefusedFlight(str(error)) from error


def _alone(scenario: Scenario, log: FlightLog) -> Outcome:
    estimates = flight_model(flight_table(log), log).estimates
    (rows,) = identify_rotorcraft([log], []).held_out.values()
    soon = next(row for row in rows if row.seconds == SOON)
    errors = zip(PREDICTED, (soon.attitude_deg, soon.velocity), strict=True)
    ratios = {name: each[0] / each[1] for name, each in errors}
    return Outcome(truth(scenario), estimates, ratios)


def _of_fleet(scenario: Scenario, logs: list[FlightLog]) -> Iterable[Outcome]:
    """The platform, and each of its aircraft."""
    model, drawn = identify_fleet(logs), _drawn(scenario)
    platform = scenario.vehicles[0].platform
    mass = drawn.mass * float(Assembly.of(platform, platform.name).mass)
    thrusts = drawn.thrust or (1.0,) * len(logs)
    rotor, rotors = platform.aircraft.rotor, len(platform.aircraft.rotors)
    full = sum(thrusts) * rotors * rotor.c_f * rotor.rpm_max**2 / mass
    yield Outcome({"full thrust per mass": full}, model.parameters)
    for i, log in enumerate(logs):
        body = f"{log.vehicle.rpartition(' ')[2]} "
        expected = {
            name.removeprefix(body): each
            for name, each in model.parameters.items()
            if name.startswith(body)
        }
        yield Outcome(_turning(scenario, thrusts[i]), expected)


def _drawn(scenario: Scenario) -> Deviation:
    return drawn_deviation(scenario, scenario.vehicles[0])


def truth(scenario: Scenario) -> dict[str, float]:
    """Parameters of the vehicle that a scenario's seed draws, by the names of their estimates."""
    drawn, aircraft = _drawn(scenario), scenario.vehicles[0].platform.aircraft
    thrust, lag = (float((each or (1.0,))[0]) for each in (drawn.thrust, drawn.rotor_lag))
    rotor, mass = aircraft.rotor, drawn.mass * aircraft.mass
    one = thrust * rotor.c_f * rotor.rpm_max**2
    full = len(aircraft.rotors) * one / mass
    drags = zip(("drag x", "drag y"), aircraft.drag.linear, strict=False)
    return {
        "full thrust per mass": full,
        "thrust slope": 2.0 * float(np.sqrt(full * GRAVITY)),
        "lag up": lag * rotor.time_constant_up,
        "lag down": lag * rotor.time_constant_down,
        **_turning(scenario, thrust),
        **({name: each / mass for name, each in drags} if scenario.has_drag else {}),
    }


def _turning(scenario: Scenario, thrust: float) -> dict[str, float]:
    """Angular accelerations by one motor of an aircraft whose thrusts have a factor [rad/s^2]."""
    drawn, aircraft = _drawn(scenario), scenario.vehicles[0].platform.aircraft
    arms = np.abs([each.position for each in aircraft.rotors]).mean(axis=0)
    one = thrust * aircraft.rotor.c_f * aircraft.rotor.rpm_max**2
    by_force = one / (drawn.mass * drawn.inertia * np.array(aircraft.inertia[:3]))
    return {
        "roll": float(by_force[0] * arms[1]),
        "pitch": float(by_force[1] * arms[0]),
        "yaw": float(by_force[2] * aircraft.rotor.torque_ratio),
    }


def _rows(flights: list[Outcome]) -> Rows:
    rows: Rows = {}
    for name in dict.fromkeys(key for each in flights for key in each.truth):
        all_of = [each for each in flights if name in each.truth]
        pairs = [(x.truth[name], x.estimates[name]) for x in all_of if name in x.estimates]
        off = np.array([100.0 * (each.value / true - 1.0) for true, each in pairs])
        inside = [abs(each.value - true) <= each.half_width for true, each in pairs]
        halves = [100.0 * each.half_width / true for true, each in pairs]
        rows[name] = {
            **_errors(name, off, len(all_of)),
            "interval_pct": float(np.median(halves)) if pairs else None,
            "inside_pct": 100.0 * float(np.mean(inside)) if pairs else None,
        }
    for name in PREDICTED:
        ratios = np.array([100.0 * x.predicted[name] for x in flights if name in x.predicted])
        if len(ratios):
            rows[name] = _errors(name, ratios, len(ratios))
    return rows


def _errors(name: str, off: np.ndarray, count: int) -> dict[str, str | float | None]:
    """Errors [%], and the share of them within the bar."""
    bar = BARS.get(name)
    is_known = bar is not None and len(off)
    return {
        "determined": f"{len(off)} of {count}",
        "rms_pct": float(np.sqrt(np.mean(off**2))) if len(off) else None,
        "largest_pct": float(np.abs(off).max()) if len(off) else None,
        "bar_pct": bar,
        "within_pct": 100.0 * float(np.mean(np.abs(off) <= bar)) if is_known else None,
    }
