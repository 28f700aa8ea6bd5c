# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import trimesh
from contact_engines import NAMES
from touching import RIGID, ROD, SOFT, Springs, base_row, level_start, momenta, tooled, world_of

from iap_description.geometry.solids import Bulk
from iap_description.math import so3
from iap_description.states import P, Q, V, W
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import OBJECT, WORLD
from iap_physics.engines.make import make_engine

G = 9.81
BOX = {"type": "box", "position": [0.0, 0.0, 0.1], "size": [0.2, 0.2, 0.2]}
WALL = {"type": "wall", "position": [-1.1, 0.0, 2.0], "width": 3.0, "height": 3.0}
FUNNEL = {
    "type": "funnel",
    "position": [-3.0, 0.0, 2.084],
    "rpy_deg": [0.0, -15.0, 0.0],
    "throat_radius": 0.045,
    "throat_length": 0.48,
    "mouth_radius": 0.14,
    "cone_length": 0.24,
}
BOARD = {
    "type": "board",
    "position": [-3.0, 0.0, 2.25],
    "width": 0.4,
    "height": 0.4,
    "thickness": 0.1,
    "hole": {"type": "socket", "radius": 0.0337, "straight": 0.03, "fillet": 0.004},
}


@pytest.fixture(params=NAMES)
def loaded(assembly_of, level, request):
    """An engine with a world and vehicles at their starts, or one that stands far away."""
    bystander = assembly_of("f450", "bystander")
    engines = []

    def engine(world, assemblies=(bystander,), start=None):
        engines.append(make_engine(request.param))
        away = level(bystander, p=(0.0, 50.0, 50.0))
        engines[-1].load(world, assemblies, (away if start is None else start)[None])
        return engines[-1]

    yield engine
    for each in engines:
        each.close()


def run(engine, steps, dt=1e-3):
    """Object states (steps, objects, 13) without any load."""
    record = []
    for _ in range(steps):
        engine.step(dt)
        record.append(engine.object_states())
    return np.array(record)


def force_on(engine, body):
    """Contact force (3,) of everything on one body, by the contact points."""
    force = np.zeros(3)
    for contact in engine.contacts():
        if body in (contact.body_a, contact.body_b):
            force += np.array(contact.force_W) * (1.0 if contact.body_a == body else -1.0)
    return force


def test_thrust_and_torques_never_appear_in_the_contact_wrench(loaded, flown):
    star = tooled(ROD)
    engine = loaded(world_of(wall=WALL), [star], level_start(star, (0.5, 0.0, 2.0)))
    loads = np.random.default_rng(1).normal(size=(1, 4, 6)) * 5.0
    for _ in range(100):
        engine.apply(loads)
        engine.step(1e-3)
        np.testing.assert_array_equal(engine.contact_wrench(0), np.zeros(6))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("platform", "mass", "surface"),
    [
        ("three_star", 0.0, RIGID),
        ("three_star", 0.5, {"friction": 0.9, "restitution": 0.5}),
        ("three_star_fixed", 0.0, SOFT),
    ],
)
def test_the_contact_wrench_is_what_the_momentum_of_the_platform_lacks(
    loaded, platform, mass, surface
):
    star, dt = tooled({**ROD, "mass": mass}, platform), 1e-3
    wall = {**WALL, "rpy_deg": [0.0, 0.0, 20.0], "surface": surface}
    start = level_start(star, (star.p_FP_F[0], 0.0, 2.0), v=(-0.6, 0.2, 0.1))
    engine = loaded(world_of(wall=wall), [star], start)
    loads = np.zeros((1, 4, 6))
    loads[0, 1:, 2], loads[0, 1:, 0], loads[0, 1, 3:] = star.mass * G / 3.0, -0.7, (0.01, 0.02, 0)
    weight = np.array([0.0, 0.0, star.mass * G])
    before, spin_before, _ = momenta(star, engine.state()[0])
    contact, others = np.zeros(6), np.zeros(6)
    for _ in range(400):
        x = engine.state()[0].copy()
        com = momenta(star, x)[2]
        engine.apply(loads)
        engine.step(dt)
        force, torque = np.split(engine.contact_wrench(0), 2)
        contact += dt * np.concatenate([force, torque + np.cross(x[0, P] - com, force)])
        pushes = loads[0, :, :3]
        torques = np.cross(x[:, P] - com, pushes).sum(axis=0) + loads[0, :, 3:].sum(axis=0)
        others += dt * np.concatenate([pushes.sum(axis=0) - weight, torques])
    after, spin_after, _ = momenta(star, engine.state()[0])
    change = np.concatenate([after - before, spin_after - spin_before])
    assert np.linalg.norm(contact[:3]) > 2.0
    for part in (slice(0, 3), slice(3, 6)):
        size = np.linalg.norm(contact[part])
        np.testing.assert_allclose(contact[part], (change - others)[part], atol=1e-3 * size)


