# SPDX-License-Identifier: BSD-3-Clause
"""The scenes that the suite has, by name; each is generated, in a fraction of a second, and always the same."""

from collections.abc import Callable
from functools import lru_cache

from iap_description.errors import BadInput
from iap_description.scenes import (
    bright_arena,
    broad_station,
    building_cluster,
    foggy_arena,
    narrow_station,
    open_field,
    textured_walls,
)
from iap_description.scenes.scene import Scene

_BUILDERS: dict[str, Callable[[], Scene]] = {
    "bright_arena": bright_arena.build,
    "broad_station": broad_station.build,
    "building_cluster": building_cluster.build,
    "foggy_arena": foggy_arena.build,
    "narrow_station": narrow_station.build,
    "open_field": open_field.build,
    "textured_walls": textured_walls.build,
}


def scene_names() -> list[str]:
    """Names that `load_scene` takes."""
    return sorted(_BUILDERS)


def check_scene(name: str) -> None:
    """Refuse what is not a scene's name.

    Raises:
        BadInput: there is no such scene.
    """
    if name not in _BUILDERS:
        raise BadInput(f"no scene '{name}' (scenes: {', '.join(scene_names())})")


@lru_cache(maxsize=len(_BUILDERS))
def load_scene(name: str) -> Scene:
    """A scene; who asks again gets the same one, which nobody changes.

    Raises:
        BadInput: there is no such scene.
    """
    check_scene(name)
    return _BUILDERS[name]()
