# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles in SDF, with the models that they include."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree
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
from iap_description.assets.poses import ORIGIN, Pose, Tree, numbers
from iap_description.config.text_files import is_file, read_text
from iap_description.errors import BadInput


@dataclass
class _Parts:
    """Parts of models and of those that they include."""

    links: list[LinkModel] = field(default_factory=list)
    poses: dict[str, Pose] = field(default_factory=dict)
    plugins: list[Element] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_sdf(path: Path, arguments: Mapping[str, str]) -> VehicleModel:  # noqa: ARG001 - of xacro
    """The vehicle of an SDF file, in the frame of its model.

    Raises:
        BadInput: it cannot be read, includes what is not there, or itself.
    """
    parts = _Parts()
    name = _collect(path, ORIGIN, parts, ())
    holder = Element("plugins")
    holder.extend(parts.plugins)
    rotors: list[RotorSource] = list(motor_models(holder, parts.poses, str(path)))
    return VehicleModel(name, parts.links, rotors, parts.notes)


def _collect(path: Path, base: Pose, parts: _Parts, chain: tuple[Path, ...]) -> str:
    """Add a file's model at a pose; returns its name."""
    home = path.resolve()
    if home in chain:
        names = " -> ".join(each.parent.name for each in (*chain, home))
        raise BadInput(f"{path}: models include each other: {names}")
    try:
        root = ElementTree.fromstring(read_text(path))
    except ElementTree.ParseError as error:
        raise BadInput(f"{path}: not valid XML: {error}") from error
    model = root if root.tag == "model" else root.find(".//model")
    if model is None:
        raise BadInput(f"{path}: it has no <model>")
    for include in model.findall("include"):
        uri = (include.findtext("uri") or "").strip()
        at = base @ _pose(include, str(path))
        _collect(_model_file(uri, path), at, parts, (*chain, home))
    frames = _frames(model, str(path))
    for link in model.findall("link"):
        name = link.get("name", "")
        pose = base @ _resolved(name, frames, (), str(path))
        parts.poses[name] = pose
        parts.links.append(_link(link, pose, path, parts.notes))
    moving = [
        joint.get("name", "")
        for joint in model.findall("joint")
        if joint.get("type") != "fixed" and "rotor" not in joint.get("name", "")
    ]
    if moving:
        parts.notes.append(f"joints that stay at rest: {', '.join(moving)}")
    parts.plugins += model.iter("plugin")
    return str(model.get("name", path.parent.name))


def _model_file(uri: str, path: Path) -> Path:
    """The file of a model's URI, in a folder beside those above a file.

    Raises:
        BadInput: there is none.
    """
    name = uri.removeprefix("model://").strip("/")
    for above in path.resolve().parents:
        for candidate in (above / name / "model.sdf", above / name):
            if is_file(candidate):
                return candidate
    raise BadInput(f"{path}: it includes '{uri}', and no folder above it has {name}/model.sdf")


def _pose(element: Element, source: str) -> Pose:
    text = (element.findtext("pose") or "").split()
    if not text:
        return ORIGIN
    values = numbers(" ".join(text), 6, source)
    return Pose.of(
        " ".join(map(repr, values[:3].tolist())), " ".join(map(repr, values[3:].tolist())), source
    )


def _frames(model: Element, source: str) -> dict[str, tuple[str | None, Pose]]:
    """Of links, joints and frames: the frame that each is given in, and its pose there."""
    frames: dict[str, tuple[str | None, Pose]] = {}
    for each in (*model.findall("link"), *model.findall("joint"), *model.findall("frame")):
        pose = each.find("pose")
        relative = None if pose is None else pose.get("relative_to")
        if relative is None and each.tag == "joint":
            relative = (each.findtext("child") or "").strip() or None
        if relative is None and each.tag == "frame":
            relative = each.get("attached_to")
        frames[each.get("name", "")] = (relative or None, _pose(each, source))
    return frames


def _resolved(
    name: str,
    frames: Mapping[str, tuple[str | None, Pose]],
    chain: tuple[str, ...],
    source: str,
) -> Pose:
    """The pose of a frame in its model's."""
    if name in chain:
        raise BadInput(f"{source}: frames are given in each other: {' -> '.join((*chain, name))}")
    if name == "__model__":
        return ORIGIN
    if name not in frames:
        raise BadInput(f"{source}: there is no frame '{name}'")
    relative, pose = frames[name]
    return pose if relative is None else _resolved(relative, frames, (*chain, name), source) @ pose


def _link(link: Element, pose: Pose, path: Path, notes: list[str]) -> LinkModel:
    name = link.get("name", "")
    source = f"{path}: link '{name}'"
    inertial = link.find("inertial")
    mass, at, inertia = 0.0, pose, np.zeros((3, 3))
    if inertial is not None:
        at = pose @ _pose(inertial, source)
        mass = float(numbers(inertial.findtext("mass") or "1", 1, source)[0])
        tensor = inertial.find("inertia")
        diagonal = "1" if tensor is None else "0"  # SDF's defaults
        texts = {key: None if tensor is None else tensor.findtext(f"i{key}") for key in MOMENTS}
        moments = (
            float(numbers(text or (diagonal if key in MOMENTS[:3] else "0"), 1, source)[0])
            for key, text in texts.items()
        )
        inertia = turned_inertia(moments, at.R)
    shapes = [_shape(each, pose, path, source, notes) for each in link.findall("collision")]
    return LinkModel(name, mass, at.p, inertia, tuple(each for each in shapes if each is not None))


def _shape(
    collision: Element, pose: Pose, path: Path, source: str, notes: list[str]
) -> Tree | None:
    at = pose @ _pose(collision, source)

    def mesh_of(mesh: Element) -> LinkMesh:
        uri = (mesh.findtext("uri") or "").strip()
        folder, _, rest = uri.removeprefix("model://").partition("/")
        above = next(
            (each for each in path.resolve().parents if (each / folder).is_dir()), path.parent
        )
        return LinkMesh(uri, above / folder / rest, mesh.findtext("scale") or "1 1 1")

    return contact_shape(collision.find("geometry"), at, mesh_of, source, notes)
