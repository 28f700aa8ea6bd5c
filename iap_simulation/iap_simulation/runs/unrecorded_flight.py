# SPDX-License-Identifier: BSD-3-Clause
"""Flights without a run folder, of which every state and every reading is kept: for studies and tests."""

from functools import cached_property

import numpy as np

from iap_description.arrays import Array
from iap_description.sensors.readings import ImageReading, ImuReading, Reading
from iap_description.signals import Step
from iap_sensors.cameras.renderer import Renderer
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.recorded_flight import Progress
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation


class UnrecordedFlight:
    """States and readings of a flight of one vehicle; an observer and a sink of its simulation.

    Args:
        scenario: as resolved.

    Attributes:
        readings: in the order in which they came.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.readings: list[Reading] = []
        self._states: list[tuple[float, Array]] = []

    def receive(self, reading: Reading) -> None:
        """Keep a reading."""
        self.readings.append(reading)

    def record(self, vehicle: int, step: Step) -> None:
        """Keep a state."""
        self._states.append((step.t, step.x.copy()))

    @cached_property
    def t(self) -> Array:
        """(T,) times of the control instants of the whole flight [s]."""
        return np.array([t for t, _ in self._states])

    @cached_property
    def x(self) -> Array:
        """(T, bodies, 13) states of the whole flight."""
        return np.array([x for _, x in self._states])

    def of(self, topic: str) -> list[Reading]:
        """The readings of one sensor."""
        return [each for each in self.readings if each.source.topic == topic]

    def images(self, topic: str) -> list[ImageReading]:
        """The images of one camera."""
        return [each for each in self.of(topic) if isinstance(each, ImageReading)]

    def inertial(self, topic: str) -> list[ImuReading]:
        """The samples of one inertial unit."""
        return [each for each in self.of(topic) if isinstance(each, ImuReading)]


def fly_unrecorded(
    flight: Flight,
    log: UnrecordedFlight,
    renderer: Renderer | None,
    progress: Progress = lambda _: None,
) -> None:
    """Fly without a run folder.

    Args:
        flight: of one vehicle.
        log: keeps its states and receives its readings.
        renderer: for the cameras; whoever made it closes it.
        progress: called with the simulation time [s].
    """
    with Simulation(flight, renderer=renderer, render=renderer is not None) as simulation:
        simulation.begin(observers=[log], sinks=[log])
        simulation.fly(progress)


def watch(name: str, options: Options, renderer: Renderer | None = None) -> UnrecordedFlight:
    """Fly a scenario with one vehicle; cameras need a renderer, which whoever made it closes."""
    log = UnrecordedFlight(resolve(name, options)[0])
    fly_unrecorded(Flight.of(log.scenario), log, renderer)
    return log
