# SPDX-License-Identifier: BSD-3-Clause
"""Materials on the graphics card."""

import moderngl
import numpy as np
from numpy.typing import NDArray

from iap_sensors.materials.library import PIXELS
from iap_sensors.physical.material_maps import NOISE_PIXELS, MaterialMaps

FORM = "2f 1f 4f 3f", "uv", "layer", "tint", "tangent"  # of `ATTRIBUTES`


class MaterialTextures:
    """The materials of some parts as arrays of textures.

    Args:
        context: to draw with.
        maps: of the parts.

    Attributes:
        albedo_roughness: root of the albedo, and roughness.
        relief: x and y of the normal, occlusion, metalness.
        noise: large-scale variation, of mean 1/2.
        varied: see `MaterialMaps`.
    """

    def __init__(self, context: moderngl.Context, maps: MaterialMaps) -> None:
        self.albedo_roughness = _texture_array(context, maps.stack[..., :4])
        self.relief = _texture_array(context, maps.stack[..., 4:])
        self.varied = maps.varied
        self.noise = context.texture(
            (NOISE_PIXELS, NOISE_PIXELS), 1, maps.noise.tobytes(), alignment=1
        )
        self.noise.build_mipmaps()


def _texture_array(context: moderngl.Context, stack: NDArray[np.uint8]) -> moderngl.TextureArray:
    data = np.ascontiguousarray(stack).tobytes()
    textures = context.texture_array((PIXELS, PIXELS, len(stack)), 4, data)
    textures.build_mipmaps()
    textures.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
    return textures
