# SPDX-License-Identifier: BSD-3-Clause
"""Places on sides, labels, scenes in scenes, and what textures are made of, by numbers that are worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.scenes import builder as builders
from iap_description.scenes import library, mesh_part
from iap_description.scenes.builder import Builder, Finish, TexturedMesh, box_mapped
from iap_description.scenes.lighting import Lighting, Sun, TimeOfDay, Weather
from iap_description.scenes.part_record import Site
from iap_description.scenes.scene import Fog, Light, Scene, Sky
from iap_description.scenes.solid_parts import BoxPart
from iap_description.scenes.textures import SIZE, _intervals, _jittered, leaves, noise
from iap_description.world.world import World


def built(part, seed=None):
    builder = Builder(seed)
    part.build(Site(builder, Path("."), "parts[0]", (Path("scene.yaml"),)))
    return builder


@pytest.mark.parametrize(
    ("normal", "place"),
    [((1, 0, 0), (2, 3)), ((-1, 0, 0), (-2, 3)), ((0, 1, 0), (-1, 3)), ((0, 0, 1), (1, 2)), ((0, 0, -1), (1, -2)),
     ((np.sqrt(1 - 0.92**2), 0, 0.92), (1, 2 * 0.92 - 0 * 3)), ((np.sqrt(1 - 0.88**2), 0, 0.88), (2, None))],
)  # fmt: skip
def test_a_side_has_places_to_the_right_and_upwards_of_who_looks_at_it(normal, place):
    (found,) = box_mapped(np.array([[1.0, 2.0, 3.0]]), np.array([normal], dtype=float))
    assert found[0] == pytest.approx(place[0], abs=1e-12)
    if place[1] is not None and normal[0] in (-1, 0, 1):
        assert found[1] == pytest.approx(place[1], abs=1e-12)


def test_whole_storeys_lie_between_the_edges_of_each_side():
    points = np.array([[0.0, 0.0], [4.0, 7.0], [1.0, 3.5], [5.0, 5.0], [5.5, 6.0]])
    normals = np.array([[1.0, 0.0, 0.0]] * 3 + [[0.0, 1.0, 0.0]] * 2)
    found = builders._fitted(points, normals, 3.0)
    np.testing.assert_allclose(found, [[0, 0], [3, 6], [0.75, 3], [0, 0], [3, 3]])


def triangle(at=0.0):
    corners = np.array([[at, 0.0, 1.0], [at + 1.0, 0.0, 1.0], [at, 1.0, 1.0]])
    return TexturedMesh(
        (corners, np.tile([0.0, 0.0, 1.0], (3, 1)), np.array([[0, 1, 2]])), np.zeros((3, 2))
    )


def test_labels_are_numbered_on_behind_those_that_there_are():
    builder = Builder()
    assert [builder.label(each) for each in ("box", "tree", "ground", "rock", "tree")] == [
        5,
        7,
        1,
        8,
        7,
    ]
    builder.add(Finish("oak", "tree"), triangle())
    assert builder.labels() == {7: "tree"} and builder.parts[0].color == (1.0, 1.0, 1.0, 1.0)
    for k in range(9, 50):
        assert builder.label(f"more_{k}") == k
    with pytest.raises(
        BadInput, match="^key 'label': last is one more than 49 labels of a scene$"
    ):
        builder.label("last")


def scene_of(builder):
    light, sky = Light((0.0, 0.0, 1.0), 0.5, 0.5), Sky((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return Scene(
        "one",
        tuple(builder.parts),
        tuple(builder.solids),
        builder.textures(),
        light,
        None,
        sky,
        builder.labels(),
    )


def test_a_scene_is_taken_into_another_but_for_its_ground():
    inner, outer = Builder(), Builder()
    inner.ground("paving", None, 5.0, 1)
    inner.add(Finish("oak", "tree"), triangle(2.0))
    inner.solid(
        Finish("b", "box"),
        built(BoxPart(type="box", size=(1.0, 1.0, 1.0))).solids[0],
        np.zeros(3),
        np.eye(3),
        touched=True,
    )
    outer.label("rock")
    quarter = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2.0]))
    outer.take(scene_of(inner), np.array([10.0, 20.0, 30.0]), quarter)
    ground, tree, _ = outer.parts
    np.testing.assert_allclose(ground.vertices[0], [-5.0, -5.0, 0.0])
    np.testing.assert_allclose(
        tree.vertices, [[10.0, 22.0, 31.0], [10.0, 23.0, 31.0], [9.0, 22.0, 31.0]], atol=1e-5
    )
    assert (ground.label, tree.label, outer.labels()[8]) == (1, 8, "tree")
    np.testing.assert_allclose(outer.solids[0].position, [10.0, 20.0, 30.5])
    assert set(outer.images) == {"paving"}


@pytest.mark.parametrize(
    ("first", "length", "stretches"),
    [
        (0, 10, [(0, 10)]),
        (7, 3, [(7, 10)]),
        (7, 4, [(7, 10), (0, 1)]),
        (-1, 2, [(9, 10), (0, 1)]),
        (5, 99, [(5, 10), (0, 5)]),
    ],
)
def test_a_stretch_goes_on_at_the_other_border(first, length, stretches):
    assert _intervals(first, length, 10) == stretches


def test_noise_has_mean_0_and_deviation_1_and_repeats():
    found = noise(np.random.default_rng(1), (4,))
    assert (found.mean(), found.std()) == pytest.approx((0.0, 1.0), abs=1e-12)
    step = np.abs(np.diff(found, axis=0)).max()
    assert np.abs(found[0] - found[-1]).max() <= step * 1.0001
    np.testing.assert_allclose(
        found[64], 0.5 * (found[0] + found[128]), atol=1e-12
    )  # straight within a cell


def test_places_on_a_grid_are_moved_by_less_than_a_third_of_a_cell():
    found = np.array(_jittered(np.random.default_rng(2), 4, 5))
    off = found - np.array(
        [(r * (SIZE // 4), c * (SIZE // 5)) for r in range(4) for c in range(5)]
    )
    assert found.shape == (20, 2) and off.min() >= 0
    assert off[:, 0].max() < SIZE // 12 and off[:, 1].max() < SIZE // 15 and off.std() > 5.0


def test_rectangles_are_laid_by_their_opacity_in_sizes_between_two():
    """Shades lie about 0.1 to 0.9, and half of what was there stays; sides differ by up to e^0.9 from the size."""
    for seed in range(20):
        image = np.full((SIZE, SIZE, 3), 2.0)
        leaves(image, np.random.default_rng(seed), 1, opacity=0.5, least=30.0, largest=40.0)
        changed = image[..., 0] != 2.0
        assert 0.9 < image.min() and image[changed].max() < 1.6
        assert 880 < changed.sum() < 1640
        assert np.sort([changed.any(axis=k).sum() for k in (0, 1)])[1] < 40.0 * np.exp(0.9) + 1.0


@pytest.mark.parametrize("name", ["a.yaml", "b.YML", "c.glb", "d.stl", "e.obj"])
def test_a_scene_is_a_path_by_its_ending(name):
    assert library.is_path(name) and library.absolute(name) == str(Path.cwd() / name)
    assert not library.is_path("warehouse") and library.absolute("warehouse") == "warehouse"
    assert "open_field" in library.scene_names() and library.scene_names() == sorted(
        library.scene_names()
    )


def test_a_world_replaces_the_light_of_a_scene_where_it_has_its_own():
    scene = scene_of(Builder())
    noon, sun = TimeOfDay(hour=12.0), Sun(elevation_deg=10.0, azimuth_deg=20.0)
    file = Scene(**{**vars(scene), "lighting": Lighting(sun=sun, sky_share=0.5), "weather": Weather(clouds=0.1),
                    "time_of_day": noon, "is_lit_by_file": True, "fog": Fog(0.1, (1.0, 1.0, 1.0))})  # fmt: skip
    assert World().lit(file) is file
    cloudy = World(weather=Weather(clouds=0.9)).lit(file)
    assert cloudy.weather.clouds == 0.9 and not cloudy.is_lit_by_file
    assert cloudy.lighting.sun == sun and cloudy.time_of_day == noon and cloudy.fog == file.fog
    evening = World(time_of_day=TimeOfDay(hour=20.0)).lit(file)
    assert evening.lighting.sun is None and evening.lighting.sky_share == 0.5
    assert evening.time_of_day.hour == 20.0 and evening.weather.clouds == 0.1
    own = World(light=Lighting(sun=sun)).lit(file)
    assert own.lighting == Lighting(sun=sun) and own.time_of_day is None
    assert World(light=Lighting()).lit(file).time_of_day == noon
    with pytest.raises(
        ValueError, match="keys 'time_of_day' and 'light.sun': the sun has one place"
    ):
        World(light=Lighting(sun=sun), time_of_day=noon)


def test_a_map_has_at_most_two_million_heights():
    mesh_part._check_count(Path("a.npy"), (1001, 2001))
    with pytest.raises(ValueError, match=r"^a\.npy makes 4004000 triangles, more than 4000000$"):
        mesh_part._check_count(Path("a.npy"), (1002, 2001))
    mesh_part._check_count(Path("a.npy"), (0, 10**9))
