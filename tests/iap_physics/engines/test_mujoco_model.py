# SPDX-License-Identifier: BSD-3-Clause
"""A world as MuJoCo's model has it: options, masks, owners, hinges, latches and shapes, number by number."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.geometry.shapes import Shape
from iap_description.math import euler, so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.engine import OBJECT, WORLD
from iap_physics.engines.make import is_installed

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
if is_installed("mujoco"):
    from iap_physics.engines.mujoco.geoms import FREE, SKIN, STANDING, VEHICLES, pieces_of
    from iap_physics.engines.mujoco.latches import Latches
    from iap_physics.engines.mujoco.library import mj
    from iap_physics.engines.mujoco.model import build
    from iap_physics.engines.mujoco.objects import Objects
    from iap_physics.engines.mujoco.rays import cast

SURFACE = {"friction": 0.25, "restitution": 0.0}
AXES = {"shape": "box", "size": (0.2, 0.4, 0.6), "position": (1.0, 0.0, 0.0)}


def leaf(y, **hinge):
    hinge = {"point": [-0.4, 0.0, 0.0], "limits_deg": [-90.0, 60.0], **hinge}
    place = {"position": [5.0, y, 1.0], "size": [0.8, 0.04, 2.0]}
    return {"type": "box", "mass": 4.0, "surface": SURFACE, "hinge": hinge, **place}


def handle(y):
    return leaf(y, point=[0.0, 0.0, 0.0], axis=[0.0, 3.0, 0.0], limits_deg=[-45.0, 0.0])


def latch(lever, release=-30.0):
    return {
        "lever": lever,
        "release_deg": release,
        "stiffness": 50.0,
        "strength": 8.0,
        "damping": 2.0,
    }


OBJECTS = {
    "still": {"type": "box", "position": [3.0, 0.0, 1.0], "size": [1.0, 1.0, 1.0], "surface": SURFACE},
    "loose": {
        "type": "floor", "position": [4.0, 0.0, 1.0], "rpy_deg": [90.0, 0.0, 0.0], "length": 0.6,
        "width": 0.4, "thickness": 0.2, "mass": 1.2,
        "surface": {"friction": 0.5, "restitution": 0.0},
    },
    "door": leaf(1.0, latch=latch("knob"), stiffness=7.0, rest_deg=10.0, damping=3.0, friction=1.5),
    "knob": handle(2.0),
    "gate": leaf(3.0, latch=latch("lever", -20.0)),
    "lever": handle(4.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def world():
    return World.model_validate({"gravity": 9.5, "objects": OBJECTS})


@pytest.fixture(scope="module")
def made(world):
    """Two quadrotors among a wall, a ball and two doors with levers."""
    return build(world, [Assembly.of(load_platform("f450"))] * 2)


def test_the_solver_is_as_exact_and_friction_as_stiff_as_is_said(made):
    option = made.model.opt
    assert option.gravity.tolist() == [0.0, 0.0, -9.5]
    assert option.integrator == mj.mjtIntegrator.mjINT_EULER
    assert option.cone == mj.mjtCone.mjCONE_ELLIPTIC
    assert (option.impratio, option.iterations, option.tolerance) == (1000.0, 50, 1e-12)
    assert made.model.stat.meaninertia == 1.0
    assert set(made.model.body_invweight0.ravel().tolist()) == {0.5}
    assert made.model.neq == 8 and not made.model.eq_active0.any()


def test_springs_dampers_and_friction_are_left_out_where_nothing_hangs_on_a_hinge(made):
    without = build(World(), [Assembly.of(load_platform("f450"))])
    of_hinges = [
        getattr(mj.mjtDisableBit, f"mjDSBL_{n}") for n in ("SPRING", "DAMPER", "FRICTIONLOSS")
    ]
    always = [
        getattr(mj.mjtDisableBit, f"mjDSBL_{n}") for n in ("FILTERPARENT", "AUTORESET", "ISLAND")
    ]
    for bit in of_hinges:
        assert without.model.opt.disableflags & bit and not made.model.opt.disableflags & bit
    for bit in always:
        assert without.model.opt.disableflags & bit and made.model.opt.disableflags & bit


def test_every_body_tells_whose_it_is(made):
    assert made.owners[made.bodies].tolist() == [0, 1]
    assert made.vehicles[made.bodies].tolist() == [0, 1]
    assert made.owners[made.objects].tolist() == [OBJECT - k for k in range(6)]
    assert set(made.vehicles[made.objects].tolist()) == {-1}
    assert made.owners[0] == WORLD and made.vehicles[0] == -1
    groups = {}
    for geom, body in enumerate(made.model.geom_bodyid.tolist()):
        groups.setdefault(int(made.owners[body]), set()).add(int(made.model.geom_group[geom]))
    assert VEHICLES in groups[0] and STANDING in groups[WORLD] and STANDING in groups[OBJECT]
    assert FREE in groups[OBJECT - 1]
    for k in (0, 2, 3, 4, 5):  # doors do not move freely
        assert STANDING in groups[OBJECT - k] and FREE not in groups[OBJECT - k]


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_softness_friction_and_stops_are_those_of_the_step(made, dt):
    made.set_step(dt)
    model = made.model
    assert model.opt.timestep == dt
    assert len(made.contacts) == model.ngeom
    for k, contact in enumerate(made.contacts):
        (stiffness, damping), d = contact.solver(dt)
        assert model.geom_solref[k].tolist() == [stiffness, damping]
        assert model.geom_solimp[k, :2].tolist() == [d, d]
        assert model.geom_friction[k, 0] == contact.friction
    d = 1.0 - 1e-4  # as stiff as MuJoCo takes it: R of 1e-4 a kilogram gives d = 1 / (1 + R)
    d = min(1.0 / (1.0 + 1e-4), d)
    solref = pytest.approx([-0.1 / dt**2 * d, -1.0 / dt * d])
    assert model.eq_solref[3].tolist() == solref and model.eq_solimp[7, :2].tolist() == [d, d]
    assert len(made.hinges) == 4
    for joint in made.hinges:
        assert model.jnt_type[joint] == mj.mjtJoint.mjJNT_HINGE
        dof = model.jnt_dofadr[joint]
        for ref, imp in (
            (model.jnt_solref[joint], model.jnt_solimp[joint]),
            (model.dof_solref[dof], model.dof_solimp[dof]),
        ):
            assert ref.tolist() == solref and imp[:2].tolist() == [d, d]


def test_a_loose_object_is_a_body_at_its_com_with_the_inertia_of_its_shape(made):
    """A slab of 0.6, 0.4 and 0.2 m below its frame's origin, which is turned by a quarter about x."""
    model, body = made.model, made.objects[1]
    np.testing.assert_allclose(model.body_pos[body], [4.0, 0.1, 1.0], atol=1e-12)
    np.testing.assert_allclose(made.centers[1], [0.0, 0.0, -0.1], atol=1e-12)
    assert model.body_mass[body] == 1.2 and not model.body_ipos[body].any()
    moments = 1.2 / 12.0 * np.array([0.4**2 + 0.2**2, 0.6**2 + 0.2**2, 0.6**2 + 0.4**2])
    np.testing.assert_allclose(np.sort(model.body_inertia[body]), np.sort(moments), rtol=1e-9)


