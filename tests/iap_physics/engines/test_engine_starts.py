# SPDX-License-Identifier: BSD-3-Clause
"""Clocks of equal steps, starts that fit, and objects and snapshots of the closed form."""

from dataclasses import replace

import numpy as np
import pytest

from iap_description.errors import BadInput, FlightFailed, IapError
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.closed_form import ClosedFormEngine, StepClock
from iap_physics.engines.engine import DIVERGED, RUNNING, AddedJoint, world_indices
from iap_physics.engines.joints import at_rest, check_start
from iap_physics.engines.make import is_installed, make_batch, make_engine

STAR, F450 = Assembly.of(load_platform("three_star")), Assembly.of(load_platform("f450"))
STILL = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *[0.0] * 6])


def test_a_clock_counts_equal_steps_and_begins_anew_with_others():
    clock = StepClock()
    for steps, dt, t, count in (
        (3, 0.1, 0.3, 3),
        (2, 0.1, 0.5, 5),
        (4, 0.25, 1.5, 4),
        (1, 0.1, 1.6, 1),
    ):
        clock = clock.after(steps, dt)
        assert clock.t == pytest.approx(t) and clock.steps == count and clock.dt == dt
    exact = StepClock()
    for _ in range(10):
        exact = exact.after(1, 0.1)
    assert exact.t == 1.0 == StepClock().after(10, 0.1).t  # and not a sum of ten


def test_worlds_start_anew_with_time_only_where_all_do():
    engine = ClosedFormEngine(batch=3)
    engine.load(World(gravity=10.0), [F450, F450])
    for dt in (0.01, 0.02):
        engine.step(dt)
    assert engine.t == pytest.approx(0.03) and engine.step_counts.tolist() == [2, 2, 2]
    np.testing.assert_allclose(engine.state()[..., 9], -0.3)
    start = np.tile(STILL, (1, 2, 1))
    engine.reset(start, [1])
    assert engine.t == pytest.approx(0.03) and engine.step_counts.tolist() == [2, 0, 2]
    np.testing.assert_allclose(engine.state()[:, 0, 9], [-0.3, 0.0, -0.3])
    kept = engine.snapshot()
    engine.status[2] = DIVERGED
    engine.step(0.01)
    assert engine.step_counts.tolist() == [3, 1, 2]
    engine.restore(kept)
    assert engine.status.tolist() == [RUNNING] * 3 and engine.step_counts.tolist() == [2, 0, 2]
    np.testing.assert_allclose(engine.state()[:, 1, 9], [-0.3, 0.0, -0.3])
    assert engine.t == pytest.approx(0.03)
    other = ClosedFormEngine(batch=2)
    other.load(World(), [F450, F450])
    with pytest.raises(IapError, match="not of this engine"):
        engine.restore(other.snapshot())
    engine.reset(np.tile(STILL, (3, 2, 1)))
    assert engine.t == 0.0


def test_a_world_of_its_own_needs_whole_periods_and_the_only_one_may_end_by_an_exception():
    engine = ClosedFormEngine()
    engine.load(World(), [F450])
    assert engine.raises and not ClosedFormEngine(batch=2).raises
    assert not ClosedFormEngine(raises=False).raises and not engine.has_resistance
    engine.status[0] = DIVERGED
    with pytest.raises(FlightFailed, match="the flight has ended already: reset it"):
        engine.step(0.01)
    with pytest.raises(FlightFailed, match="the state of 'f450' is not finite") as failed:
        engine.fail("f450", 0.25)
    assert failed.value.t == 0.25
    heavy = replace(F450, bodies=(replace(F450.bodies[0], mass=9.0),))
    model = engine.set_assembly(0, heavy)
    assert model.mass == pytest.approx(9.0)
    engine.reset(STILL[None, None])
    with pytest.raises(IapError, match="the closed-form engine steps equal worlds only"):
        engine.step(0.01)


