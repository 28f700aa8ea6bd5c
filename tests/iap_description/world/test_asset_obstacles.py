# SPDX-License-Identifier: BSD-3-Clause
"""Obstacles from folders: drawn by seed and share, seen and measured as their files say, refused in a line."""

from itertools import product

import numpy as np
import pytest
import trimesh
from asset_folders import BOX, assets_of, box, ell, world_of_assets, write_urdf

from iap_description.errors import BadInput
from iap_description.geometry.solids import triangles
from iap_description.world.distances import Surroundings
from iap_sensors.rays.world_rays import Rays

AREA = [[-50.0, -50.0], [50.0, 50.0]]


@pytest.fixture
def folder(tmp_path):
    box((0.2, 0.2, 0.2)).export(tmp_path / "a.stl")
    box((0.4, 0.4, 0.4)).export(tmp_path / "b.obj")
    box((0.8, 0.8, 0.8)).export(tmp_path / "c.glb")
    return tmp_path


def sides(field):
    """The least extent of each obstacle along an axis that is upright [m]."""
    return np.array([np.ptp(triangles(each)[0][:, 2]) for each in field.visual()])


def test_a_seed_gives_its_field_again_and_another_one_another(folder):
    keys = {"count": 20, "area": AREA, "scale": [0.5, 2.0], "yaw_deg": [-180.0, 180.0]}
    one, again, other = (assets_of(folder, seed=seed, **keys) for seed in (3, 3, 4))
    for mine, same, another in zip(one.corners(), again.corners(), other.corners(), strict=True):
        np.testing.assert_array_equal(mine, same)
        assert np.abs(mine.mean(axis=(0, 1)) - another.mean(axis=(0, 1))).max() > 0.1


def test_files_are_drawn_by_their_shares(folder):
    """Counts of 1000 draws are binomial: within 4 deviations of their means."""
    weights = {"a.stl": 1.0, "b.obj": 3.0, "c.glb": 0.0}
    size = sides(assets_of(folder, count=1000, area=AREA, weights=weights)).round(3)
    assert set(size.tolist()) == {0.2, 0.4}
    assert abs((size == 0.2).sum() - 250) < 4.0 * np.sqrt(1000 * 0.25 * 0.75)
    size = sides(assets_of(folder, count=1000, area=AREA)).round(3)
    for each in (0.2, 0.4, 0.8):
        assert abs((size == each).sum() - 1000 / 3) < 4.0 * np.sqrt(1000 * 2.0 / 9.0)


def test_scales_heights_and_headings_are_between_their_ends(folder):
    keys = {"count": 300, "area": AREA, "weights": {"a.stl": 1}, "yaw_deg": [0.0, 45.0]}
    field = assets_of(folder, scale=[0.5, 2.0], heights=[1.0, 3.0], **keys)
    corners = [triangles(each)[0] for each in field.visual()]
    size = np.array([np.ptp(each[:, 2]) for each in corners])
    assert 0.1 <= size.min() < 0.11 and 0.39 < size.max() <= 0.4
    middle = np.array([each.mean(axis=0) for each in corners])
    assert 1.0 <= middle[:, 2].min() < 1.05 and 2.95 < middle[:, 2].max() <= 3.0
    wide = np.array([np.ptp(each[:, 0]) for each in corners]) / size
    assert wide.min() < 1.05 and 1.35 < wide.max() < np.sqrt(2.0) + 1e-6


def test_tilted_ones_stand_on_the_plane_and_all_stand_off_free_columns(folder):
    keys = {"count": 100, "area": [[-5.0, -5.0], [5.0, 5.0]], "free": [[0.0, 0.0, 2.0]]}
    field = assets_of(folder, tilt_deg=40.0, yaw_deg=[-180.0, 180.0], **keys)
    for each in field.visual():
        points = triangles(each)[0]
        assert points[:, 2].min() == pytest.approx(0.0, abs=1e-12)
        assert np.hypot(points[:, 0], points[:, 1]).min() > 2.0


def test_all_worlds_have_as_many_pieces_and_spare_ones_lie_within_the_first(tmp_path):
    two = trimesh.util.concatenate([box(), box().apply_translation([2.0, 0.0, 0.0])])
    two.export(tmp_path / "two.stl")
    box().export(tmp_path / "one.stl")
    for seed in range(6):
        field = assets_of(tmp_path, seed=seed, count=3, area=AREA)
        assert len(field.pieces()) == 6 and 3 <= len(field.visual()) <= 6
        around = Surroundings([world_of_assets(tmp_path, seed=seed, count=3, area=AREA)])
        for piece in field.pieces():
            for point in triangles(piece)[0]:
                assert around.distances(point[None])[0] < 1e-9