def test_what_moves_as_prescribed_is_heavy_weightless_and_put_on_its_way():
    push = {"type": "velocity", "velocity": [0.5, 0.0, -2.0]}
    item = {**OBJECTS["still"], "motion": push}
    world = World.model_validate({"objects": {"still": OBJECTS["still"], "moved": item}})
    moving = build(world, [Assembly.of(load_platform("f450"))])
    body = moving.objects[1]
    assert moving.model.body_mass[body] == 1e6 and moving.model.body_gravcomp[body] == 1.0
    np.testing.assert_allclose(moving.model.body_inertia[body], [1e6] * 3)
    objects = Objects.of(world, moving)
    assert objects.has_motion
    qpos, qvel = np.zeros(moving.model.nq), np.zeros(moving.model.nv)
    objects.prescribe(qpos, qvel, 0.2, 0.01)
    at, v_at = objects.places[1]
    np.testing.assert_allclose(qpos[at : at + 3], [0.1, 0.0, -0.4], atol=1e-12)
    np.testing.assert_allclose(qvel[v_at : v_at + 3], [0.5, 0.0, -2.0], atol=1e-12)
    assert np.count_nonzero(qpos) == np.count_nonzero(qvel) == 2
    bodies = np.flatnonzero(moving.owners == OBJECT - 1).tolist()
    assert body in bodies and moving.owners[moving.objects[0]] == OBJECT


