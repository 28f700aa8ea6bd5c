# SPDX-License-Identifier: BSD-3-Clause
"""The latches of modules in the engine: fixed joints, and bodies that pass each other while they are joined.

A latch catches with the magnet's force: the joint brings the modules to where they belong and yields to more. Locked,
it is rigid. Two bodies pass each other from the catch until they are apart again, since joined they touch all over.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.latching import Hold, LatchCommand
from iap_physics.engines.engine import JOINT_FORCE
from iap_physics.plant.plant import Plant

TOUCH_DISTANCE = 0.01  # further than joined, at which bodies touch again [m]


class JoinedPair(Protocol):
    """Two modules that a joint joins."""

    @property
    def modules(self) -> tuple[int, int]:
        """Numbers of both, a and b."""

    @property
    def d_ab_S(self) -> tuple[float, float, float]:
        """From the CoM of a to that of b, when joined, along a's axes [m]."""


class EngineJoints:
    """The joints of a world's modules.

    Args:
        plant: with a vehicle for each module.
        joints: all that there may be, by their names.
        closing: those that join where the modules are: a closed loop has no room to be pulled straight.
        latch_force: that a latch bears before it is locked [N].
    """

    def __init__(
        self, plant: Plant, joints: Mapping[str, JoinedPair], closing: set[str], latch_force: float
    ) -> None:
        self._plant, self._joints, self._closing = plant, joints, closing
        self._force = latch_force
        self._handles: dict[str, int] = {}
        self._leaving: set[str] = set()
        self._holds: dict[str, Hold] = {}

    @property
    def names(self) -> set[str]:
        """Names of all joints that there may be."""
        return set(self._joints)

    def obey(self, name: str, latching: LatchCommand) -> None:
        """Carry out an order to a latch."""
        if latching == LatchCommand.RELEASE:
            self._plant.engine.remove_joint(self._handles.pop(name))
            self._leaving.add(name)
            self._holds[name] = Hold.OPEN
            return
        if latching == LatchCommand.LOCK and name in self._handles:
            self._plant.engine.remove_joint(self._handles.pop(name))
        self.hold(name, self._force if latching == LatchCommand.CATCH else JOINT_FORCE)

    def follow(self, holds: Mapping[str, Hold]) -> None:
        """Let latches hold as they shall, by their joints' names; what does so already stays."""
        for name, goal in holds.items():
            present = self._holds.get(name, Hold.OPEN)
            if goal == present:
                continue
            if present != Hold.OPEN and goal != Hold.LOCKED:
                self.obey(name, LatchCommand.RELEASE)
            if goal == Hold.CAUGHT:
                self.obey(name, LatchCommand.CATCH)
            elif goal == Hold.LOCKED:
                self.obey(name, LatchCommand.LOCK)

    def hold(self, name: str, force: float = JOINT_FORCE) -> None:
        """Join two modules; the joint yields to more than a force [N]."""
        a, b = rows = self._rows(name)
        to_b = 0.5 * np.array(self._joints[name].d_ab_S)
        places, q_AB = (to_b, -to_b), so3.IDENTITY
        if name in self._closing:
            places, q_AB = self._present_places(rows, to_b)
        engine = self._plant.engine
        engine.let_pass(a, b, passes=True)
        self._leaving.discard(name)
        self._holds[name] = Hold.LOCKED if force == JOINT_FORCE else Hold.CAUGHT
        self._handles[name] = engine.add_joint(
            a, b, *places, type="fixed", max_force=force, q_AB=q_AB
        )

    def clear(self) -> None:
        """Open all latches, and let all modules touch."""
        for name in list(self._handles):
            self.obey(name, LatchCommand.RELEASE)
        for name in sorted(self._leaving):
            self._plant.engine.let_pass(*self._rows(name), passes=False)
        self._leaving.clear()

    def part_touching(self) -> None:
        """Let modules touch again that have come apart."""
        for name in sorted(self._leaving):
            a, b = self._rows(name)
            x = self._plant.engine.state()[0]
            distance = float(np.linalg.norm(x[b, P] - x[a, P]))
            if distance > float(np.linalg.norm(self._joints[name].d_ab_S)) + TOUCH_DISTANCE:
                self._plant.engine.let_pass(a, b, passes=False)
                self._leaving.discard(name)

    def structure_of(self, module: int) -> set[int]:
        """Numbers of the modules that hold together with one in the engine, itself among them."""
        held = [self._joints[name].modules for name in self._handles]
        return held_together(module, held)

    def wrenches_S(self) -> dict[str, Array]:
        """Wrench (6,) on module b of each joint that holds, about its place, along the axes of module a [N, N m]."""
        x, wrenches = self._plant.engine.state()[0], {}
        for name, handle in self._handles.items():
            back = so3.conjugate(x[self._rows(name)[0], Q])
            on_a = self._plant.engine.joint_wrench(handle)
            parts = (so3.rotate(back, on_a[:3]), so3.rotate(back, on_a[3:]))
            wrenches[name] = -np.concatenate(parts)
        return wrenches

    def _present_places(
        self, rows: tuple[int, int], to_b: Array
    ) -> tuple[tuple[Array, Array], Array]:
        """Places on both bodies, and the attitude of b in a, as they are."""
        x_a, x_b = self._plant.engine.state()[0, list(rows)]
        place_W = x_a[P] + so3.rotate(x_a[Q], to_b)
        p_b = so3.rotate(so3.conjugate(x_b[Q]), place_W - x_b[P])
        return (to_b, p_b), so3.multiply(so3.conjugate(x_a[Q]), x_b[Q])

    def _rows(self, name: str) -> tuple[int, int]:
        joint = self._joints[name]
        a, b = (int(self._plant.propulsion[each].rows.start) for each in joint.modules)
        return a, b


def held_together(module: int, joined: Iterable[tuple[int, int]]) -> set[int]:
    """Numbers of the modules that hold together with one by pairs that are joined, itself among them."""
    pairs, structure = [set(pair) for pair in joined], {module}
    while reached := {i for pair in pairs if pair & structure for i in pair} - structure:
        structure |= reached
    return structure
