# SPDX-License-Identifier: BSD-3-Clause
"""Faults that strike a vehicle in flight: what may be ordered, when each acts, and what it leaves of rotors.

A fault is a record whose kind is the key that only it has: `rotor`, `motors`, `battery`, `sensor` or `commands_late`.
Aircraft and rotors are counted from 1, as in the names of bodies.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer

from iap_description.config.bounds import MAX_DELAY
from iap_description.config.record import Record
from iap_description.config.values import AsWord, Count, Flag, NonNegative, Positive, Share
from iap_description.vehicles.aircraft import ROTORS, Aircraft

TOLERANCE = 1e-6  # of times, which a stamp rounds to nanoseconds [s]
Rotor = Annotated[int, Field(strict=True, ge=1, le=ROTORS)]


def has_come(at: float, t: float) -> bool:
    """True if an instant [s] has come at a time [s]."""
    return t >= at - TOLERANCE


class _Fault(Record):
    """Base of all faults.

    Attributes:
        at: when it strikes [s]; it acts from the first control instant on that is not before.
    """

    at: NonNegative

    @property
    def what(self) -> str:
        """The part that is struck: two faults of the same may not act at the same time."""
        raise NotImplementedError

    @property
    def until(self) -> float:
        """Its end [s]."""
        return math.inf

    def acts(self, t: float) -> bool:
        """True if it acts at a time [s]."""
        return has_come(self.at, t) and not has_come(self.until, t)


class RotorFault(_Fault):
    """A rotor that gives less thrust and drag torque at the same speed: a damaged propeller, or none.

    Attributes:
        aircraft: its number.
        rotor: its number, in the order of the aircraft's file.
        thrust: factor on thrust and drag torque.
        known: whether the controller is told when it strikes.
    """

    aircraft: Count
    rotor: Rotor
    thrust: Share
    known: Flag = False

    @property
    def what(self) -> str:
        """The rotor."""
        return f"rotor {self.rotor} of aircraft {self.aircraft}"

    def __str__(self) -> str:
        """The event, for the user."""
        return f"{self.what} at {100.0 * self.thrust:.3g} % thrust"


class MotorFault(_Fault):
    """An aircraft whose motors have stopped: its rotors run down, and it hangs on its joint.

    Attributes:
        aircraft: its number.
        motors: off, which YAML reads as false.
        known: whether the controller is told when it strikes.
    """

    aircraft: Count
    motors: Annotated[Literal["off"], AsWord]
    known: Flag = False

    @property
    def what(self) -> str:
        """The motors."""
        return f"motors of aircraft {self.aircraft}"

    def __str__(self) -> str:
        """The event, for the user."""
        return f"{self.what} stopped"


class BatteryFault(_Fault):
    """A battery whose voltage sags, so that the aircraft's rotors no longer reach their top speed.

    Attributes:
        aircraft: its number.
        battery: factor on the rotors' top speed; on the largest thrust it is the factor's square.
        over: time in which it is reached, linearly [s].
        known: whether the controller is told when it strikes, of the factor that it comes to.
    """

    aircraft: Count
    battery: Share
    over: NonNegative = 0.0
    known: Flag = False

    @property
    def what(self) -> str:
        """The battery."""
        return f"battery of aircraft {self.aircraft}"

    def __str__(self) -> str:
        """The event, for the user."""
        return f"{self.what} down to {100.0 * self.battery:.3g} % speed"

    def factor(self, t: float) -> float:
        """Factor on the rotors' top speed at a time [s]."""
        if not self.acts(t):
            return 1.0
        gone = 1.0 if self.over == 0.0 else min(1.0, max(0.0, (t - self.at) / self.over))
        return 1.0 - gone * (1.0 - self.battery)


