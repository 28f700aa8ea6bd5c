# SPDX-License-Identifier: BSD-3-Clause
"""Joints that are added in flight: spare constraints of MuJoCo's, each with a force that it can bear."""

from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import IapError
from iap_physics.engines.mujoco.library import mj
from iap_physics.engines.mujoco.stepping import step

STATE = mj.mjtState.mjSTATE_INTEGRATION


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
        self._bonds: dict[int, tuple[int, float]] = {}  # handle -> constraint, limit [N]
        self._count = 0
        self._before = np.empty(mj.mj_stateSize(model, STATE))

    def __bool__(self) -> bool:
        return bool(self._bonds)

    @property
    def held(self) -> tuple[int, ...]:
        """Handles of all joints."""
        return tuple(sorted(self._bonds))

    def clear(self) -> None:
        """Forget all of them."""
        self._bonds.clear()
        self._data.eq_active[:] = 0

    def add(self, bodies: tuple[int, int], places: tuple[Array, Array], limit: float) -> int:
        """Join two of MuJoCo's bodies at a point (3,) in each; returns a handle.

        Raises:
            IapError: there is no spare constraint.
        """
        taken = {k for k, _ in self._bonds.values()}
        free = [k for k in range(self._model.neq) if k not in taken]
        if not free:
            raise IapError(f"add_joint: no more than {self._model.neq} at a time")
        k = free[0]
        self._model.eq_obj1id[k], self._model.eq_obj2id[k] = bodies
        self._model.eq_data[k, :6] = np.concatenate(places)
        self._data.eq_active[k] = 1
        self._count += 1
        self._bonds[self._count] = k, limit
        return self._count

    def remove(self, handle: int) -> None:
        """Let go.

        Raises:
            IapError: there is no such joint.
        """
        if handle not in self._bonds:
            raise IapError(f"remove_joint: there is no joint {handle}")
        self._data.eq_active[self._bonds.pop(handle)[0]] = 0

    def step(self) -> None:
        """A step of MuJoCo's in which no joint bears more than it can."""
        data = self._data
        mj.mj_getState(self._model, data, self._before, STATE)
        step(self._model, data)
        yielding = {}
        for k, limit in self._bonds.values():
            force_W = self._force(k)
            size = float(np.linalg.norm(force_W))
            if size > limit:
                yielding[k] = limit / size * force_W
        if not yielding:
            return
        mj.mj_setState(self._model, data, self._before, STATE)
        for k, force_W in yielding.items():
            data.eq_active[k] = 0
            self._pull(k, force_W)
        step(self._model, data)
        for k in yielding:
            data.eq_active[k] = 1

    def _force(self, k: int) -> Array:
        """(3,) of a joint on its first body [N], world axes."""
        data = self._data
        rows = (data.efc_type == mj.mjtConstraint.mjCNSTR_EQUALITY) & (data.efc_id == k)
        return np.array(data.efc_force[rows])

    def _pull(self, k: int, force_W: Array) -> None:
        """Add a force on the first body, and its opposite on the second, at the joint's ends."""
        ends = (self._model.eq_obj1id[k], self._model.eq_obj2id[k])
        for body, place, sign in zip(
            ends, self._model.eq_data[k, :6].reshape(2, 3), (1, -1), strict=True
        ):
            arm_W = self._data.xmat[body].reshape(3, 3) @ place
            arm_W += self._data.xpos[body] - self._data.xipos[body]
            self._data.xfrc_applied[body, :3] += sign * force_W
            self._data.xfrc_applied[body, 3:] += np.cross(arm_W, sign * force_W)
