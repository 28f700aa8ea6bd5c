# SPDX-License-Identifier: BSD-3-Clause
"""A world as PyBullet has it: parameters of links and joints, files of shapes, and what contact points amount to."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from iap_description.geometry.shapes import Surface
from iap_description.geometry.solids import triangles
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.engine import LAST_LINK, OBJECT, WORLD, AddedJoint
from iap_physics.engines.make import is_installed

pytestmark = pytest.mark.skipif(not is_installed("pybullet"), reason="without pybullet")
if is_installed("pybullet"):
    from iap_physics.engines.pybullet import objects
    from iap_physics.engines.pybullet.added_joints import AddedJoints, CollisionFilter
    from iap_physics.engines.pybullet.client import bullet, connect, set_surface
    from iap_physics.engines.pybullet.contact import contact_of, wrench_on
    from iap_physics.engines.pybullet.hinges import Leaf
    from iap_physics.engines.pybullet.native import settle
    from iap_physics.engines.pybullet.world import build, model, write_scene

ROUGH = {"friction": 0.49, "restitution": 0.25}
SOFT = ROUGH | {"stiffness": 2000.0, "damping": 30.0}
PLACED = {"position": [4.0, 1.0, 1.0], "rpy_deg": [0.0, 0.0, 90.0]}
OBJECTS = {
    "still": {"type": "box", "size": [1.0, 2.0, 3.0], "surface": SOFT, **PLACED},
    "loose": {
        "type": "floor", "length": 0.6, "width": 0.4, "thickness": 0.2, "mass": 1.2, "surface": ROUGH,
        "position": [8.0, 1.0, 1.0],
    },
    "door": {
        "type": "box", "size": [0.8, 0.04, 2.0], "mass": 4.0, "surface": ROUGH, **PLACED,
        "hinge": {"point": [-0.4, 0.0, 0.0], "limits_deg": [-90.0, 60.0], "friction": 1.5},
    },
}  # fmt: skip
FRICTION, RESTITUTION, DAMPING, STIFFNESS, MARGIN = 1, 5, 8, 9, 11  # of getDynamicsInfo


@pytest.fixture(scope="module")
def client():
    made = connect(view=False)
    yield made
    bullet.disconnect(made)


@pytest.fixture
def loaded(client, tmp_path):
    """A three-star among a block, a slab and a door on soft ground."""
    star = Assembly.of(load_platform("three_star"), "star")
    world = World.model_validate({"gravity": 9.5, "surface": SOFT, "objects": OBJECTS})
    path = tmp_path / "star.urdf"
    path.write_text(model(star, tmp_path, visuals=False), encoding="utf-8")
    return build(client, world, [(star, path)], objects.models(world, tmp_path), None, seen=False)


def dynamics(client, handle):
    return bullet.getDynamicsInfo(*handle, physicsClientId=client)


def test_contacts_are_solved_in_fifty_iterations_and_bodies_fall_down(client, loaded):
    parameters = bullet.getPhysicsEngineParameters(physicsClientId=client)
    assert parameters["numSolverIterations"] == 50
    gravity = [parameters[f"gravityAcceleration{axis}"] for axis in "XYZ"]
    assert gravity == [0.0, 0.0, -9.5]


def test_rows_and_numbers_of_objects_lead_to_bodies_and_back(loaded):
    assert [loaded.rows[handle] for handle in loaded.handles] == [0, 1, 2, 3]
    assert [loaded.rows[handle] for handle in loaded.objects] == [OBJECT, OBJECT - 1, OBJECT - 2]
    assert loaded.handles[0][1] == -1 and loaded.objects[2][1] == 0  # a door is a link
    assert len({body for body, _ in loaded.handles}) == 1 and loaded.q_BC.shape == (4, 4)


def test_surfaces_are_roots_of_coefficients_and_bodies_are_rigid_without_their_own(client, loaded):
    still = dynamics(client, loaded.objects[0])
    assert (still[FRICTION], still[RESTITUTION]) == pytest.approx((0.7, 0.5))
    assert (still[STIFFNESS], still[DAMPING]) == pytest.approx((2000.0, 30.0))
    loose = dynamics(client, loaded.objects[1])
    assert loose[STIFFNESS] != 2000.0 and loose[FRICTION] == pytest.approx(0.7)
    for handle in loaded.handles:  # of the ground's surface, but rigid
        body = dynamics(client, handle)
        assert (body[FRICTION], body[RESTITUTION]) == pytest.approx((0.7, 0.5))
        assert body[STIFFNESS] != 2000.0
    set_surface(
        client,
        loaded.handles[1],
        Surface(friction=0.09, restitution=0.0, stiffness=5.0, damping=0.5),
    )
    link = dynamics(client, loaded.handles[1])
    assert (link[FRICTION], link[STIFFNESS], link[DAMPING]) == pytest.approx((0.3, 5.0, 0.5))


def test_hulls_are_rounded_by_a_tenth_of_a_millimetre(client, loaded):
    for handle in (loaded.handles[0], *loaded.objects[:2]):
        assert dynamics(client, handle)[MARGIN] == pytest.approx(1e-4)


def test_a_loose_slab_has_its_mass_and_principal_moments_below_its_frame(client, loaded):
    mass, _, moments, place, turn = dynamics(client, loaded.objects[1])[:5]
    assert mass == 1.2
    expected = 0.1 * np.array([0.4**2 + 0.2**2, 0.6**2 + 0.2**2, 0.6**2 + 0.4**2])
    np.testing.assert_allclose(np.sort(moments), np.sort(expected), rtol=1e-6)
    np.testing.assert_allclose(place, [0.0, 0.0, -0.1], atol=1e-9)
    R = so3.matrix_from_quaternion(np.array(turn))
    np.testing.assert_allclose(np.diag(R @ np.diag(moments) @ R.T), expected, rtol=1e-6)
    rows = objects.states(client, [], 0.0)
    assert rows.shape == (0, 13)


def test_a_door_turns_about_its_axis_where_this_stands(client, loaded):
    base = bullet.getBasePositionAndOrientation(loaded.objects[2][0], client)[0]
    np.testing.assert_allclose(base, [4.0, 0.6, 1.0], atol=1e-9)  # a quarter turn
    assert dynamics(client, loaded.objects[2])[0] == 4.0


def test_what_is_carried_stands_where_its_axis_is_seen_from_its_carriers():
    world = World.model_validate({"objects": OBJECTS})
    item = world.objects["door"]
    leaf = Leaf(item, item.hinge, 0, np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0]))
    np.testing.assert_allclose(leaf.axis_W, [4.0, 0.6, 1.0], atol=1e-9)
    np.testing.assert_allclose(leaf.center, [0.5, 0.2, 0.3])


def test_a_model_has_a_hull_for_each_of_its_shapes_and_pictures_on_request(tmp_path):
    dock = Assembly.of(load_platform("f450_dock"), "dock")
    seen, unseen = (
        ElementTree.fromstring(model(dock, tmp_path, visuals=visuals)) for visuals in (True, False)
    )
    assert len(list(seen.iter("visual"))) > 0 == len(list(unseen.iter("visual")))
    hulls = [s for s in dock.bodies[0].collision if s.vertices is not None]
    files = [each.get("filename") for each in unseen.iter("mesh")]
    assert files == [
        str(tmp_path / f"dock_{dock.bodies[0].name}_{k}.stl") for k in range(len(hulls))
    ]
    data = (tmp_path / f"dock_{dock.bodies[0].name}_0.stl").read_bytes()
    corners = np.frombuffer(
        data[84:], np.dtype([("n", "<f4", 3), ("at", "<f4", (3, 3)), ("e", "<u2")])
    )
    found = {tuple(p) for p in corners["at"].reshape(-1, 3).tolist()}
    vertices, faces = triangles(hulls[0])
    assert len(corners) == len(faces)
    assert found == {tuple(p) for p in vertices.astype(np.float32)[faces].reshape(-1, 3).tolist()}


def test_files_of_shapes_count_their_corners_through_all_pieces():
    triangle = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]])
    text = objects.obj_text([(triangle, np.array([[0, 1, 2]]))] * 2)
    corners = "v 0.0 0.0 0.0\nv 1.0 0.0 0.0\nv 0.0 1.0 0.5\n"
    assert text == f"o piece_0\n{corners}f 1 2 3\no piece_1\n{corners}f 4 5 6\n"
    data = objects.stl_bytes(triangle, np.array([[0, 2, 1]]))
    assert len(data) == 84 + 50 and data[:84] == bytes(80) + b"\1\0\0\0"
    assert (
        np.frombuffer(data[96:132], "<f4").reshape(3, 3).tolist() == triangle[[0, 2, 1]].tolist()
    )


def test_a_scene_without_solids_needs_no_file(tmp_path):
    assert write_scene(World(), tmp_path) is None
    path = write_scene(World(scene="textured_walls"), tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    count = sum(line.startswith("v ") for line in lines)
    faces = [list(map(int, line.split()[1:])) for line in lines if line.startswith("f ")]
    assert lines[0] == "o scene" and np.min(faces) == 1 and np.max(faces) == count


def point(a, b, push, slips=(0.0, 0.0), distance=-0.001):
    """A contact point of PyBullet's between handles, at (1, 0, 0) on a and (1, 0, 0.1) on b, upwards on a."""
    (body_a, link_a), (body_b, link_b) = a, b
    places, normal = ((1.0, 0.0, 0.0), (1.0, 0.0, 0.1)), (0.0, 0.6, 0.8)
    ways = (slips[0], (1.0, 0.0, 0.0), slips[1], (0.0, 1.0, 0.0))
    return (0, body_a, body_b, link_a, link_b, *places, normal, distance, push, *ways)


