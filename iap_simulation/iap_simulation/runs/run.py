# SPDX-License-Identifier: BSD-3-Clause
"""One run from resolved scenario to run folder: fly, record, score."""

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from iap_description.errors import FlightFailed
from iap_description.process.interrupts import Deferral, word
from iap_description.sensors.readings import Reading
from iap_description.signals import Reference, Step
from iap_description.vehicles.faults import has_come
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.recording.recorder import Recorder
from iap_io.runs.fault_meta import Notice, notices
from iap_io.runs.run_folder import (
    TrajectoryFiles,
    create_run_folder,
    remove_folder,
    write_config,
    write_metrics,
)
from iap_io.runs.run_meta import COMPLETED, RunStats
from iap_io.runs.run_reader import RunReader
from iap_io.wire.cdr import message_types
from iap_physics.plant.plant import Plant
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.agents import unfollowed
from iap_simulation.loop.pacing import WallClock
from iap_simulation.loop.roles import Observer
from iap_simulation.metrics.flight_scores import FlightScores
from iap_simulation.metrics.metrics import Scores
from iap_simulation.runs.events_so_far import estimate_losses
from iap_simulation.runs.topic_logs import CovarianceLog, topic_logs
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.vehicles.replayed import unreferenced

Progress = Callable[[float], None]


class Viewer(Protocol):
    """Shows a flight while it is flown, and may take part in it.

    Attributes:
        check: set to what is to be called while the flight stands still.
    """

    check: Callable[[], None]

    @property
    def metrics(self) -> Mapping[str, dict[str, Any]]:
        """Keys of metrics.json that say how it took part; none of one that only looked on."""

    def attach(self, simulation: Simulation) -> None:
        """Look at a simulation that has begun."""

    def receive(self, reading: Reading) -> None:
        """Take a reading of a sensor, see `ReadingSink`."""

    def record(self, vehicle: int, step: Step) -> None:
        """Take a control step, see `StepObserver`."""

    def refer(self, k: int, plant: Plant, references: list[Reference]) -> None:
        """Change references, see `Guidance`."""


Say = Callable[[Notice], None]
INTERRUPTED = "interrupted"


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


class Announcer:
    """Says what faults do, when it happens."""

    def __init__(self, flight: Flight, say: Say) -> None:
        of_each = (notices(v.name, v.faults, v.losses) for v in flight.meta.vehicles)
        found = [notice for own in of_each for notice in own]
        self._left, self._say = sorted(found, key=lambda notice: notice.t)[::-1], say

    @classmethod
    def of(cls, flight: Flight, say: Say) -> list[Self]:
        """One where there is anything to say."""
        return [cls(flight, say)] if any(v.faults for v in flight.scenario.vehicles) else []

    def record(self, vehicle: int, step: Step) -> None:  # noqa: ARG002 - it is about the time only
        """Say what is due."""
        while self._left and has_come(self._left[-1].t, step.t):
            self._say(self._left.pop())


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
    return execute(flight, create_run_folder(out, ready.scenario), tree, progress=progress)


def execute(
    flight: Flight,
    folder: Path,
    config: dict[str, Any],
    *,
    progress: Progress,
    say: Say = lambda _: None,
    realtime: bool = False,
    view: bool = False,
    viewer: Viewer | None = None,
) -> Result:
    """Fly, record into `folder`, and score; whatever ends the flight, what was recorded is kept and scored.

    A flight that ends before anything is recorded leaves no folder.

    Args:
        flight: made ready.
        folder: an empty run folder.
        config: the resolved plain tree, kept in the folder.
        progress: called with the simulation time [s].
        say: called when a fault strikes, and when a controller is told of it.
        realtime: keep pace with the wall clock.
        view: open PyBullet's window.
        viewer: shows the flight.

    Raises:
        BadInput: a vehicle starts inside an object, or the recording cannot be read back.
        FlightFailed: it ended before anything was recorded.
        RecordingFailed: nothing could be recorded, or what follows from the recording could not be written.
        KeyboardInterrupt: before anything was recorded, or while it was scored.
    """
    try:
        stats, ending, collisions = _flown(
            flight,
            folder,
            config,
            progress=progress,
            say=say,
            realtime=realtime,
            view=view,
            viewer=viewer,
        )
    except BaseException:
        remove_folder(folder)
        raise
    metrics = score_recording(folder, stats, collisions)
    interrupted = stats.outcome == INTERRUPTED
    return Result(metrics, ending.failure, interrupted, folder, ending.summary, ending.followers)


