# SPDX-License-Identifier: BSD-3-Clause
"""Many MuJoCo worlds: joints that are added in one of them, worlds of their own, objects, times and contacts."""

from dataclasses import replace

import numpy as np
import pytest

from iap_description.errors import BadInput, IapError
from iap_description.math import so3
from iap_description.states import P, V
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.engine import RUNNING, WORLD
from iap_physics.engines.joints import at_rest
from iap_physics.engines.make import is_installed

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
if is_installed("mujoco"):
    from iap_physics.engines.mujoco.worlds import MuJoCoWorlds

F450 = Assembly.of(load_platform("f450"))
WEIGHTLESS = {"gravity": 0.0, "ground": False}
DT = 1e-3
SURFACE = {"friction": 0.25, "restitution": 0.0}
LOOSE = {
    "type": "floor", "position": [4.0, 0.0, 1.0], "length": 0.6, "width": 0.4, "thickness": 0.2,
    "mass": 1.2, "surface": SURFACE,
}  # fmt: skip
DOOR = {
    "type": "box", "position": [6.0, 0.0, 1.0], "size": [0.8, 0.04, 2.0], "mass": 4.0,
    "surface": SURFACE, "hinge": {"point": [-0.4, 0.0, 0.0], "limits_deg": [-90.0, 60.0]},
}  # fmt: skip


def worlds_of(count, world=WEIGHTLESS, **options):
    worlds = MuJoCoWorlds(batch=count, **options)
    worlds.load(World.model_validate(world), [F450])
    return worlds


def pulled(worlds, steps=20, force=6.0):
    """Places along x after steps under a force along x."""
    wrenches = np.zeros((worlds.batch, 1, 6))
    wrenches[:, 0, 0] = force
    for _ in range(steps):
        worlds.apply(wrenches)
        worlds.step(DT)
    return worlds.state()[:, 0, 0].copy()


def test_a_joint_holds_the_world_in_which_it_was_added_until_it_is_removed():
    worlds = worlds_of(3)
    one = worlds.world(1)
    handle = one.add_joint(0, WORLD, np.zeros(3), np.zeros(3))
    x = pulled(worlds)
    assert abs(x[1]) < 1e-5 and x[0] == x[2] > 1e-4
    np.testing.assert_allclose(one.joint_wrench(handle)[:3], [-6.0, 0.0, 0.0], atol=0.05)
    one.remove_joint(handle)
    assert pulled(worlds)[1] > 1e-4
    with pytest.raises(IapError, match=f"^remove_joint: there is no joint {handle}$"):
        one.remove_joint(handle)


def test_places_for_joints_are_taken_one_by_one_and_again_once_they_are_free():
    world = worlds_of(2).world(1)
    handles = [world.add_joint(0, WORLD, np.zeros(3), np.zeros(3)) for _ in range(8)]
    assert handles == list(range(8))
    with pytest.raises(IapError, match="^add_joint: no more than 8 at a time$"):
        world.add_joint(0, WORLD, np.zeros(3), np.zeros(3))
    world.remove_joint(5)
    assert world.add_joint(0, WORLD, np.zeros(3), np.zeros(3)) == 5


def test_a_fixed_joint_holds_the_attitude_and_a_spherical_one_does_not():
    worlds, wrenches = worlds_of(2), np.zeros((2, 1, 6))
    for world, kind in enumerate(("spherical", "fixed")):
        q = np.array([0.0, 0.0, 0.0, 1.0]) if kind == "fixed" else None
        worlds.world(world).add_joint(0, WORLD, np.zeros(3), np.zeros(3), type=kind, q_AB=q)
    wrenches[:, 0, 5] = 0.5
    for _ in range(20):
        worlds.apply(wrenches)
        worlds.step(DT)
    spherical, fixed = worlds.state()[:, 0, 12]
    assert spherical == pytest.approx(0.5 * 20 * DT / F450.inertia[2, 2], rel=1e-3)
    assert abs(fixed) < 1e-3


def test_a_joint_yields_to_more_than_it_bears():
    worlds = worlds_of(2)
    worlds.world(0).add_joint(0, WORLD, np.zeros(3), np.zeros(3), max_force=4.0)
    x = pulled(worlds)
    assert x[0] == pytest.approx(x[1] / 3.0, rel=0.02)  # of 6 N, 2 N are left


def test_a_reset_lets_go_and_a_snapshot_holds_on_again():
    worlds = worlds_of(2)
    worlds.world(1).add_joint(0, WORLD, np.zeros(3), np.zeros(3))
    held = worlds.snapshot()
    worlds.reset(at_rest([F450])[None], [1])
    assert pulled(worlds)[1] > 1e-4
    worlds.restore(held)
    assert worlds.t == 0.0 and abs(pulled(worlds)[1]) < 1e-5
    for other in (worlds_of(3).snapshot(), "no snapshot"):
        with pytest.raises(IapError, match="restore: the snapshot is not of this engine"):
            worlds.restore(other)


def test_a_world_has_a_model_of_its_own_once_it_is_asked_for():
    worlds = worlds_of(3)
    assert len(set(worlds.native.models.tolist())) == 1
    own = worlds.own_model(1)
    assert worlds.own_model(1) is own
    first, second, third = worlds.native.models.tolist()
    assert first == third != second == own.model._address


