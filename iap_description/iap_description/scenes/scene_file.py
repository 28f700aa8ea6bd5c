# SPDX-License-Identifier: BSD-3-Clause
"""A scene's file: parts of several kinds, look, light and weather; and the scene that it makes."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from iap_description.assets.kinds import MESH_KINDS
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, validate
from iap_description.config.text_files import is_file
from iap_description.config.values import NonNegative, Positive, Seed, Share, Vec3
from iap_description.errors import BadInput
from iap_description.math import euler
from iap_description.scenes.builder import Builder
from iap_description.scenes.lighting import Lighting, TimeOfDay, Weather
from iap_description.scenes.mesh_part import HeightMap, MeshFile
from iap_description.scenes.part_record import PartRecord, Site
from iap_description.scenes.scene import Fog, Light, Scene, Sky
from iap_description.scenes.solid_parts import (
    BoxPart,
    ColumnPart,
    CylinderPart,
    GroundPart,
    PlanePart,
    RoofPart,
    SpherePart,
)

DATA = Path(__file__).parents[1] / "data" / "scenes"
Rgb = tuple[Share, Share, Share]


class LookLight(Record):
    """The one light of the fast renderer, see `Light`."""

    direction: Vec3 = (0.4, -0.3, 0.85)
    strength: NonNegative = 0.65
    ambient: NonNegative = 0.45


class LookSky(Record):
    """The sky of the fast renderer, see `Sky`."""

    zenith: Rgb = (0.33, 0.52, 0.82)
    horizon: Rgb = (0.78, 0.85, 0.92)


class LookFog(Record):
    """The fog of the fast renderer, see `Fog`."""

    density: Positive  # [1/m]
    color: Rgb


class SceneLook(Record):
    """Light, sky and fog of the fast renderer."""

    light: LookLight = LookLight()
    sky: LookSky = LookSky()
    fog: LookFog | None = None


class SceneReference(PartRecord):
    """Another scene: a shipped one by its name, or a file's path."""

    type: Literal["scene"]
    file: str

    def path(self, folder: Path) -> Path:
        """Its file."""
        return scene_path(self.file, folder)

    def build(self, site: Site) -> None:
        """All of its parts at each place; its ground lies as it is."""
        path = self.path(site.folder)
        if path in site.chain:
            names = " -> ".join(each.name for each in (*site.chain, path))
            raise site.refusal(f"key 'file': scenes are part of each other: {names}")
        try:
            other = build(path, site.chain)
        except BadInput as error:
            raise site.refusal(str(error)) from error
        for place in self.placements():
            site.builder.take(other, place.origin, euler.quaternion_from_rpy_deg(place.rpy_deg))


Part = Annotated[
    GroundPart
    | BoxPart
    | PlanePart
    | CylinderPart
    | SpherePart
    | ColumnPart
    | RoofPart
    | MeshFile
    | HeightMap
    | SceneReference,
    Field(discriminator="type"),
]


class SceneFile(Record):
    """A scene as its file has it."""

    description: str = ""
    seed: Seed | None = None  # of textures' places and of tints; None: without
    look: SceneLook = SceneLook()
    light: Lighting | None = None  # these three for renderer `physical`
    weather: Weather | None = None
    time_of_day: TimeOfDay | None = None
    parts: Annotated[tuple[Part, ...], Field(min_length=1)]


def scene_path(name: str, folder: Path = Path()) -> Path:
    """The file of a shipped scene, or a path from a folder on."""
    shipped = DATA / f"{name}.yaml"
    return shipped if is_file(shipped) else (folder / Path(name).expanduser()).absolute()


def read_scene_file(path: Path) -> SceneFile:
    """A scene's file, checked; a mesh's file stands for a scene of this mesh alone.

    Raises:
        BadInput: it is missing, or not such a file.
    """
    if not is_file(path):
        raise BadInput(f"scene {path}: no such file")
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: Path, _: int) -> SceneFile:
    """The file as it was at a time [ns]."""
    tree: object = {"parts": [{"type": "mesh", "file": path.name}]}
    if path.suffix.lower().removeprefix(".") not in MESH_KINDS:
        tree = read_yaml(path)
    return validate(SceneFile, tree, source=str(path))


def has_ground(path: Path) -> bool:
    """True if a scene has the ground plane; of scenes that are part of each other one is asked once."""
    return any(isinstance(part, GroundPart) for _, part in _all_parts(path, ()))


def check_files(path: Path) -> None:
    """Check that all files of a scene are there.

    Raises:
        BadInput: one is missing, a scene's file is none, or scenes are part of each other.
    """
    for folder, part in _all_parts(path, ()):
        for name in part.files():
            if not is_file(folder / Path(name).expanduser()):
                raise BadInput(
                    f"{path}: part '{part.part_name}': there is no file {folder / name}"
                )


def _all_parts(path: Path, chain: tuple[Path, ...]) -> Iterator[tuple[Path, PartRecord]]:
    """All parts with the folders of their files, those of scenes within included."""
    for part in read_scene_file(path).parts:
        if not isinstance(part, SceneReference):
            yield path.parent, part
            continue
        inner = part.path(path.parent)
        if inner in (*chain, path):
            names = " -> ".join(each.name for each in (*chain, path, inner))
            raise BadInput(f"{path}: key 'file': scenes are part of each other: {names}")
        yield from _all_parts(inner, (*chain, path))


def build(path: Path, chain: tuple[Path, ...] = ()) -> Scene:
    """The scene of a file.

    Args:
        path: of the file.
        chain: files of scenes that it is part of.

    Raises:
        BadInput: a file is missing or cannot be used.
    """
    file = read_scene_file(path)
    builder = Builder(file.seed)
    for k, part in enumerate(file.parts):
        key = f"key 'parts.{k}'" + (f" ({part.name})" if part.name else "")
        part.build(Site(builder, path.parent, key, (*chain, path)))
    look = file.look
    return Scene(
        name=path.stem,
        parts=tuple(builder.parts),
        solids=tuple(builder.solids),
        textures=builder.textures(),
        light=Light(look.light.direction, look.light.strength, look.light.ambient),
        fog=None if look.fog is None else Fog(look.fog.density, look.fog.color),
        sky=Sky(look.sky.zenith, look.sky.horizon),
        labels=builder.labels(),
        surfaces=builder.surfaces,
        lighting=file.light,
        weather=file.weather,
        time_of_day=file.time_of_day,
        is_lit_by_file=True,
    )
