# SPDX-License-Identifier: BSD-3-Clause
"""Made-up flights for the tests of recording, metrics and plots."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from iap_control.actuation.kinds import platform_model
from iap_description.math import so3
from iap_description.signals import Reference, Step, WrenchRecord
from iap_description.states import Command, Level, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_io.recording.recorder import Recorder
from iap_io.runs.run_folder import RunData
from iap_io.runs.run_meta import RunMeta
from iap_io.runs.vehicle_meta import VehicleMeta

DT = 0.005
Record = Callable[..., RunData]


@dataclass
class Flight:
    """Rows of one vehicle, to be changed by a test before they are recorded."""

    meta: VehicleMeta
    t: np.ndarray
    x: np.ndarray
    reference: np.ndarray
    commands: list[Command]
    rpm: np.ndarray
    tilt: np.ndarray
    wrench_record: list[WrenchRecord] | None = None

    def record(self, recorder: Recorder, k: int, vehicle: int = 0) -> None:
        """Hand over tick k."""
        reference = Reference(self.reference[k], Level.POSE)
        felt = self.wrench_record[k] if self.wrench_record else None
        row = (self.x[k], reference, self.commands[k], self.rpm[k], felt)
        step = Step(k, self.t[k], *row, tilt=self.tilt[k])
        recorder.record(vehicle, step)


def vehicle_meta(platform: str, name: str = "iap", stop: float = 100.0) -> VehicleMeta:
    """The meta of a shipped or generated platform."""
    what = load_platform(platform)
    assembly = Assembly.of(what, name)
    model = platform_model(assembly, what.fleet, gravity=9.81, com_coupling=True)
    return VehicleMeta.of(
        assembly, what, model.controlled_angles, gains="default", window_s=(0.0, stop)
    )


def random_flight(platform: str, ticks: int, name: str = "iap", seed: int = 0) -> Flight:
    """Random numbers in every field, with unit quaternions."""
    rng = np.random.default_rng(seed)
    meta = vehicle_meta(platform, name)
    count = meta.count
    x = rng.normal(size=(ticks, len(meta.bodies), 13))
    x[..., 3:7] = so3.normalized(x[..., 3:7])
    reference = rng.normal(size=(ticks, 19 + count))
    reference[:, 3:7] = so3.normalized(reference[:, 3:7])
    commands = [
        Command(
            Mode(int(rng.integers(4))),
            rng.normal(size=6),
            rng.normal(size=count),
            so3.normalized(rng.normal(size=(count, 4))),
            rng.normal(size=(count, 3)),
            rng.normal(size=(count, 4)),
            rng.normal(size=(count, 4)),
        )
        for _ in range(ticks)
    ]
    rpm, tilt = rng.normal(size=(2, ticks, count, 4))
    return Flight(meta, np.arange(ticks) * DT, x, reference, commands, rpm, tilt)


def steady_flight(platform: str, ticks: int, name: str = "iap") -> Flight:
    """A flight along x at 1 m/s, level, exactly on its reference, at 20 N an aircraft."""
    flight = random_flight(platform, ticks, name)
    flight.x[:], flight.reference[:] = 0.0, 0.0
    flight.x[..., 0] = flight.reference[:, :1] = flight.t[:, None]
    flight.x[..., 6] = flight.reference[:, 6:7] = 1.0
    flight.x[..., 7] = flight.reference[:, 7:8] = 1.0
    flight.rpm[:] = np.sqrt(20.0 / 4.0 / flight.meta.thrust_coefficient)
    for command in flight.commands:
        command.mode = Mode.ATTITUDE_THRUST
        command.thrust[:] = 20.0
    return flight


def run_meta(*flights: Flight) -> RunMeta:
    """The run of some flights."""
    vehicles = tuple(flight.meta for flight in flights)
    return RunMeta(
        scenario="made_up", seed=1, physics_hz=1000.0, control_hz=1.0 / DT, vehicles=vehicles
    )
