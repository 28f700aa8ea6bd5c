# SPDX-License-Identifier: BSD-3-Clause
"""Textures of a scene on the graphics card: its materials, its sky, and how open it is to that."""

from collections.abc import Mapping
from dataclasses import dataclass

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_description.arrays import Array
from iap_sensors.cameras.drawn_geometry import DrawnGeometry
from iap_sensors.materials.library import PIXELS
from iap_sensors.materials.matter import LARGEST_HALF
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.material_maps import NOISE_PIXELS, MaterialMaps
from iap_sensors.physical.openness import Openness
from iap_sensors.physical.sky_image import LEVELS, MIRROR, harmonics, mirrored

FORM = "2f 1f 4f 3f", "uv", "layer", "tint", "tangent"  # of `ATTRIBUTES`


class MaterialTextures:
    """The materials of some parts as arrays of textures.

    Args:
        context: to draw with.
        maps: of the parts.

    Attributes:
        albedo_roughness: root of the albedo, and roughness.
        relief: x and y of the normal, occlusion, metalness.
        glow: luminance of what emits light [kcd/m^2]; None where nothing does.
        noise: large-scale variation, of mean 1/2.
        varied: see `MaterialMaps`.
    """

    def __init__(self, context: moderngl.Context, maps: MaterialMaps) -> None:
        self.albedo_roughness = _texture_array(context, maps.stack[..., :4])
        self.relief = _texture_array(context, maps.stack[..., 4:])
        self.glow = _glow(context, maps) if maps.glow else None
        self.varied = maps.varied
        self.noise = context.texture(
            (NOISE_PIXELS, NOISE_PIXELS), 1, maps.noise.tobytes(), alignment=1
        )
        self.noise.build_mipmaps()


def _glow(context: moderngl.Context, maps: MaterialMaps) -> moderngl.TextureArray:
    stack = np.zeros((len(maps.stack), PIXELS, PIXELS, 3), np.float16)
    for layer, image in maps.glow.items():
        stack[layer] = image
    size = (PIXELS, PIXELS, len(stack))
    textures = context.texture_array(size, 3, stack.tobytes(), dtype="f2")
    textures.build_mipmaps()
    textures.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
    return textures


def _texture_array(context: moderngl.Context, stack: NDArray[np.uint8]) -> moderngl.TextureArray:
    data = np.ascontiguousarray(stack).tobytes()
    textures = context.texture_array((PIXELS, PIXELS, len(stack)), 4, data)
    textures.build_mipmaps()
    textures.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
    return textures


@dataclass(frozen=True, eq=False)
class OpennessTexture:
    """Openness of a scene to the sky, on the graphics card: a texture, and values of the shader's variables."""

    texture: moderngl.Texture3D
    values: Mapping[str, ArrayLike]

    @classmethod
    def of(
        cls,
        context: moderngl.Context,
        drawn: DrawnGeometry,
        maps: MaterialMaps,
        environment: Environment,
    ) -> "OpennessTexture | None":
        """Of what stands still; None where nothing does."""
        openness = Openness.of(drawn.geometry, maps, drawn.standing, environment)
        if openness is None:
            return None
        size = openness.values.shape[2::-1]
        data = np.ascontiguousarray(openness.values, np.float16).tobytes()
        texture = context.texture3d(size, 4, data, dtype="f2")
        texture.repeat_x = texture.repeat_y = texture.repeat_z = False
        lower = (*openness.lower, 0.5 * openness.cell)
        scale = 1.0 / (openness.cell * np.array(size, float))
        values: dict[str, ArrayLike] = {
            "open_lower": lower,
            "open_scale": scale,
            "open_free": openness.free,
        }
        return cls(texture, values)


class SkyTextures:
    """The sky of an environment.

    Args:
        context: to draw with.
        environment: whose sky it is.

    Attributes:
        sky: as it is seen, without fog.
        mirrored: as surfaces mirror it, a level for each roughness, with fog.
        harmonics: (9, 3) as it lights surfaces, see `sky_image.harmonics`.
    """

    def __init__(self, context: moderngl.Context, environment: Environment) -> None:
        visible = environment.sky_in_fog
        self.sky = _texture(context, environment.sky)
        self.harmonics = harmonics(visible)
        levels = mirrored(visible)
        self.mirrored = _texture(context, levels[0])
        self.mirrored.build_mipmaps(0, LEVELS - 1)
        for level, image in enumerate(levels):
            self.mirrored.write(_half_floats(image), level=level)
        self.mirrored.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
        assert self.mirrored.size == MIRROR[::-1]  # noqa: S101 - levels halve it


def _texture(context: moderngl.Context, image: Array) -> moderngl.Texture:
    size = image.shape[1], image.shape[0]
    texture = context.texture(size, 3, _half_floats(image), dtype="f2")
    texture.repeat_y = False
    return texture


def _half_floats(image: Array) -> bytes:
    """An image as numbers of 16 bits, none beyond the largest of them."""
    return np.ascontiguousarray(np.minimum(image, LARGEST_HALF), np.float16).tobytes()
