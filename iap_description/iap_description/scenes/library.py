# SPDX-License-Identifier: BSD-3-Clause
"""The scenes that the suite has, by name; each is generated, in a fraction of a second, and always the same."""

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from iap_description.config.alternatives import alternatives
from iap_description.errors import BadInput

if TYPE_CHECKING:  # a world knows its scene's name only
    from iap_description.scenes.scene import Scene

SCENES = {  # name -> module with a function `build`
    name: f"iap_description.scenes.{name}"
    for name in (
        "bright_arena",
        "broad_station",
        "building_cluster",
        "foggy_arena",
        "narrow_station",
        "open_field",
        "textured_walls",
    )
}


def scene_names() -> list[str]:
    """Names of all scenes."""
    return sorted(SCENES)


def check_scene(name: str) -> str:
    """A scene's name as it is.

    Raises:
        ValueError: there is no such scene.
    """
    if name not in SCENES:
        raise ValueError(f"no scene '{name}': {alternatives(name, scene_names())}")
    return name


@lru_cache(maxsize=len(SCENES))
def load_scene(name: str) -> "Scene":
    """A scene; who asks again gets the same one, which nobody changes.

    Raises:
        BadInput: there is no such scene.
    """
    try:
        module = import_module(SCENES[check_scene(name)])
    except ValueError as error:
        raise BadInput(str(error)) from error
    scene: Scene = module.build()
    return scene
