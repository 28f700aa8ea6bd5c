# SPDX-License-Identifier: BSD-3-Clause
"""Maps of a material, level by level, and names of materials."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_sensors.materials.library import CHANNELS, MATERIALS, PIXELS, material
from iap_sensors.materials.matter import Matter


def matter(albedo, roughness, metalness, normals=None):
    flat = np.full((4, 4), 1.0)
    return Matter(
        np.full((4, 4, 3), albedo), 0.3 * flat, roughness * flat, metalness * flat, 2.0, normals
    )


@pytest.mark.parametrize(
    ("albedo", "roughness", "metalness", "levels"),
    [
        (0.25, 0.5, 0.2, (128, 128, 51)),
        (0.0, 0.0, -1.0, (36, 15, 0)),  # sqrt(0.02), 0.06
        (1.0, 1.0, 2.0, (242, 245, 255)),  # sqrt(0.9), 0.96
        (0.03, 0.1, 1.0, (44, 26, 255)),
        (0.85, 0.9, 0.0, (235, 230, 0)),
    ],
)
def test_maps_hold_what_matter_can_have_in_levels(albedo, roughness, metalness, levels):
    maps = matter(albedo, roughness, metalness).maps()
    assert maps.shape == (4, 4, CHANNELS) and maps.dtype == np.uint8
    expected = [levels[0]] * 3 + [levels[1], 128, 128, 255, levels[2]]
    assert (maps == expected).all()


def test_normals_of_its_own_come_before_those_of_the_relief():
    normals = np.tile([0.6, -0.2, 0.77], (4, 4, 1))
    maps = matter(0.25, 0.5, 0.0, normals).maps()
    assert maps[3, 1, 4:6].tolist() == [204, 102]


def test_an_unknown_material_is_refused_with_what_there_is():
    with pytest.raises(BadInput, match="no material 'bricks': .*brick"):
        material("bricks")
    assert PIXELS == 512 and len(MATERIALS) == 12
    assert all(size > 0.0 for _, size in MATERIALS.values())
