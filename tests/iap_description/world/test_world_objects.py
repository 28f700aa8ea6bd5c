# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import trimesh
from refusals import refusal

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.geometry.shapes import Shape
from iap_description.geometry.solids import Bulk, prism, triangles
from iap_description.math import so3
from iap_description.states import P, V
from iap_description.world.world import World

SURFACE = {"friction": 0.4, "restitution": 0.0}
COLOR = (0.5, 0.5, 0.5, 1.0)
FUNNEL = {
    "type": "funnel",
    "position": [-3.0, 0.0, 2.084],
    "rpy_deg": [0.0, -15.0, 0.0],
    "throat_radius": 0.045,
    "throat_length": 0.48,
    "mouth_radius": 0.14,
    "cone_length": 0.24,
}
SOCKET = {"type": "socket", "radius": 0.0337, "straight": 0.03, "fillet": 0.004}
BOARD = {
    "type": "board",
    "position": [-3.0, 0.0, 2.25],
    "width": 0.5,
    "height": 0.3,
    "thickness": 0.1,
    "hole": SOCKET,
}
WALL = {"type": "wall", "position": [2.0, 0.0, 1.0], "width": 2.0, "height": 1.0}
FLOOR = {"type": "floor", "position": [0.0, 0.0, 0.5], "length": 2.0, "width": 1.0}
BOX = {"type": "box", "position": [0.0, 0.0, 0.0], "size": [0.1, 0.2, 0.3]}
CYLINDER = {"type": "cylinder", "position": [0.0, 0.0, 0.0], "radius": 0.1, "length": 0.5}
EVERY = [FUNNEL, BOARD, {**BOARD, "hole": {"type": "through", "radius": 0.05}}, WALL, FLOOR]


def world(**objects):
    tree = {name: {"surface": SURFACE, **item} for name, item in objects.items()}
    return validate(World, {"objects": tree}, source="mine.yaml")


def made(item, **changes):
    return world(it={**item, **changes}).objects["it"]


def refused(item, **changes):
    """The one line with which an object is refused."""
    line = refusal(made, item, **changes)
    assert "mine.yaml" in line and "objects.it" in line
    return line


def inside(item, points):
    """Flags of points (n, 3) in the object's frame that lie in one of its convex pieces of triangles."""
    found = np.zeros(len(points), dtype=bool)
    for piece in item.pieces():
        vertices, faces = triangles(piece)
        a, b, c = np.moveaxis(vertices[faces], 1, 0)
        normals = np.cross(b - a, c - a)
        found |= (np.einsum("fx,nfx->nf", normals, points[:, None] - a) < 0.0).all(axis=1)
    return found


def around(radius, xs, angles):
    """Points (xs * angles, 3) at a radius around the x axis."""
    x, phi = np.meshgrid(xs, angles, indexing="ij")
    r = np.broadcast_to(np.reshape(radius, (-1, 1)), x.shape)
    return np.stack([x, r * np.cos(phi), r * np.sin(phi)], -1).reshape(-1, 3)


ANGLES = np.linspace(0.0, 2.0 * np.pi, 37)


def test_a_world_without_objects_is_empty_and_its_ground_rigid():
    assert World().objects == {} and World().surface.stiffness is None


def test_objects_keep_their_order_and_names():
    assert list(world(b_wall=WALL, a_box=BOX).objects) == ["b_wall", "a_box"]


@pytest.mark.parametrize("item", EVERY)
def test_pieces_of_triangles_are_convex_and_closed(item):
    for piece in made(item).pieces():
        if piece.vertices is None:
            continue
        mesh = trimesh.Trimesh(*triangles(piece), process=False)
        assert mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0.0
        a, b, c = np.moveaxis(mesh.triangles, 1, 0)
        heights = np.einsum("fx,fnx->fn", np.cross(b - a, c - a), mesh.vertices[None] - a[:, None])
        assert heights.max() < 1e-12


