# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of links in URDF and SDF, and rotors of Gazebo's motor models, which both have."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from iap_bringup.importing.vehicle_model import RotorSource, Spin
from iap_description.assets.asset import load_asset
from iap_description.assets.kinds import MESH_KINDS
from iap_description.assets.link_geometry import primitive
from iap_description.assets.poses import Pose, Tree, numbers
from iap_description.errors import BadInput

MOST_TRIANGLES = 2_000_000


class LinkMesh(NamedTuple):
    """A mesh of a link.

    Attributes:
        name: in its file.
        path: of the mesh.
        scale: along x, y and z, as text.
    """

    name: str
    path: Path
    scale: str


SPINS: dict[str, Spin] = {"ccw": "ccw", "cw": "cw"}


def contact_shape(
    geometry: Element | None,
    pose: Pose,
    mesh_of: Callable[[Element], LinkMesh],
    source: str,
    notes: list[str],
) -> Tree | None:
    """The tree of a link's shape: a primitive, or the box around a mesh; None, with a note, of no mesh that is read.

    Args:
        geometry: of a collision.
        pose: of the shape.
        mesh_of: the mesh of an element `mesh`, as its format names it.
        source: to name in errors.
        notes: that are added to.
    """
    if geometry is None:
        return None
    simple = primitive(geometry, source)
    if simple is not None:
        return {**simple, **pose.keys}
    element = geometry.find("mesh")
    if element is None:
        return None
    mesh = mesh_of(element)
    box = mesh_box(mesh.path, mesh.scale, pose, source)
    if box is None:
        notes.append(f"no contact by {mesh.name}")
    return box


def mesh_box(path: Path, scale: str, pose: Pose, source: str) -> Tree | None:
    """The box around a mesh at a pose; None of a kind of mesh that is not read.

    Raises:
        BadInput: the file is missing or damaged.
    """
    if path.suffix.lower().removeprefix(".") not in MESH_KINDS:
        return None
    try:
        pieces = load_asset(path, MOST_TRIANGLES)
    except ValueError as error:
        raise BadInput(f"{source}: {error}") from error
    points = np.vstack([piece.vertices for piece in pieces]) * numbers(scale, 3, source)
    low, high = points.min(axis=0), points.max(axis=0)
    middle = Pose(0.5 * (low + high), np.eye(3))
    size = np.maximum(high - low, 1e-4)
    return {"shape": "box", "size": size.tolist(), **(pose @ middle).keys}


def motor_models(root: Element, poses: Mapping[str, Pose], source: str) -> Iterator[RotorSource]:
    """Rotors of Gazebo's motor models, old and new, by the poses of their links.

    Raises:
        BadInput: one is of a link that is not there.
    """
    for plugin in root.iter("plugin"):
        link, constant = plugin.findtext("linkName"), plugin.findtext("motorConstant")
        if link is None or constant is None:
            continue
        name = link.strip()
        pose = poses.get(name) or poses.get(name.split("/")[-1])
        if pose is None:
            raise BadInput(f"{source}: a motor model is of link '{name}', which is not there")
        values = {
            key: float(numbers(text, 1, f"{source}: {key}")[0])
            for key in ("maxRotVelocity", "momentConstant", "timeConstantUp", "timeConstantDown")
            if (text := plugin.findtext(key)) is not None
        }
        up, down = values.get("timeConstantUp"), values.get("timeConstantDown")
        yield RotorSource(
            position=pose.p,
            direction=pose.R[:, 2],
            spin=SPINS.get((plugin.findtext("turningDirection") or "").strip()),
            thrust_coefficient=float(numbers(constant, 1, f"{source}: motorConstant")[0]),
            speed_max=values.get("maxRotVelocity"),
            torque_ratio=values.get("momentConstant"),
            time_constants=None if up is None or down is None else (up, down),
        )
