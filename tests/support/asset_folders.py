# SPDX-License-Identifier: BSD-3-Clause
"""Folders of assets for tests: boxes, balls and an L of two boxes in the files that obstacles come from."""

import trimesh

from iap_description.config.record import validate
from iap_description.world.obstacles import objects_tree
from iap_description.world.world import World

BOX = (0.6, 0.4, 1.0)
URDF = """<robot name="post"><link name="base"><collision><origin xyz="{xyz}" rpy="{rpy}"/>
<geometry>{shape}</geometry></collision></link></robot>"""


def box(size=BOX):
    return trimesh.creation.box(size)


def ell():
    """A body that is not convex: a box of 1 x 1 x 1 without a quarter, its volume 0.75."""
    corners = [[0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]]
    faces = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]
    below, above = ([[x, y, z] for x, y in corners] for z in (0.0, 1.0))
    sides = []
    for i in range(6):
        j = (i + 1) % 6
        sides += [[i, j, 6 + j], [i, 6 + j, 6 + i]]
    bottom = [[c, b, a] for a, b, c in faces]
    top = [[6 + a, 6 + b, 6 + c] for a, b, c in faces]
    return trimesh.Trimesh(below + above, [*sides, *bottom, *top], process=False)


def write_urdf(path, shape, xyz="0 0 0", rpy="0 0 0"):
    path.write_text(URDF.format(shape=shape, xyz=xyz, rpy=rpy), encoding="utf-8")


def assets_tree(folder, **changes):
    """The plain tree of one obstacle in the origin, unless it is changed."""
    tree = {"preset": "assets", "folder": str(folder), "seed": 3, "count": 1}
    tree |= {"area": [[0.0, 0.0], [0.0, 0.0]], "free": [], "scale": [1.0, 1.0]}
    return tree | {"yaw_deg": [0.0, 0.0], **changes}


def world_of_assets(folder, *, ground=False, **changes):
    objects = objects_tree({"things": assets_tree(folder, **changes)})
    return validate(World, {"ground": ground, "objects": objects}, source="test")


def assets_of(folder, **changes):
    return world_of_assets(folder, **changes).objects["things"]
