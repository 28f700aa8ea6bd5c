# SPDX-License-Identifier: BSD-3-Clause
"""Materials of files of meshes as metal-rough surfaces."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from iap_description.assets.images import Pixels, as_texture
from iap_description.assets.surface_images import SurfaceImages
from iap_description.geometry.shapes import Rgba
from iap_description.math import srgb

DEFAULT_ROUGHNESS = 0.8  # where a file says nothing of light


@dataclass(frozen=True, eq=False)
class AssetMatter:
    """Matter of triangles of a file.

    Attributes:
        name: of the material; empty without one.
        color: sRGB and opacity in 0..1, that its image is multiplied by.
        surface: its images.
        two_sided: whether both sides of each triangle are meant to be seen.
    """

    name: str
    color: Rgba
    surface: SurfaceImages
    two_sided: bool


def matter_of(mesh: Any, strengths: Mapping[str, float] = MappingProxyType({})) -> AssetMatter:  # noqa: ANN401 - trimesh's
    """The matter of a mesh of trimesh's.

    Args:
        mesh: of a file.
        strengths: factors on what the file's materials emit, by name; 1 where there is none.
    """
    material = getattr(mesh.visual, "material", None)
    if material is None:
        color = _rgba(getattr(mesh.visual, "main_color", None))
        return AssetMatter("", color, SurfaceImages(roughness=DEFAULT_ROUGHNESS), two_sided=False)
    if not hasattr(material, "baseColorFactor"):  # of an OBJ
        surface = SurfaceImages(base=_pixels(material.image), roughness=DEFAULT_ROUGHNESS)
        color = (1.0, 1.0, 1.0, 1.0) if surface.base is not None else _rgba(material.diffuse)
        return AssetMatter(str(material.name or ""), color, surface, two_sided=False)
    return _metal_rough(material, strengths.get(material.name or "", 1.0))


def _metal_rough(material: Any, strength: float) -> AssetMatter:  # noqa: ANN401
    """The matter of a glTF's material; its factors default to 1."""
    factor = material.baseColorFactor
    color = (1.0, 1.0, 1.0, 1.0) if factor is None else _rgba(factor, linear=True)
    if material.alphaMode != "BLEND":
        color = (*color[:3], 1.0)
    orm = _pixels(material.metallicRoughnessTexture)
    occlusion = _pixels(material.occlusionTexture)
    surface = SurfaceImages(
        base=_pixels(material.baseColorTexture),
        rough_metal=None if orm is None else np.ascontiguousarray(orm[..., 1:3]),
        normal=_pixels(material.normalTexture),
        occlusion=None if occlusion is None else np.ascontiguousarray(occlusion[..., 0]),
        emission=_pixels(material.emissiveTexture),
        roughness=_or_one(material.roughnessFactor),
        metalness=_or_one(material.metallicFactor),
        luminance=_emission(material.emissiveFactor, strength),
    )
    return AssetMatter(str(material.name or ""), color, surface, bool(material.doubleSided))


def _emission(factor: Any, strength: float) -> tuple[float, float, float]:  # noqa: ANN401
    """Linear shares of red, green and blue that a material emits; glTF's default is none."""
    if factor is None:
        return (0.0, 0.0, 0.0)
    r, g, b = (strength * np.maximum(np.asarray(factor, float), 0.0)).tolist()
    return r, g, b


def _or_one(factor: float | None) -> float:
    """A factor, which glTF has from 0 to 1, where it is 1 by default."""
    return 1.0 if factor is None else min(max(float(factor), 0.0), 1.0)


def _pixels(image: Any) -> Pixels | None:  # noqa: ANN401 - Pillow's
    """An image (h, w, 3) as a texture."""
    return None if image is None else as_texture(np.asarray(image.convert("RGB")))


def _rgba(color: Any, *, linear: bool = False) -> Rgba:  # noqa: ANN401 - of several libraries
    """A colour of 0..255, or of 0..1, in sRGB."""
    if color is None:
        return (0.7, 0.7, 0.7, 1.0)
    values = np.asarray(color)
    levels = values / 255.0 if values.dtype.kind in "ui" else values.astype(float)
    if linear:
        levels = np.append(srgb.encoded(levels[:3]), levels[3:])
    r, g, b, a = (*np.clip(levels, 0.0, 1.0).tolist(), 1.0)[:4]
    return r, g, b, a


def without_images(matter: AssetMatter) -> AssetMatter:
    """A matter whose triangles have no places in images."""
    surface = matter.surface
    plain = SurfaceImages(
        roughness=surface.roughness, metalness=surface.metalness, luminance=surface.luminance
    )
    return replace(matter, surface=plain)


def of_luminance(matter: AssetMatter, luminance: float) -> AssetMatter:
    """A matter whose shares of emission are of this luminance [cd/m^2]."""
    r, g, b = (luminance * each for each in matter.surface.luminance)
    return replace(matter, surface=replace(matter.surface, luminance=(r, g, b)))
