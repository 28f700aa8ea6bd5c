# SPDX-License-Identifier: BSD-3-Clause
"""Parts of scenes by their keys: where they stand, what a mesh's file brings, and what is left of its triangles."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import trimesh

from iap_description.assets import matter
from iap_description.assets.asset import AssetPiece
from iap_description.assets.contact import CONTACTS, bodies, hulls, welded
from iap_description.assets.matter import AssetMatter, matter_of, of_luminance, without_images
from iap_description.assets.reduction import reduced
from iap_description.assets.surface_images import SurfaceImages
from iap_description.errors import BadInput
from iap_description.math import euler
from iap_description.scenes import mesh_part
from iap_description.scenes.builder import Builder
from iap_description.scenes.mesh_part import HeightMap, MeshFile
from iap_description.scenes.part_record import PartRecord, Site, SolidRecord
from iap_description.world.object_motions import Drift, Sine

CUBE = trimesh.creation.box((1.0, 2.0, 4.0))

# places


class Part(PartRecord):
    """A part that builds nothing."""

    type: str = "stone"

    def build(self, site: Site) -> None:
        """Nothing."""


def test_a_place_has_two_three_or_four_numbers_and_a_turn_is_added_to_its_yaw() -> None:
    part = Part(
        at=((1.0, 2.0), (1.0, 2.0, 3.0), (1.0, 2.0, 3.0, 90.0)), rpy_deg=(10.0, 20.0, 30.0)
    )
    flat, high, turned = part.placements()
    np.testing.assert_array_equal(flat.p, [1.0, 2.0, np.nan])
    np.testing.assert_array_equal(flat.origin, [1.0, 2.0, 0.0])
    np.testing.assert_array_equal(high.origin, [1.0, 2.0, 3.0])
    assert flat.rpy_deg == high.rpy_deg == (10.0, 20.0, 30.0) and turned.rpy_deg == (
        10.0,
        20.0,
        120.0,
    )
    np.testing.assert_allclose(turned.R, euler.matrix_from_rpy_deg((10.0, 20.0, 120.0)))
    (origin,) = Part().placements()
    np.testing.assert_array_equal(origin.p, [0.0, 0.0, np.nan])


def test_a_part_stands_at_one_place_or_at_several() -> None:
    assert len(list(Part(position=(1.0, 2.0)).placements())) == 1
    with pytest.raises(ValueError, match="keys 'position' and 'at': a part has one of both"):
        Part(position=(0.0, 0.0), at=((1.0, 2.0),))


def test_names_and_labels_follow_from_each_other() -> None:
    assert (Part().title, Part().part_name) == ("stone", "stone")
    assert (Part(label="rock").title, Part(label="rock").part_name) == ("rock", "rock")
    assert Part(label="rock", name="big").part_name == "big"
    assert Part(label="ground").part_name == "ground_part"  # for the plane has this name


def test_a_solid_needs_the_file_of_its_texture_unless_it_is_one_of_the_suites() -> None:
    class Solid(SolidRecord):
        def build(self, site: Site) -> None:
            """Nothing."""

    assert Solid(texture="bricks").files() == () and Solid().files() == ()
    assert Solid(texture="own.png").files() == ("own.png",)


# meshes


def built(tmp_path: Path, **keys: Any) -> Builder:
    """A cube of 1 x 2 x 4 as a file, as a part of a scene."""
    CUBE.export(tmp_path / "cube.stl")
    builder = Builder()
    part = MeshFile.model_validate({"type": "mesh", "file": "cube.stl", **keys})
    part.build(Site(builder, tmp_path, "parts.0", (tmp_path / "scene.yaml",)))
    return builder


def extent(builder: Builder) -> np.ndarray:
    """Lowest and highest corner of what is seen."""
    vertices = np.vstack([part.vertices for part in builder.parts])
    return np.array([vertices.min(axis=0), vertices.max(axis=0)])


@pytest.mark.parametrize(
    ("keys", "sizes", "middle"),
    [
        ({}, [1.0, 2.0, 4.0], [0.0, 0.0, 0.0]),
        ({"scale": 0.5}, [0.5, 1.0, 2.0], [0.0, 0.0, 0.0]),
        ({"up": "z"}, [1.0, 2.0, 4.0], [0.0, 0.0, 0.0]),
        ({"up": "y"}, [4.0, 1.0, 2.0], [0.0, 0.0, 0.0]),  # its y is upwards, its z ahead
        ({"position": [5.0, 6.0, 7.0, 90.0]}, [2.0, 1.0, 4.0], [5.0, 6.0, 7.0]),
        ({"position": [5.0, 6.0], "rpy_deg": [90.0, 0.0, 0.0]}, [1.0, 4.0, 2.0], [5.0, 6.0, 0.0]),
    ],
)
def test_a_mesh_has_its_size_and_place(
    tmp_path: Path, keys: dict, sizes: list, middle: list
) -> None:
    builder = built(tmp_path, **keys)
    low, high = extent(builder)
    np.testing.assert_allclose(high - low, sizes, atol=1e-6)
    np.testing.assert_allclose(0.5 * (high + low), middle, atol=1e-6)
    points = np.array([v for solid in builder.solids for v in solid.vertices])
    np.testing.assert_allclose([points.min(axis=0), points.max(axis=0)], [low, high], atol=1e-6)


def test_a_mesh_stands_at_each_of_its_places_and_is_touched_there_unless_it_shall_not(
    tmp_path: Path,
) -> None:
    both = built(tmp_path, at=[[0.0, 0.0], [10.0, 0.0]])
    np.testing.assert_allclose(extent(both)[:, 0], [-0.5, 10.5], atol=1e-6)
    assert len(both.solids) == 2 and len(both.parts) == 2
    assert built(tmp_path, contact="none").solids == []
    (hull,) = built(tmp_path, contact="hulls").solids
    assert hull.shape == "hull" and len(hull.vertices) == 8


@pytest.mark.parametrize(
    ("scale", "refused"), [(0.0051, False), (0.0049, True), (249.0, False), (251.0, True)]
)
def test_a_mesh_of_2_cm_to_1_km_is_taken_for_metres(
    tmp_path: Path, scale: float, refused: bool
) -> None:
    piece = AssetPiece(
        ("a",), CUBE.vertices * scale, None, None, CUBE.faces.astype(np.int64), matter_of(CUBE)
    )
    part = MeshFile(type="mesh", file="cube.stl")
    if refused:
        with pytest.raises(ValueError, match=" m large, if its unit is the metre"):
            part._check_size([piece], tmp_path)
        MeshFile(type="mesh", file="cube.stl", scale=1.0)._check_size([piece], tmp_path)
    else:
        part._check_size([piece], tmp_path)


def test_an_unknown_name_of_a_label_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match="key 'labels': cube.stl has no node, mesh or material 'roof'"
    ):
        built(tmp_path, labels={"roof": "tile"})


def test_what_does_not_close_is_seen_from_both_sides() -> None:
    closed = AssetPiece(
        ("a",), CUBE.vertices, None, None, CUBE.faces.astype(np.int64), matter_of(CUBE)
    )
    assert mesh_part._is_closed(closed)
    open_ = AssetPiece(
        ("a",), CUBE.vertices, None, None, CUBE.faces[1:].astype(np.int64), matter_of(CUBE)
    )
    assert not mesh_part._is_closed(open_)
    flat, normals = mesh_part._with_normals(closed)
    assert flat.vertices.shape == normals.shape == (36, 3)
    outwards = (flat.vertices[flat.faces].mean(axis=1) * normals[flat.faces[:, 0]]).sum(axis=1)
    assert (outwards > 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0)


# triangles


def sphere() -> tuple[np.ndarray, np.ndarray]:
    ball = trimesh.creation.icosphere(subdivisions=4)
    return np.asarray(ball.vertices), np.asarray(ball.faces)


@pytest.mark.parametrize("most", [50, 400, 2000])
def test_fewer_triangles_are_nearly_as_many_as_allowed_and_near_the_others(most: int) -> None:
    vertices, faces = sphere()
    kept, fewer = reduced(vertices, faces, most)
    assert most / 3 < len(fewer) <= most
    left = vertices[kept][fewer]
    np.testing.assert_allclose(np.linalg.norm(left, axis=-1), 1.0)
    area = (
        0.5
        * np.linalg.norm(np.cross(left[:, 1] - left[:, 0], left[:, 2] - left[:, 0]), axis=1).sum()
    )
    assert area == pytest.approx(4.0 * np.pi, rel=0.6 if most == 50 else 0.2)


def test_as_many_triangles_as_allowed_stay_as_they_are() -> None:
    vertices, faces = sphere()
    kept, same = reduced(vertices, faces, len(faces))
    assert same is faces
    np.testing.assert_array_equal(kept, np.arange(len(vertices)))
    assert len(reduced(vertices, faces, len(faces) - 1)[1]) < len(faces)


def test_vertices_at_one_place_are_one_and_bodies_are_apart() -> None:
    split = CUBE.vertices[CUBE.faces].reshape(-1, 3)
    numbers = np.arange(36).reshape(-1, 3)
    vertices, faces = welded(split, numbers)
    assert len(vertices) == 8 and len(faces) == 12
    near = split + np.random.default_rng(2).uniform(-1e-7, 1e-7, split.shape)
    assert len(welded(near, numbers)[0]) <= 24
    two = np.vstack([split, split + [9.0, 0.0, 0.0]])
    parts = bodies(two, np.vstack([numbers, numbers + 36]))
    assert len(parts) == 2
    made = hulls(two, np.vstack([numbers, numbers + 36]))
    assert [len(each.vertices) for each in made] == [8, 8]
    with pytest.raises(ValueError, match="it is open, 3 edges have one face only"):
        hulls(split, numbers[1:])
    assert CONTACTS["none"](split, numbers) == []
    (surface,) = CONTACTS["surface"](split, numbers)
    assert surface.shape == "surface" and len(surface.faces) == 12


def test_what_lies_in_a_plane_has_no_hull() -> None:
    flat = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 1e-7]])
    tetrahedron = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    with pytest.raises(ValueError, match="it is flat"):
        hulls(flat, tetrahedron)


# matter


def test_colours_come_in_srgb_whatever_their_numbers() -> None:
    assert matter._rgba(None) == (0.7, 0.7, 0.7, 1.0)
    assert matter._rgba(np.array([255, 51, 0, 102], np.uint8)) == pytest.approx(
        (1.0, 0.2, 0.0, 0.4)
    )
    assert matter._rgba([0.2, 0.3, 0.4]) == (0.2, 0.3, 0.4, 1.0)
    assert matter._rgba([1.2, -0.3, 0.4, 0.5]) == (1.0, 0.0, 0.4, 0.5)
    linear = matter._rgba([0.5, 0.002, 1.0, 0.5], linear=True)  # IEC 61966-2-1
    assert linear == pytest.approx((0.7354, 0.02584, 1.0, 0.5), abs=1e-4)


def gltf(**keys: Any) -> Any:
    names = (
        "baseColorFactor metallicRoughnessTexture occlusionTexture baseColorTexture normalTexture"
        " emissiveTexture emissiveFactor"
    )
    values = dict.fromkeys(
        [*names.split(), "roughnessFactor", "metallicFactor", "alphaMode", "name"]
    )
    material = SimpleNamespace(**{**values, "doubleSided": False, **keys})
    return SimpleNamespace(visual=SimpleNamespace(material=material))


def test_factors_of_a_gltf_default_to_one_and_count() -> None:
    plain = matter_of(gltf())
    assert plain.color == (1.0, 1.0, 1.0, 1.0) and not plain.two_sided and plain.name == ""
    assert (plain.surface.roughness, plain.surface.metalness) == (1.0, 1.0)
    made = matter_of(
        gltf(
            name="oak",
            roughnessFactor=0.3,
            metallicFactor=0.0,
            doubleSided=True,
            baseColorFactor=[1.0, 0.0, 1.0, 0.4],
        )
    )
    assert (made.name, made.two_sided, made.surface.roughness, made.surface.metalness) == (
        "oak",
        True,
        0.3,
        0.0,
    )
    assert made.color == pytest.approx((1.0, 0.0, 1.0, 1.0))  # opaque, unless it blends
    assert matter_of(gltf(alphaMode="BLEND", baseColorFactor=[1.0, 0.0, 1.0, 0.4])).color[3] == 0.4


def test_what_a_file_emits_is_its_factor_times_its_strength_times_the_parts_luminance() -> None:
    """KHR_materials_emissive_strength is by the material's name; what has no factor emits nothing."""
    made = matter_of(gltf(name="lamp", emissiveFactor=[1.0, 0.5, 0.0]), {"lamp": 4.0})
    assert made.surface.luminance == (4.0, 2.0, 0.0) and made.surface.emits
    assert of_luminance(made, 50.0).surface.luminance == (200.0, 100.0, 0.0)
    assert without_images(made).surface.luminance == (4.0, 2.0, 0.0)
    assert not matter_of(gltf(name="lamp"), {"lamp": 4.0}).surface.emits


