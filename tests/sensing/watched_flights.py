# SPDX-License-Identifier: BSD-3-Clause
"""Flights with sensors, without a run folder, and everything that the sensors said."""

from dataclasses import dataclass

import numpy as np

from iap_bringup.loop import fly, make_engine, make_plant
from iap_bringup.pacing import StepTimer
from iap_bringup.run import Flight
from iap_bringup.safety import Watch
from iap_bringup.scenario import Options, resolve

SMALL = tuple(
    f"sensors.cameras.{camera}.{key}={value}"
    for camera in ("left", "right")
    for key, value in (
        ("width", 96),
        ("height", 72),
        ("fx", 48.0),
        ("fy", 48.0),
        ("cx", 47.5),
        ("cy", 35.5),
    )
)


class Log:
    """Keeps states and readings."""

    def __init__(self):
        self.t, self.x, self.readings = [], [], []

    def take(self, reading):
        self.readings.append(reading)

    def record(self, vehicle, step):
        self.t.append(step.t)
        self.x.append(step.x.copy())

    def of(self, topic, encoding=None):
        return [
            each
            for each in self.readings
            if each.source.topic == topic and getattr(each, "encoding", None) == encoding
        ]


@dataclass
class Watched:
    """A flight that was flown: its scenario, its sensors, states (T, bodies, 13) at times (T,), and readings."""

    scenario: object
    senses: object
    t: np.ndarray
    x: np.ndarray
    log: Log


def watch(name, *assignments, renderer=None, **options):
    """Fly a scenario and keep what its sensors say; cameras need a renderer."""
    scenario, _ = resolve(name, Options(assignments=assignments, **options))
    flight, log = Flight.of(scenario), Log()
    engine = make_engine(scenario)
    try:
        plant = make_plant(scenario, flight.pilots, engine, flight.senses.probes)
        if flight.senses.has_eyes:
            flight.senses.open_eyes(renderer)
        flight.senses.begin(plant, [log])
        tools = Watch(flight.pilots), StepTimer(), lambda t: None
        fly(plant, flight.pilots, [log], *tools, flight.senses)
    finally:
        engine.close()
    return Watched(scenario, flight.senses, np.array(log.t), np.array(log.x), log)
