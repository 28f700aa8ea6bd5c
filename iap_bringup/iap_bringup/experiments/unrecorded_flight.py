# SPDX-License-Identifier: BSD-3-Clause
"""Flights without a run folder, of which every state and all that the sensors said is kept: for studies and tests."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.readings import ImageReading, ImuReading, Reading
from iap_description.signals import Step
from iap_sensors.cameras.renderer import Renderer
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.flight import Flight
from iap_simulation.run import Progress
from iap_simulation.scenario.scenario import Options, Scenario, resolve
from iap_simulation.simulation import Simulation

Array = NDArray[np.float64]


@dataclass
class Log:
    """States of a flight of one vehicle, and readings.

    Attributes:
        t: times [s].
        x: (bodies, 13) rows at each.
        readings: in the order in which they came.
    """

    t: list[float] = field(default_factory=list)
    x: list[Array] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)

    def receive(self, reading: Reading) -> None:
        """Keep a reading."""
        self.readings.append(reading)

    def record(self, vehicle: int, step: Step) -> None:
        """Keep a state."""
        self.t.append(step.t)
        self.x.append(step.x.copy())


@dataclass(frozen=True)
class Watched:
    """What was flown, seen and felt.

    Attributes:
        scenario: as resolved.
        t: (T,) times of the control instants [s].
        x: (T, bodies, 13) states.
        readings: in the order in which they came.
    """

    scenario: Scenario
    t: Array
    x: Array
    readings: list[Reading]

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
    log: Log,
    sink: ReadingSink,
    renderer: Renderer | None,
    tell: Progress = lambda _: None,
) -> None:
    """Fly without a run folder.

    Args:
        flight: of one vehicle.
        log: keeps the states.
        sink: receives the readings.
        renderer: for what has cameras; whoever made it closes it.
        tell: is told the time in the flight [s].
    """
    with Simulation(flight, renderer=renderer, render=renderer is not None) as simulation:
        simulation.begin(observers=[log], sinks=[sink])
        simulation.fly(tell)


def watch(name: str, options: Options, renderer: Renderer | None = None) -> Watched:
    """Fly a scenario with one vehicle; what has cameras needs a renderer, which whoever made it closes."""
    scenario, _ = resolve(name, options)
    log = Log()
    fly_unrecorded(Flight.of(scenario), log, log, renderer)
    return Watched(scenario, np.array(log.t), np.array(log.x), log.readings)
