# SPDX-License-Identifier: BSD-3-Clause
"""References of all modules: each flies its own, moves as a docking asks, or keeps its place in a structure."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from iap_control.modules.joint_machine import Setpoint
from iap_control.modules.member_reference import put_member_row
from iap_control.modules.structure import Structure
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_FIXED, REF_P, REF_Q, REF_V


class Shift(NamedTuple):
    """The motion of a module's own reference: a way in the world [m], and a rotation."""

    p_W: Array
    q: Array


NO_SHIFT = Shift(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))


class Guided(NamedTuple):
    """A reference that docking asks for, and the time at which it held [s]."""

    row: Array
    t: float


class Guidance:
    """Keeps what every module is guided by.

    A structure's reference is that of its anchor, one of its modules: where that is the module which was docked onto,
    nothing jumps when another joins.

    Args:
        structures: at the start, each anchored by its leader.
        count: number of modules.

    Attributes:
        turns_S: (n, 3) angular acceleration of each module's structure besides, its own axes [rad/s^2].
    """

    def __init__(self, structures: Sequence[Structure], count: int) -> None:
        self._shifts = [NO_SHIFT] * count
        self._guided: dict[int, Guided] = {}
        self._anchors = np.zeros(count, dtype=int)
        self._arms_S = np.zeros((count, 3))
        self.turns_S = np.zeros((count, 3))
        for each in structures:
            self.anchor(each, each.leader)

    def anchor(self, structure: Structure, module: int) -> None:
        """Let a structure follow the reference of one of its modules."""
        d_S = structure.offset_S(module)
        for i, each in enumerate(structure.modules):
            self._anchors[each] = module
            self._arms_S[each] = structure.offsets_S[i] - d_S

    def anchor_of(self, module: int) -> int:
        """The module whose reference a module's structure follows."""
        return int(self._anchors[module])

    def stay(self, module: int, pose_W: tuple[Array, Array], nominal: Array) -> None:
        """Let a module's reference begin at a place (3,) and attitude (4,), as its own (19+) has it there now."""
        self._guided.pop(module, None)
        p_W, q = pose_W
        turn = so3.multiply(q, so3.conjugate(nominal[REF_Q]))
        self._shifts[module] = Shift(p_W - nominal[REF_P], turn)

    def go(self, module: int, t: float, leader_W: Array, q_WL: Array, setpoint: Setpoint) -> None:
        """Let a module follow a setpoint in its leader's frame, whose origin (3,) and attitude (4,) are given."""
        row = np.zeros(REF_FIXED)
        row[REF_P] = leader_W + so3.rotate(q_WL, setpoint.p_LF_L)
        row[REF_V] = so3.rotate(q_WL, setpoint.v_LF_L)
        row[REF_A] = so3.rotate(q_WL, setpoint.a_LF_L)
        row[REF_Q] = q_WL
        self._guided[module] = Guided(row, t)

    def hand_over(self, structure: Structure, row: Array, nominal: Array) -> None:
        """Let a structure follow its leader's reference, of a row (19+) now and an own one (19+); nothing jumps."""
        self.stay(structure.leader, (row[REF_P], row[REF_Q]), nominal)
        self.anchor(structure, structure.leader)

    def let_go(self, module: int) -> None:
        """End what docking asks for."""
        self._guided.pop(module, None)

    def put_rows(self, t: float, nominal: Array, out: Array) -> None:
        """Write the references (n, 19+) of all modules at a time.

        Args:
            t: [s].
            nominal: (n, 19+) each module's own.
            out: is overwritten.
        """
        out[:] = nominal
        for module in range(len(nominal)):
            row = self._row(int(self._anchors[module]), t, nominal).copy()
            row[REF_ALPHA] += self.turns_S[module]
            put_member_row(row, self._arms_S[module], out[module])

    def _row(self, anchor: int, t: float, nominal: Array) -> Array:
        """The reference (19+) of a structure's anchor."""
        guided = self._guided.get(anchor)
        if guided is not None:
            row: Array = guided.row.copy()
            row[REF_P] += (t - guided.t) * row[REF_V]
            return row
        return shifted(nominal[anchor], self._shifts[anchor])


def shifted(row: Array, shift: Shift) -> Array:
    """A reference row (19+) moved by a shift: turned about itself, rates in body axes as they are."""
    if shift is NO_SHIFT:
        return row
    out = np.array(row)
    out[REF_P] += shift.p_W
    out[REF_Q] = so3.multiply(shift.q, row[REF_Q])
    return out
