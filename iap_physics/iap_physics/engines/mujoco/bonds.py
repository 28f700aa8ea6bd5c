# SPDX-License-Identifier: BSD-3-Clause
"""Joints that are added in flight: spare constraints of MuJoCo's, each with a force that it can bear.

What was found out about MuJoCo 4.0 and is relied on here: a constraint's kind, bodies and data stand in the model,
which may be changed between steps. Of a weld the data are the point in the second body, the point in the first, and the
attitude of the second in the first. Its rows for the rotation are the vector part of a quaternion: half an angle, along
the second body's axes.
"""

from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import IapError
from iap_physics.engines.engine import AddedJoint
from iap_physics.engines.mujoco.library import mj
from iap_physics.engines.mujoco.stepping import step

STATE = mj.mjtState.mjSTATE_INTEGRATION
KINDS = {"spherical": mj.mjtEq.mjEQ_CONNECT, "fixed": mj.mjtEq.mjEQ_WELD}


class Bond(NamedTuple):
    """A joint: number of its constraint, MuJoCo's bodies, and what it is."""

    k: int
    bodies: tuple[int, int]
    joint: AddedJoint


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
        taken = {bond.k for bond in self._bonds.values()}
        free = [k for k in range(self._model.neq) if k not in taken]
        if not free:
            raise IapError(f"add_joint: no more than {self._model.neq} at a time")
        self._count += 1
        self._bonds[self._count] = Bond(free[0], bodies, joint)
        self._make(self._bonds[self._count])
        self._has_stepped = False
        return self._count

    def _make(self, bond: Bond) -> None:
        model, joint = self._model, bond.joint
        model.eq_type[bond.k] = KINDS[joint.type]
        model.eq_obj1id[bond.k], model.eq_obj2id[bond.k] = bond.bodies
        data = np.zeros(model.eq_data.shape[1])
        if joint.type == "fixed":
            data[:6] = np.concatenate([joint.p_BJ_B, joint.p_AJ_A])
            data[6:10], data[10] = np.roll(joint.q_AB, 1), 1.0
        else:
            data[:6] = np.concatenate([joint.p_AJ_A, joint.p_BJ_B])
        model.eq_data[bond.k] = data
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
            size = float(np.linalg.norm(wrench[:3]))
            if size > bond.joint.max_force:
                self._yielded[bond.k] = bond.joint.max_force / size * wrench
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
        wrench, borne = np.zeros(6), np.array(data.efc_force[rows])
        wrench[:3] = borne[:3]
        if len(borne) > 3:
            wrench[3:] = 0.5 * data.xmat[bond.bodies[1]].reshape(3, 3) @ borne[3:]
        return wrench

    def _pull(self, bond: Bond, wrench_W: Array) -> None:
        """Add a wrench on the first body, and its opposite on the second, at the joint's ends."""
        places = (bond.joint.p_AJ_A, bond.joint.p_BJ_B)
        for body, place, sign in zip(bond.bodies, places, (1, -1), strict=True):
            arm_W = self._data.xmat[body].reshape(3, 3) @ place
            arm_W += self._data.xpos[body] - self._data.xipos[body]
            self._data.xfrc_applied[body, :3] += sign * wrench_W[:3]
            self._data.xfrc_applied[body, 3:] += sign * wrench_W[3:]
            self._data.xfrc_applied[body, 3:] += np.cross(arm_W, sign * wrench_W[:3])

    def _bond(self, handle: int, asker: str) -> Bond:
        if handle not in self._bonds:
            raise IapError(f"{asker}: there is no joint {handle}")
        return self._bonds[handle]