class _Passing(_Fault):
    """A fault that may pass; `lasts` is the key ``for``: how long it lasts [s], None to the end of the flight."""

    lasts: Positive | None = Field(None, alias="for")

    @property
    def until(self) -> float:
        """Its end [s]."""
        return math.inf if self.lasts is None else self.at + self.lasts

    @model_serializer(mode="wrap")
    def _by_its_key(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        tree = dump(self)
        return {("for" if key == "lasts" else key): value for key, value in tree.items()}


class SensorFault(_Passing):
    """A sensor that says nothing, or the same again and again with new stamps.

    Attributes:
        at: when it strikes; with the first sample it has said something [s].
        sensor: last part of its topic: imu, mag, uwb, lidar, or a camera's name.
        aircraft: its number; None for the sensors of that name on all bodies of the vehicle.
        output: of the sensor.
    """

    at: Positive
    sensor: str
    aircraft: Count | None = None
    output: Literal["silent", "frozen"]

    @property
    def what(self) -> str:
        """The sensor."""
        where = "all aircraft" if self.aircraft is None else f"aircraft {self.aircraft}"
        return f"{self.sensor} of {where}"

    def __str__(self) -> str:
        """The event, for the user."""
        return f"{self.what} {self.output}"


class LateCommands(_Passing):
    """Commands that act later than they should, by whole control periods.

    Attributes:
        commands_late: by how much [s].
    """

    commands_late: Annotated[Positive, Field(le=MAX_DELAY)]

    @property
    def what(self) -> str:
        """The commands."""
        return "commands"

    def __str__(self) -> str:
        """The event, for the user."""
        return f"commands {1e3 * self.commands_late:.3g} ms late"


_ON_ROTORS: dict[str, type[_Fault]] = {
    "rotor": RotorFault,
    "motors": MotorFault,
    "battery": BatteryFault,
}
_IN_PLANT: dict[str, type[_Fault]] = {**_ON_ROTORS, "commands_late": LateCommands}


def _by_key(kinds: dict[str, type[_Fault]]) -> BeforeValidator:
    """The validator that makes a record of a tree, of the kind whose key it has."""

    def made(tree: object) -> object:
        if isinstance(tree, _Fault):
            return tree
        if not isinstance(tree, dict):
            raise ValueError("a mapping is expected")
        kinds_named = [key for key in kinds if key in tree]
        if len(kinds_named) != 1:
            which = "has none" if not kinds_named else f"has {' and '.join(kinds_named)}"
            raise ValueError(f"a fault has one of the keys {', '.join(kinds)}; this one {which}")
        return kinds[kinds_named[0]].model_validate(tree)

    return BeforeValidator(made)


RotorsFault = RotorFault | MotorFault | BatteryFault
KnownFault = Annotated[RotorsFault, _by_key(_ON_ROTORS)]
PlantFault = Annotated[RotorsFault | LateCommands, _by_key(_IN_PLANT)]
Fault = Annotated[
    RotorsFault | SensorFault | LateCommands, _by_key({**_IN_PLANT, "sensor": SensorFault})
]
AnyFault = RotorsFault | SensorFault | LateCommands


def check_faults(faults: Sequence[AnyFault], fleet: Sequence[Aircraft]) -> None:
    """Refuse faults on aircraft and rotors that are not there, and two of the same at the same time.

    Args:
        faults: of a vehicle.
        fleet: its aircraft.

    Raises:
        ValueError: naming the key.
    """
    for i, fault in enumerate(faults):
        aircraft = None if isinstance(fault, LateCommands) else fault.aircraft
        if aircraft is not None and aircraft > len(fleet):
            raise ValueError(f"key 'faults.{i}.aircraft': there are {len(fleet)}, not {aircraft}")
        if isinstance(fault, RotorFault) and fault.rotor > len(fleet[fault.aircraft - 1].rotors):
            there = len(fleet[fault.aircraft - 1].rotors)
            raise ValueError(
                f"key 'faults.{i}.rotor': aircraft {aircraft} has {there}, not {fault.rotor}"
            )
        for j, other in enumerate(faults[:i]):
            if overlap(fault, other):
                raise ValueError(f"key 'faults.{i}': faults.{j} has struck {fault.what} already")


def overlap(fault: AnyFault, other: AnyFault) -> bool:
    """True if two faults strike the same at the same time."""
    same = fault.what == other.what
    if isinstance(fault, SensorFault) and isinstance(other, SensorFault):
        on_all = fault.aircraft is None or other.aircraft is None
        same = fault.sensor == other.sensor and (on_all or fault.aircraft == other.aircraft)
    return same and fault.at < other.until and other.at < fault.until