def test_a_contact_point_pushes_and_rubs_its_first_body_where_it_is():
    rows = {(5, -1): 0, (5, 0): 1, (6, -1): 2}
    touch = point((5, 0), (6, -1), 7.0, (2.0, -3.0))
    contact = contact_of(touch, rows)
    assert (contact.body_a, contact.body_b, contact.distance) == (1, 2, -0.001)
    assert (contact.position_W, contact.normal_W) == ((1.0, 0.0, 0.0), (0.0, 0.6, 0.8))
    force = np.array([2.0, -3.0 + 0.6 * 7.0, 0.8 * 7.0])
    np.testing.assert_allclose(contact.force_W, force)
    unknown = contact_of(point((9, 9), (8, 8), 7.0), rows)
    assert (unknown.body_a, unknown.body_b) == (WORLD, WORLD)
    center = (0.0, 2.0, 0.0)
    torque = np.cross([1.0, -2.0, 0.0], force)
    np.testing.assert_allclose(wrench_on(1, rows, center, [touch]), [*force, *torque])
    arm = np.array([1.0, -2.0, 0.1])  # of the second body, on its own place
    opposite = -force
    np.testing.assert_allclose(
        wrench_on(2, rows, center, [touch, touch]),
        2 * np.append(opposite, np.cross(arm, opposite)),
    )
    unheard = [
        point((5, 0), (6, -1), 0.0),
        point((5, 0), (5, -1), 7.0),
        point((8, 0), (6, -1), 1.0),
    ]
    assert not wrench_on(1, rows, center, unheard).any()


