# SPDX-License-Identifier: BSD-3-Clause
"""Records latches, joints between modules, objects and covariances of estimates, as messages of topics."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from iap_control.modules.joint_states import joint_states, joints_message
from iap_description.signals import Step
from iap_io.recording.note_chunk import Note
from iap_io.recording.recorder import Recorder
from iap_io.runs.topics import JOINTS, LATCHES, OBJECTS, covariance_topics
from iap_io.wire.message import Message
from iap_io.wire.message_views import StateMessage
from iap_io.wire.sample_views import LatchStateMessage, UncertainPoseMessage
from iap_io.wire.stamps import stamp_of_time
from iap_physics.latching.latches import Latches
from iap_physics.plant.plant import Plant
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.roles import Observer
from iap_simulation.modules.in_flight import ModulesInFlight
from iap_simulation.runs.estimate_covariances import EstimateCovariances
from iap_simulation.scenario.scenario import Scenario

NO_ROTORS = np.zeros(0)


class LoggedSimulation(Protocol):
    """A simulation that has begun by the first step."""

    @property
    def scenario(self) -> Scenario:
        """The resolved scenario."""

    @property
    def plant(self) -> Plant:
        """The plant of the flight."""

    @property
    def modules(self) -> ModulesInFlight | None:
        """Modules that dock; None where there are none."""


class LatchLog:
    """Records what latches are doing at every control instant, once for all vehicles."""

    def __init__(self, simulation: LoggedSimulation, recorder: Recorder) -> None:
        self._simulation, self._recorder = simulation, recorder
        self._message = LatchStateMessage.of(list(simulation.scenario.latches))

    def record(self, vehicle: int, step: Step) -> None:
        """Record them with the first vehicle."""
        latches = self._simulation.plant.part(Latches)
        if vehicle == 0 and latches is not None:
            self._message.phases[:] = latches.numbers
            self._recorder.note(note_of(LATCHES, self._message, step))


class JointsLog:
    """Records what joints between modules do at every control instant, once for all vehicles."""

    def __init__(self, simulation: LoggedSimulation, recorder: Recorder) -> None:
        self._simulation, self._recorder = simulation, recorder
        scenario = simulation.scenario
        spec, names = scenario.modules, [each.name for each in scenario.vehicles]
        assert spec is not None
        self._message = joints_message(spec, names)

    def record(self, vehicle: int, step: Step) -> None:
        """Record them with the first vehicle."""
        modules = self._simulation.modules
        if vehicle == 0 and modules is not None:
            self._message.put(joint_states(modules.coordinator))
            self._recorder.note(note_of(JOINTS, self._message, step))


class ObjectLog:
    """Records states of the world's objects at every control instant, once for all vehicles."""

    def __init__(self, simulation: LoggedSimulation, recorder: Recorder) -> None:
        self._simulation, self._recorder = simulation, recorder
        self._message = StateMessage.of_names(list(simulation.scenario.world.objects))

    def record(self, vehicle: int, step: Step) -> None:
        """Record them with the first vehicle."""
        if vehicle == 0:
            self._message.put_rows(self._simulation.plant.engine.object_states(), NO_ROTORS)
            self._recorder.note(note_of(OBJECTS, self._message, step))


class CovarianceLog:
    """Records estimated poses with the covariances of their positions, as often as these are looked at."""

    def __init__(self, flight: Flight, recorder: Recorder) -> None:
        self._recorder, self._covariances = recorder, EstimateCovariances(flight)
        self._message = UncertainPoseMessage.empty()
        self._topics = [
            {f"{each.name}/{body}": topic for body, topic in covariance_topics(each).items()}
            for each in flight.meta.vehicles
        ]
        self._recorded: list[object] = [None for _ in self._topics]

    @classmethod
    def of(cls, flight: Flight, recorder: Recorder) -> "list[CovarianceLog]":
        """One where a vehicle flies on an estimate."""
        return [cls(flight, recorder)] if flight.navigators else []

    def record(self, vehicle: int, step: Step) -> None:
        """Record the covariances that are new."""
        known = self._covariances.at(step.t)
        if step.estimated is None or known is self._recorded[vehicle]:
            return
        self._recorded[vehicle] = known
        for (name, topic), row in zip(self._topics[vehicle].items(), step.estimated, strict=True):
            covariance = known.get(name)
            if covariance is not None and np.isfinite(covariance).all():
                self._message.pose[:], self._message.covariance[:3, :3] = row[:7], covariance
                self._recorder.note(note_of(topic, self._message, step))


def topic_logs(simulation: LoggedSimulation, recorder: Recorder) -> Sequence[Observer]:
    """Logs of a flight: of latches, of joints between modules, and of objects that move freely."""
    scenario, logs = simulation.scenario, list[Observer]()
    if scenario.latches:
        logs.append(LatchLog(simulation, recorder))
    if scenario.modules is not None and scenario.modules.joints:
        logs.append(JointsLog(simulation, recorder))
    if scenario.world.has_free_objects:
        logs.append(ObjectLog(simulation, recorder))
    return logs


def note_of(topic: str, message: Message, step: Step) -> Note:
    """Note of a message at a step, for the recorder."""
    stamp = stamp_of_time(step.t)
    message.put_head(stamp, step.k)
    return Note(topic, stamp, message.dump())
