# SPDX-License-Identifier: BSD-3-Clause
"""A run folder made of messages, the same as the one of the loop in one process, and the task of such a flight."""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from iap_bringup.nodes.estimate_losses import EstimateLosses
from iap_bringup.nodes.modules_replay import ModulesReplay
from iap_bringup.nodes.plant_replay import LastValue, PlantReplay
from iap_bringup.nodes.recorded_topics import expected_topics
from iap_control.modules.joint_states import joints_message
from iap_description.sensors.readings import Reading
from iap_description.signals import EstimateHealth, Step
from iap_estimation.navigation.health import Worst
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.recording.note_chunk import Note
from iap_io.recording.recorder import Recorder
from iap_io.recording.step_synchronizer import StepSynchronizer
from iap_io.runs import topics
from iap_io.runs.run_folder import write_config
from iap_io.runs.run_meta import COMPLETED, DIVERGED, LOST, RunStats
from iap_io.wire.message_views import StateMessage
from iap_io.wire.sample_views import LatchStateMessage
from iap_io.wire.stamps import SECOND, stamp_of_time
from iap_physics.session.flight_monitor import CRASHED
from iap_simulation.docking.monitor import DockingMonitor
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.agents import info_of, make_agent, unfollowed
from iap_simulation.loop.estimate_monitor import TouchSpeed
from iap_simulation.modules.monitor import ModulesMonitor
from iap_simulation.runs.recorded_flight import INTERRUPTED
from iap_simulation.runs.run import score_recording
from iap_simulation.runs.topic_logs import NO_ROTORS, note_of
from iap_simulation.scenario.modules import is_coordinated
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.tasks.monitor import ObservedPlant, TaskMonitor
from iap_simulation.vehicles.endings import is_far


class FlightReplay:
    """Follows the task of a flight by messages, if it has one, with the monitor of the closed loop.

    Args:
        flight: by nodes.

    Attributes:
        task: monitor of the task; None where there is none.
        policy: key `policy` of metrics.json; None where the vehicles' own controllers fly.
        unfollowed: names of the vehicles whose references nobody follows.

    Raises:
        BadInput: there is no such policy, or it cannot fly this scenario; or nodes cannot coordinate its modules.
    """

    def __init__(self, flight: Flight) -> None:
        scenario, vehicles = flight.scenario, flight.vehicles
        self._plant = PlantReplay(scenario)
        self._modules = ModulesReplay(flight) if is_coordinated(scenario) else None
        self.task: TaskMonitor[ObservedPlant] | None = None
        self.policy: dict[str, Any] | None = None
        self.unfollowed: tuple[str, ...] = ()
        if self._modules is not None:
            self.task = ModulesMonitor(self._modules, vehicles)
            return
        agent = make_agent(scenario, vehicles)
        self.policy = None if agent is None else info_of(agent, scenario)
        self.unfollowed = unfollowed(agent, [each.name for each in vehicles])
        self.task = DockingMonitor.of(scenario) or getattr(agent, "task", None)
        if self.task is not None:
            self.task.warm_up()  # nodes that fly do not wait for it

    def update(self, ticks: Sequence[Step], last: LastValue) -> None:
        """Take an instant; the task begins with the second one, as in the closed loop.

        Args:
            ticks: of all vehicles.
            last: returns the value of a vehicle's topic at that instant, or the last one before.
        """
        self._plant.update(ticks, last)
        if self._modules is not None:
            self._modules.update(ticks, last)
        if self.task is not None and ticks[0].k > 0:
            self.task.observe(self._plant)

    @property
    def is_over(self) -> bool:
        """True if the task has come to its end."""
        return self.task is not None and self.task.is_over

    @property
    def missed(self) -> str | None:
        """Outcome of a flight whose task has not succeeded; None of a success, or without a task."""
        return None if self.task is None or self.task.failure is None else self.task.missed

    def task_metrics(self, folder: Path) -> dict[str, dict[str, Any]]:
        """Metrics of the task by its key in metrics.json; what is recorded of it besides is written into a run folder.

        Raises:
            RecordingFailed: that cannot be written.
        """
        if self.task is None:
            return {}
        self.task.write(folder)
        return {self.task.key: self.task.metrics(self._plant)}


