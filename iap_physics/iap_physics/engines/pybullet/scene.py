# SPDX-License-Identifier: BSD-3-Clause
"""The scene in PyBullet: one body that stands still, made of triangles.

What was found out about PyBullet 3.2.7 and is relied on here: to the broad phase all of the scene is
one box, in which vehicles always are. With a compound of convex shapes each step then takes 16 us
longer even for a single sphere, with a surface of triangles 6 us for a platform with three aircraft;
and rays hit the surface exactly, several times faster.
"""

from pathlib import Path

from iap_description.scenes.library import load_scene
from iap_description.world.shapes import Surface
from iap_description.world.tessellation import joined, mesh
from iap_description.world.world import World
from iap_physics.engines.pybullet.client import MARGIN, bullet, set_surface


def write_scene(world: World, folder: Path) -> Path | None:
    """An OBJ file with all that can be touched of a world's scene; None if there is no such thing."""
    solids = () if world.scene is None else load_scene(world.scene).solids
    if not solids:
        return None
    vertices, _, faces = joined(mesh(solid) for solid in solids)
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (faces + 1).tolist()]
    path = folder / "scene.obj"
    path.write_text("\n".join(["o scene", *lines, ""]), encoding="utf-8")
    return path


def add_scene(client: int, path: Path, surface: Surface) -> None:
    """Load a scene's file; contacts give its body as the world, as every body that has no row."""
    at = {"physicsClientId": client}
    flags = bullet.GEOM_FORCE_CONCAVE_TRIMESH
    shape = bullet.createCollisionShape(bullet.GEOM_MESH, fileName=str(path), flags=flags, **at)
    body = bullet.createMultiBody(0.0, shape, **at)
    bullet.changeDynamics(body, -1, collisionMargin=MARGIN, **at)
    set_surface(client, (body, -1), surface)
