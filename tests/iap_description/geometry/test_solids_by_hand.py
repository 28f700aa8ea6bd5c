# SPDX-License-Identifier: BSD-3-Clause
"""Moments, normals, triangles and places of shapes by numbers that textbooks have."""

import numpy as np
import pytest

from iap_description.geometry import mesh_files, tessellation
from iap_description.geometry.mesh_files import DATA, mesh_path
from iap_description.geometry.shapes import Shape, Surface
from iap_description.geometry.solids import (
    Bulk,
    hull,
    moments,
    prism,
    stacked_rings,
    triangles,
    wide_normals,
)
from iap_description.geometry.tessellation import mesh, parts_by_color, revolved
from iap_description.math import so3

COLOR = (0.1, 0.2, 0.3, 1.0)
SQUARE = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 3.0, 0.0], [0.0, 3.0, 0.0]])
BOX = prism(SQUARE, SQUARE + [0.0, 0.0, 4.0], COLOR)  # 2 x 3 x 4 with a corner at the origin
MIDDLE = np.array([1.0, 1.5, 2.0])
OF_BOX = 24.0 / 12.0 * np.diag([9.0 + 16.0, 4.0 + 16.0, 4.0 + 9.0])


def test_moments_of_a_box_with_a_corner_at_the_origin():
    volume, first, second = moments(*triangles(BOX))
    assert volume == pytest.approx(24.0)
    np.testing.assert_allclose(first, 24.0 * MIDDLE)
    squares = 24.0 * np.array([4.0 / 3.0, 3.0, 16.0 / 3.0])
    np.testing.assert_allclose(np.diag(second), squares)
    np.testing.assert_allclose(second[0, 1:], 24.0 * np.array([1.5, 2.0]))


@pytest.mark.parametrize(
    ("shape", "volume", "center", "inertia"),
    [
        (BOX, 24.0, MIDDLE, OF_BOX),
        (Shape(shape="box", size=(2.0, 3.0, 4.0), position=(1.0, 1.5, 2.0)), 24.0, MIDDLE, OF_BOX),
        (Shape(shape="box", size=(3.0, 2.0, 4.0), position=(1.0, 1.5, 2.0), rpy_deg=(0.0, 0.0, 90.0)),
         24.0, MIDDLE, OF_BOX),
        (Shape(shape="sphere", radius=2.0), 32.0 / 3.0 * np.pi, np.zeros(3), 32.0 / 3.0 * np.pi * 1.6 * np.eye(3)),
        (Shape(shape="cylinder", radius=2.0, length=3.0, rpy_deg=(90.0, 0.0, 0.0)), 12.0 * np.pi, np.zeros(3),
         12.0 * np.pi * np.diag([1.75, 2.0, 1.75])),
    ],
)  # fmt: skip
def test_bulk_of_a_shape(shape, volume, center, inertia):
    found = Bulk.of([shape])
    assert found.volume == pytest.approx(volume)
    np.testing.assert_allclose(found.center, center, atol=1e-12)
    np.testing.assert_allclose(found.inertia, inertia, atol=1e-9)


def test_bulk_of_several_shapes_is_by_parallel_axes():
    """A cube of 8 and one of 1 that are 9 apart: the common centre is 1 from the larger one."""
    shapes = [
        Shape(shape="box", size=(a, a, a), position=(0.0, y, 0.0))
        for a, y in ((2.0, 0.0), (1.0, 9.0))
    ]
    found = Bulk.of(shapes)
    assert found.volume == pytest.approx(9.0) and found.center.tolist() == pytest.approx(
        [0.0, 1.0, 0.0]
    )
    own = 8.0 * 8.0 / 12.0 + 2.0 / 12.0
    np.testing.assert_allclose(found.inertia, np.diag([own + 72.0, own, own + 72.0]))


