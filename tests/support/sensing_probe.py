# SPDX-License-Identifier: BSD-3-Clause
"""What sensors say in one process and over topics, side by side."""

from collections.abc import Iterable

import numpy as np

from iap_bringup.nodes.sensor_log import SensorLog
from iap_description.sensors.readings import Reading
from iap_io.ros.node import EVERY
from iap_io.ros.sensor_topics import message_class
from iap_physics.engines.make import make_engine
from iap_physics.flight_monitor import FlightMonitor
from iap_sensors.cameras.make import make_renderer
from iap_simulation.loop import fly, make_plant
from iap_simulation.pacing import StepTimer
from iap_simulation.run import Flight
from iap_simulation.scenario.plant_spec import plant_spec


class Said:
    """Readings by topic, stamp [ns] and kind of image."""

    def __init__(self) -> None:
        self.readings: dict[str, dict[int, Reading]] = {}

    def take(self, reading: Reading) -> None:
        encoding = getattr(reading, "encoding", "")
        mine = self.readings.setdefault(reading.source.topic + encoding, {})
        mine[round(reading.t * 1e9)] = reading


def said_in_process(scenario) -> Said:
    """All readings of a flight in one process."""
    flight, said = Flight.of(scenario), Said()
    spec = plant_spec(scenario, flight.pilots)
    engine = make_engine(spec.engine)
    renderer = make_renderer(scenario.renderer) if flight.senses.has_cameras else None
    try:
        plant = make_plant(spec, flight.pilots, engine, flight.senses.probes)
        if renderer is not None:
            flight.senses.open_cameras(renderer)
        flight.senses.begin(plant, [said])
        tools = (FlightMonitor(spec), StepTimer(), lambda t: None)
        fly(plant, flight.pilots, [], *tools, flight.senses)
    finally:
        engine.close()
        if renderer is not None:
            renderer.close()
    return said


def hear_sensors(probe, scenario) -> tuple[Said, SensorLog]:
    """Listen to all sensors' topics."""
    said = Said()
    log = SensorLog(Flight.of(scenario).senses.metas, said.take)
    for topic, kind in log.topics.items():
        probe.node.create_subscription(
            message_class(kind),
            topic,
            lambda data, topic=topic: log.put(topic, data),
            EVERY,
            raw=True,
        )
    return said, log


def differences(a: Reading, b: Reading, leave: Iterable[str] = ("t", "source")) -> list[str]:
    """Names of the fields in which two readings differ in any bit, NaN being equal to itself."""
    return [
        name
        for name, value in vars(a).items()
        if name not in leave and not _is_equal(value, getattr(b, name))
    ]


def _is_equal(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return a == b
