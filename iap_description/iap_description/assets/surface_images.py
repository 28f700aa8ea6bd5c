# SPDX-License-Identifier: BSD-3-Clause
"""Images of the surfaces that files bring."""

from dataclasses import dataclass

from iap_description.assets.images import Pixels


@dataclass(frozen=True, eq=False)
class SurfaceImages:
    """Images of a metal-rough surface as glTF 2.0 has them, for renderers in physical light.

    Attributes:
        base: (h, w, 3) sRGB; None: white.
        rough_metal: (h, w, 2) roughness and metalness in 0..255; None: 255 both.
        normal: (h, w, 3) normal of the surface, x along u and y along v, 128 is 0; None: flat.
        occlusion: (h, w) share of the sky's light in 0..255; None: 255.
        emission: (h, w, 3) sRGB of what the surface emits; None: white.
        roughness: factor on that of the image.
        metalness: factor on that of the image.
        luminance: of what it emits where its image is white, red, green, blue [cd/m^2]; 0: it emits nothing.
    """

    base: Pixels | None = None
    rough_metal: Pixels | None = None
    normal: Pixels | None = None
    occlusion: Pixels | None = None
    emission: Pixels | None = None
    roughness: float = 1.0
    metalness: float = 0.0
    luminance: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def emits(self) -> bool:
        """True if light comes from the surface itself."""
        return max(self.luminance) > 0.0
