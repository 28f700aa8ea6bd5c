# SPDX-License-Identifier: BSD-3-Clause
"""Joints that are added in flight: spare constraints of MuJoCo's, each with a force that it can bear.

What was found out about MuJoCo 4.0 and is relied on here: a constraint's kind, bodies and data stand in the model,
which may be changed between steps. Of a weld the data are the point in the second body, the point in the first, and the
attitude of the second in the first. Its rows for the rotation are the vector part of a quaternion: half an angle, along
the second body's axes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import IapError
from iap_physics.engines.engine import AddedJoint
from iap_physics.engines.mujoco.bond_forces import borne, pull, yields
from iap_physics.engines.mujoco.library import mj
from iap_physics.engines.mujoco.stepping import step

STATE = mj.mjtState.mjSTATE_INTEGRATION
KINDS = {"spherical": mj.mjtEq.mjEQ_CONNECT, "fixed": mj.mjtEq.mjEQ_WELD}


class Bond(NamedTuple):
    """A joint: number of its constraint, MuJoCo's bodies, and what it is."""

    k: int
    bodies: tuple[int, int]
    joint: AddedJoint


def write_bond(
    model: Any,  # noqa: ANN401 - MuJoCo's
    k: int,
    bodies: tuple[int, int],
    places: Sequence[Array],
    q_AB: Array | None,
) -> None:
    """Write a joint into a constraint of MuJoCo's model; without an attitude of b in a it is spherical."""
    p_AJ_A, p_BJ_B = places
    model.eq_type[k] = KINDS["spherical" if q_AB is None else "fixed"]
    model.eq_obj1id[k], model.eq_obj2id[k] = bodies
    data = np.zeros(model.eq_data.shape[1])
    if q_AB is None:
        data[:6] = np.concatenate([p_AJ_A, p_BJ_B])
    else:
        data[:6] = np.concatenate([p_BJ_B, p_AJ_A])
        data[6:10], data[10] = np.roll(q_AB, 1), 1.0
    model.eq_data[k] = data


class Bonds:
    """The joints of a world that were added in flight.

    MuJoCo's constraints bear any force. A step in which one would bear more than its limit is taken again with the
    limit as a force in its place, so that it yields and closes again when the load falls.

    Args:
        model: MuJoCo's.
        data: MuJoCo's.
    """

    def __init__(self, model: Any, data: Any) -> None:  # noqa: ANN401
        self._model, self._data = model, data
        self._bonds: dict[int, Bond] = {}  # by handle
        self._count = 0
        self._has_stepped = False
        self._yielded: dict[
            int, Array
        ] = {}  # wrench of those that yielded in the last step, by constraint
        self._before = np.empty(mj.mj_stateSize(model, STATE))

    def __bool__(self) -> bool:
        return bool(self._bonds)

    @property
    def held(self) -> tuple[tuple[int, Bond], ...]:
        """All joints with their handles."""
        return tuple(sorted(self._bonds.items()))

    def hold(self, held: tuple[tuple[int, Bond], ...]) -> None:
        """Make these anew, and no others."""
        self._bonds = dict(held)
        self._data.eq_active[:] = 0
        for bond in self._bonds.values():
            self._make(bond)

    def add(self, bodies: tuple[int, int], joint: AddedJoint) -> int:
        """Join two of MuJoCo's bodies; returns a handle.

        Raises:
            IapError: there is no spare constraint.
        """
        used = {bond.k for bond in self._bonds.values()}
        free = [k for k in range(self._model.neq) if k not in used]
        if not free:
            raise IapError(f"add_joint: no more than {self._model.neq} at a time")
        self._count += 1
        self._bonds[self._count] = Bond(free[0], bodies, joint)
        self._make(self._bonds[self._count])
        self._has_stepped = False
        return self._count

    def _make(self, bond: Bond) -> None:
        joint = bond.joint
        q_AB = joint.q_AB if joint.type == "fixed" else None
        write_bond(self._model, bond.k, bond.bodies, (joint.p_AJ_A, joint.p_BJ_B), q_AB)
        self._data.eq_active[bond.k] = 1

    def remove(self, handle: int) -> None:
        """Let go.

        Raises:
            IapError: there is no such joint.
        """
        self._data.eq_active[self._bond(handle, "remove_joint").k] = 0
        del self._bonds[handle]

    def wrench(self, handle: int) -> Array:
        """(6,) what a joint bore in the last step, see `Engine.joint_wrench`."""
        bond = self._bond(handle, "joint_wrench")
        return self._wrench(bond) if self._has_stepped else np.zeros(6)

    def step(self) -> None:
        """A step of MuJoCo's in which no joint bears more than it can."""
        data = self._data
        mj.mj_getState(self._model, data, self._before, STATE)
        step(self._model, data)
        self._has_stepped, self._yielded = True, {}
        for bond in self._bonds.values():
            wrench = self._wrench(bond)
            if yields(wrench, bond.joint.max_force):
                self._yielded[bond.k] = wrench
        if not self._yielded:
            return
        mj.mj_setState(self._model, data, self._before, STATE)
        loads = data.xfrc_applied.copy()
        for bond in self._bonds.values():
            if bond.k in self._yielded:
                data.eq_active[bond.k] = 0
                self._pull(bond, self._yielded[bond.k])
        step(self._model, data)
        data.xfrc_applied[:] = loads  # those on objects and links stand until they are changed
        for k in self._yielded:
            data.eq_active[k] = 1

    def _wrench(self, bond: Bond) -> Array:
        """(6,) force, and torque about the joint, on the first body, world axes."""
        if bond.k in self._yielded:
            return self._yielded[bond.k]
        data = self._data
        rows = (data.efc_type == mj.mjtConstraint.mjCNSTR_EQUALITY) & (data.efc_id == bond.k)
        wrench, force = np.zeros(6), np.array(data.efc_force[rows])
        borne(force, len(force) > 3, data.xmat[bond.bodies[1]], wrench)
        return wrench

    def _pull(self, bond: Bond, wrench_W: Array) -> None:
        """Add a wrench on the first body, and its opposite on the second, at the joint's ends."""
        places = (bond.joint.p_AJ_A, bond.joint.p_BJ_B)
        data = self._data
        for body, place, sign in zip(bond.bodies, places, (1.0, -1.0), strict=True):
            offset_W = data.xpos[body] - data.xipos[body]
            pull(data.xfrc_applied[body], data.xmat[body], offset_W, place, wrench_W, sign)

    def _bond(self, handle: int, asker: str) -> Bond:
        if handle not in self._bonds:
            raise IapError(f"{asker}: there is no joint {handle}")
        return self._bonds[handle]
