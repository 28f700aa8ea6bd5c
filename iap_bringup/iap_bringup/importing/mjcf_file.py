# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles in MJCF, MuJoCo's files, which MuJoCo itself reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from iap_bringup.importing.vehicle_model import LinkModel, RotorSource, VehicleModel
from iap_description.arrays import Array
from iap_description.assets.poses import Pose, Tree
from iap_description.config.bounds import LARGEST_NUMBER
from iap_description.config.text_files import read_text
from iap_description.errors import BadInput


def read_mjcf(path: Path, arguments: Mapping[str, str]) -> VehicleModel:  # noqa: ARG001 - of xacro
    """The vehicle of an MJCF file: its first body that moves freely, with all below it.

    Raises:
        BadInput: MuJoCo is not installed or refuses it, a place is no number, or no body moves freely.
    """
    from iap_physics.engines.mujoco.library import mj

    read_text(path)
    try:
        model = mj.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise BadInput(f"{path}: MuJoCo refuses it: {error}") from error
    free = [
        body
        for body in range(1, model.nbody)
        if model.body_jntnum[body]
        and model.jnt_type[model.body_jntadr[body]] == mj.mjtJoint.mjJNT_FREE
    ]
    if not free:
        raise BadInput(f"{path}: no body moves freely (freejoint)")
    data = mj.MjData(model)
    mj.mj_kinematics(model, data)
    for name in ("xpos", "xipos", "geom_xpos", "site_xpos"):
        if not (np.abs(getattr(data, name)) <= LARGEST_NUMBER).all():
            raise BadInput(
                f"{path}: places ({name}) are at most {LARGEST_NUMBER:g} from the origin"
            )
    root = Pose(data.xpos[free[0]].copy(), data.xmat[free[0]].reshape(3, 3).copy())
    bodies = [body for body in range(model.nbody) if _is_below(model, body, free[0])]
    links = [_link(mj, model, data, body, root) for body in bodies]
    own = int(model.body_jntadr[free[0]])
    inner = [k for k in range(model.njnt) if model.jnt_bodyid[k] in bodies and k != own]
    joints = [model.joint(k).name for k in inner]
    notes = [f"joints that stay at rest: {', '.join(joints)}"] if joints else []
    rotors = _rotors(mj, model, data, bodies, root)
    return VehicleModel(model.body(free[0]).name or path.stem, links, rotors, notes)


def _is_below(model: Any, body: int, root: int) -> bool:  # noqa: ANN401 - MuJoCo's
    while body not in (0, root):
        body = int(model.body_parentid[body])
    return body == root


def _in_root(p: Array, R: Array, root: Pose) -> Pose:
    return Pose(root.R.T @ (p - root.p), root.R.T @ R)


def _link(mj: Any, model: Any, data: Any, body: int, root: Pose) -> LinkModel:  # noqa: ANN401
    at = _in_root(data.xipos[body], data.ximat[body].reshape(3, 3), root)
    inertia = at.R @ np.diag(model.body_inertia[body]) @ at.R.T
    shapes = []
    for geom in range(model.ngeom):
        if model.geom_bodyid[geom] == body and (
            model.geom_contype[geom] or model.geom_conaffinity[geom]
        ):
            pose = _in_root(data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3), root)
            middle = Pose(model.geom_aabb[geom, :3].copy(), np.eye(3))  # zero but of meshes
            shapes.append({**_shape(mj, model, geom), **(pose @ middle).keys})
    return LinkModel(
        model.body(body).name, float(model.body_mass[body]), at.p, inertia, tuple(shapes)
    )


def _shape(mj: Any, model: Any, geom: int) -> Tree:  # noqa: ANN401
    """A geom's shape; the box around what is no primitive here."""
    kind, size = mj.mjtGeom(int(model.geom_type[geom])), model.geom_size[geom]
    if kind == mj.mjtGeom.mjGEOM_SPHERE:
        return {"shape": "sphere", "radius": float(size[0])}
    if kind in (mj.mjtGeom.mjGEOM_CYLINDER, mj.mjtGeom.mjGEOM_CAPSULE):
        name = "cylinder" if kind == mj.mjtGeom.mjGEOM_CYLINDER else "capsule"
        return {"shape": name, "radius": float(size[0]), "length": float(2.0 * size[1])}
    half = (
        size
        if kind in (mj.mjtGeom.mjGEOM_BOX, mj.mjtGeom.mjGEOM_ELLIPSOID)
        else model.geom_aabb[geom, 3:]
    )
    return {"shape": "box", "size": np.maximum(2.0 * half, 1e-4).tolist()}


def _rotors(mj: Any, model: Any, data: Any, bodies: list[int], root: Pose) -> list[RotorSource]:  # noqa: ANN401
    """Actuators that push at a site and turn about the same axis."""
    rotors = []
    for k in range(model.nu):
        site, gear = int(model.actuator_trnid[k, 0]), model.actuator_gear[k]
        is_site = model.actuator_trntype[k] == mj.mjtTrn.mjTRN_SITE
        push, turn = float(np.linalg.norm(gear[:3])), float(np.linalg.norm(gear[3:]))
        if not is_site or push == 0.0 or turn == 0.0 or model.site_bodyid[site] not in bodies:
            continue
        pose = _in_root(data.site_xpos[site], data.site_xmat[site].reshape(3, 3), root)
        rotors.append(
            RotorSource(
                position=pose.p,
                direction=pose.R @ gear[:3] / push,
                spin="ccw" if gear[:3] @ gear[3:] < 0.0 else "cw",
                thrust_max=float(model.actuator_ctrlrange[k, 1]) * push or None,
                torque_ratio=turn / push,
            )
        )
    return rotors