def test_two_platforms_feel_opposite_forces_at_their_own_points(loaded, assembly_of, level):
    one, two = assembly_of("f450", "one"), assembly_of("f450", "two")
    start = np.concatenate([level(one), level(two, p=(0.1, 0.1, 2.3), v=(0.0, 0.0, -1.0))])
    engine, dt, total = loaded(world_of(), [one, two], start), 1e-3, np.zeros((2, 6))
    for _ in range(300):
        before = engine.state()[0].copy()
        engine.step(dt)
        wrenches = np.array([engine.contact_wrench(0), engine.contact_wrench(1)])
        x = engine.state()[0]
        for row, body in enumerate((one.bodies[0], two.bodies[0])):
            lost = body.mass * ((x[row, V] - before[row, V]) / dt + [0.0, 0.0, G])
            np.testing.assert_allclose(wrenches[row, :3], lost, atol=1e-6)
            R, R_before = (so3.matrix_from_quaternion(s[row, Q]) for s in (x, before))
            spin = R @ body.inertia @ R.T @ x[row, W]
            spin_before = R_before @ body.inertia @ R_before.T @ before[row, W]
            rate = (spin - spin_before) / dt
            size = np.abs(wrenches[row, 3:]).max()
            np.testing.assert_allclose(wrenches[row, 3:], rate, atol=0.02 * size + 1e-3)
        total += wrenches
    assert np.abs(total[:, :3]).sum() > 100.0
    np.testing.assert_allclose(total[0, :3], -total[1, :3], atol=1e-6)


def test_contacts_tell_objects_from_the_ground_by_their_order(loaded):
    cube = {**BOX, "mass": 1.0}
    world = world_of(
        a=BOX, b={**cube, "position": [0.0, 0.0, 0.3]}, c={**cube, "position": [2, 0, 0.1]}
    )
    engine = loaded(world)
    run(engine, 300)
    pairs = {tuple(sorted((c.body_a, c.body_b))) for c in engine.contacts()}
    assert pairs == {(OBJECT - 1, OBJECT), (OBJECT - 2, WORLD)}


@pytest.mark.slow
@pytest.mark.parametrize("hz", [500, 2000])
@pytest.mark.parametrize("where", ["ground", "plate on a box"])
def test_a_resting_platform_presses_with_its_weight_and_does_not_jitter(loaded, where, hz):
    if where == "ground":
        star, world, height = tooled(ROD), world_of(), 0.25
    else:
        plate = {"type": "plate", "size": [0.02, 0.2, 0.2]}
        star = tooled({**ROD, "length": 0.5, "tip": plate, "rpy_deg": [0, 90, 0], "mass": 0.3})
        box = {**BOX, "size": [0.6, 0.6, 0.5], "position": [0.0, 0.0, 0.25]}
        world, height = world_of(box=box), 1.0 + star.p_FP_F[2]
    start = level_start(star, (0.0, 0.0, height))
    engine, springs = loaded(world, [star], start), Springs(star, start)
    record, forces = [], []
    for k in range(hz):
        loads = springs(engine.state()[0], start[0])
        loads[0, 0], loads[0, :, 2] = 0.0, 0.0
        engine.apply(loads)
        engine.step(1.0 / hz)
        if k >= hz // 2:
            record.append(engine.state()[0, 0].copy())
            forces.append(engine.contact_wrench(0)[:3])
    weight = np.array([0.0, 0.0, star.mass * G])
    np.testing.assert_allclose(np.mean(forces, axis=0), weight, atol=1e-3 * weight[2])
    assert np.abs(np.array(forces) - weight).max() < 0.05 * weight[2]
    assert np.ptp(record, axis=0)[:3].max() < 1e-4
    assert abs(record[-1][2] - height) < 2e-4


