# SPDX-License-Identifier: BSD-3-Clause
"""The first half of a control period of many worlds: commands to each vehicle, and flights that end."""

from collections.abc import Mapping

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput
from iap_description.states import REF_P, Command, P
from iap_physics.engines.engine import RUNNING, TOO_FAR, UPSIDE_DOWN
from iap_physics.session.flight_monitor import is_upside_down
from iap_simulation.batch.contact_endings import WatchingEngine
from iap_simulation.batch.references import References
from iap_simulation.batch.tracking import MixedActions
from iap_simulation.batch.world_views import WorldViews
from iap_simulation.vehicles.endings import MAX_DISTANCE

VehicleAction = References | Command | MixedActions | None
WorldAction = VehicleAction | Mapping[str, VehicleAction]


class CommandedWorlds(WorldViews):
    """B worlds whose vehicles are commanded at control instants."""

    def _actions_of(self, action: WorldAction) -> list[VehicleAction]:
        """The action on each vehicle, None for those that their controllers fly.

        Raises:
            BadInput: it is of another kind or for no vehicle, or several are to be flown by one that has no name.
        """
        count = len(self._trackings)
        actions: list[VehicleAction] = [None] * count
        if isinstance(action, Mapping):
            for name, each in action.items():
                actions[self.number_of(name)] = each
        elif count == 1 or action is None:
            actions[0] = action
        else:
            raise BadInput(
                f"worlds: actions by the names of their vehicles are expected ({', '.join(self.names)})"
            )
        if not all(isinstance(each, VehicleAction) for each in actions):
            raise BadInput(
                "worlds: an action is References, a Command or MixedActions;"
                " iap_simulation.batch.actions makes them of arrays"
            )
        return actions

    def control(self, action: WorldAction = None) -> tuple[References, Command | None]:
        """Command every world on its present state, and end the flights that have failed: the first half of `advance`.

        Args:
            action: as that of `advance`.

        Returns:
            What was asked of the first vehicle, and what it was commanded, None by mixed actions; the next step
            overwrites them.

        Raises:
            BadInput: an array has another shape, or the action is none.
        """
        self._bring_home()
        actions = self._actions_of(action)
        asked = [self._control(vehicle, each) for vehicle, each in enumerate(actions)]
        self._end_lost([references.rows for references, _ in asked])
        return asked[0]

    def _control(self, vehicle: int, action: VehicleAction) -> tuple[References, Command | None]:
        """Command one vehicle in every world; returns what was asked and commanded."""
        tracking = self._trackings[vehicle]
        if isinstance(action, References):
            command = tracking.command(action, self._inputs(vehicle), self._threads)
            self._send(vehicle, command)
            return action, command
        references = tracking.references(self.instants)
        if isinstance(action, MixedActions):
            self._command_mixed(vehicle, action, references)
            return references, None
        if isinstance(action, Command):
            self._send(vehicle, action)
            return references, action
        command = tracking.command(references, self._inputs(vehicle), self._threads)
        self._send(vehicle, command)
        return references, command

    def _command_mixed(self, vehicle: int, mixed: MixedActions, references: References) -> None:
        """Command each world by its own one of several actions, as a batch of one would be by it."""
        for action in mixed.actions:
            if isinstance(action, Command):
                self.plant.check_command(vehicle, action)
        inputs = (self._inputs(vehicle), self._threads)
        for command, worlds in self._trackings[vehicle].command_mixed(mixed, references, *inputs):
            self._send(vehicle, command, worlds)

    def _send(self, vehicle: int, command: Command, worlds: Booleans | None = None) -> None:
        """Make the aircraft of a vehicle hold a command, in all worlds or in some (B,)."""
        was_running = self.status == RUNNING
        self.plant.command(vehicle, command, worlds=worlds)
        self._blame(was_running & (self.status != RUNNING), vehicle)

    def command(self, command: Command) -> None:
        """Make the first vehicle's aircraft hold a command, an array of which may have a row for each world.

        Raises:
            BadInput: an array has another shape.
        """
        self._send(0, command)

    def _end_lost(self, rows: list[Array]) -> None:
        """End flights whose vehicles have overturned, lost their references (B, 19 + N), or touch what ends them."""
        states = [self.plant.state(vehicle)[:, 0] for vehicle in range(len(rows))]
        for vehicle, (x, row) in enumerate(zip(states, rows, strict=True)):
            far = np.asarray((np.abs(x[:, P] - row[:, REF_P]) > MAX_DISTANCE).any(axis=1))
            self._end(far, TOO_FAR, vehicle)
        for vehicle, x in enumerate(states):
            self._end(np.asarray(is_upside_down(x)), UPSIDE_DOWN, vehicle)
        if self._endings is not None:
            self._endings.end(self.plant)

    def _end(self, failed: Booleans, status: int, vehicle: int) -> None:
        """End the flights of running worlds (B,) with a status that is due to a vehicle."""
        ended = failed & (self.status == RUNNING)
        self.status[ended] = status
        self._blame(ended, vehicle)

    def _blame(self, ended: Booleans, vehicle: int) -> None:
        """Note the vehicle whose flight has ended worlds (B,)."""
        if isinstance(self._engine, WatchingEngine):
            self._engine.culprits[ended] = vehicle
