# SPDX-License-Identifier: BSD-3-Clause
"""A scene with files of all kinds that its parts name: meshes with images, textures, heights, another scene."""

from pathlib import Path

import numpy as np

from iap_description.config.plain_yaml import yaml_text
from iap_description.process.extras import cv2

SIDE = 16  # of images [pixels]


def write(home: Path) -> None:
    """Write the folder ``scene``, whose file is ``scene.yaml``."""
    folder = home / "scene"
    folder.mkdir()
    levels = np.random.default_rng(1).integers(0, 255, (SIDE, SIDE, 3), dtype=np.uint8)
    cv2.imwrite(str(folder / "wall.png"), levels)
    cv2.imwrite(str(folder / "hills.png"), levels[..., 0])
    cv2.imwrite(str(folder / "sky.hdr"), np.ones((64, 128, 3), np.float32))
    np.save(folder / "hills.npy", levels[..., 0] / 255.0)
    for name in ("truck.glb", "truck.gltf", "block.obj", "block.ply"):
        _write_mesh(folder / name)
    (folder / "other.yaml").write_text(yaml_text({"parts": [_box(9.0)]}), encoding="utf-8")
    (folder / "scene.yaml").write_text(yaml_text(_scene()), encoding="utf-8")


def _write_mesh(path: Path) -> None:
    """A box with an image on it, in the form that the file's ending says."""
    import trimesh  # takes half a second

    box = trimesh.creation.box((1.0, 2.0, 1.0))
    image = trimesh.visual.texture.SimpleMaterial()
    box.visual = trimesh.visual.TextureVisuals(uv=np.abs(box.vertices[:, :2]), material=image)
    if path.suffix == ".gltf":
        for name, data in trimesh.exchange.gltf.export_gltf(trimesh.Scene(box)).items():
            (path.with_name(name) if name != "model.gltf" else path).write_bytes(data)
    else:
        box.export(path)


def _box(x: float) -> dict[str, object]:
    return {"type": "box", "at": [[x, 6.0, 1.0]], "size": [1.0, 1.0, 1.0], "texture": "crates"}


def _scene() -> dict[str, object]:
    meshes = ("truck.glb", "truck.gltf", "block.obj", "block.ply")
    hills = {
        "type": "height_map",
        "size": [8.0, 8.0],
        "height": 2.0,
        "position": [-30.0, 0.0, 0.0],
    }
    return {
        "description": "A yard",
        "parts": [
            {"type": "ground", "texture": "wall.png", "reach": 40.0},
            *(
                {
                    "type": "mesh",
                    "file": name,
                    "position": [5.0 + 4.0 * k, -8.0, 0.0],
                    "scale": 1.0,
                }
                for k, name in enumerate(meshes)
            ),
            _box(8.0),
            {"type": "sphere", "radius": 1.0, "position": [9.0, -15.0], "label": "ball"},
            {**hills, "file": "hills.png"},
            {**hills, "file": "hills.npy", "position": [-50.0, 0.0, 0.0]},
            {"type": "scene", "file": "other.yaml", "position": [40.0, 0.0, 0.0]},
        ],
    }
