# SPDX-License-Identifier: BSD-3-Clause
"""Closed bodies in files of meshes and in URDF files: what obstacles of a folder are made of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from os.path import realpath  # of links in a circle, too
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.assets.asset import load_asset
from iap_description.assets.contact import bodies, hull_of, welded
from iap_description.assets.kinds import ASSET_KINDS, GLTF_KINDS, MESH_KINDS
from iap_description.assets.link_geometry import primitive
from iap_description.assets.poses import Pose, numbers
from iap_description.assets.urdf import file_of, link_poses, origin_of, robot_of
from iap_description.config.record import validate
from iap_description.config.text_files import is_file, read_text, reason_of
from iap_description.errors import BadInput
from iap_description.geometry.mesh_files import check_closed, read_mesh
from iap_description.geometry.shapes import Shape
from iap_description.geometry.solids import moments, triangles
from iap_description.geometry.tessellation import mesh

SIDES = 32  # of what is round in a URDF file: its flat sides are 0.5 % of the radius too far in
MOST_LOADED, MOST_TRIANGLES = 1_000_000, 100_000  # in a file: that are read, and that an asset has
CONVEX = 1e-5  # of the volume of its hull: what a convex body may lack
Triangles = tuple[Array, Integers]  # vertices (n, 3) and faces (m, 3)


@dataclass(frozen=True, eq=False)
class ClosedBody:
    """A closed surface that hangs together, in the frame of its file.

    Attributes:
        vertices: (n, 3) in units of the file.
        faces: (m, 3), counter-clockwise from outside.
    """

    vertices: Array
    faces: Integers

    @property
    def has_hull(self) -> bool:
        """True if it is thick enough for a convex hull."""
        try:
            return len(self.hull) > 0
        except ValueError:
            return False

    @cached_property
    def hull(self) -> Triangles:
        """Its convex hull."""
        return triangles(hull_of(self.vertices))

    @cached_property
    def is_convex(self) -> bool:
        """True if its hull is no larger than itself."""
        own, around = (moments(*each)[0] for each in ((self.vertices, self.faces), self.hull))
        return bool(around - own <= CONVEX * around)


def asset_files(folder: Path) -> dict[str, Path]:
    """All files of a folder, not of folders in it, that may hold an asset, by name.

    Raises:
        ValueError: there is no such folder, or it cannot be read.
    """
    kinds = tuple(f".{kind}" for kind in ASSET_KINDS)
    try:
        paths = sorted(each for each in folder.iterdir() if each.suffix.lower() in kinds)
    except FileNotFoundError as error:
        raise ValueError(f"there is no folder {folder}") from error
    except OSError as error:
        raise ValueError(f"folder {folder} cannot be read: {reason_of(error)}") from error
    return {path.name: path for path in paths if is_file(path)}


def whole_assets(folder: Path) -> dict[str, Path]:
    """The same without meshes that a URDF file of the folder is made of.

    Raises:
        ValueError: there is no such folder, or it cannot be read.
        BadInput: a URDF file is damaged.
    """
    files = asset_files(folder)
    parts = {realpath(part) for path in files.values() for part in _named_files(path)}
    return {name: path for name, path in files.items() if realpath(path) not in parts}


def closed_bodies(path: Path) -> tuple[ClosedBody, ...]:
    """The bodies of a file: glTF, OBJ, PLY, STL, OFF or URDF, the last one's links at rest.

    Raises:
        ValueError: the file is missing or damaged, has a body that is not closed, or too many triangles.
        BadInput: likewise, of a URDF file.
    """
    if not is_file(path):
        raise ValueError(f"there is no file {path}")
    parts = [each for each in _named_files(path) if is_file(each)]
    return _bodies(path, tuple(each.stat().st_mtime_ns for each in (path, *parts)))


@lru_cache(maxsize=256)
def _bodies(path: Path, _: tuple[int, ...]) -> tuple[ClosedBody, ...]:
    """The bodies of a file that was as it is, with all that it names, at some times [ns]."""
    found: list[ClosedBody] = []
    for vertices, faces in READERS[path.suffix.lower().removeprefix(".")](path):
        for points, corners in bodies(vertices, faces):
            check_closed(str(path), points, corners)
            outwards = corners if moments(points, corners)[0] > 0.0 else corners[:, ::-1]
            found.append(ClosedBody(points, outwards))
            if not found[-1].has_hull:
                raise ValueError(f"{path} has a body that is flat")
    count = sum(len(body.faces) for body in found)
    if not count:
        raise ValueError(f"{path} holds no triangle with an area")
    if count > MOST_TRIANGLES:
        raise ValueError(f"{path} has {count} triangles, more than {MOST_TRIANGLES}")
    return tuple(found)


def _of_gltf(path: Path) -> Iterator[Triangles]:
    """Closed meshes one by one; all as one where a mesh of one material is closed by that of another."""
    pieces = [welded(piece.vertices, piece.faces) for piece in load_asset(path, MOST_LOADED)]
    pieces = [piece for piece in pieces if len(piece[1])]
    if not pieces or all(map(_is_closed, pieces)):
        yield from pieces
        return
    firsts = np.cumsum([0, *(len(vertices) for vertices, _ in pieces[:-1])])
    faces = [faces + first for (_, faces), first in zip(pieces, firsts, strict=True)]
    whole = welded(np.vstack([vertices for vertices, _ in pieces]), np.vstack(faces))
    check_closed(str(path), *whole)  # before it is taken apart, for the number of its edges
    yield whole


def _is_closed(piece: Triangles) -> bool:
    try:
        check_closed("", *piece)
    except ValueError:
        return False
    return True


def _of_mesh(path: Path) -> Iterator[Triangles]:
    yield read_mesh(str(path))


def _of_urdf(path: Path) -> Iterator[Triangles]:
    """Shapes of contact of all links; those of pictures where no link has any."""
    robot = robot_of(read_text(path), str(path))
    poses = link_poses(robot, str(path))
    links = [(each, poses[each.get("name", "")]) for each in robot.findall("link")]
    for kind in ("collision", "visual"):
        if any(link.find(kind) is not None for link, _ in links):
            for link, pose in links:
                for element in link.findall(kind):
                    yield from _of_element(element, pose, path, link.get("name", ""))
            return
    raise BadInput(f"{path}: no link has a shape")


def _of_element(element: Element, pose: Pose, path: Path, link: str) -> Iterator[Triangles]:
    """The triangles of a shape of a link that is at a pose."""
    source = f"{path}: link '{link}'"
    at, geometry = pose @ origin_of(element, source), element.find("geometry")
    simple = None if geometry is None else primitive(geometry, source)
    named = None if geometry is None else geometry.find("mesh")
    if simple is not None:
        vertices, _, faces = mesh(validate(Shape, simple, source=source), sides=SIDES)
        yield welded(vertices @ at.R.T + at.p, faces)
    elif named is not None:
        part = file_of(named.get("filename", ""), path)
        kind = part.suffix.lower().removeprefix(".")
        if kind not in MESH_KINDS:
            raise BadInput(f"{source}: {part} is of no known kind: choose {', '.join(MESH_KINDS)}")
        size = numbers(named.get("scale", "1 1 1"), 3, source)
        for vertices, faces in READERS[kind](part):
            yield (size * vertices) @ at.R.T + at.p, faces
    else:
        raise BadInput(f"{source}: a shape has no box, cylinder, sphere, capsule or mesh")


def _named_files(path: Path) -> tuple[Path, ...]:
    """Meshes that a URDF file is made of; none of other files."""
    if path.suffix.lower() != ".urdf":
        return ()
    return _meshes_of(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _meshes_of(path: Path, _: int) -> tuple[Path, ...]:
    """The meshes in a URDF file as it was at a time [ns]."""
    robot = robot_of(read_text(path), str(path))
    return tuple(file_of(each.get("filename", ""), path) for each in robot.iter("mesh"))


READERS: dict[str, Callable[[Path], Iterator[Triangles]]] = {
    **dict.fromkeys(MESH_KINDS, _of_mesh),
    **dict.fromkeys(GLTF_KINDS, _of_gltf),
    "urdf": _of_urdf,
}