@pytest.mark.slow
@pytest.mark.parametrize("hz", [500, 2000])
def test_a_body_sinks_into_a_soft_one_by_its_weight_over_the_stiffness(loaded, hz):
    cylinder = {"type": "cylinder", "radius": 0.1, "length": 0.3, "rpy_deg": [90.0, 0.0, 0.0]}
    lying = {**cylinder, "position": [0.0, 0.0, 0.35], "mass": 2.0}
    soft = {**RIGID, "stiffness": 2000.0, "damping": 40.0}
    engine = loaded(world_of(floor={**BOX, "size": [2.0, 2.0, 0.5], "surface": soft}, it=lying))
    run(engine, 2 * hz, 1.0 / hz)
    points = [c for c in engine.contacts() if np.linalg.norm(c.force_W) > 0.0]
    for point in points:
        spring = 2000.0 * -point.distance
        assert abs(point.force_W[2]) == pytest.approx(spring, rel=0.02)
    sunk = 0.45 - engine.object_states()[1, 2]
    assert sunk == pytest.approx(2.0 * G / 2000.0 / len(points), rel=0.03)
    force = force_on(engine, OBJECT - 1)
    assert force[2] == pytest.approx(2.0 * G, abs=1e-3)
    assert np.abs(force[:2]).max() < 1e-2  # rounding lets a cylinder roll, which nothing stops


def test_two_soft_bodies_are_springs_in_series(loaded):
    soft = {**RIGID, "stiffness": 2000.0, "damping": 100.0}
    cube = {**BOX, "mass": 4.0, "position": [0.0, 0.0, 0.3], "surface": soft}
    engine = loaded(world_of(below={**BOX, "surface": soft}, above=cube))
    sunk = 0.3 - run(engine, 2000)[-1, 1, 2]
    assert len(engine.contacts()) == 4
    assert sunk == pytest.approx(4.0 * G / 1000.0 / 4.0, rel=0.02)


def test_a_soft_wall_takes_the_peak_off_an_impact_and_not_its_impulse(loaded):
    peaks, impulses = [], []
    for surface in (RIGID, SOFT):
        star = tooled(ROD)
        start = level_start(star, (0.0, 0.0, 2.0), v=(-0.3, 0.0, 0.0))
        engine = loaded(world_of(wall={**WALL, "surface": surface}), [star], start)
        loads = np.zeros((1, 4, 6))
        loads[0, :, 2] = [G * body.mass for body in star.bodies]
        forces = []
        for _ in range(500):
            engine.apply(loads)
            engine.step(1e-3)
            forces.append(engine.contact_wrench(0)[0])
        peaks.append(max(forces))
        impulses.append(1e-3 * sum(forces))
    assert peaks[0] > 500.0 and peaks[1] < 0.1 * peaks[0]
    assert impulses[0] == pytest.approx(star.mass * 0.3, rel=0.1)
    assert 1.0 < impulses[1] / impulses[0] < 1.5  # it springs back


@pytest.mark.slow
@pytest.mark.parametrize("surface", [RIGID, SOFT])
def test_a_moving_wall_gives_its_speed_to_what_it_pushes(loaded, surface):
    push = {"type": "velocity", "velocity": [0.5, 0.0, 0.0]}
    slab = {**WALL, "position": [-0.2, 0.0, 0.2], "height": 0.4, "motion": push}
    cube = {**BOX, "mass": 2.0}
    engine = loaded(world_of(slab={**slab, "surface": surface}, cube=cube))
    record = run(engine, 1500)
    np.testing.assert_allclose(record[-1, 0, P], [-0.2 + 0.75, 0.0, 0.2], atol=1e-9)
    np.testing.assert_allclose(record[-100:, 1, V].mean(axis=0), [0.5, 0.0, 0.0], atol=2e-3)
    np.testing.assert_allclose(record[-1, 1, V], [0.5, 0.0, 0.0], atol=0.02)
    assert record[-1, 1, 0] == pytest.approx(0.55 + 0.1, abs=0.01)


