# SPDX-License-Identifier: BSD-3-Clause
"""Joints of arms in many MuJoCo worlds, driven by compiled code: what `DrivenArm` does in one."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.mounted_arm import MountedArm
from iap_physics.engines.arm_motors import Servos, drive_joints, within_limits


class ArmJoints(NamedTuple):
    """All J joints of all arms in B worlds as compiled code takes them, one arm after another.

    Attributes:
        q_at: (J,) their places in MuJoCo's qpos.
        v_at: (J,) in its qvel.
        servos: that drive them.
        home: (J,) coordinates at a reset [rad], [m].
        targets: (B, 3, J) of position, velocity and torque.
        q: (B, J) coordinates [rad], [m].
        v: (B, J) velocities [rad/s], [m/s].
        efforts: (B, J) of the motors in the last step [N m], [N].
        loads: (B, J) of motors and friction in the last step [N m], [N].
        clipped: (B, J) commands since the last reset that were beyond a joint's travel or speed.
    """

    q_at: Integers
    v_at: Integers
    servos: Servos
    home: Array
    targets: Array
    q: Array
    v: Array
    efforts: Array
    loads: Array
    clipped: Integers

    @classmethod
    def of(
        cls,
        assemblies: Sequence[Assembly],
        model: Any,  # noqa: ANN401 - MuJoCo's
        links: Mapping[int, list[int]],
        batch: int,
    ) -> Self:
        """The joints of arms whose links are these bodies of MuJoCo's model, by the vehicles' numbers."""
        arms = {k: assemblies[k].arm for k in links}
        each = [Servos.of(arm) for arm in arms.values() if arm is not None]
        servos = (
            Servos(*(np.concatenate(parts) for parts in zip(*each, strict=True)))
            if each
            else _NONE
        )
        joints = model.body_jntadr[[body for bodies in links.values() for body in bodies]]
        count = len(joints)
        homes = [arm.record.home_pose for arm in arms.values() if arm is not None]
        q, v, efforts, loads = np.zeros((4, batch, count))
        return cls(
            model.jnt_qposadr[joints].astype(np.int64),
            model.jnt_dofadr[joints].astype(np.int64),
            servos,
            np.concatenate([np.zeros(0), *homes]),
            np.zeros((batch, 3, count)),
            q,
            v,
            efforts,
            loads,
            np.zeros((batch, count), np.int64),
        )

    def reset(self, worlds: Integers, qpos: Array) -> None:
        """Bring the arms of worlds home, at rest, which is the target too, and write it into qpos (B, nq)."""
        self.q[worlds], self.v[worlds] = self.home, 0.0
        self.targets[worlds] = 0.0
        self.targets[worlds, 0] = self.home
        self.efforts[worlds], self.clipped[worlds] = 0.0, 0
        qpos[worlds[:, None], self.q_at] = self.home

    @property
    def changing(self) -> tuple[Array | Integers, ...]:
        """Arrays that change in flight."""
        return self.targets, self.q, self.v, self.efforts, self.clipped


_NONE = Servos(np.zeros(0, np.int64), *np.zeros((5, 0)))


class ArmBatch:
    """The joints of one vehicle's arm in B worlds; arrays are views.

    Args:
        arm: of the vehicle.
        joints: of all arms.
        rows: of the arm's among them.

    Attributes:
        arm: as given.
    """

    def __init__(self, arm: MountedArm, joints: ArmJoints, rows: slice) -> None:
        self.arm, self._joints, self._rows = arm, joints, rows

    @property
    def q(self) -> Array:
        """(B, n) joint coordinates [rad], [m]."""
        return self._joints.q[:, self._rows]

    @property
    def v(self) -> Array:
        """(B, n) their velocities [rad/s], [m/s]."""
        return self._joints.v[:, self._rows]

    @property
    def efforts(self) -> Array:
        """(B, n) of the motors in the last step [N m], [N]."""
        return self._joints.efforts[:, self._rows]

    @property
    def targets(self) -> Array:
        """(B, 3, n) of position, velocity and torque, within the joints' limits."""
        return self._joints.targets[:, :, self._rows]

    @property
    def clipped(self) -> Integers:
        """(B, n) commands since the last reset that were beyond a joint's travel or speed."""
        return self._joints.clipped[:, self._rows]

    def command(self, worlds: Integers, targets: Array) -> None:
        """Let the motors of worlds go for targets (worlds, 3, n), which are cut to the joints' limits and counted."""
        cut = within_limits(self.arm, targets)
        self.targets[worlds] = cut
        self.clipped[worlds] += (cut != targets).any(axis=1)


def arm_batches(
    assemblies: Sequence[Assembly], joints: ArmJoints, links: Mapping[int, list[int]]
) -> dict[int, ArmBatch]:
    """The arms of vehicles by their numbers."""
    batches, first = {}, 0
    for k, bodies in links.items():
        arm = assemblies[k].arm
        assert arm is not None  # noqa: S101 - it has links
        batches[k] = ArmBatch(arm, joints, slice(first, first + len(bodies)))
        first += len(bodies)
    return batches


@njit(cache=True)
def push_joints(joints: ArmJoints, w: int, forces: Array) -> None:
    """Write what acts at the joints of a world in the next step into MuJoCo's forces on coordinates (nv,)."""
    state = (joints.targets[w], joints.q[w], joints.v[w])
    drive_joints(joints.servos, *state, joints.efforts[w], joints.loads[w])
    for j in range(len(joints.v_at)):
        forces[joints.v_at[j]] = joints.loads[w, j]


@njit(cache=True)
def read_joints(joints: ArmJoints, w: int, qpos: Array, qvel: Array) -> None:
    """Read where the joints of a world stand."""
    for j in range(len(joints.q_at)):
        joints.q[w, j], joints.v[w, j] = qpos[joints.q_at[j]], qvel[joints.v_at[j]]
