# SPDX-License-Identifier: BSD-3-Clause
"""The study of ``iap experiment identification``: rotorcraft of drawn masses, thrusts and lags, identified and checked.

Each seed draws a vehicle, flies `identification_flight` with an inertial unit, and is identified from its recording
alone. Errors are against what was drawn. An interval counts as right where it has the truth in it.
"""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from iap_bringup.experiments.rows import Report, Rows
from iap_description.earth import GRAVITY
from iap_io.flight_logs.run_folders import read_run
from iap_simulation.identification.rotorcraft.flight_table import flight_table
from iap_simulation.identification.rotorcraft.rotorcraft import FlightModel, flight_model
from iap_simulation.runs.run import record
from iap_simulation.scenario.randomization import drawn_deviation
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario

SCENARIO = "identification_flight"
SEEDS, QUICK = 40, 4  # flights of each kind
WIDTH = 0.1  # of draws, relative
DRAWN = tuple(f"draw.{key}={WIDTH}" for key in ("mass", "inertia", "thrust", "rotor_lag"))
GUSTS = ("wind.speed=2.0", "wind.turbulence=3.0")
KINDS: Mapping[str, tuple[str, ...]] = {"calm": (), "gusts": GUSTS}


def identification_rows(report: Report, *, quick: bool = False) -> Rows:
    """Errors and intervals of each parameter over seeds, in calm air and in gusts.

    Args:
        report: called with the number of every flight.
        quick: fewer flights.
    """
    seeds = range(1, (QUICK if quick else SEEDS) + 1)
    results: Rows = {}
    for kind, assignments in KINDS.items():
        flights = []
        for seed in seeds:
            report(f"{seed - 1} of {len(seeds)}: {kind}")
            flights.append(_flight(seed, assignments))
        results |= {f"{kind}, {name}": row for name, row in _rows(flights).items()}
    return results


def _flight(seed: int, assignments: tuple[str, ...]) -> tuple[dict[str, float], FlightModel]:
    """Truth and model of one vehicle."""
    options = Options(seed=seed, sensors="imu", assignments=(*DRAWN, *assignments))
    scenario, _ = resolve(SCENARIO, options)
    with TemporaryDirectory() as place:
        folder = Path(place) / "run"
        record(SCENARIO, folder=folder, **options.model_dump(exclude_none=True))
        log = read_run(folder)[0]
    return truth(scenario), flight_model(flight_table(log), log)


def truth(scenario: Scenario) -> dict[str, float]:
    """Parameters of the vehicle that a scenario's seed draws, by the names of their estimates."""
    vehicle = scenario.vehicles[0]
    drawn, aircraft = drawn_deviation(scenario, vehicle), vehicle.platform.aircraft
    thrust, lag = (float((each or (1.0,))[0]) for each in (drawn.thrust, drawn.rotor_lag))
    rotor, rotors = aircraft.rotor, aircraft.rotors
    one = thrust * rotor.c_f * rotor.rpm_max**2
    full = len(rotors) * one / (drawn.mass * aircraft.mass)
    arms = np.abs([each.position for each in rotors]).mean(axis=0)
    turning = one / (drawn.mass * drawn.inertia * np.array(aircraft.inertia[:3]))
    return {
        "full thrust per mass": full,
        "thrust slope": 2.0 * float(np.sqrt(full * GRAVITY)),
        "lag up": lag * rotor.time_constant_up,
        "lag down": lag * rotor.time_constant_down,
        "roll": float(turning[0] * arms[1]),
        "pitch": float(turning[1] * arms[0]),
        "yaw": float(turning[2] * rotor.torque_ratio),
    }


def _rows(flights: list[tuple[dict[str, float], FlightModel]]) -> Rows:
    rows: Rows = {}
    for name in flights[0][0]:
        pairs = [(t[name], m.estimates[name]) for t, m in flights if name in m.estimates]
        off = np.array([100.0 * (each.value / true - 1.0) for true, each in pairs])
        inside = [abs(each.value - true) <= each.half_width for true, each in pairs]
        rows[name] = {
            "determined": f"{len(pairs)} of {len(flights)}",
            "rms_pct": float(np.sqrt(np.mean(off**2))) if pairs else None,
            "largest_pct": float(np.abs(off).max()) if pairs else None,
            "interval_pct": float(np.median([100.0 * e.half_width / t for t, e in pairs]))
            if pairs
            else None,
            "inside_pct": 100.0 * float(np.mean(inside)) if pairs else None,
        }
    return rows
