# SPDX-License-Identifier: BSD-3-Clause
"""Light of lamps and of the sun, solid parts, and labels of scenes, by numbers that are worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from iap_description.scenes import builder as builders
from iap_description.scenes.builder import Builder
from iap_description.scenes.lighting import Lamp, LampFlicker, Sun, TimeOfDay
from iap_description.scenes.part_record import Site
from iap_description.scenes.solid_parts import (
    BoxPart,
    ColumnPart,
    CylinderPart,
    GroundPart,
    PlanePart,
    RoofPart,
    SpherePart,
)  # fmt: skip


@pytest.mark.parametrize(
    ("elevation", "azimuth", "direction"),
    [(0.0, 0.0, (1, 0, 0)), (0.0, 90.0, (0, 1, 0)), (90.0, 50.0, (0, 0, 1)),
     (30.0, 180.0, (-np.sqrt(0.75), 0, 0.5)), (-30.0, -90.0, (0, -np.sqrt(0.75), -0.5))],
)  # fmt: skip
def test_the_sun_is_at_its_elevation_and_azimuth(elevation, azimuth, direction):
    sun = Sun(elevation_deg=elevation, azimuth_deg=azimuth)
    np.testing.assert_allclose(sun.direction_W, direction, atol=1e-12)


def test_the_sun_rises_in_the_east_and_goes_round_in_a_day():
    dawn = TimeOfDay(hour=6.0, day=81.0, latitude_deg=50.0)
    np.testing.assert_allclose(dawn.direction_W, [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(dawn.after(43200.0).direction_W, [-1.0, 0.0, 0.0], atol=1e-12)
    assert dawn.after(5400.0).hour == 7.5 and dawn.after(-21601.0).hour == pytest.approx(
        24.0 - 1.0 / 3600.0
    )
    pole = TimeOfDay(hour=6.0, day=172.25, latitude_deg=90.0).direction_W
    assert pole[2] == pytest.approx(np.sin(np.radians(23.45)), abs=1e-4)
    north = TimeOfDay(hour=0.0, day=172.25, latitude_deg=90.0).direction_W
    assert north[1] == pytest.approx(np.cos(np.radians(23.45)), abs=1e-4)


def test_light_of_a_lamp_is_its_flux_over_its_solid_angle():
    bulb = Lamp(position=(0.0, 0.0, 1.0), flux=1000.0)
    assert bulb.axis_W is None and bulb.intensity == pytest.approx(1000.0 / (4.0 * np.pi))
    spot = Lamp(position=(0.0, 0.0, 1.0), flux=1000.0, direction=(0.0, 3.0, -4.0), cone_deg=120.0)
    np.testing.assert_allclose(spot.axis_W, [0.0, 0.6, -0.8])
    assert spot.edge_cosine == pytest.approx(0.5) and spot.intensity == pytest.approx(
        1000.0 / np.pi
    )
    with pytest.raises(ValueError, match="key 'direction': a direction has a length"):
        Lamp(position=(0.0, 0.0, 1.0), flux=1.0, direction=(0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("t", "duration", "level"),
    [(0.0, 0.0, 1.4), (0.005, 0.0, 0.6), (0.0025, 0.0, 1.0), (0.0, 0.005, 1.0 + 0.4 * 2.0 / np.pi), (0.0, 0.01, 1.0)],
)  # fmt: skip
def test_light_that_ripples_is_averaged_over_an_exposure(t, duration, level):
    assert LampFlicker(frequency=100.0, modulation=0.4).mean_level(t, duration) == pytest.approx(
        level
    )


@pytest.mark.parametrize(
    ("t", "duration", "level"),
    [
        (0.0, 0.0, 1.0), (0.0024, 0.0, 1.0), (0.0026, 0.0, 0.2), (0.0126, 0.0, 0.2),
        (0.00125, 0.0025, 1.0), (0.0035, 0.002, 0.2), (0.0025, 0.002, 0.6), (0.02, 0.04, 0.4),
    ],
)  # fmt: skip
def test_light_that_blinks_is_on_for_its_share_of_a_period(t, duration, level):
    blinking = LampFlicker(frequency=100.0, modulation=0.8, on_share=0.25)
    assert blinking.mean_level(t, duration) == pytest.approx(level)
    later = LampFlicker(frequency=100.0, modulation=0.8, on_share=0.25, phase_deg=-90.0)
    assert later.mean_level(t + 0.0025, duration) == pytest.approx(level)


def built(part, seed=None):
    builder = Builder(seed)
    part.build(Site(builder, Path("."), "parts[0]", (Path("scene.yaml"),)))
    return builder


def extent(builder):
    corners = np.vstack([part.vertices for part in builder.parts])
    return corners.min(axis=0), corners.max(axis=0)


@pytest.mark.parametrize(
    ("part", "low", "high"),
    [
        (
            BoxPart(type="box", size=(1.0, 2.0, 3.0), position=(5.0, 0.0)),
            (4.5, -1, 0),
            (5.5, 1, 3),
        ),
        (
            BoxPart(type="box", size=(1.0, 2.0, 3.0), position=(5.0, 0.0, 7.0)),
            (4.5, -1, 5.5),
            (5.5, 1, 8.5),
        ),
        (CylinderPart(type="cylinder", radius=0.5, length=3.0), (-0.5, -0.5, 0), (0.5, 0.5, 3)),
        (
            SpherePart(type="sphere", radius=0.5, position=(0.0, 0.0)),
            (-0.5, -0.5, 0),
            (0.5, 0.5, 1),
        ),
        (
            PlanePart(type="plane", size=(4.0, 6.0), position=(0.0, 0.0, 2.0)),
            (-2, -3, 1.98),
            (2, 3, 2),
        ),
        (ColumnPart(type="column", radius=0.5, height=3.0), (-0.5, -0.5, 0), (0.5, 0.5, 3)),
        (
            RoofPart(type="roof", size=(4.0, 2.0, 1.0), position=(0.0, 0.0, 3.0)),
            (-2, -1, 3),
            (2, 1, 4),
        ),
        (
            RoofPart(type="roof", size=(4.0, 2.0, 1.0), position=(0.0, 0.0, 3.0, 90.0)),
            (-1, -2, 3),
            (1, 2, 4),
        ),
    ],
)
def test_a_solid_stands_on_the_ground_or_at_its_height(part, low, high):
    builder = built(part)
    for found, expected in zip(extent(builder), (low, high), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert len(builder.solids) == 1
    assert built(part.model_copy(update={"contact": "none"})).solids == []


def test_the_ridge_of_a_roof_is_along_its_x_in_the_middle():
    (roof,) = built(RoofPart(type="roof", size=(4.0, 2.0, 1.0), position=(0.0, 0.0, 3.0))).parts
    high = roof.vertices[roof.vertices[:, 2] > 3.5]
    np.testing.assert_allclose(np.unique(high, axis=0), [[-2.0, 0.0, 4.0], [2.0, 0.0, 4.0]])


def test_a_column_has_twelve_sides():
    (column,) = built(ColumnPart(type="column", radius=1.0, height=3.0)).parts
    sides = column.normals[np.abs(column.normals[:, 2]) < 0.5]
    angles = np.unique(np.round(np.degrees(np.arctan2(sides[:, 1], sides[:, 0])) % 360.0))
    np.testing.assert_allclose(angles, 15.0 + 30.0 * np.arange(12))


def test_the_ground_is_patches_of_ten_metres_of_texture():
    builder = built(GroundPart(type="ground", reach=20.0, patches=4))
    assert len(builder.parts) == 16 and builder.solids == []
    assert [each.tolist() for each in extent(builder)] == [[-20, -20, 0], [20, 20, 0]]
    one = builder.parts[1]  # along y first
    np.testing.assert_allclose(one.vertices[0], [-20.0, -10.0, 0.0])
    np.testing.assert_allclose(one.uv, one.vertices[:, :2] / 10.0)
    np.testing.assert_allclose(one.metres, one.vertices[:, :2])
    assert (one.name, one.texture, one.material, one.label) == ("ground", "paving", "paving", 1)
    assert one.color == builders.GROUND_COLOR


def test_faces_of_a_box_that_lie_on_the_ground_are_not_seen():
    on, off = (
        built(BoxPart(type="box", size=(1.0, 1.0, 1.0), position=(0.0, 0.0, z)))
        for z in (0.5, 0.6)
    )
    assert len(on.parts[0].faces) == 10 and len(off.parts[0].faces) == 12
    (part,) = off.parts
    assert part.color == builders.GREY and part.texture is None and part.label == 5
    tinted = built(BoxPart(type="box", size=(1.0, 1.0, 1.0), texture="bricks"), seed=3).parts[0]
    assert (
        0.88 * 0.93 <= min(tinted.color[:3])
        and max(tinted.color[:3]) < 1.0
        and tinted.material == "brick"
    )
    assert (
        built(BoxPart(type="box", size=(1.0, 1.0, 1.0), texture="bricks")).parts[0].color
        == builders.WHITE
    )
