# SPDX-License-Identifier: BSD-3-Clause
"""One run from resolved scenario to run folder: fly, record, score."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from iap_description.errors import FlightFailed
from iap_io.runs.run_folder import create_run_folder, remove_folder, write_config, write_metrics
from iap_io.runs.run_meta import RunStats
from iap_io.runs.run_reader import RunReader
from iap_io.runs.trajectory_files import TrajectoryFiles
from iap_io.wire.cdr import message_types
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.agents import unfollowed
from iap_simulation.metrics.flight_scores import FlightScores
from iap_simulation.metrics.metrics import Scores
from iap_simulation.runs.events_so_far import estimate_losses
from iap_simulation.runs.recorded_flight import (
    INTERRUPTED,
    Ending,
    Progress,
    RunOptions,
    fly_recorded,
)
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.vehicles.replayed import unreferenced


@dataclass(frozen=True)
class Result:
    """Outcome of a run.

    Attributes:
        metrics: metrics.json.
        failure: the sentence for the user when the flight did not complete.
        interrupted: whether the user stopped it.
        folder: of the run.
        summary: what came of the flight, in a sentence.
        followers: names of the vehicles whose references somebody followed.
    """

    metrics: dict[str, Any]
    failure: str | None
    interrupted: bool
    folder: Path
    summary: str = ""
    followers: frozenset[str] = frozenset()


def record(
    scenario: str | Path | Mapping[str, Any],
    *,
    folder: Path | str | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = lambda _: None,
    **options: Any,  # noqa: ANN401 - the fields of `Options`
) -> Result:
    """Fly a whole scenario into a run folder, as ``iap run`` does.

    Args:
        scenario: a name, a YAML file, or a tree of keys.
        folder: empty or new; None makes one below ``runs/``.
        settings: values of keys by their dotted paths, such as ``{"wind.speed": 4.0}``.
        progress: called with the simulation time [s].
        options: `platform`, `gains`, `seed`, `duration`, `sensors`, `scene`, `state_source`.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    ready, tree = resolved(scenario, settings or {}, options)
    flight = Flight.of(ready)
    out = None if folder is None else Path(folder)
    return execute(flight, create_run_folder(out, ready.scenario), tree, RunOptions(progress))


def execute(
    flight: Flight, folder: Path, config: dict[str, Any], options: RunOptions | None = None
) -> Result:
    """Fly, record into `folder`, and score; whatever ends the flight, what was recorded is kept and scored.

    A flight that ends before anything is recorded leaves no folder.

    Args:
        flight: made ready.
        folder: an empty run folder.
        config: the resolved plain tree, kept in the folder.
        options: what accompanies the flight; None: nothing.

    Raises:
        BadInput: a vehicle starts inside an object, or the recording cannot be read back.
        FlightFailed: it ended before anything was recorded.
        RecordingFailed: nothing could be recorded, or what follows from the recording could not be written.
        KeyboardInterrupt: before anything was recorded, or while it was scored.
    """
    options = options or RunOptions()
    try:
        write_config(folder, config, flight.sensors.suite.infos)
        message_types()  # a tenth of a second once per process, which is no part of the loop
        with Simulation(flight, view=options.view) as simulation:
            began = time.perf_counter()
            ending = fly_recorded(simulation, flight, folder, options)
            wall = time.perf_counter() - began
            task = simulation.task
            if task is not None:
                task.write(folder)
            simulation.plant.write(folder)
        stats = run_stats(simulation, flight, ending.outcome, wall)
        if options.viewer is not None:
            stats = replace(stats, tasks={**stats.tasks, **options.viewer.metrics})
    except BaseException:
        remove_folder(folder)
        raise
    metrics = score_recording(folder, stats, simulation.participants.monitor.collision_records)
    success = "" if ending.failure or task is None else task.success
    return Result(
        metrics,
        ending.failure,
        ending.outcome == INTERRUPTED,
        folder,
        summary=ending.failure or success or ending.outcome,
        followers=frozenset(simulation.names).difference(stats.unfollowed),
    )


def score(flight: Flight, simulation: Simulation) -> tuple[dict[str, Any], str]:
    """Fly and score without a recording.

    Args:
        flight: made ready.
        simulation: of this flight, at its start.

    Returns:
        The metrics that `execute` would give, and the sentence for the user when the flight did not complete, else "".

    Raises:
        BadInput: a vehicle starts inside an object.
        FlightFailed: it ended before its first control tick.
    """
    scores = FlightScores(flight.meta)
    flight.write_tracks(scores)
    simulation.begin(observers=[scores])
    began = time.perf_counter()
    try:
        simulation.fly()
        ending = Ending.of(simulation)
    except FlightFailed as error:
        if not simulation.loop.k:
            raise
        ending = Ending.by(error, simulation.t)
    stats = run_stats(simulation, flight, ending.outcome, time.perf_counter() - began)
    collisions = simulation.participants.monitor.collision_records
    return {**scores.metrics(stats), "collisions": collisions}, ending.failure or ""


def score_recording(
    folder: Path, stats: RunStats, collisions: list[dict[str, Any]]
) -> dict[str, Any]:
    """Compute and write the metrics and trajectories of a folder whose bag is closed.

    Raises:
        BadInput: nothing was recorded.
    """
    reader = RunReader(folder)
    tracks = reader.tracks()
    scores = Scores(reader.meta, tracks)
    with TrajectoryFiles(folder, reader.meta, tracks) as trajectories:
        for columns in reader.pieces():
            scores.add(columns)
            trajectories.add(columns)
    metrics = {**scores.metrics(stats), "collisions": collisions}
    write_metrics(folder, metrics)
    return metrics


def run_stats(simulation: Simulation, flight: Flight, outcome: str, wall: float) -> RunStats:
    """Measurements of the loop itself."""
    cameras, loop = flight.sensors.suite.cameras, simulation.loop
    rendered = (0, 0.0) if cameras is None else (cameras.count, cameras.seconds)
    faults = {
        flight.vehicles[i].name: tuple((fault.t, fault.reason) for fault in navigator.faults)
        for i, navigator in flight.navigators.items()
    }
    # Nobody looks at the health of an estimator whose vehicle has no fail-safe.
    watched = {i: flight.navigators[i] for i in flight.failsafes}
    health = {flight.vehicles[i].name: each.worst.keys() for i, each in watched.items()}
    task = simulation.task
    return RunStats(
        outcome,
        simulation.t,
        wall,
        loop.timer.mean_us,
        *rendered,
        faults=faults,
        losses=estimate_losses(simulation, flight),
        health=health,
        tasks={} if task is None else {task.key: task.metrics(simulation.plant)},
        policy=simulation.participants.policy,
        unfollowed=(
            *unfollowed(simulation.participants.agent, simulation.names),
            *unreferenced(flight.scenario, flight.recorded),
        ),
        compiled_fraction=loop.fast_periods / max(1, loop.k),
        recordings=flight.recordings,
        landings=simulation.plant.landings,
    )