def test_a_funnel_is_free_within_and_solid_around_its_profile():
    funnel = made(FUNNEL)
    xs = np.linspace(-0.479, 0.239, 40)
    profile = np.where(xs < 0.0, 0.045, 0.045 + xs / 0.24 * (0.14 - 0.045))
    assert not inside(funnel, around(0.994 * profile, xs, ANGLES)).any()
    assert inside(funnel, around(profile + 0.005, xs, ANGLES)).all()
    assert not inside(funnel, around(profile + 0.011, xs, ANGLES)).any()


@pytest.mark.parametrize("segments", [6, 128])
def test_a_bore_may_be_of_six_to_128_flat_sides(segments):
    assert len(made(FUNNEL, segments=segments).pieces()) == 2 * segments


def test_nothing_gets_farther_off_a_bores_axis_than_a_round_bore_would_let_it():
    for segments in (8, 16, 32):
        bore = made(FUNNEL, segments=segments)
        assert inside(bore, around([0.045 + 1e-6], [-0.2], ANGLES)).all()


def test_the_funnel_of_the_paper_points_down_by_15_degrees():
    funnel = made(FUNNEL)
    inwards_W = so3.rotate(funnel.q_WO, np.array([-1.0, 0.0, 0.0]))
    np.testing.assert_allclose(inwards_W, [-np.cos(np.pi / 12), 0.0, -np.sin(np.pi / 12)])


def test_a_socket_is_straight_and_then_a_hemisphere():
    board = made(BOARD)
    straight = np.linspace(-0.029, -0.005, 8)
    assert not inside(board, around(0.98 * np.full(8, 0.0337), straight, ANGLES)).any()
    assert inside(board, around(np.full(8, 0.0340), straight, ANGLES)).all()
    depths = np.linspace(0.001, 0.032, 12)
    radii = np.sqrt(0.0337**2 - depths**2)
    assert inside(board, around(radii + 5e-4, -0.03 - depths, ANGLES)).all()
    tilts = np.arange(0.1, 1.5, 0.2)
    ball = 0.93 * 0.0337 * np.stack([np.cos(tilts), np.sin(tilts)])
    assert not inside(board, around(ball[0], -0.03 - ball[1], ANGLES)).any()
    assert board.hole.depth == pytest.approx(0.0637)


def test_a_board_reaches_to_its_rectangle_and_its_back():
    board = made(BOARD)
    y, z = np.meshgrid(np.linspace(-0.249, 0.249, 21), np.linspace(-0.149, 0.149, 21))
    front = np.stack([np.full(y.size, -0.001), y.ravel(), z.ravel()], -1)
    off_mouth = np.hypot(front[:, 1], front[:, 2]) > 0.04
    assert inside(board, front[off_mouth] + [0.0, 1e-5, 2e-5]).all()
    back = np.array([[-0.099, 0.0, 0.0], [-0.099, 0.249, -0.149], [-0.065, 1e-4, 1e-4]])
    assert inside(board, back).all()
    assert not inside(board, np.array([[0.001, 0.1, 0.1], [-0.101, 0.0, 0.0]])).any()


@pytest.mark.parametrize(("width", "height"), [(0.5, 0.3), (3.0, 0.12), (0.2, 0.2)])
def test_pieces_fill_a_drilled_board_without_gap_or_overlap(width, height):
    n, radius = 12, 0.05
    board = made(
        BOARD,
        width=width,
        height=height,
        segments=n,
        hole={"type": "through", "radius": radius},
    )
    hole = 0.5 * n * radius**2 * np.sin(2.0 * np.pi / n)
    assert Bulk.of(board.pieces()).volume == pytest.approx(0.1 * (width * height - hole))


def test_walls_boards_and_floors_face_along_their_axis_from_where_they_are_placed():
    (wall,), (floor,) = made(WALL).pieces(), made(FLOOR).pieces()
    assert wall.position[0] + 0.5 * wall.size[0] == 0.0
    assert floor.position[2] + 0.5 * floor.size[2] == 0.0
    assert max(x for piece in made(BOARD).pieces() for x, _, _ in piece.vertices) == 0.0