def test_joints_stand_in_the_principal_axes_of_their_bodies():
    q_BC = so3.quaternion_exp(np.array([[0.1, 0.2, 0.3], [0.4, -0.5, 0.6]]))
    joints = AddedJoints(0, [(3, -1), (3, 0)], q_BC)
    p, q = np.array([1.0, 2.0, 3.0]), so3.quaternion_exp(np.array([0.0, 0.7, 0.0]))
    place, turn = joints._in_principal_axes(1, p, q)
    np.testing.assert_allclose(so3.rotate(q_BC[1], np.array(place)), p)
    np.testing.assert_allclose(so3.multiply(q_BC[1], np.array(turn)), q, atol=1e-12)
    assert joints._in_principal_axes(WORLD, p, q) == (p.tolist(), q.tolist())
    p_BC, q_own = np.array([0.5, 0.0, 0.0]), q_BC[0]
    joints.others[LAST_LINK] = ((3, 4), p_BC, q_own)
    place, turn = joints._in_principal_axes(LAST_LINK, p, q)
    np.testing.assert_allclose(p_BC + so3.rotate(q_own, np.array(place)), p)
    np.testing.assert_allclose(so3.multiply(q_own, np.array(turn)), q, atol=1e-12)
    assert joints._handle(LAST_LINK) == (3, 4) and joints._handle(1) == (3, 0)


def test_joints_that_are_held_are_made_anew_and_no_others(client, loaded):
    joints = AddedJoints(client, loaded.handles, loaded.q_BC)
    fixed = AddedJoint(
        (1, WORLD), np.zeros(3), np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), "fixed", 50.0
    )
    first, second = joints.add(fixed), joints.add(fixed)
    assert joints.body_a(first) == 1 and second == first + 1
    held = joints.held
    joints.remove(first)
    third = joints.add(fixed)
    joints.hold(held)
    assert [handle for handle, _ in joints.held] == [first, second] != [second, third]
    assert bullet.getNumConstraints(physicsClientId=client) == 2
    number = joints.made[second][0]
    assert bullet.getConstraintInfo(number, physicsClientId=client)[10] == 50.0
    bullet.changeConstraint(number, maxForce=1.0, physicsClientId=client)
    joints.limit()
    assert bullet.getConstraintInfo(number, physicsClientId=client)[10] == 50.0


def test_pairs_that_pass_are_held_as_they_were(client, loaded):
    passing = CollisionFilter(client, loaded.handles)
    passing.let((1, 2), passes=True)
    before = passing.pairs
    passing.let((2, 3), passes=True)
    passing.let((2, 1), passes=False)
    assert passing.pairs == {frozenset((2, 3))}
    passing.hold(before)
    assert passing.pairs == before == {frozenset((1, 2))}


def test_rows_are_taken_over_without_a_jump_of_sign_and_the_first_that_is_lost_is_told():
    q_BC = np.array([[0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)]] * 3)
    q_WB = so3.quaternion_exp(np.array([0.3, -0.2, 0.9]))
    raw, x = np.random.default_rng(1).normal(size=(3, 13)), np.zeros((3, 13))
    raw[:, 3:7] = so3.multiply(q_WB, q_BC)
    x[:, 3:7] = [q_WB, -q_WB, q_WB]
    assert settle(raw, q_BC, x) == -1
    np.testing.assert_allclose(x[:, 3:7], [q_WB, -q_WB, q_WB], atol=1e-12)
    others = [0, 1, 2, 7, 8, 9, 10, 11, 12]
    np.testing.assert_array_equal(x[:, others], raw[:, others])
    raw[1, 12], raw[2, 0] = 1e30, np.nan
    assert settle(raw, q_BC, x) == 1
