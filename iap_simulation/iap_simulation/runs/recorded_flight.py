# SPDX-License-Identifier: BSD-3-Clause
"""A flight that is recorded while it is flown, and what accompanies it."""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
from iap_io.runs.run_meta import COMPLETED
from iap_physics.plant.plant import Plant
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.pacing import WallClock
from iap_simulation.loop.roles import Observer
from iap_simulation.runs.topic_logs import CovarianceLog, topic_logs
from iap_simulation.simulation.simulation import Simulation

Progress = Callable[[float], None]
Say = Callable[[Notice], None]
INTERRUPTED = "interrupted"


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


@dataclass(frozen=True)
class RunOptions:
    """Options of a run: those who follow the flight, and its pace.

    Attributes:
        progress: called with the simulation time [s].
        say: called when a fault strikes, and when a controller learns of it.
        realtime: keep pace with the wall clock.
        view: open PyBullet's window.
        viewer: shows the flight.
    """

    progress: Progress = lambda _: None
    say: Say = lambda _: None
    realtime: bool = False
    view: bool = False
    viewer: Viewer | None = None


class Ending(NamedTuple):
    """How a flight ended.

    Attributes:
        outcome: one word for metrics.json.
        failure: the sentence for the user, unless the flight completed.
    """

    outcome: str
    failure: str | None = None

    @classmethod
    def of(cls, simulation: Simulation) -> Self:
        """Of a flight that went to its end, which its task may have missed."""
        task = simulation.task
        failure = None if task is None else task.failure
        return cls(COMPLETED) if task is None or failure is None else cls(task.missed, failure)

    @classmethod
    def by(cls, error: BaseException, t: float) -> Self:
        """By an error or an interrupt at a time [s]."""
        if isinstance(error, FlightFailed):
            return cls(error.outcome, str(error))
        if isinstance(error, KeyboardInterrupt):
            return cls(INTERRUPTED, f"{word(error)} at t = {t:.3f} s")
        return cls("recording_failed", str(error))


class Announcer:
    """Says what faults do, when it happens."""

    def __init__(self, flight: Flight, say: Say) -> None:
        of_each = (notices(v.name, v.faults, v.losses) for v in flight.meta.vehicles)
        due = [notice for own in of_each for notice in own]
        self._left, self._say = sorted(due, key=lambda notice: notice.t)[::-1], say

    @classmethod
    def of(cls, flight: Flight, say: Say) -> list[Self]:
        """One where there is anything to say."""
        return [cls(flight, say)] if any(v.faults for v in flight.scenario.vehicles) else []

    def record(self, vehicle: int, step: Step) -> None:  # noqa: ARG002 - it is about the time only
        """Say what is due."""
        while self._left and has_come(self._left[-1].t, step.t):
            self._say(self._left.pop())


def fly_recorded(
    simulation: Simulation, flight: Flight, folder: Path, options: RunOptions
) -> Ending:
    """Fly a simulation that has not begun into a run folder.

    Interrupts wait for the end of a control step, of which there is one at least, and for the recording's end.
    Garbage collection waits, since a pause in the loop would be a missed deadline.

    Raises:
        BadInput: a vehicle starts inside an object.
        FlightFailed: it ended before anything was recorded.
        RecordingFailed: nothing could be recorded.
        KeyboardInterrupt: before anything was recorded.
    """
    gc.freeze()  # garbage too: to look for it takes a tenth of a second, and it can go after the flight
    recorder: Recorder | None = None
    try:
        with Deferral() as interrupts:
            with Recorder(folder, flight.meta, flight.scenario.recording) as recorder:
                recorder.add_descriptions(flight.descriptions)
                flight.write_tracks(recorder)
                _begin(simulation, flight, recorder, interrupts, options)
                simulation.fly(options.progress)
    except (FlightFailed, RecordingFailed, KeyboardInterrupt) as error:
        if recorder is None or not recorder.written:
            raise
        return Ending.by(error, simulation.t)
    finally:
        gc.unfreeze()
    return Ending.of(simulation)


def _begin(
    simulation: Simulation,
    flight: Flight,
    recorder: Recorder,
    interrupts: Deferral,
    options: RunOptions,
) -> None:
    """Begin a flight before those who record, pace, announce, show and interrupt it."""
    viewer = options.viewer
    viewers = [] if viewer is None else [viewer]
    observers: list[Observer] = [
        recorder,
        *topic_logs(simulation, recorder),
        *CovarianceLog.of(flight, recorder),
        *([WallClock()] if options.realtime else []),
        *Announcer.of(flight, options.say),
        interrupts,
        *viewers,
    ]
    sinks: list[ReadingSink] = [recorder, *viewers]
    if viewer is not None:
        viewer.check = interrupts.check
    simulation.begin(observers=observers, sinks=sinks, guidance=viewers)
    if viewer is not None:
        viewer.attach(simulation)