def test_shapes_without_a_mass_of_their_own_are_named():
    with pytest.raises(TypeError, match="^a capsule has no mass of its own$"):
        Bulk.of([Shape(shape="capsule", radius=0.1, length=0.2)])
    with pytest.raises(TypeError, match="^a sphere is not made of triangles$"):
        triangles(Shape(shape="sphere", radius=0.1))


def test_normals_are_as_long_as_twice_the_area():
    corners = np.array([[[1.0, 1.0, 5.0], [4.0, 1.0, 5.0], [1.0, 3.0, 5.0]]])
    normals, sizes = wide_normals(corners)
    assert normals.tolist() == [[0.0, 0.0, 6.0]] and sizes.tolist() == [6.0]


def test_rings_are_closed_by_the_outer_two_and_a_hull_looks_outwards():
    rings = [SQUARE, 0.5 * SQUARE + [0.5, 0.75, 1.0], SQUARE + [0.0, 0.0, 2.0]]
    vertices, faces = stacked_rings(rings)
    assert (vertices.shape, faces.shape) == ((12, 3), (20, 3))
    assert moments(vertices, faces)[0] == pytest.approx(2.0 * (6.0 + 3.0 + 1.5) / 3.0)
    turned = hull(vertices, faces[:, ::-1], COLOR, position=(1.0, 0.0, 0.0))
    assert turned.faces == hull(vertices, faces, COLOR).faces and turned.position == (
        1.0,
        0.0,
        0.0,
    )
    np.testing.assert_allclose(triangles(turned)[0], vertices + [1.0, 0.0, 0.0])


def test_a_shape_is_moved_and_turned_with_its_frame():
    shape = Shape(
        shape="box", size=(1.0, 2.0, 3.0), position=(1.0, 0.0, 0.0), rpy_deg=(0.0, 0.0, 30.0)
    )
    quarter = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2.0]))
    moved = shape.moved(np.array([10.0, 20.0, 30.0]), quarter)
    np.testing.assert_allclose(moved.position, [10.0, 21.0, 30.0])
    np.testing.assert_allclose(moved.rpy_deg, [0.0, 0.0, 120.0], atol=1e-9)
    still = shape.moved(np.array([10.0, 20.0, 30.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    assert (still.position, still.rpy_deg) == ((11.0, 20.0, 30.0), (0.0, 0.0, 30.0))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"shape": "box"}, "a box takes size, check 'size'"),
        (
            {"shape": "sphere", "radius": 1.0, "length": 1.0},
            "a sphere takes radius, check 'length'",
        ),
        ({"shape": "capsule", "length": 1.0}, "a capsule takes radius and length, check 'radius'"),
    ],
)
def test_a_shape_has_its_dimensions_and_no_others(keys, said):
    with pytest.raises(ValueError, match=said):
        Shape.model_validate(keys)


def test_a_surface_is_rigid_or_has_a_spring_and_a_damper():
    assert Surface(friction=0.5, restitution=0.0, stiffness=1.0, damping=0.0).stiffness == 1.0
    for keys in ({"stiffness": 1.0}, {"damping": 1.0}):
        with pytest.raises(
            ValueError, match="keys 'stiffness' and 'damping' come together or not at all"
        ):
            Surface(friction=0.5, restitution=0.0, **keys)


@pytest.mark.parametrize(
    ("shape", "vertices", "faces"),
    [
        (Shape(shape="box", size=(1.0, 2.0, 3.0)), 24, 12),
        (Shape(shape="cylinder", radius=0.5, length=2.0), 6 * 17, 4 * 16),
        (Shape(shape="cylinder", radius=0.013, length=2.0), 6 * 9, 4 * 8),
        (Shape(shape="cylinder", radius=0.0131, length=2.0), 6 * 17, 4 * 16),
        (Shape(shape="sphere", radius=0.5), 9 * 17, 7 * 32),
        (Shape(shape="capsule", radius=0.5, length=2.0), 10 * 17, 8 * 32),
    ],
)
def test_shapes_have_so_many_triangles_that_look_outwards(shape, vertices, faces):
    points, normals, triples = mesh(shape)
    assert (len(points), len(triples)) == (vertices, faces)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0)
    corners = points[triples]
    outwards = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("ni,ni->n", outwards, normals[triples].sum(axis=1)) > 0.0).all()
    assert (np.einsum("ni,ni->n", outwards, corners.mean(axis=1)) > 0.0).all()


