# SPDX-License-Identifier: BSD-3-Clause
"""Builds the scenes that the suite has; each is generated, in a fraction of a second, and always the same."""

from functools import lru_cache
from importlib import import_module

from iap_description.scenes.scene import Scene
from iap_description.world.scene_names import SCENES, check_scene


@lru_cache(maxsize=len(SCENES))
def load_scene(name: str) -> Scene:
    """A scene; who asks again gets the same one, which nobody changes.

    Raises:
        BadInput: there is no such scene.
    """
    check_scene(name)
    scene: Scene = import_module(SCENES[name]).build()
    return scene