def test_roughness_is_green_and_metalness_blue_and_occlusion_red() -> None:
    from PIL import Image

    levels = np.zeros((4, 4, 3), np.uint8)
    levels[:] = [10, 20, 30]
    image = Image.fromarray(levels)
    surface = matter_of(
        gltf(metallicRoughnessTexture=image, occlusionTexture=image, normalTexture=image)
    ).surface
    assert (
        surface.rough_metal is not None
        and surface.occlusion is not None
        and surface.normal is not None
    )
    assert surface.rough_metal[0, 0].tolist() == [20, 30] and surface.occlusion[0, 0] == 10
    assert surface.normal[0, 0].tolist() == [10, 20, 30] and surface.base is None
    surface = SurfaceImages(base=levels, roughness=0.4, metalness=0.2)
    bare = without_images(AssetMatter("a", (1.0, 1.0, 1.0, 1.0), surface, two_sided=False)).surface
    assert bare.base is None and (bare.roughness, bare.metalness) == (0.4, 0.2)


def test_files_that_say_nothing_of_light_are_rather_rough() -> None:
    colored = SimpleNamespace(
        visual=SimpleNamespace(main_color=np.array([255, 0, 0, 255], np.uint8))
    )
    made = matter_of(colored)
    assert (
        made.color == (1.0, 0.0, 0.0, 1.0) and made.surface.roughness == 0.8 and not made.two_sided
    )
    wavefront = SimpleNamespace(image=None, diffuse=[0.5, 0.5, 0.5], name="wood")
    made = matter_of(SimpleNamespace(visual=SimpleNamespace(material=wavefront)))
    assert (made.name, made.color, made.surface.roughness) == ("wood", (0.5, 0.5, 0.5, 1.0), 0.8)
    assert not made.two_sided


