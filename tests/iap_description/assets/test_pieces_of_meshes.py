# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of files as parts of scenes, fewer triangles, and images as textures, by numbers by hand."""

from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
import trimesh

from iap_description.assets import asset, images
from iap_description.assets.asset import AssetPiece, load_asset
from iap_description.assets.matter import AssetMatter
from iap_description.assets.reduction import _clustered
from iap_description.assets.surface_images import SurfaceImages
from iap_description.math import euler
from iap_description.scenes import mesh_part
from iap_description.scenes.builder import Builder
from iap_description.scenes.mesh_part import HeightMap, MeshFile
from iap_description.scenes.part_record import Site

TRIANGLE = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
WHITE = (1.0, 1.0, 1.0, 1.0)


def matter(two_sided=False, **surface):
    return AssetMatter("oak", WHITE, SurfaceImages(**surface), two_sided)


def piece(vertices=TRIANGLE, faces=((0, 1, 2),), normals=None, uv=None, **keys):
    return AssetPiece(
        ("node", "mesh", "oak"), np.array(vertices), normals, uv, np.array(faces), matter(**keys)
    )


def site():
    builder = Builder()
    return Site(builder, Path("."), "parts.0", (Path("scene.yaml"),))


def part(**keys):
    return MeshFile(type="mesh", file="a.obj", **keys)


