# SPDX-License-Identifier: BSD-3-Clause
"""Targets of arms in many worlds: what `ArmGuidance` does in one, for all at once or by each world's own vehicle."""

import operator
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from iap_control.arm.arm_control import ArmControl, JointCoordinates
from iap_description.arrays import Array, Booleans, Integers
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import Level, Q
from iap_description.vehicles.chain_inertia import Bodies, holding_torques
from iap_description.vehicles.gripper import Load, carrying
from iap_description.vehicles.serial_chain import Chain
from iap_simulation.batch.references import References
from iap_simulation.vehicles.vehicle import Vehicle


class ArmCommanderInputs(NamedTuple):
    """Inputs of commanders of the arm of a vehicle in B worlds.

    Attributes:
        instants: (B,) numbers of control instants.
        x: (B, 13) central bodies.
        q: (B, n) joint coordinates [rad], [m].
        v: (B, n) their velocities.
        loads: of each world that controllers know of; None where they know of none.
        is_running: (B,) whether worlds fly.
    """

    instants: Integers
    x: Array
    q: Array
    v: Array
    loads: Sequence[Load | None] | None
    is_running: Booleans


class ArmCommander(Protocol):
    """Gives targets to the motors of a vehicle's arm in B worlds."""

    def reset(self, worlds: Integers) -> None:
        """Forget the flights of some worlds."""

    def give(self, q: ArrayLike, v: ArrayLike | None, torque: ArrayLike | None) -> None:
        """Go for coordinates, velocities and torques (B, n), as a program asks, until the next call."""

    def __call__(
        self, references: References, inputs: ArmCommanderInputs
    ) -> tuple[References, Array]:
        """The references that platforms are to follow, and the targets (B, 3, n) of position, velocity and torque."""


class LawArms:
    """Arms of which controllers do not know, in all worlds at once.

    Args:
        control: of the arm in any world; nothing leads platform and joints together, and nothing follows the arm.
        batch: number of worlds.
    """

    def __init__(self, control: ArmControl, batch: int) -> None:
        self._control = control
        self._targets = np.repeat(control.at_home[None], batch, axis=0)
        self._holds = np.full(batch, control.holds)
        self._chain, self._empty = control.held_bodies
        self._bodies = Bodies(*(np.repeat(each[None], batch, axis=0) for each in self._empty))
        self._loads: list[Load | None] = [None] * batch

    def reset(self, worlds: Integers) -> None:
        """See `ArmCommander`."""
        self._targets[worlds], self._holds[worlds] = self._control.at_home, self._control.holds

    def give(self, q: ArrayLike, v: ArrayLike | None, torque: ArrayLike | None) -> None:
        """See `ArmCommander`."""
        self._targets[:, 0], self._targets[:, 1] = q, 0.0 if v is None else v
        if torque is not None:
            self._targets[:, 2] = torque
        self._holds[:] = self._control.holds and torque is None

    def __call__(
        self, references: References, inputs: ArmCommanderInputs
    ) -> tuple[References, Array]:
        """See `ArmCommander`."""
        control, targets = self._control, self._targets
        poses = inputs.q
        if not control.is_given:
            targets[:, :2] = poses_and_speeds = control.planned(inputs.instants)
            poses = poses_and_speeds[:, 0]
        if self._holds.any():
            self._carry(inputs.loads)
            R_WP = so3.matrix_from_quaternion(inputs.x[:, Q])
            held = (self._holds, self._chain, self._bodies)
            _hold(*held, R_WP, poses, control.gravity, targets)
        return references, targets

    def _carry(self, loads: Sequence[Load | None] | None) -> None:
        """Count with loads from now on where they have changed."""
        if loads is None or all(map(operator.is_, loads, self._loads)):
            return
        for world, load in enumerate(loads):
            if load is not self._loads[world]:
                bodies = carrying(self._empty, load)
                for rows, row in zip(self._bodies, bodies, strict=True):
                    rows[world] = row
                self._loads[world] = load


@njit(cache=True)
def _hold(
    holds: Booleans,
    chain: Chain,
    bodies: Bodies,
    R_WP: Array,
    q: Array,
    gravity: float,
    targets: Array,
) -> None:
    """Write the torques that hold links with masses (B, n + 1) against gravity into targets (B, 3, n)."""
    for b in range(len(holds)):
        if holds[b]:
            carried = Bodies(bodies.masses[b], bodies.coms[b], bodies.inertias[b])
            targets[b, 2] = holding_torques(chain, carried, R_WP[b], q[b].copy(), gravity)


class VehicleArms:
    """Arms of each world's own vehicle, one after another.

    Args:
        vehicles: of each world.
    """

    def __init__(self, vehicles: Sequence[Vehicle]) -> None:
        self._vehicles = vehicles

    def reset(self, worlds: Integers) -> None:
        """Nothing is left to do: vehicles are reset by their commander."""

    def give(self, q: ArrayLike, v: ArrayLike | None, torque: ArrayLike | None) -> None:
        """See `ArmCommander`."""
        given = [None if each is None else np.asarray(each) for each in (q, v, torque)]
        for world, vehicle in enumerate(self._vehicles):
            vehicle.command_arm(*(None if each is None else each[world] for each in given))  # type: ignore[arg-type]

    def __call__(
        self, references: References, inputs: ArmCommanderInputs
    ) -> tuple[References, Array]:
        """See `ArmCommander`."""
        rows, levels = references.rows.copy(), references.levels.copy()
        wrenches = references.wrenches_P
        targets = np.zeros((len(rows), 3, inputs.q.shape[1]))
        for world in np.flatnonzero(inputs.is_running).tolist():
            vehicle = self._vehicles[world]
            control, interaction = vehicle.arm, vehicle.interaction
            assert control is not None  # noqa: S101 - these vehicles have arms
            control.carry(None if inputs.loads is None else inputs.loads[world])
            control.feel(None if interaction is None else interaction.task)
            asked = Reference(rows[world], Level(int(levels[world])), wrenches[world])
            joints = JointCoordinates(inputs.q[world], inputs.v[world])
            k = int(inputs.instants[world])
            asked = control(k, inputs.x[world], joints, vehicle.controller, asked)
            rows[world], levels[world] = asked.row, int(asked.level)
            targets[world] = control.target
        return References(rows, levels, wrenches), targets