def test_objects_stand_where_they_are_or_where_their_motion_has_brought_them():
    engine = ClosedFormEngine()
    box = {
        "type": "box",
        "position": [1.0, 2.0, 3.0],
        "size": [1.0, 1.0, 1.0],
        "surface": {"friction": 0.5, "restitution": 0.0},
    }
    push = {"type": "velocity", "velocity": [0.5, 0.0, -1.0]}
    world = World.model_validate({"objects": {"still": box, "moved": {**box, "motion": push}}})
    engine.load(world, [F450])
    for _ in range(10):
        engine.step(0.01)
    rows = engine.object_states()
    np.testing.assert_allclose(rows[0, :3], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(rows[1, [0, 1, 2, 7, 8, 9]], [1.05, 2.0, 2.9, 0.5, 0.0, -1.0])
    engine.load(World(), [F450])
    assert engine.object_states().shape == (0, 13)


@pytest.mark.parametrize(
    ("column", "by", "said"),
    [
        (0, 1.1e-6, r"start state of 'iap/drone_3': 1.1e-06 m off 'joint_3'"),
        (8, 1.1e-6, r"1.1e-06 m/s off"),
        (0, 0.9e-6, None),
        (8, -0.9e-6, None),
    ],
)
def test_a_body_may_be_a_micrometre_off_its_joint_in_any_world(column, by, said):
    x = np.repeat(at_rest([STAR])[None], 3, axis=0)
    x[2, 3, column] += by
    if said is None:
        checked = check_start([STAR], x, 3)
        assert checked is not x and checked.flags.c_contiguous
        return
    with pytest.raises(BadInput, match=said):
        check_start([STAR], x, 3)


def test_each_world_is_checked_against_its_own_vehicles():
    wide = replace(STAR, joints=tuple(replace(j, p_PJ_P=1.1 * j.p_PJ_P) for j in STAR.joints))
    x = np.concatenate([at_rest([STAR])[None], at_rest([wide])[None]])
    check_start([STAR], x, 2, [None, (wide,)])
    for by_world in ([None, None], [(wide,), (wide,)], [(wide,), None]):
        with pytest.raises(BadInput, match="start state of"):
            check_start([STAR], x, 2, by_world)
    assert check_start([STAR], x[:0], 0).shape == (0, 4, 13)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x: x[:, :3], r"expected shape \(1, 4, 13\), got \(1, 3, 13\)"),
        (
            lambda x: np.where(np.arange(4)[:, None] == 2, np.inf, x),
            "start state of '.*drone_2': not finite",
        ),
        (
            lambda x: x * np.array([1, 1, 1, 1, 1, 1, 1.0001, *[1] * 6]),
            "an attitude is not a unit",
        ),
    ],
)
def test_a_start_of_another_shape_or_of_no_numbers_is_refused(change, said):
    with pytest.raises(BadInput, match=said):
        check_start([STAR], change(at_rest([STAR])[None]), 1)


def test_worlds_are_named_by_numbers_or_a_mask():
    assert world_indices(None, 3).tolist() == [0, 1, 2]
    assert world_indices([2, 0], 3).tolist() == [2, 0]
    assert world_indices([False, True, True], 3).tolist() == [1, 2]
    assert world_indices([], 3).tolist() == []


def test_a_joint_added_in_flight_keeps_the_attitude_as_it_is_unless_one_is_given():
    x = np.tile(STILL, (2, 1))
    x[0, 3:7] = so3.quaternion_exp(np.array([0.1, 0.2, 0.3]))
    x[1, 3:7] = so3.quaternion_exp(np.array([-0.4, 0.5, 0.6]))
    places = (np.ones(3), np.zeros(3))
    joint = AddedJoint.of(x, (0, 1), places, "fixed", 30.0, None)
    np.testing.assert_allclose(so3.multiply(x[0, 3:7], joint.q_AB), x[1, 3:7], atol=1e-12)
    given = np.array([0.0, 0.0, 0.6, 0.8])
    assert AddedJoint.of(x, (0, 1), places, "fixed", 30.0, given).q_AB.tolist() == given.tolist()
    assert (joint.bodies, joint.type, joint.max_force) == ((0, 1), "fixed", 30.0)


def test_engines_of_many_worlds_do_not_raise_and_share_their_work_where_they_can():
    batch = make_batch("closed_form", 3, lambda work, count: None)
    assert batch.batch == 3 and not batch.raises
    assert make_batch("closed_form", 1, lambda work, count: None).raises is False
    if is_installed("mujoco"):
        shared = []
        worlds = make_batch("mujoco", 2, lambda work, count: shared.append(count))
        worlds.load(World(), [F450])
        worlds.step(1e-3)
        assert shared == [2] and not worlds.raises
    with pytest.raises(BadInput, match="opens no window"):
        make_engine("closed_form", view=True)
