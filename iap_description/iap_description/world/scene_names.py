# SPDX-License-Identifier: BSD-3-Clause
"""Names of the scenes that a world may stand in; they are built by `iap_description.scenes`."""

from iap_description.errors import BadInput

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


def check_scene(name: str) -> None:
    """Refuse what is not a scene's name.

    Raises:
        BadInput: there is no such scene.
    """
    if name not in SCENES:
        raise BadInput(f"no scene '{name}' (scenes: {', '.join(scene_names())})")
