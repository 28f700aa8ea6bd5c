# SPDX-License-Identifier: BSD-3-Clause
"""Uses of a flight log, tried up to where a flight or a fit would begin: the reason why one is refused."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial

from iap_description.errors import BadInput
from iap_io.flight_logs.flight_log import (
    POSITION,
    POSITION_SETPOINT,
    VELOCITY_SETPOINT,
    FlightLog,
)
from iap_io.flight_logs.inspection import Trial
from iap_physics.plant.plant_spec import PlantSpec
from iap_simulation.flights.flight import Flight
from iap_simulation.identification.rotorcraft.flight_table import flight_table
from iap_simulation.identification.rotorcraft.log_checks import checked_log
from iap_simulation.identification.settings import load_settings
from iap_simulation.open_loop.replayed import commands_of
from iap_simulation.scenario.replays import resolve_replay
from iap_simulation.scenario.resolving import Options, resolve

TOPICS: Mapping[str, dict[str, str]] = {  # of what is flown in closed loop, and beside it
    "motion": {},
    "position": {"topic": POSITION_SETPOINT, "actual_topic": POSITION},
    "velocity": {"topic": VELOCITY_SETPOINT, "actual_topic": POSITION},
}
NOTES = " (noted before"  # what a refusal begins its notes with
OF_FITS = ("hover command", "rotor lag", "drag", "battery sag")  # which share one beginning
SCENARIO, ENGINE = "hover", "closed_form"  # of flights in open loop


@cache
def _plant() -> PlantSpec:
    """The plant that flies commands in open loop if no other is asked for."""
    return Flight.of(resolve(SCENARIO, _options())[0]).spec


@cache
def _options() -> Options:
    """The platform that is taken if no other is asked for: an aircraft, as logs are of one."""
    return Options(engine=ENGINE, platform=load_settings().rotorcraft.start)


def trials_of(log: FlightLog) -> Mapping[str, Trial]:
    """Trials of a log's uses, by their names."""
    sound = cache(partial(checked_log, log))

    def closed_loop(what: str) -> None:
        with _silent():
            Flight.of(resolve_replay({"path": str(log.path), **TOPICS[what]}, _options())[0])

    def open_loop(what: str) -> None:
        commands_of(sound(), what, _plant())

    def fit() -> None:
        flight_table(sound())

    attempts: Mapping[str, Callable[[], None]] = {
        "replay of the flown motion": partial(closed_loop, "motion"),
        "replay of position set-points": partial(closed_loop, "position"),
        "replay of velocity set-points": partial(closed_loop, "velocity"),
        "replay of attitude set-points": partial(open_loop, "attitude"),
        "replay of the motors": partial(open_loop, "motors"),
    }
    replays = {name: partial(_refusal, log, attempt) for name, attempt in attempts.items()}
    return {**replays, **dict.fromkeys(OF_FITS, cache(partial(_refusal, log, fit)))}


def _refusal(log: FlightLog, attempt: Callable[[], None]) -> str:
    """Reason of a refusal, without the path and the notes; empty where there is none."""
    try:
        attempt()
    except BadInput as error:
        return str(error).removeprefix(f"{log.path}: ").partition(NOTES)[0]
    return ""


@contextmanager
def _silent() -> Iterator[None]:
    """Keep the notes of a reading to itself: a trial is no reading."""
    reader = logging.getLogger("iap_io.trajectories")
    level = reader.level
    reader.setLevel(logging.ERROR)
    try:
        yield
    finally:
        reader.setLevel(level)