# heights


def test_a_map_of_heights_is_upright_with_its_first_row_at_the_largest_y(tmp_path: Path) -> None:
    """Heights 2 x + 0.5 y over a rectangle of 4 m by 2 m, and the normals of their plane."""
    x, y = np.meshgrid(np.linspace(-2.0, 2.0, 5), np.linspace(1.0, -1.0, 3))
    np.save(tmp_path / "h.npy", 2.0 * x + 0.5 * y)
    builder = Builder()
    part = HeightMap.model_validate(
        {
            "type": "height_map", "file": "h.npy", "size": [4.0, 2.0], "height": 0.5, "texture": None,
            "position": [10.0, 0.0, 1.0],
        }
    )  # fmt: skip
    part.build(Site(builder, tmp_path, "parts.0", (tmp_path / "scene.yaml",)))
    (shown,) = builder.parts
    px, py, pz = shown.vertices.T
    np.testing.assert_allclose(pz, 1.0 + (px - 10.0) + 0.25 * py, atol=1e-5)
    assert (px.min(), px.max(), py.min(), py.max()) == (8.0, 12.0, -1.0, 1.0)
    normal = np.array([-1.0, -0.25, 1.0]) / np.linalg.norm([1.0, 0.25, 1.0])
    np.testing.assert_allclose(shown.normals, np.tile(normal, (15, 1)), atol=1e-5)
    corners = shown.vertices[shown.faces]
    up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (up[:, 2] > 0.0).all() and len(corners) == 16
    (solid,) = builder.solids
    assert len(solid.faces) == 16


