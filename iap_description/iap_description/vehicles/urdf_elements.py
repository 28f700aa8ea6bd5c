# SPDX-License-Identifier: BSD-3-Clause
"""Elements of URDF: links with inertia and shapes, and joints."""

import math
from collections.abc import Iterable
from typing import Literal
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import ArrayLike

from iap_description.config.values import Vec3
from iap_description.geometry.mesh_files import PACKAGE, mesh_path
from iap_description.geometry.shapes import DIMENSIONS, Shape

Target = Literal["bullet", "ros"]
ORIGIN = (0.0, 0.0, 0.0)


def add(parent: Element, tag: str, **values: object) -> Element:
    """Add an element with attributes in alphabetical order; numbers as Python writes them."""
    return SubElement(parent, tag, {key: str(values[key]) for key in sorted(values)})


def text(values: Iterable[float]) -> str:
    """Numbers with blanks between them."""
    return " ".join(map(str, values))


def add_origin(
    parent: Element, position: Iterable[float], rpy: Iterable[float] = (0, 0, 0)
) -> None:
    """Add a place [m] and a turn [rad]."""
    add(parent, "origin", xyz=text(position), rpy=text(rpy))


def add_link(
    robot: Element, name: str, mass: float, inertia: ArrayLike, com: Iterable[float]
) -> Element:
    """Add a link of a mass [kg], with its inertia (3, 3) about its CoM [kg m^2], which is at `com` [m]."""
    link = add(robot, "link", name=name)
    inertial = add(link, "inertial")
    add_origin(inertial, com)
    add(inertial, "mass", value=mass)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = np.asarray(inertia).tolist()
    add(inertial, "inertia", ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)
    return link


def add_visuals(link: Element, shapes: Iterable[Shape], target: Target, com: Vec3) -> None:
    """Add what is seen of a body whose CoM is at `com` in the link's frame; PyBullet knows no transparency."""
    for shape in shapes:
        if target == "ros" or shape.color[3] == 1.0:
            visual = add(link, "visual")
            _add_shape(visual, shape, target, com)
            color = list(shape.color)
            material = add(visual, "material", name="rgba_" + "_".join(map(str, color)))
            add(material, "color", rgba=text(color))


def add_collisions(link: Element, shapes: Iterable[Shape], target: Target, com: Vec3) -> None:
    """Add what touches of a body whose CoM is at `com` in the link's frame, but for hulls of vertices."""
    for shape in shapes:
        if shape.vertices is None:
            _add_shape(add(link, "collision"), shape, target, com)


def add_joint(
    robot: Element,
    name: str,
    kind: str,
    *,
    links: tuple[str, str],
    position: Iterable[float] = ORIGIN,
    rpy: Iterable[float] = ORIGIN,
) -> Element:
    """Add a joint between a parent and a child, whose frame has a position [m] and turn [rad] in the parent's."""
    joint = add(robot, "joint", name=name, type=kind)
    add_origin(joint, position, rpy)
    parent, child = links
    add(joint, "parent", link=parent)
    add(joint, "child", link=child)
    return joint


def add_frame(
    robot: Element,
    parent: str,
    name: str,
    position: Iterable[float],
    rpy: Iterable[float] = ORIGIN,
) -> None:
    """Add a link without mass that is fixed to another."""
    add(robot, "link", name=name)
    add_joint(robot, f"{name}_joint", "fixed", links=(parent, name), position=position, rpy=rpy)


def _add_shape(parent: Element, shape: Shape, target: Target, com: Vec3) -> None:
    add_origin(parent, np.add(shape.position, com).tolist(), map(math.radians, shape.rpy_deg))
    geometry = add(parent, "geometry")
    if shape.mesh is not None:
        add(geometry, "mesh", filename=_mesh(shape.mesh, target))
    elif shape.size is not None:
        add(geometry, "box", size=text(shape.size))
    else:
        # standard URDF knows no capsules
        kind = "cylinder" if target == "ros" and shape.shape == "capsule" else shape.shape
        add(geometry, kind, **{key: getattr(shape, key) for key in DIMENSIONS[shape.shape]})


def _mesh(mesh: str, target: Target) -> str:
    """A mesh as its reader finds it: PyBullet knows no packages."""
    return mesh_path(mesh) if target == "bullet" and mesh.startswith(PACKAGE) else mesh