def test_a_round_shape_has_as_many_sides_as_are_asked_for_and_a_hemisphere_a_quarter_of_them():
    ball = mesh(Shape(shape="sphere", radius=2.0), sides=32)[0]
    np.testing.assert_allclose(np.linalg.norm(ball, axis=1), 2.0)
    assert len(ball) == (2 * 8 + 1) * 33
    capsule = mesh(Shape(shape="capsule", radius=0.5, length=2.0, position=(0.0, 0.0, 3.0)))[0]
    assert (capsule[:, 2].min(), capsule[:, 2].max()) == pytest.approx((1.5, 4.5))


def test_a_profile_is_revolved_about_z():
    vertices, normals, faces = revolved([(0.0, 1.0, 0.6), (2.0, 3.0, 0.6)], 4)
    np.testing.assert_allclose(vertices[[0, 1, 5]], [[1, 0, 0], [0, 1, 0], [3, 0, 2]], atol=1e-12)
    np.testing.assert_allclose(normals[1], [0.0, 0.8, 0.6], atol=1e-12)
    assert len(faces) == 8 and len(vertices) == 10


def test_parts_are_made_for_each_colour():
    colors = ((1.0, COLOR), (2.0, (1.0, 1.0, 1.0, 1.0)), (3.0, COLOR))
    shapes = [Shape(shape="box", size=(a, 1.0, 1.0), color=color) for a, color in colors]
    first, second = parts_by_color("body", shapes, 7)
    assert (first.color, len(first.faces), len(second.faces), first.label, first.name) == (
        COLOR,
        24,
        12,
        7,
        "body",
    )
    assert (
        first.faces.max() == 47
        and np.ptp(first.vertices[24:, 0]) == 3.0
        and first.uv.shape == (48, 2)
    )


def test_a_face_without_an_area_is_not_seen():
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    points, normals, faces = tessellation._flat(vertices, np.array([[0, 1, 2], [0, 1, 3]]))
    assert faces.tolist() == [[0, 1, 2]] and normals.tolist() == [[0.0, 0.0, 1.0]] * 3
    assert points.tolist() == vertices[[0, 1, 3]].tolist()


TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


@pytest.mark.parametrize(
    ("faces", "said"),
    [
        (TETRAHEDRON[:3], "the mesh a is open: 3 edges have one face only"),
        (
            np.vstack([TETRAHEDRON, TETRAHEDRON]),
            "the mesh a is not manifold: 6 edges have more than two faces",
        ),
        (
            np.vstack([TETRAHEDRON[:3], TETRAHEDRON[3:, ::-1]]),
            "the mesh a is not manifold: neighbouring faces",
        ),
    ],
)
def test_an_edge_has_two_faces_that_run_along_it_in_opposite_ways(faces, said):
    mesh_files._check("a", TETRAHEDRON)
    with pytest.raises(ValueError, match=said):
        mesh_files._check("a", faces)


def test_a_mesh_of_this_package_is_a_file_of_its_data():
    assert mesh_path("package://iap_description/meshes/a.stl") == str(DATA / "meshes/a.stl")
    assert mesh_path("/tmp/b.stl") == "/tmp/b.stl"


@pytest.mark.parametrize("odd", [-0.93, 1.01, float("nan")])
def test_colours_are_shares(odd):
    with pytest.raises(ValueError, match="color"):
        Shape(shape="sphere", radius=0.1, color=(0.93, odd, 0.93, 1.0))
    assert Shape(shape="sphere", radius=0.1, color=(0.0, 1.0, 0.5, 0.0)).color[1] == 1.0
