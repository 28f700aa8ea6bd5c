"""Scenes' files with meshes that are made here: a tiled floor in glTF, and what stands on it."""

import json
import struct

import numpy as np
import trimesh
import yaml
from PIL import Image
from trimesh.visual.material import PBRMaterial
from trimesh.visual.texture import TextureVisuals

FLOOR = 0.5  # height of the floor [m]
RED, GREEN = (200, 30, 30), (30, 160, 40)  # of its halves, at smaller and at larger x


def floor_gltf(path, half=6.0, height=FLOOR):
    """A square floor in glTF's axes, y upwards; its image is red at x < 0 and green at x > 0 of `map`."""
    image = np.zeros((64, 64, 3), np.uint8)
    image[:, :32], image[:, 32:] = RED, GREEN
    # x of map is glTF's z, y of map its x
    corners = np.array(
        [
            [-half, height, -half],
            [half, height, -half],
            [half, height, half],
            [-half, height, half],
        ]
    )
    uv = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    faces = [[0, 2, 1], [0, 3, 2]]
    matter = PBRMaterial(
        name="tiles",
        baseColorTexture=Image.fromarray(image),
        metallicFactor=0.0,
        roughnessFactor=0.9,
    )
    mesh = trimesh.Trimesh(
        corners, faces, visual=TextureVisuals(uv, material=matter), process=False
    )
    trimesh.Scene({"floor": mesh}).export(path)
    return path


def scene_yaml(folder, parts, **keys):
    """A scene's file."""
    path = folder / "place.yaml"
    path.write_text(yaml.safe_dump({"parts": parts, **keys}), encoding="utf-8")
    return path


def damaged_glb(path, change):
    """A glTF file whose JSON is changed."""
    data = floor_gltf(path).read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    tree = json.loads(data[20 : 20 + size])
    change(tree)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + size :]
    head = struct.pack("<III", 0x46546C67, 2, 20 + len(text) + len(rest))
    path.write_bytes(head + struct.pack("<II", len(text), 0x4E4F534A) + text + rest)
    return path
