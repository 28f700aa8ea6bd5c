# SPDX-License-Identifier: BSD-3-Clause
"""Messages of a scenario's vehicles, and of what is between them, while they stand where they begin."""

from collections.abc import Iterator, Sequence

import numpy as np
from node_bench import Said

from iap_description.sensors.readings import (
    ImageReading,
    ImuReading,
    PoseReading,
    Reading,
    SensorSource,
)
from iap_description.sensors.sensor_info import (
    ENCODINGS,
    CameraSensorInfo,
    CaptureInfo,
    ImuInfo,
    SensorInfo,
)
from iap_description.vehicles.assembly import Assembly
from iap_io.sensor_messages.sensor_messages import Encoder, encoder
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.module_views import JointWrenchesMessage
from iap_io.wire.sample_views import LatchStateMessage, WrenchMessage
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.scenario import Scenario

WEIGHT = np.array([0.0, 0.0, 9.81])  # specific force at rest [m/s^2]
POSE_EVERY = 2  # instants between poses of a motion capture, each of which is as late
PERIOD, ROTORS = 5_000_000, 4  # of control [ns]; of an aircraft
HOVERING_RPM = 4000.0


class StandingVehicle:
    """One vehicle.

    Args:
        space: its namespace.
        assembly: of its platform.
        place: of its bodies [m].
    """

    def __init__(self, space: str, assembly: Assembly, place: Sequence[float]) -> None:
        self._space, count = space, len(assembly.aircraft)
        self._rows = np.zeros((len(assembly.bodies), 13))
        self._rows[:, :3], self._rows[:, 6] = place, 1.0
        self._rpm = np.full((count, ROTORS), HOVERING_RPM)
        self._state = StateMessage.of(assembly, ROTORS * count)
        self._measured = StateMessage.of_names(["base_link"])
        self._reference, self._command = ReferenceMessage.of(count), CommandMessage.of(count)
        self._wrench = WrenchMessage.of(f"{assembly.name}/base_link")

    def __call__(self, k: int) -> Iterator[Said]:
        """Its messages at instant k."""
        stamp, row = k * PERIOD, np.r_[self._rows[0], np.zeros(6 + self._rpm.shape[0])]
        for each in (self._state, self._measured, self._reference, self._command):
            each.put_head(stamp, k)
        self._state.put_rows(self._rows, self._rpm)
        self._measured.put_rows(self._rows[:1], np.zeros((0, ROTORS)))
        self._reference.put_row(row, 0, np.zeros(6))
        self._wrench.put_wrench(stamp, np.array([0.1, 0.0, -0.2, 0.0, 0.01, 0.0]))
        named = {
            "state": self._state,
            "state/measured": self._measured,
            "reference": self._reference,
            "command": self._command,
        }
        yield from ((f"{self._space}/{topic}", each.dump()) for topic, each in named.items())
        for kind in ("raw", "estimated"):
            yield f"{self._space}/wrench/{kind}", self._wrench.dump()


class StandingScenario:
    """All vehicles of a scenario, in the namespace of a simulation of its own."""

    def __init__(self, scenario: Scenario, simulation: str) -> None:
        self._simulation = simulation
        self._latches = LatchStateMessage.of(list(scenario.latches))
        joints = list(scenario.modules.joints) if scenario.modules is not None else []
        self._wrenches = JointWrenchesMessage.of(joints)
        flight = Flight.of(scenario)
        self._vehicles = [
            StandingVehicle(
                f"{simulation}/{each.name}",
                Assembly.of(each.platform, each.name),
                vehicle.start[0][:3],
            )
            for each, vehicle in zip(scenario.vehicles, flight.vehicles, strict=True)
        ]
        infos = flight.sensors.suite.infos
        self._cameras, self._units, self._captures = (
            [(each, encoder(each)) for each in infos if isinstance(each, kind)]
            for kind in (CameraSensorInfo, ImuInfo, CaptureInfo)
        )

    def __call__(self, k: int) -> Iterator[Said]:
        """Messages at instant k."""
        self._latches.put_head(k * PERIOD, k)
        self._wrenches.put_head(k * PERIOD, k)
        yield f"{self._simulation}/latches", self._latches.dump()
        yield f"{self._simulation}/joints/wrenches", self._wrenches.dump()
        for info, encode in self._cameras:
            source = SensorSource(info.topic, info.frame)
            pixels = np.full((info.height, info.width), 5.0, np.float32)
            reading = ImageReading(source, 1e-9 * k * PERIOD, ENCODINGS["depth"], pixels)
            for topic, parts in encode(reading):
                yield f"{self._simulation}{topic}", b"".join(parts)
        for vehicle in self._vehicles:
            yield from vehicle(k)
        yield from ((f"{self._simulation}{topic}", data) for topic, data in self._sensed(k))

    def _sensed(self, k: int) -> Iterator[Said]:
        """Samples of inertial units, and poses of motion captures, at instant k."""
        readings: list[tuple[Encoder, Reading]] = [
            (
                encode,
                ImuReading(
                    _source(info), 1e-9 * k * PERIOD, np.zeros(3), WEIGHT, None, *np.zeros((2, 3))
                ),
            )
            for info, encode in self._units
        ]
        if k >= POSE_EVERY and k % POSE_EVERY == 0:
            t = 1e-9 * (k - POSE_EVERY) * PERIOD
            place, level = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0])
            readings += [
                (encode, PoseReading(_source(info), t, place, level))
                for info, encode in self._captures
            ]
        for encode, reading in readings:
            yield from ((topic, b"".join(parts)) for topic, parts in encode(reading))


def _source(info: SensorInfo) -> SensorSource:
    return SensorSource(info.topic, info.frame)
