# SPDX-License-Identifier: BSD-3-Clause
"""Scenes by name."""

from functools import lru_cache

import numpy as np

from iap_description.errors import BadInput
from iap_description.scenes.part import Part
from iap_description.scenes.scene import Light, Scene, Sky


def scene_names() -> list[str]:
    """Names of the scenes that ship with the suite."""
    return ["open_field"]


@lru_cache(maxsize=4)
def load_scene(name: str) -> Scene:
    """A scene by name.

    Raises:
        BadInput: no such scene.
    """
    if name not in scene_names() + ["textured_walls"]:
        raise BadInput(f"no scene '{name}': choose {', '.join(scene_names())}")
    rng = np.random.default_rng(1)
    tex = np.repeat(np.kron(rng.integers(40, 220, (64, 64)), np.ones((8, 8)))[..., None], 3, -1).astype(np.uint8)
    half = 100.0
    corners = (half * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])).astype(np.float32)
    uv = (40.0 * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])).astype(np.float32)
    normals = np.tile(np.array([[0, 0, 1.0]], np.float32), (4, 1))
    ground = Part("ground", corners, normals, uv, np.array([[0, 1, 2], [0, 2, 3]], np.int32), "ground", (1.0, 1.0, 1.0, 1.0), 1)
    return Scene(name, (ground,), (), {"ground": tex}, Light((0.3, 0.2, 0.9), 0.7, 0.4), None, Sky((0.3, 0.5, 0.8), (0.8, 0.85, 0.9)), {1: "ground"})
