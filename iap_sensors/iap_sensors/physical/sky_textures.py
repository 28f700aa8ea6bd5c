# SPDX-License-Identifier: BSD-3-Clause
"""The sky on the graphics card: as it is seen, as surfaces mirror it, and as it lights them."""

import moderngl
import numpy as np

from iap_description.arrays import Array
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.sky_image import LEVELS, MIRROR, harmonics, mirrored


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
            self.mirrored.write(np.ascontiguousarray(image, np.float16).tobytes(), level=level)
        self.mirrored.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
        assert self.mirrored.size == MIRROR[::-1]  # noqa: S101 - levels halve it


def _texture(context: moderngl.Context, image: Array) -> moderngl.Texture:
    data = np.ascontiguousarray(np.minimum(image, 60000.0), np.float16)
    texture = context.texture((image.shape[1], image.shape[0]), 3, data.tobytes(), dtype="f2")
    texture.repeat_y = False
    return texture