@pytest.mark.parametrize(
    "shape",
    [
        Shape(shape="box", size=(0.1, 0.2, 0.3), position=(0.1, 0, 0.2), rpy_deg=(10, 20, 30)),
        Shape(shape="cylinder", radius=0.1, length=0.3, position=(0, 1, 0), rpy_deg=(90, 5, 0)),
    ],
)
def test_bulk_of_triangles_is_that_of_the_shape_they_resemble(shape):
    if shape.shape == "box":
        half = 0.5 * np.array(shape.size)
        rim = half * [[1, 1, -1], [-1, 1, -1], [-1, -1, -1], [1, -1, -1]]
        exact = 1e-12
    else:
        phi = np.linspace(0.0, 2.0 * np.pi, 2000, endpoint=False)
        rim = np.stack([0.1 * np.cos(phi), 0.1 * np.sin(phi), np.full(2000, -0.15)], -1)
        exact = 1e-5
    solid = prism(rim, rim * [1, 1, -1], COLOR)
    solid = solid.model_copy(update={"position": shape.position, "rpy_deg": shape.rpy_deg})
    a, b = Bulk.of([shape]), Bulk.of([solid])
    assert b.volume == pytest.approx(a.volume, rel=exact)
    np.testing.assert_allclose(b.center, a.center, atol=1e-12)
    np.testing.assert_allclose(b.inertia, a.inertia, rtol=exact, atol=exact * a.inertia.max())


def test_bulk_of_parts_is_that_of_the_whole():
    whole = Shape(shape="box", size=(0.4, 0.2, 0.3))
    parts = [
        Shape(shape="box", size=(0.1, 0.2, 0.3), position=(-0.15, 0.0, 0.0)),
        Shape(shape="box", size=(0.3, 0.2, 0.3), position=(0.05, 0.0, 0.0)),
    ]
    a, b = Bulk.of([whole]), Bulk.of(parts)
    assert a.volume == pytest.approx(b.volume)
    np.testing.assert_allclose(b.center, 0.0, atol=1e-15)
    np.testing.assert_allclose(b.inertia, a.inertia, atol=1e-15)


@pytest.mark.parametrize(
    "motion",
    [
        {"type": "velocity", "velocity": [0.1, -0.2, 0.3], "start": 1.0},
        {"type": "sine", "amplitude": [0.1, 0.0, -0.2], "period": 3.0, "phase_deg": 40.0},
    ],
)
def test_a_prescribed_velocity_is_the_derivative_of_the_place(motion):
    item, step = made(BOX, motion=motion), 1e-6
    for t in (0.2, 1.7, 4.0):
        difference = (item.row(t + step)[P] - item.row(t - step)[P]) / (2.0 * step)
        np.testing.assert_allclose(item.row(t)[V], difference, atol=1e-8)
    if motion["type"] == "velocity":
        np.testing.assert_array_equal(item.row(0.9)[P], 0.0)
        np.testing.assert_allclose(item.row(3.0)[P], [0.2, -0.4, 0.6])


@pytest.mark.parametrize(
    ("item", "changes", "said"),
    [
        (WALL, {"surface": {"friction": -0.4, "restitution": 0.0}}, "friction"),
        (WALL, {"surface": {**SURFACE, "stiffness": 1000.0}}, "'stiffness' and 'damping'"),
        (WALL, {"surface": {**SURFACE, "stiffness": 0.0, "damping": 1.0}}, "stiffness"),
        (WALL, {"width": 0.0}, "width"),
        (BOX, {"size": [0.1, 0.0, 0.1]}, "size"),
        (CYLINDER, {"radius": -1.0}, "radius"),
        (FUNNEL, {"mouth_radius": 0.04}, "throat_radius"),
        (FUNNEL, {"segments": 5}, "segments"),
        (FUNNEL, {"segments": 129}, "segments"),
        (BOARD, {"thickness": 0.06}, "socket's depth 0.0637"),
        (BOARD, {"width": 0.07}, "does not fit"),
        (BOARD, {"hole": {**SOCKET, "fillet": 0.03}}, "fillet"),
        (BOARD, {"hole": {"type": "square", "radius": 0.1}}, "square"),
        (BOX, {"type": "ball"}, "ball"),
        (BOX, {"mass": 0.0}, "mass"),
        (
            BOX,
            {"mass": 1.0, "motion": {"type": "velocity", "velocity": [1.0, 0.0, 0.0]}},
            "motion",
        ),
    ],
)
def test_an_object_that_cannot_be_is_refused_in_one_line(item, changes, said):
    assert said in refused(item, **changes)