def test_a_world_may_hold_a_vehicle_of_other_numbers():
    center = replace(F450.bodies[0], mass=2.0 * F450.bodies[0].mass)
    heavy = replace(F450, bodies=(center, *F450.bodies[1:]))
    worlds = worlds_of(3)
    worlds.set_world(1, World.model_validate(WEIGHTLESS), [heavy])
    worlds.reset(np.repeat(at_rest([F450])[None], 3, axis=0))
    x = pulled(worlds)
    assert x[0] == x[2] == pytest.approx(2.0 * x[1], rel=1e-9)
    with pytest.raises(BadInput, match="^worlds: drawn worlds differ in nq .14 and 7."):
        worlds.set_world(2, World.model_validate(WEIGHTLESS | {"objects": {"l": LOOSE}}), [F450])


def test_a_drawn_world_has_no_memory_to_be_stepped_in_and_shows_its_contacts_all_the_same():
    worlds, resting = worlds_of(2, {"gravity": 9.81}), at_rest([F450])[None]
    resting[:, 0, 2] = 0.13
    for index in range(2):
        worlds.set_world(index, World.model_validate({"gravity": 9.81}), [F450])
    worlds.reset(np.repeat(resting, 2, axis=0))
    for _ in range(200):
        worlds.step(DT)
    assert worlds.own_model(0).model.narena < 1e5
    assert len(worlds.contacts()) >= 1
    np.testing.assert_array_equal(*worlds.state())


def test_time_goes_on_by_the_steps_and_begins_anew_with_all_worlds():
    worlds, start = worlds_of(2, {"gravity": 10.0, "ground": False}), at_rest([F450])[None]
    for dt in (1e-3, 1e-3, 4e-3):
        worlds.step(dt)
    assert worlds.t == pytest.approx(6e-3)
    np.testing.assert_allclose(worlds.state()[:, 0, V], [[0.0, 0.0, -0.06]] * 2, rtol=1e-9)
    assert worlds.step_counts.tolist() == [3, 3]
    np.testing.assert_allclose(worlds.native.times, 6e-3)
    worlds.reset(start, [1])
    assert worlds.t == pytest.approx(6e-3) and worlds.step_counts.tolist() == [3, 0]
    np.testing.assert_allclose(worlds.native.times, [6e-3, 0.0])
    assert worlds.status.tolist() == [RUNNING, RUNNING]
    worlds.reset(np.repeat(start, 2, axis=0))
    assert worlds.t == 0.0 and worlds.step_counts.tolist() == [0, 0]


def test_what_contacts_do_is_summed_up_on_the_rows_that_are_asked_for():
    """On the ground, where the sum of a step is its force; a reset world has felt nothing."""
    worlds = worlds_of(2, {"gravity": 9.81})
    worlds.measure_contacts([0])
    assert worlds.measured.tolist() == [0] and worlds.felt.shape == (2, 1, 6)
    start = at_rest([F450])[None].copy()
    start[0, 0, 2] = 0.13
    worlds.reset(np.repeat(start, 2, axis=0))
    assert not worlds.contact_forces().any()
    for _ in range(200):
        worlds.step(DT)
    worlds.felt[:] = 0.0
    worlds.step(DT)
    np.testing.assert_allclose(worlds.felt[:, 0, :3], worlds.contact_forces(), atol=1e-6)
    assert worlds.felt[0, 0, 2] > 1.0
    worlds.reset(start, [1])
    assert not worlds.felt[1].any() and worlds.felt[0].any()
    assert not worlds.contact_forces()[1].any() and worlds.contact_forces()[0].any()
    assert worlds.contacts()[0].body_b == WORLD or worlds.contacts()[0].body_a == WORLD


def test_objects_are_told_of_all_worlds():
    worlds = worlds_of(2, WEIGHTLESS | {"objects": {"loose": LOOSE, "door": DOOR}})
    at, door_at = (worlds._objects[0].places[k][0] for k in range(2))
    turn = so3.quaternion_exp(np.array([0.3, -0.2, 0.5]))
    worlds.native.qpos[1, at : at + 7] = [1.0, 2.0, 3.0, *np.roll(turn, 1)]
    worlds.native.qpos[:, door_at] = 0.1, -0.2
    assert worlds.object_angles(1).tolist() == [0.1, -0.2]
    with pytest.raises(IapError, match="^object 0 of the world has no hinge$"):
        worlds.object_angles(0)
    point = np.array([0.1, 0.2, 0.3])
    first, second = worlds.object_points(0, point)
    np.testing.assert_allclose(first, [4.1, 0.2, 1.3], atol=1e-9)
    center = np.array([0.0, 0.0, -0.1])
    np.testing.assert_allclose(second, [1.0, 2.0, 3.0] + so3.rotate(turn, point - center))
    there = worlds.world(1).object_states()
    np.testing.assert_allclose(there[0, P], [1.0, 2.0, 3.0] - so3.rotate(turn, center))
    assert not np.allclose(worlds.object_states()[0, P], there[0, P])
    assert worlds.world(1).state().shape == (1, 1, 13) and not worlds.has_motion


def test_a_grip_of_nothing_else_is_refused_and_the_only_world_may_end_by_an_exception():
    assert worlds_of(1).raises and not worlds_of(2).raises
    assert not worlds_of(1, raises=False).raises
    worlds = worlds_of(1)
    with pytest.raises(
        IapError, match="worlds of a batch cannot add joints in flight: use the mujoco"
    ):
        worlds.add_joint(0, WORLD, np.zeros(3), np.zeros(3))