@pytest.mark.parametrize(
    ("heights", "words"),
    [
        (np.zeros((1, 5)), "no rows and columns"), (np.zeros((3, 3, 2)), "no rows and columns"),
        (np.array([[0.0, np.nan], [0.0, 0.0]]), "a height that is not a number"),
        (np.array([[0.0, 1e300], [0.0, 0.0]]), "a height that is not a number below 1e6 m"),
        (np.array([[0.0, 1.7e308], [0.0, 0.0]]), "a height that is not a number below 1e6 m"),
        (np.zeros((1416, 1416)), "makes 4004450 triangles, more than 4000000"),
    ],
)  # fmt: skip
def test_maps_that_are_none_are_refused(tmp_path: Path, heights: np.ndarray, words: str) -> None:
    np.save(tmp_path / "h.npy", heights)
    tree = {"type": "height_map", "file": "h.npy", "size": [4.0, 2.0], "height": 2.0}
    part = HeightMap.model_validate(tree)
    with pytest.raises(BadInput, match=words):
        part._heights(Site(Builder(), tmp_path, "parts.0", (tmp_path / "scene.yaml",)))
    np.save(tmp_path / "h.npy", np.zeros((2, 2)))
    assert part._heights(Site(Builder(), tmp_path, "parts.0", (tmp_path / "s.yaml",))).shape == (
        2,
        2,
    )