def test_a_name_that_cannot_be_addressed_is_refused():
    with pytest.raises(BadInput, match=r"my\.wall"):
        world(**{"my.wall": WALL})


@pytest.fixture
def mesh_file(tmp_path):
    """Write vertices and faces, as they are, to an OBJ file; its path as an object's tree."""

    def write(vertices, faces):
        lines = [f"v {x} {y} {z}" for x, y, z in vertices]
        lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
        (tmp_path / "mesh.obj").write_text("\n".join(lines), encoding="utf-8")
        file = str(tmp_path / "mesh.obj")
        return {"type": "mesh", "position": [0.0, 0.0, 0.0], "file": file}

    return write


def box_mesh():
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    return np.array(box.vertices), np.array(box.faces)


@pytest.mark.parametrize("ending", ["stl", "obj", "ply"])
def test_a_mesh_is_read_from_common_files_and_scaled(tmp_path, ending):
    file = tmp_path / f"box.{ending}"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(file)
    tree = {"type": "mesh", "position": [0.0, 0.0, 0.0], "file": str(file), "scale": 0.1}
    (piece,) = made(tree).pieces()
    assert piece.shape == "hull" and len(piece.vertices) == 8
    assert Bulk.of([piece]).volume == pytest.approx(0.006)
    assert made(tree, concave=True).pieces()[0].shape == "surface"


def test_a_mesh_turned_inside_out_is_turned_back(mesh_file):
    vertices, faces = box_mesh()
    assert Bulk.of(made(mesh_file(vertices, faces[:, ::-1])).pieces()).volume == pytest.approx(6.0)


def test_a_mesh_that_is_no_solid_is_refused_with_the_reason(mesh_file, tmp_path):
    vertices, faces = box_mesh()
    assert "3 edges have one face only" in refused(mesh_file(vertices, faces[1:]))
    flipped = np.vstack([faces[:1, ::-1], faces[1:]])
    assert "look opposite ways" in refused(mesh_file(vertices, flipped))
    twins = np.vstack([vertices, vertices + [1.0, 2.0, 0.0]])
    assert "not manifold" in refused(mesh_file(twins, np.vstack([faces, faces + 8])))
    assert "no volume" in refused(mesh_file(vertices[:3], np.array([[0, 1, 2], [0, 2, 1]])))
    assert "no triangles" in refused(mesh_file(vertices, faces[:0]))
    item = mesh_file(vertices, faces)
    assert "there is no file" in refused(item, file=str(tmp_path / "none.stl"))
    assert "concave" in refused(item, concave=True, mass=1.0)
    assert "scale" in refused(item, scale=0.0)


def test_states_of_objects_are_a_row_each_in_their_order():
    world = validate(
        World,
        {"objects": {"a": {**WALL, "surface": SURFACE}, "b": {**FLOOR, "surface": SURFACE}}},
        source="w.yaml",
    )
    rows = world.object_states(0.0)
    assert rows.shape == (2, 13)
    assert rows[:, P].tolist() == [WALL["position"], FLOOR["position"]]
    assert World().object_states(0.0).shape == (0, 13)


@pytest.mark.parametrize(
    ("keys", "moves"),
    [
        ({}, False),
        ({"mass": 1.0}, True),
        ({"motion": {"type": "velocity", "velocity": [0.1, 0, 0]}}, True),
    ],
)
def test_an_object_moves_that_is_free_or_has_a_motion(keys, moves):
    tree = {"objects": {"a": {**BOX, "surface": SURFACE, **keys}}}
    assert validate(World, tree, source="w.yaml").objects["a"].moves == moves