def _flown(
    flight: Flight,
    folder: Path,
    config: dict[str, Any],
    *,
    progress: Progress,
    say: Say,
    realtime: bool,
    view: bool,
    viewer: Viewer | None,
) -> tuple[RunStats, "_Ending", list[dict[str, Any]]]:
    """Fly and record: what the loop measured of itself, how the flight ended, and its collisions."""
    write_config(folder, config, flight.sensors.suite.infos)
    message_types()  # a tenth of a second once per process, which is no part of the loop
    with Simulation(flight, view=view) as simulation:
        began = time.perf_counter()
        outcome, failure = _fly_recorded(
            simulation,
            flight,
            folder,
            realtime=realtime,
            progress=progress,
            say=say,
            viewer=viewer,
        )
        wall = time.perf_counter() - began
        if simulation.task is not None:
            simulation.task.write(folder)
    stats = _stats(simulation, flight, outcome, wall)
    if viewer is not None:
        stats = replace(stats, tasks={**stats.tasks, **viewer.metrics})
    task, names = simulation.task, simulation.names
    success = "" if failure or task is None else task.success
    followers = frozenset(names).difference(stats.unfollowed)
    ending = _Ending(failure, failure or success or outcome, followers)
    return stats, ending, simulation.participants.monitor.collision_records


class _Ending(NamedTuple):
    """Outcome of a flight, see `Result`."""

    failure: str | None
    summary: str
    followers: frozenset[str]


def _stats(simulation: Simulation, flight: Flight, outcome: str, wall: float) -> RunStats:
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
    scores, outcome, failure = FlightScores(flight.meta), COMPLETED, ""
    flight.write_tracks(scores)
    simulation.begin(observers=[scores])
    began = time.perf_counter()
    try:
        simulation.fly()
        outcome, failure = _outcome(simulation)
    except FlightFailed as error:
        if not simulation.loop.k:
            raise
        outcome, failure = error.outcome, str(error)
    stats = _stats(simulation, flight, outcome, time.perf_counter() - began)
    return {
        **scores.metrics(stats),
        "collisions": simulation.participants.monitor.collision_records,
    }, failure


def _outcome(simulation: Simulation) -> tuple[str, str]:
    """Outcome of a flight that went to its end, and the sentence for the user when its task has failed, else ""."""
    task = simulation.task
    failure = None if task is None else task.failure
    return (COMPLETED, "") if task is None or failure is None else (task.missed, failure)


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


def _fly_recorded(
    simulation: Simulation,
    flight: Flight,
    folder: Path,
    *,
    realtime: bool,
    progress: Progress,
    say: Say,
    viewer: Viewer | None,
) -> tuple[str, str | None]:
    """Outcome of a recorded flight, and the sentence for the user unless it completed.

    Interrupts wait for the end of a control step, of which there is one at least, and for the recording's end.
    Garbage collection waits, since a pause in the loop would be a missed deadline.
    """
    gc.freeze()  # garbage too: to look for it takes a tenth of a second, and it can go after the flight
    recorder: Recorder | None = None
    try:
        with Deferral() as interrupts:
            with Recorder(folder, flight.meta, flight.scenario.recording) as recorder:
                recorder.add_descriptions(flight.descriptions)
                flight.write_tracks(recorder)
                pace = [WallClock()] if realtime else []
                told = Announcer.of(flight, say)
                observers: list[Observer] = [
                    recorder,
                    *topic_logs(simulation, recorder),
                    *CovarianceLog.of(flight, recorder),
                    *pace,
                    *told,
                    interrupts,
                ]
                guidance, sinks = [], list[ReadingSink]([recorder])
                if viewer is not None:
                    viewer.check = interrupts.check
                    observers.append(viewer)
                    guidance.append(viewer)
                    sinks.append(viewer)
                simulation.begin(observers=observers, sinks=sinks, guidance=guidance)
                if viewer is not None:
                    viewer.attach(simulation)
                simulation.fly(progress)
    except (FlightFailed, RecordingFailed, KeyboardInterrupt) as error:
        if recorder is None or not recorder.written:
            raise
        return _ending(error, simulation.t)
    finally:
        gc.unfreeze()
    outcome, failure = _outcome(simulation)
    return outcome, failure or None


def _ending(error: BaseException, t: float) -> tuple[str, str]:
    """One word for metrics.json and the sentence for the user, of what ended a flight at a time [s]."""
    if isinstance(error, FlightFailed):
        return error.outcome, str(error)
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, f"{word(error)} at t = {t:.3f} s"
    return "recording_failed", str(error)