def test_rays_end_at_the_first_hit_within_them_of_what_may_be_hit(made):
    """The wall's face is at x = 2.5, and the first quadrotor at the origin."""
    data = mj.MjData(made.model)
    starts = np.array([[1.5, 0.0, 1.0], [1.5, 0.0, 1.0], [1.5, 0.0, 1.0], [0.0, 0.0, 1.0]])
    ends = starts + [[2.0, 0.0, 0.0], [1.01, 0.0, 0.0], [0.95, 0.0, 0.0], [0.0, 0.0, -1.0]]
    far = cast(made.model, data, starts, ends, world_only=True)
    np.testing.assert_allclose(far, [0.5, 1.0 / 1.01, 1.0, 1.0], atol=1e-6)
    near = cast(made.model, data, starts, ends, world_only=False)
    np.testing.assert_allclose(near[:3], far[:3])
    assert 0.5 < near[3] < 1.0  # the body's upper side


def test_a_hinge_has_the_numbers_of_its_record_about_its_axis(made):
    model, (door, knob, _, _) = made.model, made.hinges
    np.testing.assert_allclose(model.jnt_pos[door], [-0.4, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(model.jnt_axis[door], [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(model.jnt_axis[knob], [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(model.jnt_range[door], np.deg2rad([-90.0, 60.0]))
    assert model.jnt_limited[door] == 1
    dof = model.jnt_dofadr[door]
    numbers = (model.jnt_stiffness[door], model.dof_damping[dof], model.dof_frictionloss[dof])
    assert np.ravel([np.ravel(each)[0] for each in numbers]).tolist() == [7.0, 3.0, 1.5]
    assert model.qpos_spring[model.jnt_qposadr[door]] == pytest.approx(np.deg2rad(10.0))


def test_latches_hold_their_door_by_its_own_lever_in_every_world(world, made):
    latches = Latches.of(world, made.model, made.objects, 3)
    at = made.model.jnt_qposadr[made.hinges].tolist()  # of door, knob, gate and lever
    assert latches.q_at.tolist() == [at[0], at[2]]
    assert latches.lever_at.tolist() == [at[1], at[3]]
    v_at = made.model.jnt_dofadr[made.hinges].tolist()
    assert latches.v_at.tolist() == [v_at[0], v_at[2]]
    numbers = [[50.0, 8.0, 2.0, np.deg2rad(-30.0)], [50.0, 8.0, 2.0, np.deg2rad(-20.0)]]
    np.testing.assert_allclose(latches.numbers, [numbers] * 3)
    none = Latches.of(World(), made.model, [], 2)
    assert none.q_at.shape == (0,) and none.numbers.shape == (2, 0, 4)


def test_states_of_objects_are_read_where_each_begins(world, made):
    objects = Objects.of(world, made)
    assert not objects.has_motion
    qpos, qvel = made.model.qpos0.copy(), np.zeros(made.model.nv)
    at, v_at = objects.places[1]
    turn = so3.quaternion_exp(np.array([0.0, 0.0, 0.5]))
    qpos[at : at + 7] = [1.0, 2.0, 3.0, *np.roll(turn, 1)]
    qvel[v_at : v_at + 6] = [0.1, 0.2, 0.3, 1.0, 0.0, 0.0]
    door_at, door_v = objects.places[2]
    qpos[door_at], qvel[door_v] = 0.25, -2.0
    rows = objects.states(qpos, qvel, 0.0)
    np.testing.assert_allclose(
        rows[0], [3.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, *[0.0] * 6], atol=1e-12
    )
    np.testing.assert_allclose(rows[1, :7], [1.0, 2.0, 3.1, *turn], atol=1e-12)  # its upper side
    w_W = so3.rotate(turn, np.array([1.0, 0.0, 0.0]))
    v_W = np.add([0.1, 0.2, 0.3], np.cross(w_W, [0.0, 0.0, 0.1]))
    np.testing.assert_allclose(rows[1, 7:], [*v_W, *w_W], atol=1e-12)
    door = world.objects["door"]
    row = door.hinge.row(np.array(door.position), door.q_WO, 0.25, -2.0)
    np.testing.assert_allclose(rows[2], row, atol=1e-12)


@pytest.mark.parametrize("is_moved", [False, True])
def test_shapes_are_primitives_or_hulls_where_their_frame_is(is_moved):
    p = np.array([0.5, -1.0, 2.0]) if is_moved else np.zeros(3)
    q = (
        so3.quaternion_exp(np.array([0.3, 0.1, -0.8]))
        if is_moved
        else np.array([0.0, 0.0, 0.0, 1.0])
    )
    turn = euler.quaternion_from_rpy_deg((90.0, 0.0, 30.0))
    place = {"position": (0.1, 0.2, 0.3), "rpy_deg": (90.0, 0.0, 30.0)}
    corners = ((0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 4.0, 0.0), (0.0, 0.0, 5.0))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    kinds = mj.mjtGeom
    for keys, kind, size in (
        ({"shape": "box", "size": (0.2, 0.4, 0.6)}, kinds.mjGEOM_BOX, (0.1, 0.2, 0.3)),
        ({"shape": "sphere", "radius": 0.7}, kinds.mjGEOM_SPHERE, (0.7,)),
        ({"shape": "cylinder", "radius": 0.7, "length": 3.0}, kinds.mjGEOM_CYLINDER, (0.7, 1.5)),
        ({"shape": "capsule", "radius": 0.7, "length": 3.0}, kinds.mjGEOM_CAPSULE, (0.7, 1.5)),
    ):
        (piece,) = pieces_of([Shape(**keys, **place)], p, q)
        assert piece.type == kind and piece.size == pytest.approx(size) and piece.corners is None
        np.testing.assert_allclose(piece.position, p + so3.rotate(q, np.array([0.1, 0.2, 0.3])))
        np.testing.assert_allclose(piece.q, so3.multiply(q, turn), atol=1e-12)
    (hull,) = pieces_of([Shape(shape="hull", vertices=corners, faces=faces)], p, q)
    assert hull.type == kinds.mjGEOM_MESH and hull.size == ()
    np.testing.assert_allclose(hull.corners, p + so3.rotate(q, np.array(corners)))
    prisms = pieces_of([Shape(shape="surface", vertices=corners, faces=faces)], p, q)
    assert len(prisms) == 4
    below = np.array([corners[k] for k in (0, 2, 1)])  # its outside is below
    within = np.vstack([below, below + [0.0, 0.0, SKIN]])
    np.testing.assert_allclose(prisms[0].corners, p + so3.rotate(q, within), atol=1e-12)
    assert SKIN == 0.002


def test_a_body_too_small_for_mujoco_is_refused_in_its_words() -> None:
    size = [1e-5, 1e-5, 1e-5]
    grain = {
        "type": "box",
        "mass": 1e-6,
        "position": [0.0, 0.0, 3.0],
        "size": size,
        "surface": SURFACE,
    }
    world = World.model_validate({"objects": {"grain": grain}})
    with pytest.raises(BadInput, match="^engine mujoco cannot build this world: .*inertia"):
        build(world, [Assembly.of(load_platform("f450"))])
