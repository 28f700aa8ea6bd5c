# SPDX-License-Identifier: BSD-3-Clause
"""Faults of one vehicle in the plant: what they leave of its rotors, and commands that act late."""

import copy
from collections import deque
from collections.abc import Sequence

from iap_description.arrays import Array, Integers
from iap_description.states import Command
from iap_description.vehicles.faults import LateCommands, PlantFault
from iap_description.vehicles.health import Health
from iap_physics.plant.part import PlantPart
from iap_physics.propulsion.propulsion import Propulsion


class PlantFaults(PlantPart):
    """Faults of one vehicle, in a world that is no batch.

    What they do follows from the time; the only memory are the commands on their way.

    Args:
        vehicle: its number.
        faults: of the vehicle.
        propulsion: of it.
        control_hz: rate of control instants.

    Attributes:
        vehicle: as given.
    """

    def __init__(
        self,
        vehicle: int,
        faults: Sequence[PlantFault],
        propulsion: Propulsion,
        control_hz: float,
    ) -> None:
        self.vehicle, self._propulsion, self._control_hz = vehicle, propulsion, control_hz
        self._late = [each for each in faults if isinstance(each, LateCommands)]
        self._on_rotors = [each for each in faults if not isinstance(each, LateCommands)]
        self._health = Health.sound(propulsion.fleet)
        self._waiting: deque[tuple[int, Command]] = deque()  # from which control instant on

    def add(self, fault: PlantFault) -> None:
        """Take one more fault, which acts beside the others."""
        if isinstance(fault, LateCommands):
            self._late.append(fault)
        else:
            self._on_rotors.append(fault)

    def reset(self, x: Array, worlds: Integers) -> None:
        """No command is on its way: a flight begins."""
        self._waiting.clear()

    def postpones(
        self, vehicle: int, command: Command, k: int, t: float, *, on_board: bool
    ) -> bool:
        """Keep a command that acts late; False if it acts at once, which overtakes those on their way."""
        if vehicle != self.vehicle:
            return False
        late = next((each for each in self._late if each.acts(t)), None)
        if late is None or on_board:
            self._waiting.clear()
            return False
        due = k + round(late.commands_late * self._control_hz)
        self._waiting.append((due, copy.deepcopy(command)))
        return True

    def begin_period(self, k: int, t: float) -> None:
        """Hand commands over that are due, and weaken rotors."""
        while self._waiting and self._waiting[0][0] <= k:
            self._propulsion.set_command(self._waiting.popleft()[1])
        if self._on_rotors:
            self._health.weaken(self._on_rotors, t)
            self._propulsion.weaken(self._health)