@pytest.mark.parametrize(
    "head", ["{'descr': '<f8', 'fortran_order': (", "{'descr': '<f8'", "{1: ["]
)
def test_a_map_whose_head_is_damaged_is_refused(tmp_path: Path, head: str) -> None:
    (tmp_path / "h.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + head.encode().ljust(118))
    part = HeightMap.model_validate({"type": "height_map", "file": "h.npy", "size": [4.0, 2.0]})
    with pytest.raises(BadInput, match="h.npy is not an array"):
        part._heights(Site(Builder(), tmp_path, "parts.0", (tmp_path / "scene.yaml",)))


def test_a_map_that_says_it_is_endless_asks_for_no_memory(tmp_path: Path) -> None:
    head = str({"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}).encode()
    (tmp_path / "h.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + head.ljust(117) + b"\n")
    np.savez(tmp_path / "archive.npz", np.zeros((3, 3)))
    (tmp_path / "archive.npz").rename(tmp_path / "a.npy")
    for name in ("h.npy", "a.npy"):
        part = HeightMap.model_validate({"type": "height_map", "file": name, "size": [4.0, 2.0]})
        with pytest.raises(BadInput, match=f"{name} is not an array"):
            part._heights(Site(Builder(), tmp_path, "parts.0", (tmp_path / "scene.yaml",)))


def test_a_texture_of_gigabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "wall.png").open("wb") as file:
        file.truncate(3 << 30)
    site = Site(Builder(), tmp_path, "parts.0", (tmp_path / "scene.yaml",))
    with pytest.raises(BadInput, match="key 'texture': .*wall.png: .* longer than 512 MiB"):
        site.texture("wall.png")


# objects that move


def test_a_drift_begins_at_its_time() -> None:
    drift = Drift(type="velocity", velocity=(1.0, 2.0, -3.0), start=2.0)
    np.testing.assert_allclose(drift.at(4.0), ([2.0, 4.0, -6.0], [1.0, 2.0, -3.0]))
    np.testing.assert_allclose(drift.at(1.999), np.zeros((2, 3)))
    np.testing.assert_allclose(
        Drift(type="velocity", velocity=(1.0, 0.0, 0.0)).at(0.5)[0], [0.5, 0.0, 0.0]
    )


def test_a_sine_swings_by_its_amplitude_period_and_phase() -> None:
    swing = Sine(type="sine", amplitude=(0.5, 0.0, 1.0), period=4.0, phase_deg=90.0)
    for t in (0.0, 1.0, 1.7):
        phase = 0.5 * np.pi * t + 0.5 * np.pi
        place, speed = swing.at(t)
        np.testing.assert_allclose(place, np.array([0.5, 0.0, 1.0]) * np.sin(phase), atol=1e-12)
        np.testing.assert_allclose(
            speed, np.array([0.5, 0.0, 1.0]) * 0.5 * np.pi * np.cos(phase), atol=1e-12
        )
    np.testing.assert_allclose(
        Sine(type="sine", amplitude=(1.0, 0.0, 0.0), period=4.0).at(1.0)[0], [1.0, 0.0, 0.0]
    )
