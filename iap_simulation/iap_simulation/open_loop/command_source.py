# SPDX-License-Identifier: BSD-3-Clause
"""A vehicle of one aircraft that flies a log's commands, and the protocol of these commands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.states import Command
from iap_description.vehicles.aircraft import ROTORS, Aircraft
from iap_io.flight_logs.flight_log import FlightLog
from iap_physics.plant.plant_spec import PlantSpec


@dataclass(frozen=True)
class ReplayAircraft:
    """The only aircraft of a plant.

    Attributes:
        spec: of the plant.
        aircraft: itself.
        mass: of the whole vehicle [kg].
    """

    spec: PlantSpec
    aircraft: Aircraft
    mass: float

    @classmethod
    def of(cls, spec: PlantSpec) -> Self:
        """The aircraft of a plant's specification.

        Raises:
            BadInput: there are several, it is on joints, or it has other rotors than four upright ones.
        """
        (vehicle,) = spec.vehicles
        platform, assembly = vehicle.platform, vehicle.assembly
        if len(platform.fleet) != 1 or len(assembly.bodies) != 1:
            raise BadInput(
                f"platform {platform.name}: {len(platform.fleet)} aircraft, {len(assembly.bodies)} bodies; a log's"
                " commands are flown by one aircraft: --platform f450, or the platform.yaml of 'iap identify'"
            )
        (aircraft,) = platform.fleet
        if len(aircraft.rotors) != ROTORS or aircraft.is_vectored:
            raise BadInput(f"platform {platform.name}: {ROTORS} upright rotors are expected")
        return cls(spec, aircraft, float(assembly.mass))

    def speeds(self, thrusts: Array) -> Array:
        """Rotor speeds (..., 4) [rpm] of thrusts [N]."""
        return np.asarray(np.sqrt(np.maximum(thrusts, 0.0) / self.aircraft.rotor.c_f))

    def rotors_of(self, log: FlightLog) -> list[int]:
        """For each rotor, the number of the log's motor at its place.

        Raises:
            BadInput: the log has another number of motors, or does not say where they are.
        """
        if log.rotors and log.rotors != ROTORS:
            raise BadInput(f"{log.path}: {log.rotors} rotors; {ROTORS} are flown")
        if log.motor_places is None:
            raise BadInput(f"{log.path}: where its motors are is not known for this frame")
        places = [tuple(np.sign(each.position[:2]).astype(int)) for each in self.aircraft.rotors]
        return _matched(places, log.motor_places) if log.motor_places else list(range(ROTORS))


def _matched(rotors: Sequence[tuple[int, ...]], motors: Sequence[tuple[int, int]]) -> list[int]:
    """The motor at the place of each rotor, both by the signs of x and y."""
    if sorted(rotors) != sorted(motors):
        raise BadInput(
            f"motors at {motors}, rotors of the platform at {rotors}: X frames alone match"
        )
    return [motors.index((x, y)) for x, y in rotors]


class CommandSource(Protocol):
    """Commands of one log, on the rows of a table whose grid is that of control."""

    @property
    def is_stable(self) -> bool:
        """Whether attitudes stay bounded without feedback from the log, so that the whole flight is one window."""

    @property
    def thrust(self) -> Array:
        """(K,) by the commands, per mass [m/s^2]."""

    @property
    def angular(self) -> Array | None:
        """(K, 3) acceleration by the commands [rad/s^2]; None where attitudes are commanded."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed."""

    def start_speeds(self, starts: Integers) -> Array:
        """(W, 1, 4) rotor speeds [rpm] at the begin of windows, by their first rows (W,)."""

    def command(self, starts: Integers, step: int) -> Command:
        """The command of every window, so many rows behind its first one."""
