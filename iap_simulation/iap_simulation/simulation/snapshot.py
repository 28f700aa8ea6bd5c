# SPDX-License-Identifier: BSD-3-Clause
"""What changes of a simulation while it flies, and what a snapshot keeps of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.signals import Reference
from iap_description.states import Command
from iap_physics.plant.plant import Plant
from iap_simulation.flights.flight import Flight
from iap_simulation.loop.closed_loop import ClosedLoop
from iap_simulation.simulation.participants import Participants


@dataclass
class RecentReadings:
    """The readings since the last step; none while `fly` flies, whose images would fill the memory."""

    readings: list[Reading] = field(default_factory=list)
    is_open: bool = True

    def receive(self, reading: Reading) -> None:
        """Keep a reading."""
        if self.is_open:
            self.readings.append(reading)


class ProgramAgent:
    """The agent that is the program which steps the simulation.

    Args:
        names: of the vehicles, in their order.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._commands: Mapping[int, Command] = {}

    def number(self, name: str) -> int:
        """Number of a vehicle.

        Raises:
            BadInput: no such vehicle.
        """
        if name not in self._names:
            raise BadInput(f"no vehicle '{name}', but {', '.join(self._names)}")
        return self._names.index(name)

    def take(self, command: Command | Mapping[str, Command] | None) -> None:
        """Take the commands of the present control period, see `Simulation.step`.

        Raises:
            BadInput: no such vehicle, or several and a command without a name.
        """
        if command is None:
            self._commands = {}
        elif isinstance(command, Mapping):
            self._commands = {self.number(name): each for name, each in command.items()}
        elif len(self._names) > 1:
            raise BadInput(f"step: whose command is it? name one of {', '.join(self._names)}")
        else:
            self._commands = {0: command}

    def command(
        self,
        k: int,  # noqa: ARG002 - an agent's arguments
        plant: Plant,  # noqa: ARG002
        references: Sequence[Reference],  # noqa: ARG002
    ) -> Mapping[int, Command]:
        """The commands that were taken last."""
        return self._commands


class FlightParts(NamedTuple):
    """All of a flight that changes while it is flown, but for the engine."""

    loop: ClosedLoop
    participants: Participants
    flight: Flight
    sink: RecentReadings
    program: ProgramAgent


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that a simulation needs to go on from an instant."""

    parts: FlightParts
    engine: object