def test_a_piece_is_scaled_turned_and_moved():
    quarter = euler.matrix_from_rpy_deg((0.0, 0.0, 90.0))
    up = np.tile([1.0, 0.0, 0.0], (3, 1))
    turned = mesh_part._turned(piece(normals=up), 3.0, quarter, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(turned.vertices, [[1, 2, 3], [1, 8, 3], [-5, 2, 3]], atol=1e-12)
    np.testing.assert_allclose(turned.normals, [[0, 1, 0]] * 3, atol=1e-12)
    assert mesh_part._turned(piece(), 1.0, np.eye(3)).normals is None


def test_faces_without_an_area_are_left_out_and_others_get_their_own_normals():
    vertices = [*TRIANGLE.tolist(), [1.0, 0.0, 0.0]]
    uv = np.arange(8.0).reshape(4, 2)
    flat, normals = mesh_part._with_normals(piece(vertices, [[0, 1, 3], [0, 1, 2]], uv=uv))
    assert flat.faces.tolist() == [[0, 1, 2]] and normals.tolist() == [[0.0, 0.0, 1.0]] * 3
    assert flat.uv.tolist() == [[0, 1], [2, 3], [4, 5]]
    own = np.tile([0.0, 1.0, 0.0], (4, 1))
    kept, normals = mesh_part._with_normals(piece(vertices, [[0, 1, 3], [0, 1, 2]], normals=own))
    assert kept.faces.tolist() == [[0, 1, 2]] and normals is own and len(kept.vertices) == 4


def test_a_sheet_is_seen_from_both_sides_and_a_solid_from_outside():
    here = site()
    part()._show(here, piece())
    front, back = here.builder.parts
    assert front.faces.tolist() == [[0, 1, 2]] and back.faces.tolist() == [[2, 1, 0]]
    np.testing.assert_allclose(front.normals, [[0, 0, 1]] * 3)
    np.testing.assert_allclose(back.normals, [[0, 0, -1]] * 3)
    cube = trimesh.creation.box((1.0, 1.0, 1.0))
    for two_sided, count in ((False, 1), (True, 2)):
        here = site()
        part()._show(here, piece(cube.vertices, cube.faces, two_sided=two_sided))
        assert len(here.builder.parts) == count


def test_what_has_places_in_an_image_shows_it_and_what_has_none_does_not():
    image = np.full((4, 4, 3), 100, np.uint8)
    here = site()
    part(labels={"mesh": "tree"})._show(
        here, piece(uv=np.zeros((3, 2)), base=image, roughness=0.3)
    )
    shown = here.builder.parts[0]
    assert shown.texture == shown.material and shown.texture.startswith("a.obj#oak#")
    assert (
        here.builder.images[shown.texture] is image
        and here.builder.surfaces[shown.texture].roughness == 0.3
    )
    assert here.builder.labels() == {7: "tree"} and shown.metres is None
    here = site()
    part(tile=4.0)._show(here, piece(base=image))
    shown = here.builder.parts[0]
    assert (
        shown.texture is None
        and shown.material.startswith("a.obj#oak#")
        and here.builder.labels() == {7: "mesh"}
    )
    np.testing.assert_allclose(shown.uv, TRIANGLE[:, :2] / 4.0)
    np.testing.assert_allclose(shown.metres, TRIANGLE[:, :2])
    here = site()
    part(texture="bricks", color=(0.5, 0.5, 0.5, 1.0))._show(here, piece(base=image))
    shown = here.builder.parts[0]
    assert (shown.texture, shown.color, here.builder.images) == (
        "bricks",
        (0.5, 0.5, 0.5, 1.0),
        {},
    )


def test_pieces_are_touched_as_one_surface():
    here = site()
    far = piece(TRIANGLE + [0.0, 0.0, 5.0])
    (place,) = part(position=(10.0, 0.0, 1.0)).placements()
    part()._place(here, [piece(), far], place)
    (solid,) = here.builder.solids
    points = np.array(solid.vertices)[np.array(solid.faces)]
    assert sorted(points[:, :, 2].mean(axis=1)) == [1.0, 6.0] and points[..., 0].min() == 10.0
    assert len(here.builder.parts) == 4
    with pytest.raises(ValueError, match="^a.obj has no triangle with an area$"):
        part()._place(site(), [piece(faces=[[0, 1, 1]])], place)
    with pytest.raises(
        ValueError, match="^a.obj: key 'contact': it is open, 3 edges have one face only"
    ):
        part(contact="hulls")._place(site(), [piece()], place)


def test_triangles_are_shared_out_between_pieces():
    ball = trimesh.creation.icosphere(subdivisions=3)
    two = [piece(ball.vertices, ball.faces), piece()]
    assert part()._fewer(two) is two and part(triangles=1281)._fewer(two) is two
    fewer = part(triangles=400)._fewer(two)
    assert 130 < len(fewer[0].faces) <= 399 and len(fewer[1].faces) == 1


def test_vertices_of_a_cell_become_its_first():
    points = np.array(
        [[0.1, 0.1, 0.0], [0.2, 0.9, 0.0], [1.1, 0.0, 0.0], [0.0, 1.1, 0.0], [0.5, 0.5, 0.5]]
    )
    first, faces = _clustered(points, np.array([[0, 2, 3], [1, 2, 3], [0, 1, 2], [4, 3, 2]]), 1.0)
    assert first.tolist() == [0, 3, 2] and faces.tolist() == [[0, 2, 1]]


@pytest.mark.parametrize(
    ("n", "side"),
    [
        (0, 1),
        (1, 1),
        (2, 2),
        (3, 4),
        (5, 4),
        (6, 8),
        (90, 64),
        (91, 128),
        (1449, 1024),
        (5000, 1024),
    ],
)
def test_sides_of_textures_are_powers_of_two(n, side):
    assert images._power_of_two(n) == side


def test_an_image_of_another_size_is_scaled():
    image = np.zeros((4, 6, 3), np.uint8)
    image[:, 3:] = 200
    assert images.as_texture(image).shape == (4, 8, 3)
    square = np.zeros((8, 8), np.uint8)
    assert images.as_texture(square) is square
    assert images.as_texture(np.full((3, 3), 9, np.uint8)).tolist() == [[9] * 4] * 4


def test_an_image_is_read_in_rgb(tmp_path):
    path = tmp_path / "a.png"
    cv2.imwrite(str(path), np.full((4, 8, 3), [10, 20, 30], np.uint8))  # blue first
    assert images.read_image(path)[0, 0].tolist() == [30, 20, 10]
    assert images.check_size(path.read_bytes(), "a") == (8, 4)
    with pytest.raises(ValueError, match=f"^there is no file {tmp_path / 'b.png'}$"):
        images.read_image(tmp_path / "b.png")
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=f"^{path} is not an image that can be read$"):
        images.read_image(path)
    assert images.decoded(b"nothing", cv2.IMREAD_COLOR) is None


def test_an_image_has_at_most_16384_pixels_a_side():
    header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"

    def png(width, height):
        from zlib import crc32

        body = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\0\0\0\0"
        return header + body + crc32(b"IHDR" + body).to_bytes(4, "big") + b"\0\0\0\0IEND\xaeB`\x82"

    assert images.check_size(png(16384, 3), "a") == (16384, 3)
    with pytest.raises(
        ValueError, match="^image a has 3 x 16385 pixels: graphics cards take 16384 a side$"
    ):
        images.check_size(png(3, 16385), "a")