class NodeRecording:
    """Records from the first complete tick to the end of the references, or until it is closed.

    Args:
        flight: what is flown.
        config: its resolved plain tree, kept in the folder.
        folder: an empty run folder.

    Attributes:
        folder: of the run.
        synchronizer: takes the messages.
        outcome: one word for metrics.json once the flight is over, before that None.
        has_lost_estimate: whether a controller says that the estimate is lost which it flies on.
        collisions: as metrics.json has them.
        landings: of vehicles, by their names, as physics_node has measured them.
        control_step_us: mean time of a control step, as the controllers say.
        missed: number of control periods between the first and the last that are not recorded.
    """

    def __init__(self, flight: Flight, config: dict[str, Any], folder: Path) -> None:
        self.folder = folder
        self.synchronizer = StepSynchronizer(expected_topics(flight), self._write)
        self._replay = FlightReplay(flight)
        self._notes = Notes(flight.scenario)
        self.outcome: str | None = None
        self.has_lost_estimate = False
        self.collisions: list[dict[str, Any]] = []
        self.landings: dict[str, dict[str, Any]] = {}
        self.control_step_us = math.nan
        self.missed = 0
        self._dt = flight.scenario.dt
        self._end = flight.duration - 0.5 * self._dt
        self._began = self._wall = time.perf_counter()
        self._t = 0.0
        self._has_ticks = self._is_far = False
        self._k = -1
        self._failsafes = flight.failsafes
        self._estimated: dict[int, int] = {}  # by vehicle, stamp of the newest estimate [ns]
        self._touchdowns = [TouchSpeed() for _ in flight.vehicles]
        self._names = [vehicle.name for vehicle in flight.vehicles]
        self._worst: dict[int, Worst] = {}
        self._losses = {
            i: EstimateLosses(flight.scenario.vehicles[i].control.state_source, spec)
            for i, spec in flight.failsafes.items()
        }
        write_config(folder, config, flight.sensors.suite.infos)
        self._recorder = Recorder(folder, flight.meta, flight.scenario.recording)
        self._recorder.add_descriptions(flight.descriptions)
        flight.write_tracks(self._recorder)

    def take_over(self, before: "NodeRecording") -> None:
        """Take what the run before this one was given of ticks that it had passed, before it is closed."""
        self.synchronizer.take_over(before.synchronizer)

    def receive(self, reading: Reading) -> None:
        """Record a reading, unless it is of a time after the flight's end."""
        if reading.t < self._end + self._dt:
            self._recorder.receive(reading)

    def note_health(self, number: int, t: float, health: EstimateHealth) -> None:
        """Note what an estimator of a vehicle says of itself at a time [s]."""
        if number in self._losses:
            self._losses[number].note(t, health)
        self._worst[number] = self._worst.get(number, Worst()).with_one(health)

    def note_estimate(self, number: int, stamp: int) -> None:
        """Note that there is an estimate of a vehicle at a time [ns]."""
        self._estimated[number] = max(stamp, self._estimated.get(number, 0))

    def note_state(self, number: int, stamp: int) -> None:
        """Note the true state of a vehicle at a time [ns]; without an estimate for too long the flight is over."""
        spec = self._failsafes.get(number)
        if spec and stamp - self._estimated.get(number, 0) > spec.silence * SECOND:
            self.outcome = self.outcome or LOST

    def end(self, outcome: str) -> None:
        """End a flight that physics_node calls failed; one that came down without its estimate may have landed."""
        if self.outcome is None:
            hardest = max(self._touchdowns, key=lambda each: each.speed)
            landed = self.has_lost_estimate and outcome == CRASHED
            self.outcome = hardest.outcome if landed else outcome

    @property
    def stamp(self) -> int:
        """Stamp of the last tick [ns]."""
        return stamp_of_time(self._t)

    def close(self) -> None:
        """Complete the bag; a flight that is not over counts as interrupted."""
        try:
            if self.outcome is None:
                self.synchronizer.finish()
            self.outcome = self.outcome or INTERRUPTED
            self._recorder.close()
        except RecordingFailed:
            self.outcome = "recording_failed"
            raise

    def score(self) -> dict[str, Any]:
        """Write metrics and trajectories of the closed run; returns metrics.json.

        Raises:
            BadInput: nothing was recorded.
            RecordingFailed: what is recorded of the task cannot be written.
        """
        wall = self._wall - self._began
        health = {self._names[i]: each.keys() for i, each in self._worst.items()}
        outcome = self.outcome or INTERRUPTED
        tasks = self._replay.task_metrics(self.folder)
        timing = (outcome, self._t, wall, self.control_step_us)
        policy, landings = self._replay.policy, self.landings
        losses = {self._names[i]: each.events for i, each in self._losses.items()}
        rest: dict[str, Any] = {"tasks": tasks, "policy": policy, "landings": landings}
        stats = RunStats(
            *timing, losses=losses, health=health, unfollowed=self._replay.unfollowed, **rest
        )
        return score_recording(self.folder, stats, self.collisions)

    def _write(self, ticks: Sequence[Step]) -> None:
        if self.outcome is not None:
            return
        self._wall = time.perf_counter()
        if not self._has_ticks:
            self._began, self._has_ticks = self._wall, True
        for note in self._notes.of(ticks[0], self.synchronizer.last):
            self._recorder.note(note)
        self._replay.update(ticks, self.synchronizer.last)
        for i, tick in enumerate(ticks):
            self._recorder.record(i, tick)
            self._touchdowns[i].note(tick.x[0])
        self._t = ticks[0].t
        self._k, before = ticks[0].k, self._k
        self.missed += self._k - before - 1 if before >= 0 else 0
        was_far, self._is_far = (
            self._is_far,
            any(is_far(tick.x[0], tick.reference.row) for tick in ticks),
        )
        if was_far and self._is_far:  # one state alone may be a stranger's
            self.outcome = DIVERGED
        elif self._t > self._end:
            self.outcome = LOST if self.has_lost_estimate else self._completed
        elif self._replay.is_over:
            self.outcome = self._completed

    @property
    def _completed(self) -> str:
        """Outcome of a flight that has come to its end."""
        return self._replay.missed or COMPLETED


