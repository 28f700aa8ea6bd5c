# SPDX-License-Identifier: BSD-3-Clause
"""Arms in MuJoCo: links behind hinges and slides that torques drive."""

from itertools import pairwise
from typing import Any

import numpy as np

from iap_description.geometry.shapes import Surface
from iap_description.math import so3
from iap_description.vehicles.mounted_arm import LinkBody, MountedArm
from iap_description.vehicles.serial_chain import REVOLUTE
from iap_physics.engines.arm_motors import ArmMotors
from iap_physics.engines.mujoco.geoms import VEHICLES, Skin, pieces_of
from iap_physics.engines.mujoco.library import mj


def add_arm(spec: Any, base: Any, arm: MountedArm, vehicle: str) -> list[Any]:  # noqa: ANN401
    """The links of an arm behind MuJoCo's body of a vehicle; neighbours pass through each other."""
    bodies, chain = [base], arm.chain
    for i, link in enumerate(arm.links):
        body = bodies[-1].add_body(
            pos=chain.origins[i],
            quat=np.roll(so3.quaternion_from_matrix(chain.rotations[i]), 1),
            **_inertial(link, f"{vehicle}/{link.name}"),
        )
        is_hinge = chain.kinds[i] == REVOLUTE
        body.add_joint(
            type=mj.mjtJoint.mjJNT_HINGE if is_hinge else mj.mjtJoint.mjJNT_SLIDE,
            axis=chain.axes[i],
            limited=True,
            range=arm.record.joints[i].limits,
        )
        bodies.append(body)
    for a, b in pairwise(bodies):
        spec.add_exclude(bodyname1=a.name, bodyname2=b.name)
    return bodies[1:]


def arm_skins(links: list[Any], arm: MountedArm | None, surface: Surface) -> list[Skin]:
    """Contact geometry of the links of an arm, bodies of MuJoCo's; nothing where there is none."""
    if arm is None:
        return []
    pairs = zip(links, arm.links, strict=True)
    return [
        Skin(body, pieces_of(link.collision), link.surface or surface, VEHICLES)
        for body, link in pairs
    ]


class DrivenArm:
    """An arm's joints in MuJoCo.

    Args:
        model: MuJoCo's.
        data: MuJoCo's.
        links: MuJoCo's bodies.
        motors: of the arm.
    """

    def __init__(self, model: Any, data: Any, links: list[int], motors: ArmMotors) -> None:  # noqa: ANN401
        joints = model.body_jntadr[links]
        self._q_at, self._v_at = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._data, self._motors = data, motors

    def reset(self) -> None:
        """Bring the arm home."""
        self._motors.reset()
        self.put()

    def put(self) -> None:
        """Set the joints as the motors have them."""
        self._data.qpos[self._q_at] = self._motors.q
        self._data.qvel[self._v_at] = self._motors.v

    def read(self) -> None:
        """Tell the motors where the joints stand."""
        self._motors.q[:] = self._data.qpos[self._q_at]
        self._motors.v[:] = self._data.qvel[self._v_at]

    def push(self) -> None:
        """Hand the loads of the next step over."""
        self._data.qfrc_applied[self._v_at] = self._motors.drive()


def _inertial(link: LinkBody, name: str) -> dict[str, Any]:
    J = link.inertia
    full = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    inertial = {"ipos": link.com, "fullinertia": full, "explicitinertial": True}
    return {"name": name, "mass": link.mass, **inertial}