def mesh(T, **visual):
    made = trimesh.Trimesh(TRIANGLE, [[0, 1, 2]], process=False)
    made._cache.clear()
    return asset._piece(
        SimpleNamespace(vertices=made.vertices, faces=made.faces, visual=SimpleNamespace(**visual), _cache={}),
        T, ("n", "m", ""), matter(), Path("a.glb"), y_up=False,
    )  # fmt: skip


def test_a_node_places_its_mesh_and_a_mirrored_one_is_turned_inside_out():
    T = np.diag([2.0, 3.0, 1.0, 1.0])
    T[:3, 3] = 1.0, 0.0, 5.0
    made = mesh(T)
    np.testing.assert_allclose(made.vertices, [[1, 0, 5], [5, 0, 5], [1, 6, 5]])
    assert made.faces.tolist() == [[0, 1, 2]] and made.normals is None and made.uv is None
    assert mesh(np.diag([-1.0, 1.0, 1.0, 1.0])).faces.tolist() == [[2, 1, 0]]
    assert mesh(np.eye(4), uv=np.ones((3, 2))).uv.tolist() == [[1.0, 1.0]] * 3
    assert mesh(np.eye(4), uv=np.ones((2, 2))).uv is None
    far = np.eye(4)
    far[0, 3] = 1e6
    with pytest.raises(
        ValueError, match=r"^a\.glb: part 'n' has a vertex that is not within 1e\+06$"
    ):
        mesh(far)


def test_a_file_of_gltf_is_read_with_z_upwards(tmp_path):
    path = tmp_path / "a.glb"
    box = trimesh.creation.box((1.0, 2.0, 4.0))
    trimesh.Scene({"crate": box}).export(path)
    (made,) = load_asset(path, 12)
    np.testing.assert_allclose(np.ptp(made.vertices, axis=0), [4.0, 1.0, 2.0])
    assert "crate" in made.names
    with pytest.raises(ValueError, match="12"):
        load_asset(path, 11)
    with pytest.raises(ValueError, match=r"b\.txt is of no known kind of mesh: choose"):
        (tmp_path / "b.txt").write_text("x")
        load_asset(tmp_path / "b.txt", 12)
    with pytest.raises(ValueError, match="^there is no file"):
        load_asset(tmp_path / "c.obj", 12)


def test_levels_of_an_image_are_shares_of_its_brightest(tmp_path):
    path = tmp_path / "h.png"
    cv2.imwrite(str(path), np.array([[0, 51], [102, 255]], np.uint8))
    np.testing.assert_allclose(mesh_part._levels(path), [[0.0, 0.2], [0.4, 1.0]])
    cv2.imwrite(str(path), np.array([[0, 13107], [65535, 1]], np.uint16))
    np.testing.assert_allclose(mesh_part._levels(path)[:, 0], [0.0, 1.0])
    cv2.imwrite(str(path), np.full((2, 2, 3), [30, 60, 90], np.uint8))
    np.testing.assert_allclose(mesh_part._levels(path), 60.0 / 255.0)


def test_a_map_of_heights_has_a_row_of_triangles_between_two_rows(tmp_path):
    np.save(tmp_path / "h.npy", np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    builder = Builder()
    one = HeightMap(
        type="height_map",
        file="h.npy",
        size=(4.0, 2.0),
        height=0.5,
        position=(10.0, 0.0),
        tile=5.0,
    )
    one.build(Site(builder, tmp_path, "parts.0", (tmp_path / "scene.yaml",)))
    (shown,) = builder.parts
    expected = [[8, 1, 0], [10, 1, 0.5], [12, 1, 1], [8, -1, 1.5], [10, -1, 2], [12, -1, 2.5]]
    np.testing.assert_allclose(shown.vertices, expected)
    np.testing.assert_allclose(shown.uv, np.array(expected)[:, :2] / 5.0)
    np.testing.assert_allclose(shown.metres, np.array(expected)[:, :2])
    assert shown.faces.tolist() == [[3, 4, 1], [4, 5, 2], [3, 1, 0], [4, 2, 1]]
    np.testing.assert_allclose(
        shown.normals, [np.array([-0.25, 0.75, 1.0]) / np.sqrt(1.625)] * 6, atol=1e-6
    )
    (solid,) = builder.solids
    assert len(solid.faces) == 4 and shown.texture == "field"