class Notes:
    """Notes of latches, joints between modules and objects for the bag.

    Args:
        scenario: that is flown.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._latches = LatchStateMessage.of(list(scenario.latches)) if scenario.latches else None
        self._objects, self._joints = None, None
        if scenario.world.has_free_objects:
            self._objects = StateMessage.of_names(list(scenario.world.objects))
        if is_coordinated(scenario):
            assert scenario.modules is not None
            names = [vehicle.name for vehicle in scenario.vehicles]
            self._joints = joints_message(scenario.modules, names)

    def of(self, first: Step, last: Callable[[int, str], Any]) -> list[Note]:
        """Notes at an instant, of its first vehicle's tick; without a message there is none."""
        notes = []
        phases, joints = last(0, topics.LATCHES), last(0, topics.JOINTS)
        if self._latches is not None and phases is not None:
            self._latches.phases[:] = phases
            notes.append(note_of(topics.LATCHES, self._latches, first))
        if self._joints is not None and joints is not None:
            self._joints.put(joints)
            notes.append(note_of(topics.JOINTS, self._joints, first))
        objects = last(0, topics.WORLD_STATE)
        if self._objects is not None and objects is not None:
            self._objects.put_rows(objects, NO_ROTORS)
            notes.append(note_of(topics.OBJECTS, self._objects, first))
        return notes
