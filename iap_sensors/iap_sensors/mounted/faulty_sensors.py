# SPDX-License-Identifier: BSD-3-Clause
"""Sensors that fall silent or freeze: what is left of readings on their way out."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from iap_description.sensors.mounts import space
from iap_description.sensors.readings import Reading
from iap_description.vehicles.faults import SensorFault
from iap_sensors.mounted.rig_spec import RigSpec, RigVehicle


class FaultySensors:
    """Drops readings of silent sensors, and repeats the last ones of frozen sensors with new stamps.

    The sensors themselves go on, so that their noise after the fault is what it would have been.

    Args:
        rig: with its vehicles' faults.
    """

    def __init__(self, rig: RigSpec) -> None:
        self._faults: dict[str, list[SensorFault]] = {}  # by the sensors' topics
        for vehicle in rig.vehicles:
            for fault in vehicle.faults:
                for topic in _topics(vehicle, fault):
                    self._faults.setdefault(topic, []).append(fault)
        self._last: dict[tuple[str, str], Reading] = {}

    def __call__(self, readings: Iterable[Reading]) -> Iterable[Reading]:
        """Readings with the faults on them, in their order."""
        return self._with_faults(readings) if self._faults else readings

    def _with_faults(self, readings: Iterable[Reading]) -> Iterator[Reading]:
        for reading in readings:
            faults = self._faults.get(reading.source.topic, ())
            fault = next((each for each in faults if each.acts(reading.t)), None)
            if fault is None:
                if faults:
                    self._last[_stream(reading)] = reading
                yield reading
            elif fault.output == "frozen":
                last = self._last.get(_stream(reading))
                if last is not None and last.t < reading.t:  # else it is of another flight
                    yield replace(last, t=reading.t)


def _stream(reading: Reading) -> tuple[str, str]:
    """The sensor of a reading, and which of its outputs it is: images of several encodings share a source."""
    return reading.source.topic, str(getattr(reading, "encoding", ""))


def _topics(vehicle: RigVehicle, fault: SensorFault) -> list[str]:
    """The topics of the sensors that a fault strikes."""
    assembly = vehicle.assembly
    bodies = sorted({0, *assembly.aircraft})
    if fault.aircraft is not None:
        bodies = [assembly.aircraft[fault.aircraft - 1]]
    return [f"{space(assembly, body)}/{fault.sensor}" for body in bodies]
