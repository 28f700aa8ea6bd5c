# SPDX-License-Identifier: BSD-3-Clause
"""A scene as data: parts that are seen, solids that are touched, light, fog and sky."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from iap_description.assets.surface_images import SurfaceImages
from iap_description.geometry.shapes import Shape
from iap_description.geometry.tessellation import MeshPart
from iap_description.scenes.lighting import Lighting, TimeOfDay, Weather

Rgb = tuple[float, float, float]


@dataclass(frozen=True)
class Light:
    """The sun, or a lamp far away, and the light from everywhere.

    Attributes:
        direction_W: towards the light.
        strength: of the light where it falls straight on a surface; 1 shows its own colour.
        ambient: of the light from everywhere.
    """

    direction_W: tuple[float, float, float]
    strength: float
    ambient: float


@dataclass(frozen=True)
class Fog:
    """Fog: of a surface's colour exp(-density distance) is left.

    Attributes:
        density: [1/m].
        color: sRGB in 0..1.
    """

    density: float
    color: Rgb


@dataclass(frozen=True)
class Sky:
    """Colours of the sky straight up, and at the horizon and below; sRGB in 0..1."""

    zenith: Rgb
    horizon: Rgb


@dataclass(frozen=True, eq=False)
class Scene:
    """The surroundings in `map` besides the ground plane z = 0 and a scenario's objects.

    Attributes:
        name: of the scene.
        parts: what is seen, the ground included, in `map`.
        solids: convex shapes that are touched, in `map`.
        textures: (h, w, 3) sRGB images by name; both sizes are powers of two.
        light: that falls on everything.
        fog: None where the air is clear.
        sky: behind everything.
        labels: names of the labels in segmented images.
        surfaces: images of the materials that files bring, by name.
        lighting: for renderers in physical light; None: the sun where `light` comes from.
        weather: for them.
        time_of_day: for them.
        is_lit_by_file: whether these three are of the scene's file, and no world asks for them.
    """

    name: str
    parts: tuple[MeshPart, ...]
    solids: tuple[Shape, ...]
    textures: Mapping[str, NDArray[np.uint8]]
    light: Light
    fog: Fog | None
    sky: Sky
    labels: Mapping[int, str]
    surfaces: Mapping[str, SurfaceImages] = field(default_factory=dict)
    lighting: Lighting | None = None
    weather: Weather | None = None
    time_of_day: TimeOfDay | None = None
    is_lit_by_file: bool = False
