# SPDX-License-Identifier: BSD-3-Clause
"""The first half of a control period of many worlds: commands to each vehicle, and flights that end."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput, FlightFailed
from iap_description.states import REF_P, Command, P
from iap_physics.arm.batch_grippers import BatchGrippers
from iap_physics.arm.gripper import NO_COMMANDED_GRIPPER
from iap_physics.engines.batch_engine import ArmEngine
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING, TOO_FAR, UPSIDE_DOWN
from iap_physics.session.flight_monitor import is_upside_down
from iap_simulation.batch.arm_commanders import ArmCommanderInputs
from iap_simulation.batch.contact_endings import WatchingEngine
from iap_simulation.batch.references import References
from iap_simulation.batch.tracking import MixedActions
from iap_simulation.batch.world_views import WorldViews
from iap_simulation.vehicles.endings import MAX_DISTANCE, failure_of

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
        asked = [self._asked(vehicle, each) for vehicle, each in enumerate(actions)]
        numbered = zip(range(len(actions)), actions, asked, strict=True)
        commands = [self._control(*each) for each in numbered]
        self._end_lost([references.rows for references in asked])
        return asked[0], commands[0]

    def _asked(self, vehicle: int, action: VehicleAction) -> References:
        """What a vehicle is asked for, once its arm has its targets."""
        tracking = self._trackings[vehicle]
        references = (
            action if isinstance(action, References) else tracking.references(self.instants)
        )
        if tracking.arm is None:
            return references
        assert isinstance(self._engine, ArmEngine)  # noqa: S101 - it has built the arm
        joints, is_running = self._engine.arm_batches[vehicle], self.status == RUNNING
        grippers = self.plant.part(BatchGrippers)
        x, loads = self.plant.state(vehicle)[:, 0], None
        if grippers is not None and grippers.vehicle == vehicle and grippers.spec.known_load:
            loads = grippers.known_loads
        inputs = ArmCommanderInputs(self.instants, x, joints.q, joints.v, loads, is_running)
        references, targets = tracking.arm(references.checked(tracking.rows.shape), inputs)
        wrong = np.asarray(~np.isfinite(targets).all(axis=(1, 2)))
        self._end(wrong, INVALID_COMMAND, vehicle)
        running = np.flatnonzero(self.status == RUNNING)
        joints.command(running, targets[running])
        return references

    def command_arm(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        *,
        name: str | None = None,
    ) -> None:
        """Let the motors of an arm go for coordinates in all worlds until the next call; `arm.motion` is ``external``.

        What is beyond travel or speed is clipped.

        Args:
            q: (B, n) coordinates [rad], [m], or (n,) for all worlds.
            v: likewise velocities; None is at rest.
            torque: likewise, on top of the servos' [N m], [N]; None is what holds the links, if `arm.holding` says so.
            name: of the vehicle; None is the first.

        Raises:
            BadInput: no such vehicle, its arm moves by its own motion, or an array has another shape.
        """
        number = 0 if name is None else self.number_of(name)
        arm, commander = self._vehicles[number].arm, self._trackings[number].arm
        if arm is None or commander is None or not arm.is_given:
            raise BadInput(
                f"command_arm: {self.names[number]} has no arm with arm.motion.type=external"
            )
        shape = (len(self.seeds), arm.count)
        rows = [None if each is None else np.asarray(each, float) for each in (q, v, torque)]
        wrong = [
            each for each in rows if each is not None and each.shape not in (shape, shape[1:])
        ]
        if wrong:
            raise BadInput(f"command_arm: shape {wrong[0].shape}; {shape} is expected")
        commander.give(*(None if each is None else np.broadcast_to(each, shape) for each in rows))  # type: ignore[arg-type]

    def command_gripper(self, closes: ArrayLike) -> None:
        """Let grippers close, or open, until the next call; `gripper.close` and `gripper.open` are null.

        Args:
            closes: (B,) whether they do, or one for all worlds.

        Raises:
            BadInput: there is no gripper that goes by commands, or the array has another shape.
        """
        grippers = self.plant.part(BatchGrippers)
        if grippers is None or not grippers.spec.is_commanded:
            raise BadInput(f"command_gripper: {NO_COMMANDED_GRIPPER}")
        if np.shape(closes) not in ((), grippers.closes.shape):
            raise BadInput(
                f"command_gripper: shape {np.shape(closes)}; {grippers.closes.shape} is expected"
            )
        grippers.closes[:] = closes

    def _control(
        self, vehicle: int, action: VehicleAction, references: References
    ) -> Command | None:
        """Command one vehicle in every world on what it is asked for; returns the command, None of several actions."""
        if isinstance(action, MixedActions):
            self._command_mixed(vehicle, action, references)
            return None
        command = action
        if not isinstance(command, Command):
            inputs = (self._inputs(vehicle), self._threads)
            command = self._trackings[vehicle].command(references, *inputs)
        self._send(vehicle, command)
        return command

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
        if ended.any() and isinstance(self._engine, WatchingEngine):
            self._engine.culprits[ended] = vehicle

    def ended(self, i: int) -> float:
        """Simulation time of the last control instant that a world has come to [s]."""
        steps = int(self._current(self._engine.step_counts)[i])
        return (steps - steps % self._plant.substeps) * self._plant.dt

    def failure(self, i: int) -> FlightFailed | None:
        """Failure that has ended a world, as it would have ended the single run; None while it runs."""
        steps = int(self._current(self._engine.step_counts)[i])
        engine = self._engine
        culprit = int(engine.culprits[i]) if isinstance(engine, WatchingEngine) else 0
        return failure_of(int(self.status[i]), self.names[culprit], steps, self._plant.dt)
