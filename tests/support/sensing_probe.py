# SPDX-License-Identifier: BSD-3-Clause
"""Readings of sensors in one process and over topics, side by side."""

from collections.abc import Iterable

import numpy as np

from iap_bringup.nodes.sensor_log import SensorLog
from iap_description.sensors.readings import Reading
from iap_io.ros.message_classes import message_class
from iap_io.ros.node import EVERY
from iap_simulation.flights.flight import Flight
from iap_simulation.simulation.simulation import Simulation


class Said:
    """Readings by topic, stamp [ns] and kind of image."""

    def __init__(self) -> None:
        self.readings: dict[str, dict[int, Reading]] = {}

    def receive(self, reading: Reading) -> None:
        encoding = getattr(reading, "encoding", "")
        mine = self.readings.setdefault(reading.source.topic + encoding, {})
        mine[round(reading.t * 1e9)] = reading


def said_in_process(scenario) -> Said:
    """All readings of a flight in one process."""
    said = Said()
    with Simulation(Flight.of(scenario)) as simulation:
        simulation.begin(sinks=[said])
        simulation.fly()
    return said


def hear_sensors(probe, scenario) -> tuple[Said, SensorLog]:
    """Listen to all sensors' topics."""
    said = Said()
    log = SensorLog(Flight.of(scenario).sensors.suite.infos, said.receive)
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