def test_what_moves_as_prescribed_is_where_its_motion_says(loaded):
    push = {"type": "velocity", "velocity": [0.5, 0.0, -0.2]}
    place = [2.0, 0.0, 1.0]
    engine = loaded(world_of(box={**BOX, "position": place, "motion": push}, fixed=BOX))
    record = run(engine, 20)
    np.testing.assert_allclose(record[-1, 0, P], np.add(place, [0.01, 0.0, -0.004]), atol=1e-12)
    np.testing.assert_allclose(record[-1, 0, V], [0.5, 0.0, -0.2])
    np.testing.assert_allclose(record[-1, 1, P], BOX["position"])


def test_a_floor_that_moves_off_drags_what_stands_on_it_by_friction(loaded):
    """From rest at mu g: 0.15 m/s after 0.03 s, where the floor goes at 1 m/s."""
    push = {"type": "velocity", "velocity": [1.0, 0.0, 0.0]}
    floor = {"type": "floor", "length": 1.0, "width": 1.0, "position": [0.0, 0.0, 0.5]}
    surface = {"friction": 0.5, "restitution": 0.0}
    rider = {**BOX, "position": [0.0, 0.0, 0.6], "mass": 1.0, "surface": surface}
    engine = loaded(world_of(floor={**floor, "motion": push, "surface": surface}, rider=rider))
    record = run(engine, 60)
    gained = record[-1, 1, 7] - record[-31, 1, 7]
    assert gained == pytest.approx(0.5 * G * 0.03, rel=0.2)


@pytest.mark.slow
def test_a_swinging_floor_carries_along_what_stands_on_it(loaded):
    swing = {"type": "sine", "amplitude": [0.0, 0.1, 0.0], "period": 4.0}
    floor = {"type": "floor", "length": 1.0, "width": 1.0, "position": [0.0, 0.0, 0.5]}
    rider = {**BOX, "position": [0.0, 0.0, 0.6], "mass": 1.0}
    engine = loaded(world_of(floor={**floor, "motion": swing}, rider=rider))
    record = run(engine, 2000)
    relative = record[:, 1, :3] - record[:, 0, :3]
    assert np.abs(relative - [0.0, 0.0, 0.1]).max() < 0.01
    assert np.ptp(record[:, 1, 1]) > 0.09


def test_a_ray_meets_a_moving_object_where_it_is(loaded):
    push = {"type": "velocity", "velocity": [2.0, 0.0, 0.0]}
    engine = loaded(world_of(box={**BOX, "position": [0.0, 0.0, 1.0], "motion": push}))
    run(engine, 500)
    (hit,) = engine.ray_cast(np.array([[11.0, 0.0, 1.0]]), np.array([[1.0, 0.0, 1.0]]))
    assert 11.0 - 10.0 * hit == pytest.approx(1.1, abs=1e-4)


