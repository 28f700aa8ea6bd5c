# SPDX-License-Identifier: BSD-3-Clause
"""Faults of one vehicle in the plant: what they leave of its rotors, and commands that act late."""

import copy
from collections import deque
from collections.abc import Sequence

from iap_description.states import Command
from iap_description.vehicles.faults import Health, LateCommands, PlantFault
from iap_physics.propulsion.propulsion import Propulsion


class PlantFaults:
    """Faults of one vehicle, in a world that is no batch.

    What they do follows from the time; the only memory are the commands on their way.

    Args:
        faults: of the vehicle.
        propulsion: of it.
        control_hz: rate of control instants.
    """

    def __init__(
        self, faults: Sequence[PlantFault], propulsion: Propulsion, control_hz: float
    ) -> None:
        self._propulsion, self._control_hz = propulsion, control_hz
        self._late = [each for each in faults if isinstance(each, LateCommands)]
        self._on_rotors = [each for each in faults if not isinstance(each, LateCommands)]
        self._health = Health.sound(propulsion.fleet)
        self._waiting: deque[tuple[int, Command]] = deque()  # from which control instant on

    def reset(self) -> None:
        """No command is on its way: a flight begins."""
        self._waiting.clear()

    def postpone(self, k: int, t: float, command: Command) -> bool:
        """Keep a command of control instant k, time t [s], that acts late; False if it acts at once.

        One that acts at once overtakes those on their way.
        """
        late = next((each for each in self._late if each.acts(t)), None)
        if late is None:
            self._waiting.clear()
            return False
        due = k + round(late.commands_late * self._control_hz)
        self._waiting.append((due, copy.deepcopy(command)))
        return True

    def act(self, k: int, t: float) -> None:
        """Begin the control period of instant k, time t [s]: take commands that are due, and weaken rotors."""
        while self._waiting and self._waiting[0][0] <= k:
            self._propulsion.take(self._waiting.popleft()[1])
        if self._on_rotors:
            self._health.weaken(self._on_rotors, t)
            self._propulsion.weaken(self._health)
