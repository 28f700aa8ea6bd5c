# SPDX-License-Identifier: BSD-3-Clause
r"""References of all modules: each flies its own, moves as a docking asks, or keeps its position in a structure.

References of modules follow from that of their structure after beatle (16), (23) and (26).

.. math::
    r_i = r_S + R\,d_i, \qquad v_i = v_S + R (\omega \times d_i), \qquad
    a_i = a_S + R (\alpha \times d_i + \omega \times (\omega \times d_i)),

with rates in body axes and d_i constant in them. Printed (23) has R r_S + d_i, which turns the structure's position
about the world's origin; printed (17) has R = 0 where the identity is meant: all modules have the structure's attitude.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_control.modules.relative_pose import Setpoint
from iap_control.modules.structure import Structure
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.math.kernels import add, cross, put_at, quat_at, rotate, vec, vec_at
from iap_description.states import REF_A, REF_ALPHA, REF_FIXED, REF_P, REF_Q, REF_V


class Shift(NamedTuple):
    """The motion of a module's own reference: a way in the world [m], and a rotation."""

    p_W: Array
    q: Array


NO_SHIFT = Shift(np.zeros(3), so3.IDENTITY)


class GuidedReference(NamedTuple):
    """A reference of a docking, and its time [s]."""

    row: Array
    t: float


class ModuleGuidance:
    """Generates the references of every module.

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
        self._guided: dict[int, GuidedReference] = {}
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
        """Let a module's reference begin at a position (3,) and attitude (4,), as its own (19+) has it there now."""
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
        self._guided[module] = GuidedReference(row, t)

    def hand_over(self, structure: Structure, pose_W: tuple[Array, Array], nominal: Array) -> None:
        """Let a structure follow its leader's reference from a pose on, as its own (19+) has it there now."""
        self.stay(structure.leader, pose_W, nominal)
        self.anchor(structure, structure.leader)

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


@njit(cache=True)
def put_member_row(row: Array, d_S: Array, out: Array) -> None:
    """Write the reference of a point that moves along with a structure; headings (19...) stay as they are in `out`.

    Args:
        row: (19+) reference of the structure's origin, or of any other point of it.
        d_S: (3,) from that one to this one [m].
        out: (19+) is overwritten up to the headings.
    """
    out[:19] = row[:19]
    q, w, d = quat_at(row, 3), vec_at(row, 10), vec(d_S)
    turning = cross(w, d)
    put_at(out, 0, add(vec_at(row, 0), rotate(q, d)))
    put_at(out, 7, add(vec_at(row, 7), rotate(q, turning)))
    bending = add(cross(vec_at(row, 16), d), cross(w, turning))
    put_at(out, 13, add(vec_at(row, 13), rotate(q, bending)))
