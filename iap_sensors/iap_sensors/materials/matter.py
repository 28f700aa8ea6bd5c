# SPDX-License-Identifier: BSD-3-Clause
"""A material's maps."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_sensors.materials.noise import occlusion, slopes

LARGEST_HALF = 60_000.0  # of light in numbers of 16 bits [kcd/m^2]
LEAST_ROUGHNESS, LARGEST_ROUGHNESS = 0.06, 0.96
DARKEST, BRIGHTEST = 0.02, 0.9  # reflectance that matter has


@dataclass(frozen=True, eq=False)
class Matter:
    """A square of a material that repeats; row 0 is its upper edge.

    Attributes:
        albedo: (n, n, 3) linear reflectance; of metal, what it mirrors.
        height: (n, n) relief [m].
        roughness: (n, n) of 0..1; its square is GGX's alpha.
        metalness: (n, n) of 0..1.
        size: side of the square [m].
        normals: (n, n, 3) unit normals; None: those of the relief.
        hollowness: strength of the shade in hollows.
    """

    albedo: Array
    height: Array
    roughness: Array
    metalness: Array
    size: float
    normals: Array | None = None
    hollowness: float = 2.0

    def maps(self) -> NDArray[np.uint8]:
        """(n, n, 8) root of the albedo, roughness, normal x and y, occlusion, and metalness, in 0..255."""
        normals = slopes(self.height, self.size) if self.normals is None else self.normals
        shade = occlusion(self.height, self.size, self.hollowness)
        albedo = np.clip(self.albedo, DARKEST, BRIGHTEST)
        rough = np.clip(self.roughness, LEAST_ROUGHNESS, LARGEST_ROUGHNESS)
        metal = np.clip(self.metalness, 0.0, 1.0)
        layers = [
            np.sqrt(albedo),
            rough[..., None],
            0.5 + 0.5 * normals[..., :2],
            shade[..., None],
            metal[..., None],
        ]
        return np.round(255.0 * np.concatenate(layers, -1)).astype(np.uint8)