def test_a_free_object_has_the_mass_centre_and_inertia_of_its_pieces(loaded):
    board = {**BOARD, "position": [0.0, 0.0, 1.0], "rpy_deg": [30.0, 40.0, 50.0], "mass": 2.0}
    world = world_of(
        board=board, peg={**BOX, "size": [0.1, 0.1, 0.9], "position": [0.1, 0.15, 0.45]}
    )
    engine, dt = loaded(world), 1e-3
    bulk = Bulk.of(world.objects["board"].pieces())
    inertia = 2.0 / bulk.volume * bulk.inertia
    x = engine.object_states()[0]
    np.testing.assert_allclose(x[P], [0.0, 0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(np.abs(x[Q] @ world.objects["board"].q_WO), 1.0)

    def motion(row):
        R = so3.matrix_from_quaternion(row[Q])
        arm = R @ bulk.center
        return 2.0 * (row[V] + np.cross(row[W], arm)), R @ inertia @ R.T @ row[W], row[P] + arm

    touched = 0
    for _ in range(600):
        before, spin_before, com = motion(engine.object_states()[0])
        engine.step(dt)
        after, spin, _ = motion(engine.object_states()[0])
        force, torque = np.zeros(3), np.zeros(3)
        for c in engine.contacts():
            force_W = np.array(c.force_W) * (1.0 if c.body_a == OBJECT else -1.0)
            at = np.array(c.position_W) + (0.0 if c.body_a == OBJECT else c.distance) * np.array(
                c.normal_W
            )
            force, torque = force + force_W, torque + np.cross(at - com, force_W)
        weight = np.array([0.0, 0.0, -2.0 * G])
        np.testing.assert_allclose(
            (after - before) / dt, force + weight, atol=1e-5 * (1 + np.abs(force).max())
        )
        size = np.abs(torque).max()
        np.testing.assert_allclose((spin - spin_before) / dt, torque, atol=0.03 * size + 0.02)
        touched += np.abs(torque).max() > 0.0
    assert touched > 25


def rod_into_funnel(loaded, hz, **changes):
    """Push a long rod 2 cm beside the axis and 3 deg off into the funnel; depth, records."""
    star = tooled({**ROD, "length": 1.6})
    world = world_of(funnel={**FUNNEL, **changes})
    inwards = so3.rotate(world.objects["funnel"].q_WO, np.array([-1.0, 0.0, 0.0]))
    mouth, off = np.array(FUNNEL["position"]), np.array([0.0, 0.02, 0.0])
    q = so3.quaternion_exp(np.deg2rad([0.0, -12.0, 0.0]))
    start = level_start(star, mouth - 1.9 * inwards, q)
    engine, springs = loaded(world, [star], start), Springs(star, start)
    depths, forces = [], []
    for k in range(int(5 * hz)):
        way = min(0.4 * k / hz, 0.85)
        speed = 0.4 * inwards * (way < 0.85)
        target = base_row(mouth - (1.9 - way) * inwards + off, q, speed)
        x = engine.state()[0]
        engine.apply(springs(x, target))
        engine.step(1.0 / hz)
        tip = x[0, P] + so3.rotate(x[0, Q], star.tool_tip_P)
        depths.append((tip - mouth) @ inwards)
        forces.append(engine.contact_wrench(0)[:3])
    return np.array(depths), np.array(forces), engine


@pytest.mark.slow
@pytest.mark.parametrize("segments", [16, 32])
def test_a_rod_slides_into_a_funnel_without_jitter(loaded, segments):
    depths, forces, engine = rod_into_funnel(loaded, 1000, segments=segments)
    assert depths[-1] > 0.5
    settled = forces[-500:]
    assert np.linalg.norm(settled, axis=1).min() > 0.3
    assert np.ptp(settled, axis=0).max() < 0.2
    assert np.abs(engine.state()[0, 0, V]).max() < 2e-3
    pushed = depths[:2000]
    assert np.diff(pushed)[pushed[1:] > 0.0].min() > 0.0  # it never springs back


@pytest.mark.slow
def test_the_rod_in_the_funnel_does_the_same_at_every_rate(loaded):
    ends = [rod_into_funnel(loaded, hz) for hz in (500, 2000)]
    assert ends[0][0][-1] == pytest.approx(ends[1][0][-1], abs=1e-3)
    settled = [forces[-len(forces) // 10 :].mean(axis=0) for _, forces, _ in ends]
    np.testing.assert_allclose(settled[0], settled[1], atol=0.05)


@pytest.mark.slow
def test_a_ball_settles_in_a_socket_and_bears_a_side_load(loaded):
    star = tooled({**ROD, "surface": {"friction": 0.1, "restitution": 0.0}})
    start = level_start(star, (-2.02, 0.002, 2.251))
    engine = loaded(world_of(board=BOARD), [star], start)
    springs = Springs(star, start, k_R=2000.0)
    tips, wrenches = [], []
    for _ in range(2500):
        x = engine.state()[0]
        loads = springs(x, start[0])
        loads[0, 0, :2] = np.array([-1.5, 4.0]) - 30.0 * x[0, 7:9]
        engine.apply(loads)
        engine.step(1e-3)
        tips.append(x[0, P] + so3.rotate(x[0, Q], star.tool_tip_P) - BOARD["position"])
        wrenches.append(engine.contact_wrench(0))
    assert -0.034 < tips[-1][0] < -0.02 and 0.001 < tips[-1][1] < 0.0037
    assert np.ptp(tips[-500:], axis=0).max() < 1e-4
    np.testing.assert_allclose(wrenches[-1][:3], [1.5, -4.0, 0.0], atol=0.1)
    np.testing.assert_allclose(wrenches[-1][3:], [0.0, 0.0, 4.0], atol=0.12)


def test_a_ring_is_open_as_a_concave_mesh_and_closed_as_a_hull(loaded, tmp_path):
    ring = trimesh.creation.annulus(r_min=0.1, r_max=0.2, height=0.1)
    ring.export(tmp_path / "ring.stl")
    item = {"type": "mesh", "position": [0.0, 0.0, 1.0], "file": str(tmp_path / "ring.stl")}
    ball = {**BOX, "size": [0.05, 0.05, 0.05], "position": [0.0, 0.0, 1.2], "mass": 0.5}
    heights = []
    for concave in (True, False):
        engine = loaded(world_of(ring={**item, "concave": concave}, ball=ball))
        heights.append(run(engine, 800)[-1, 1, 2])
    assert heights[0] == pytest.approx(0.025, abs=1e-3)
    assert heights[1] == pytest.approx(1.075, abs=1e-3)


def test_a_start_inside_an_object_shows_as_an_overlap_before_the_first_step(loaded, assembly_of):
    star, wall = tooled(ROD), {**WALL, "position": [-1.0, 0.0, 2.0]}
    engine = loaded(world_of(wall=wall), [star], level_start(star, (0.0, 0.0, 2.0)))
    (contact,) = engine.contacts()
    assert {contact.body_a, contact.body_b} == {0, OBJECT}
    assert contact.distance == pytest.approx(-0.03, abs=1e-3)
    assert np.linalg.norm(contact.force_W) == 0.0
    np.testing.assert_array_equal(engine.contact_wrench(0), np.zeros(6))
    engine.reset(level_start(star, (0.2, 0.0, 2.0))[None])
    assert engine.contacts() == []


def busy_world():
    """Something of each kind that moves, and a platform that touches it."""
    swing = {"type": "sine", "amplitude": [0.1, 0.0, 0.0], "period": 1.0}
    wall = {**WALL, "position": [-1.1, 0.0, 0.5], "height": 1.0, "motion": swing}
    cube = {**BOX, "mass": 1.0, "position": [0.4, 0.0, 1.4]}
    star = tooled(ROD)
    return world_of(wall=wall, cube=cube, board=BOARD), star, level_start(star, (0.0, 0.0, 0.3))


def record_of(engine, steps):
    """Everything known after each step: states, objects, contact wrench."""
    rows = []
    for _ in range(steps):
        engine.step(1e-3)
        parts = (engine.state(), engine.object_states(), engine.contact_wrench(0))
        rows.append(np.concatenate([part.ravel() for part in parts]))
    return np.array(rows)


@pytest.mark.slow
def test_with_objects_too_a_reset_run_equals_a_fresh_one_bit_for_bit(loaded):
    world, star, start = busy_world()
    engine = loaded(world, [star], start)
    first = record_of(engine, 600)
    assert len(engine.contacts()) > 1
    engine.reset(start[None])
    np.testing.assert_array_equal(record_of(engine, 600), first)
    np.testing.assert_array_equal(record_of(loaded(world, [star], start), 600), first)


def test_snapshots_hold_objects_too(loaded):
    world, star, start = busy_world()
    engine = loaded(world, [star], start)
    record_of(engine, 400)
    snapshot, objects = engine.snapshot(), engine.object_states()
    engine.restore(snapshot)
    first = record_of(engine, 200)
    engine.restore(snapshot)
    np.testing.assert_array_equal(engine.object_states(), objects)
    np.testing.assert_array_equal(record_of(engine, 200), first)


def test_without_contact_there_is_no_wrench_and_objects_are_where_they_are_put(assembly_of):
    push = {"type": "velocity", "velocity": [1.0, 0.0, 0.0]}
    engine = ClosedFormEngine()
    engine.load(world_of(box=BOX, wall={**WALL, "motion": push}), [assembly_of("three_star")])
    engine.step(0.1)
    np.testing.assert_array_equal(engine.contact_wrench(0), np.zeros(6))
    np.testing.assert_allclose(engine.object_states()[:, P], [[0, 0, 0.1], [-1.0, 0.0, 2.0]])
    engine.load(world_of(), [assembly_of("three_star")])
    assert engine.object_states().shape == (0, 13)
