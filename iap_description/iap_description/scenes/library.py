# SPDX-License-Identifier: BSD-3-Clause
"""Scenes by name or by file: those that the suite has are files, too."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from iap_description.assets.kinds import MESH_KINDS
from iap_description.config.alternatives import alternatives
from iap_description.errors import BadInput
from iap_description.scenes import scene_file

if TYPE_CHECKING:  # a world knows its scene's name only
    from iap_description.scenes.scene import Scene

ENDINGS = tuple(f".{kind}" for kind in ("yaml", "yml", *MESH_KINDS))  # of files
REMEMBERED = 16  # scenes, which can be large


def scene_names() -> list[str]:
    """Names of the scenes that the suite has."""
    return sorted(path.stem for path in scene_file.DATA.glob("*.yaml"))


def is_path(name: str) -> bool:
    """True if a scene is given by its file."""
    return name.lower().endswith(ENDINGS)


def absolute(name: str) -> str:
    """A scene's name as it is, or the whole path of its file."""
    return str(Path(name).expanduser().absolute()) if is_path(name) else name


def check_scene(name: str) -> str:
    """A scene's name or path as it is.

    Raises:
        ValueError: there is no such scene, its file is not one, or one of its parts' files is missing.
    """
    if not is_path(name) and name not in scene_names():
        raise ValueError(
            f"no scene '{name}': {alternatives(name, scene_names())} (or the path of a file of a scene or a mesh)"
        )
    try:
        scene_file.check_files(scene_file.scene_path(name))
    except BadInput as error:
        raise ValueError(str(error)) from error
    return name


def has_ground(name: str) -> bool:
    """True if a scene has the ground plane."""
    return scene_file.has_ground(scene_file.scene_path(name))


def load_scene(name: str) -> "Scene":
    """A scene; who asks again gets the same one, which nobody changes.

    Raises:
        BadInput: there is no such scene, or it cannot be built.
    """
    try:
        check_scene(name)
    except ValueError as error:
        raise BadInput(str(error)) from error
    path = scene_file.scene_path(name)
    return _load(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=REMEMBERED)
def _load(path: Path, _: int) -> "Scene":
    """The scene of a file as it was at a time [ns]."""
    return scene_file.build(path)
