# SPDX-License-Identifier: BSD-3-Clause
"""Arms in pictures of recorded runs: their links, the object that a gripper carries, and what a tip has written."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import P, Q, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.body import Body
from iap_description.vehicles.gripper import GripperSpec
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.serial_chain import new_frames, walk
from iap_description.world.scene_objects import SceneObject
from iap_io.runs.columns import Columns


def with_arm(assembly: Assembly, rows: Array, q: Array | None) -> tuple[Assembly, Array]:
    """A vehicle that is looked at, with the links of its arm as bodies of their own.

    Args:
        assembly: the vehicle.
        rows: (bodies, 13) its states.
        q: (n,) joint coordinates [rad], [m]; None of a vehicle without an arm.
    """
    arm = assembly.arm
    if arm is None or q is None:
        return assembly, rows
    drag = assembly.bodies[0].drag
    links = tuple(
        Body(link.name, link.mass, link.inertia, drag, visual=link.visual) for link in arm.links
    )
    extended = replace(assembly, bodies=(*assembly.bodies, *links))
    return extended, np.vstack([rows, _link_rows(arm, rows[0], q)])


def carried(
    objects: Sequence[SceneObject],
    number: int,
    gripper: GripperSpec,
    arm: MountedArm,
    columns: Columns,
    tick: int,
) -> list[SceneObject]:
    """Objects with the one in place that a gripper has taken, which no recording has: its joint is taken as rigid.

    Args:
        objects: of the world, where they began.
        number: of the gripper's object.
        gripper: at the arm's tip.
        arm: of the vehicle.
        columns: of the vehicle.
        tick: row of the recording that is shown.
    """
    item, joints = objects[number], columns.arm
    assert joints is not None  # noqa: S101 - of a vehicle with an arm
    point = item.row[P] + so3.rotate(item.row[Q], np.array(gripper.point))
    holds = (columns.t >= gripper.close) & (columns.t < gripper.open)
    ticks: list[int] = np.flatnonzero(holds[: tick + 1]).tolist()

    def link(k: int) -> Array:
        """Row (13,) of the last link at a tick."""
        return _link_rows(arm, columns.x[k, 0], joints.q[k])[-1]

    def tip(k: int) -> Array:
        row = link(k)
        return np.asarray(row[P] + so3.rotate(row[Q], arm.chain.tip))

    grasp_tick = next((k for k in ticks if np.linalg.norm(tip(k) - point) <= gripper.reach), None)
    if grasp_tick is None:
        return list(objects)
    first, last = link(grasp_tick), link(ticks[-1])
    turn = so3.multiply(last[Q], so3.conjugate(first[Q]))
    position = last[P] + so3.rotate(turn, item.row[P] - first[P])
    carried_object = replace(item, row=resting_state(position, so3.multiply(turn, item.row[Q])))
    return [*objects[:number], carried_object, *objects[number + 1 :]]


def touched(arm: MountedArm, columns: Columns, tick: int) -> Array:
    """(n, 3) where an arm's tip was while it touched something under wrench control, up to a row [m]."""
    joints, wrenches = columns.arm, columns.wrench_record
    if joints is None or wrenches is None:
        return np.zeros((0, 3))
    touches = (wrenches.mode > 0) & (wrenches.wrenches[:, 0, :3] != 0.0).any(axis=1)
    ticks = np.flatnonzero(touches[: tick + 1])
    tips_P = np.array([arm.tip_P(joints.q[k]) for k in ticks]).reshape(-1, 3)
    rows = columns.x[ticks, 0]
    return np.asarray(rows[:, P] + so3.rotate(rows[:, Q], tips_P))


def _link_rows(arm: MountedArm, base: Array, q: Array) -> Array:
    """Rows (n, 13), at rest, of the frames of an arm's links on a central body with a state row (13,)."""
    frames = new_frames(len(q))
    walk(arm.chain, base[P], so3.matrix_from_quaternion(base[Q]), q, frames)
    poses = zip(frames.points, frames.rotations, strict=True)
    return np.array([resting_state(p, so3.quaternion_from_matrix(R)) for p, R in poses])
