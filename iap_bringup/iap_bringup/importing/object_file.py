# SPDX-License-Identifier: BSD-3-Clause
"""The object of an imported mesh, with the mass and inertia of its density."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.assets.asset import load_asset
from iap_description.assets.contact import welded
from iap_description.assets.poses import Tree
from iap_description.errors import BadInput
from iap_description.geometry.mesh_files import read_mesh
from iap_description.geometry.solids import Bulk, hull

MOST_TRIANGLES = 4_000_000
GREY = (0.62, 0.66, 0.70, 1.0)
SURFACE = {"friction": 0.5, "restitution": 0.1}


@dataclass(frozen=True, eq=False)
class ImportedObject:
    """An object and its numbers.

    Attributes:
        tree: of the world's object.
        mass: [kg].
        center: (3,) its CoM in the mesh's frame [m].
        inertia: (3, 3) about its CoM [kg m^2].
    """

    tree: Tree
    mass: float
    center: Array
    inertia: Array


def object_of(path: Path, density: float, scale: float, folder: Path) -> ImportedObject:
    """The object of a mesh, which is closed; files that objects do not take are written as STL beside it.

    Args:
        path: of the mesh.
        density: [kg/m^3].
        scale: metres per unit of the file.
        folder: for a mesh that is written.

    Raises:
        BadInput: the file is missing, no mesh, or not closed.
    """
    home = path.absolute()
    if path.suffix.lower() in (".glb", ".gltf"):
        home = _as_stl(path, folder)
    try:
        vertices, faces = read_mesh(str(home))
    except ValueError as error:
        raise BadInput(f"{path}: a mass needs a closed mesh: {error}") from error
    bulk = Bulk.of([hull(scale * vertices, faces, GREY)])
    mass = density * bulk.volume
    tree = {
        "type": "mesh",
        "file": str(home),
        "scale": scale,
        "position": [0.0, 0.0, 1.0],
        "mass": float(mass),
        "surface": SURFACE,
    }
    return ImportedObject(tree, mass, bulk.center, density * bulk.inertia)


def _as_stl(path: Path, folder: Path) -> Path:
    """The triangles of a glTF file as STL."""
    import trimesh

    try:
        pieces = load_asset(path, MOST_TRIANGLES)
    except ValueError as error:
        raise BadInput(str(error)) from error
    firsts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    vertices = np.vstack([piece.vertices for piece in pieces])
    faces = np.vstack([piece.faces + first for piece, first in zip(pieces, firsts, strict=False)])
    out = folder.absolute() / f"{path.stem}.stl"
    trimesh.Trimesh(*welded(vertices, faces), process=False).export(out)
    return out
