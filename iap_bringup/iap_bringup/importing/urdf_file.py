# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles in URDF, also made by xacro."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from iap_bringup.importing.link_shapes import LinkMesh, contact_shape, motor_models
from iap_bringup.importing.vehicle_model import (
    MOMENTS,
    LinkModel,
    RotorSource,
    VehicleModel,
    turned_inertia,
)
from iap_description.assets.poses import Pose, Tree, numbers
from iap_description.assets.urdf import file_of, link_poses, origin_of, robot_of
from iap_description.config.text_files import read_text, reason_of
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput

PREFIXES = "AMENT_PREFIX_PATH"
RPM = 2.0 * np.pi / 60.0  # [rad/s]


def read_urdf(path: Path, arguments: Mapping[str, str]) -> VehicleModel:
    """The vehicle of a URDF or xacro file.

    Raises:
        BadInput: it cannot be read, is no tree of links, or includes itself.
    """
    text = read_text(path)
    if path.suffix == ".xacro" or "<xacro:" in text:
        text = _expanded(path, arguments)
    robot = robot_of(text, str(path))
    poses = link_poses(robot, str(path))
    links: list[LinkModel] = []
    notes: list[str] = []
    for link in robot.findall("link"):
        name = link.get("name", "")
        links.append(_link(link, poses[name], path, notes))
    moving = [
        joint.get("name", "")
        for joint in robot.findall("joint")
        if joint.get("type") not in ("fixed", "continuous")
    ]
    if moving:
        notes.append(f"joints that stay at rest: {', '.join(moving)}")
    rotors = list(motor_models(robot, poses, str(path))) or _rotors_of_properties(robot, links)
    return VehicleModel(robot.get("name", path.stem), links, rotors, notes)


def _expanded(path: Path, arguments: Mapping[str, str]) -> str:
    """The text that xacro makes; packages are found by the names of the folders above the file."""
    import xacro

    try:
        with _packages_around(path):
            document = xacro.process_file(str(path), mappings=dict(arguments))
    except RecursionError as error:
        raise BadInput(f"{path}: it includes itself") from error
    except Exception as error:  # xacro raises whatever it meets
        raise BadInput(
            f"{path}: xacro cannot expand it: {reason_of(error)} (--arg NAME=VALUE gives arguments)"
        ) from error
    return str(document.toxml())


@contextmanager
def _packages_around(path: Path) -> Iterator[None]:
    """Let `$(find NAME)` be a folder of this name above a file."""
    before = os.environ.get(PREFIXES)
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "share", "ament_index", "resource_index", "packages")
        index.mkdir(parents=True)
        for above in path.resolve().parents:
            home = Path(folder, "share", above.name)
            if above.name and not home.exists():
                (index / above.name).touch()
                home.symlink_to(above)
        os.environ[PREFIXES] = os.pathsep.join([folder, *([before] if before else [])])
        try:
            yield
        finally:
            os.environ.pop(PREFIXES)
            if before is not None:
                os.environ[PREFIXES] = before


def _link(link: Element, pose: Pose, path: Path, notes: list[str]) -> LinkModel:
    name = link.get("name", "")
    source = f"{path}: link '{name}'"
    mass, at, inertia = 0.0, pose, np.zeros((3, 3))
    inertial = link.find("inertial")
    if inertial is not None:
        at = pose @ origin_of(inertial, source)
        mass_element, tensor = inertial.find("mass"), inertial.find("inertia")
        mass = (
            0.0
            if mass_element is None
            else float(numbers(mass_element.get("value", "0"), 1, source)[0])
        )
        if tensor is not None:
            moments = (float(numbers(tensor.get(f"i{k}", "0"), 1, source)[0]) for k in MOMENTS)
            inertia = turned_inertia(moments, at.R)
    shapes = [_shape(each, pose, path, source, notes) for each in link.findall("collision")]
    return LinkModel(name, mass, at.p, inertia, tuple(each for each in shapes if each is not None))


def _shape(
    collision: Element, pose: Pose, path: Path, source: str, notes: list[str]
) -> Tree | None:
    at = pose @ origin_of(collision, source)

    def mesh_of(mesh: Element) -> LinkMesh:
        name = mesh.get("filename", "")
        return LinkMesh(name, file_of(name, path), mesh.get("scale", "1 1 1"))

    return contact_shape(collision.find("geometry"), at, mesh_of, source, notes)


def _rotors_of_properties(robot: Element, links: list[LinkModel]) -> list[RotorSource]:
    """Rotors of the element `properties` of gym-pybullet-drones, at its links `prop0_link` and so on."""
    properties = robot.find("properties")
    at = [link.center for link in links if link.name.startswith("prop")]
    if (
        properties is None
        or not at
        or properties.get("kf") is None
        or properties.get("km") is None
    ):
        return []
    kf, km = float(properties.get("kf", "nan")), float(properties.get("km", "nan"))
    weight = GRAVITY * sum(link.mass for link in links)
    ratio = properties.get("thrust2weight")
    thrust = None if ratio is None else float(ratio) * weight / len(at)
    speed = None if thrust is None else RPM * float(np.sqrt(thrust / kf))
    return [
        RotorSource(p, thrust_coefficient=kf / RPM**2, speed_max=speed, torque_ratio=km / kf)
        for p in at
    ]