@pytest.mark.parametrize("name", ["thing.stl", "thing.glb", "thing.urdf"])
def test_rays_and_distances_end_at_the_box_that_a_file_holds(tmp_path, name):
    size = BOX
    if name.endswith("urdf"):
        write_urdf(tmp_path / name, "<box size='0.6 0.4 1.0'/>", xyz="1 2 3")
    else:
        box().export(tmp_path / name)
        size = tuple(np.roll(BOX, 1)) if name.endswith("glb") else BOX  # y of glTF is upwards
    world = world_of_assets(tmp_path, heights=[1.0, 1.0])
    half, middle = 0.5 * np.array(size), np.array([0.0, 0.0, 1.0])
    rng = np.random.default_rng(1)
    ends = middle + rng.uniform(-1.0, 1.0, (400, 3)) * half * 0.99
    starts = middle + 5.0 * np.array([p / np.linalg.norm(p) for p in rng.normal(size=(400, 3))])
    ways = ends - starts
    slabs = [(middle + side * half - starts) / ways for side in (-1.0, 1.0)]
    enters = np.minimum(*slabs).max(axis=1)
    rays = Rays(world, [])
    rays.follow(np.zeros((0, 13)), world.object_states(0.0))
    np.testing.assert_allclose(rays.ray_cast(starts, ends), enters, atol=1e-6)
    points = middle + rng.uniform(-2.0, 2.0, (400, 3))
    beyond = np.maximum(np.abs(points - middle) - half, 0.0)
    far = Surroundings([world] * len(points)).distances(points)
    np.testing.assert_allclose(far, np.linalg.norm(beyond, axis=1), atol=1e-6)


@pytest.mark.parametrize("name", ["ball.ply", "ball.glb", "ball.urdf"])
def test_rays_end_at_the_ball_that_a_file_holds_within_its_flat_sides(tmp_path, name):
    if name.endswith("urdf"):
        write_urdf(tmp_path / name, "<sphere radius='0.5'/>")
    else:
        trimesh.creation.icosphere(4, 0.5).export(tmp_path / name)
    world = world_of_assets(tmp_path, heights=[1.0, 1.0])
    rays = Rays(world, [])
    rays.follow(np.zeros((0, 13)), world.object_states(0.0))
    rng = np.random.default_rng(2)
    ways = np.array([p / np.linalg.norm(p) for p in rng.normal(size=(300, 3))])
    middle = np.array([0.0, 0.0, 1.0])
    met = 3.0 * rays.ray_cast(middle + 3.0 * ways, np.tile(middle, (300, 1)))
    assert 2.5 - 1e-5 < met.min() and met.max() < 2.5 + 0.5 * (1.0 - np.cos(np.pi / 32.0)) * 2.0


def test_distances_to_what_is_not_convex_are_those_to_its_two_boxes(tmp_path):
    """Zero within the L, also where a face of it looks at the point, and the distance to it in its notch."""
    ell().export(tmp_path / "ell.stl")
    world = world_of_assets(tmp_path, heights=[0.5, 0.5])
    points = np.random.default_rng(3).uniform(-1.0, 1.0, (500, 3))
    points[:, 2] += 0.5
    boxes = (((-0.5, -0.5), (0.5, 0.0)), ((-0.5, -0.5), (0.0, 0.5)))
    far = []
    for low, high in boxes:
        middle = 0.5 * np.add([*low, 0.0], [*high, 1.0])
        half = 0.5 * np.subtract([*high, 1.0], [*low, 0.0])
        far.append(np.linalg.norm(np.maximum(np.abs(points - middle) - half, 0.0), axis=1))
    found = Surroundings([world] * len(points)).distances(points)
    np.testing.assert_allclose(found, np.min(far, axis=0), atol=1e-7)
    assert 20 < (found == 0.0).sum() < 480


def refusal(folder, **changes):
    with pytest.raises(BadInput) as error:
        assets_of(folder, **changes)
    return str(error.value).removeprefix("test: key 'objects.things': ")


def test_folders_and_shares_that_cannot_be_used_are_refused_in_a_line(folder, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "notes.txt").write_text("nothing")
    kinds = "glb, gltf, obj, ply, stl, off, urdf"
    assert refusal(empty) == f"key 'folder': no file in {empty} is an asset: {kinds}"
    assert refusal(tmp_path / "x") == f"key 'folder': there is no folder {tmp_path}/x"
    line = f"key 'weights': {folder} has no asset 'a.stk': did you mean a.stl?"
    assert refusal(folder, weights={"a.stk": 1.0}) == line
    for none in ({"a.stl": 0.0}, {}):
        line = "key 'weights': no file has a share above 0: give one"
        assert refusal(folder, weights=none) == line
    assert "weights" in refusal(folder, weights={"a.stl": -1.0})
    line = "key 'count': 20000 obstacles of up to 320 triangles are more than 5000000"
    trimesh.creation.icosphere(2).export(tmp_path / "ball.ply")
    assert refusal(folder, count=20_000, weights={"ball.ply": 1.0}) == line


def test_an_open_or_damaged_file_is_refused_by_name_unless_it_is_left_out(folder):
    mesh = box()
    trimesh.Trimesh(mesh.vertices, mesh.faces[1:], process=False).export(folder / "open.stl")
    remedy = "mend it, or leave it out by 'weights'"
    line = (
        f"key 'folder': the mesh {folder}/open.stl is open: 3 edges have one face only: {remedy}"
    )
    assert refusal(folder) == line
    assert assets_of(folder, weights={"a.stl": 1.0}).count == 1
    (folder / "open.stl").write_bytes((folder / "c.glb").read_bytes()[:90])
    assert refusal(folder).startswith(f"key 'folder': {folder}/open.stl ")
    assert refusal(folder).endswith(remedy)


@pytest.mark.parametrize(
    ("kind", "size"), list(product(("stl", "obj", "ply", "off", "glb", "urdf"), (9, 60, 90)))
)
def test_a_file_that_was_cut_short_is_refused(tmp_path, kind, size):
    path = tmp_path / f"cut.{kind}"
    if kind == "urdf":
        write_urdf(path, "<box size='1 1 1'/>")
    else:
        box().export(path)
    path.write_bytes(path.read_bytes()[:size])
    assert refusal(tmp_path).startswith("key 'folder': ")
