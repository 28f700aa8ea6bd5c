# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces of tasks that touch by the tip of a tool: how their actions move its reference, and what is observed."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.touch_places import TIP, goals, holes, line, state, yaw

from iap_description.math import so3
from iap_description.states import REF_P, REF_Q
from iap_description.vehicles.assembly import Assembly
from iap_learning.tasks.kinds.hinge_turn.arc import Arc
from iap_learning.tasks.kinds.hinge_turn.interface import TurnInterface
from iap_learning.tasks.kinds.peg_in_hole.interface import PegInterface
from iap_learning.tasks.kinds.push_object.interface import ShoveInterface
from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.kinds.slide_along_wall.interface import SlideInterface
from iap_learning.tasks.senses import Sense
from iap_learning.tasks.touch_interface import BY_POSE
from iap_simulation.batch.references import References
from iap_simulation.scenario.resolving import resolved

DT, REPEAT = 0.01, 3
X = np.array([state((1.3, 2.2, 3.4), np.pi / 2, (0.1, 0.2, 0.3)), state((1.0, 2.0, 3.0))])
ACTION = np.full((2, 3), 0.5)
FELT = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0] * 6])  # in the body, which looks along y
THREE = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])


def row_at():
    row = np.zeros(22)
    row[REF_P], row[REF_Q] = [5.0, 6.0, 7.0], yaw(np.pi / 2)
    return row


def led(kind, task, place):
    """An interface of two worlds, whose reference has been led somewhere and that has felt something."""
    made = kind(make_task(task), place, row_at(), dt=DT, batch=2)
    np.testing.assert_allclose(made.reference.tip, [row_at()[REF_P] + [-0.1, 0.5, 0.2]] * 2)
    made.reference.tip[:], made.reference.q[:] = (
        [[0.9, 2.3, 3.1], [1.0, 2.0, 3.0]],
        [yaw(np.pi / 2)] * 2,
    )
    made._sensors = SimpleNamespace(mean=FELT)
    return made


def arc():
    """About z through (1.2, 2) as it is believed, and about an axis that leans through (0.7, 1) in truth."""
    z, believed = np.array([0.0, 0.0, 1.0]), np.array([1.2, 2.0, 0.0])
    points, axes = np.tile([0.7, 1.0, 0.0], (2, 1)), np.tile([0.0, 0.6, 0.8], (2, 1))
    return Arc(TIP, np.array([1.7, 2.0, 3.0]), believed, z, points, axes)


def check_moves(made, values, velocities_W, turns_P):
    """Check that the references of a control period have gone on at velocities and rates."""
    tips, attitudes = made.reference.tip.copy(), made.reference.q.copy()
    row = np.tile(row_at(), (2, 1))
    worlds = SimpleNamespace(state=X[:, None], references=lambda: References.of(row))
    rows = made.references(worlds, np.array(values)).rows
    np.testing.assert_allclose(made.reference.tip, tips + DT * np.array(velocities_W), atol=1e-12)
    turned = so3.multiply(attitudes, so3.quaternion_exp(DT * np.array(turns_P)))
    np.testing.assert_allclose(made.reference.q, turned, atol=1e-12)
    np.testing.assert_array_equal(rows[:, REF_Q], made.reference.q)
    found = rows[:, REF_P] + so3.rotate(made.reference.q, TIP)
    np.testing.assert_allclose(found, made.reference.tip, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (PegInterface, "peg_in_hole"), (TurnInterface, "push_door"), (TurnInterface, "open_door"),
        (ShoveInterface, "push_object"), (SlideInterface, "slide_along_wall"),
    ],
)  # fmt: skip
def test_an_interface_of_a_scenario_is_of_its_first_reference_tool_and_rate(kind, name):
    task = make_task(name)
    scenario = resolved(task.scenario, task.settings, {"engine": "mujoco"})[0]
    made, row = kind.of(task, scenario, row_at(), 3), row_at()
    tip_P = Assembly.of(scenario.vehicles[0].platform, scenario.vehicles[0].name).tool_tip_P
    first = row[REF_P] + so3.rotate(row[REF_Q], tip_P)
    np.testing.assert_allclose(made.tip_P, tip_P)
    np.testing.assert_allclose(made.reference.tip, [first] * 3)
    np.testing.assert_allclose(made.row, row)
    assert made._dt == scenario.dt and made.mean_P.shape == (3, 6)
    senses = {Sense.WRENCH, Sense.OBJECTS} if name == "push_object" else {Sense.WRENCH}
    assert set(made.ASKS_FOR) == senses
    assert made.NEEDS == BY_POSE == {"control.admittance": False, "control.wrench_mode": "none"}


def test_actions_of_a_turn_move_the_tip_along_its_arc_and_the_heading():
    """Tips at (1.2, 2.7) and (1.5, 2.1) go on about (1.2, 2), and away from there."""
    made = led(TurnInterface, "push_door", arc())
    made._heading[:] = 0.0, 1.0
    along, outwards = np.array([[-1.0, 3.0, 0.0], [3.0, 1.0, 0.0]]) / np.sqrt(10.0)
    for _ in range(REPEAT):
        velocities_W = [[-0.1, 0.2, 0.0], 0.4 * along + 0.5 * outwards]
        check_moves(made, THREE, velocities_W, [[0.0, 0.0, 0.3], [0.0, 0.0, 0.6]])
    np.testing.assert_allclose(made._heading, [REPEAT * DT * 0.3, 1.0 + REPEAT * DT * 0.6])


def test_actions_of_a_turn_of_four_columns_move_the_tip_along_the_axis_too():
    made = led(TurnInterface, "open_door", arc())
    along, outwards = np.array([[-1.0, 3.0, 0.0], [3.0, 1.0, 0.0]]) / np.sqrt(10.0)
    velocities_W = [[-0.1, 0.2, 0.3], 0.4 * along + 0.5 * outwards + [0.0, 0.0, 0.6]]
    values = np.column_stack([THREE, [0.7, 0.8]])
    check_moves(made, values, velocities_W, [[0.0, 0.0, 0.7], [0.0, 0.0, 0.8]])
    np.testing.assert_allclose(made._heading, [DT * 0.7, DT * 0.8])


def test_actions_of_a_slide_are_along_the_axes_of_its_wall():
    made = led(SlideInterface, "slide_along_wall", line())
    for _ in range(REPEAT):
        check_moves(made, THREE, [[-0.2, 0.1, 0.3], [-0.5, 0.4, 0.6]], np.zeros((2, 3)))


def test_actions_of_a_shove_are_level_along_the_axes_of_its_object():
    made = led(ShoveInterface, "push_object", goals(2))
    for _ in range(REPEAT):
        check_moves(made, THREE[:, :2], [[-0.2, 0.1, 0.0], [-0.5, 0.4, 0.0]], np.zeros((2, 3)))


def test_actions_of_a_peg_are_along_the_axes_of_its_reference():
    made = led(PegInterface, "peg_in_hole", holes())
    values = np.column_stack([THREE, [0.7, 0.8], [0.9, 1.0]])
    turns_P = [[0.0, 0.7, 0.9], [0.0, 0.8, 1.0]]
    check_moves(made, values, [[-0.2, 0.1, 0.3], [-0.5, 0.4, 0.6]], turns_P)
    for _ in range(REPEAT):
        check_moves(made, values, so3.rotate(made.reference.q, THREE), turns_P)


def test_observations_of_a_slide_are_along_the_axes_of_its_wall():
    made = led(SlideInterface, "slide_along_wall", line())
    found = made.inputs(X, ACTION)
    np.testing.assert_allclose(found.force[0], [-1.0, -2.0, -3.0], atol=1e-12)
    np.testing.assert_allclose(found.gap[0], 1.3)
    np.testing.assert_allclose(found.way[0], [-0.3, 0.4], atol=1e-12)
    # the tip is at (1.2, 2.7, 3.6)
    np.testing.assert_allclose(found.lag[0], [0.4, -0.3, 0.5], atol=1e-12)
    np.testing.assert_allclose(found.velocity[0], [0.2, -0.1, 0.3])
    assert found.desired == 5.0 and found.action is ACTION
    forces_W = np.array([[1.0, -2.0, 3.0], [0.0, -5.0, 0.0]])
    other = made.inputs_of(X, ACTION, forces_W, np.array([0.05, 0.0]))
    np.testing.assert_allclose(other.force, [[2.0, 1.0, -3.0], [5.0, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(other.gap, found.gap - [0.05, 0.0])
    np.testing.assert_array_equal(other.lag, found.lag)
    assert other.action is ACTION


def test_observations_of_a_shove_are_along_the_axes_of_its_object():
    made, objects = led(ShoveInterface, "push_object", goals(2)), np.full((2, 3, 13), 70.0)
    objects[:, 1] = [
        state((1.0, 2.2, 9.0), np.pi / 2 + 0.3),
        state((1.0, 2.0, 9.0), np.pi / 2),
    ]
    made.look_at_objects(objects)
    assert made.inputs(X, ACTION).heading.tolist() == [0.0, 0.0]  # of no worlds that have begun
    made.begin(np.array([0]), X)
    found = made.inputs(X, ACTION)
    np.testing.assert_allclose(made._eyes.known, [[1.0, 2.2, 0.3], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(found.force[0], [1.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(found.left[0], [0.3, 0.1])
    assert found.heading[0] == pytest.approx(0.3)
    np.testing.assert_allclose(found.tip[0], [0.5, -0.2])
    np.testing.assert_allclose(found.lag[0], [0.4, -0.3])
    np.testing.assert_allclose(found.velocity[0], [0.2, -0.1])
    assert found.action is ACTION
    forces_W = np.array([[1.0, -2.0, 3.0], [0.0, -5.0, 0.0]])
    other = made.inputs_of(X, ACTION, forces_W, np.array([[1.1, 2.3, 0.5]] * 2))
    np.testing.assert_allclose(other.force, [[-2.0, -1.0], [-5.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(other.left[0], [0.2, 0.2])
    assert other.heading[0] == 0.5
    np.testing.assert_allclose(other.tip[0], [0.4, -0.1])


def test_objects_are_seen_at_the_rate_of_their_sensor_late_and_with_its_errors():
    """Every second period, one period late; places are off by some 0.1 m, and headings by some degree."""
    sensor = {"noise": 0.1, "heading_noise_deg": 1.0, "hold": 2, "delay": 1}
    keys = {f"object_sensor.{key}": sensor[key] for key in sensor}
    task = make_task("push_object", {**keys, "sensor.delay": 0})
    count = 300
    made = ShoveInterface(task, goals(count), row_at(), dt=DT, batch=count)
    made.reset(np.arange(count), np.arange(count))
    x, seen, wrenches_W = np.tile(X[1], (count, 1)), [], np.full((count, 6), 30.0)
    for k in range(1, 5):
        objects = np.zeros((count, 2, 13))
        objects[:, 1] = state((k, k, 9.0), np.pi / 2 + 0.3 * k)
        made.look_at_objects(objects)
        made.measure(x, wrenches_W)
        inputs = made.inputs(x, ACTION)
        seen.append(np.column_stack([inputs.left, inputs.heading]))
    assert not seen[0][:, 2].any()
    np.testing.assert_array_equal(seen[1], seen[2])
    np.testing.assert_allclose(made.mean_P[:, 2], 30.0, atol=1.0)  # forces, as all tips feel them
    # poses 1 are left to a goal that is 0.5 m ahead and 0.1 m to the left of (1, 2), where y is ahead and -x is left
    np.testing.assert_allclose(seen[1].mean(axis=0), [0.5 + 1.0, 0.1, 0.3], atol=0.03)
    np.testing.assert_allclose(seen[3].mean(axis=0), [0.5 - 1.0, 0.1 + 2.0, 0.9], atol=0.03)
    np.testing.assert_allclose(seen[1].std(axis=0), [0.1, 0.1, np.deg2rad(1.0)], rtol=0.15)


def test_observations_of_a_turn_are_along_its_arc_as_it_is_believed():
    """About z through the origin of (1, 2): a tip at (1.2, 2.7) is 0.7 m along y, and moves along -x."""
    made = led(TurnInterface, "push_door", arc())
    made._heading[:] = 0.4, 0.5
    found = made.inputs(X, ACTION)
    np.testing.assert_allclose(found.force[0], [2.0, 1.0, 3.0], atol=1e-12)
    assert found.turn[0] == pytest.approx(np.pi / 2)
    assert found.radius[0] == pytest.approx(0.2) and found.height[0] == pytest.approx(0.6)
    np.testing.assert_allclose(found.lag[0], [-0.3, 0.4], atol=1e-12)
    assert found.sag[0] == pytest.approx(0.5)
    assert found.heading.tolist() == [0.4, 0.5] and found.action is ACTION
    np.testing.assert_allclose(found.velocity[0], [-0.1, 0.2, 0.3], atol=1e-12)
    forces_P = np.array([[3.0, 2.0, 1.0], [0.0, 0.0, 0.0]])
    true = arc().true_polar(made.tips(X))
    other = made.inputs_about(X, ACTION, true, forces_P)
    np.testing.assert_allclose(other.force[0], [2.0, 3.0, 1.0], atol=1e-12)
    np.testing.assert_array_equal(other.turn, true.turns)
    np.testing.assert_array_equal(other.radius, true.radii)
    np.testing.assert_array_equal(other.height, true.heights)
    assert np.abs(true.heights - found.height).max() > 0.1  # of another axis
    for name in ("lag", "sag", "velocity"):  # along the arc as it is believed
        np.testing.assert_array_equal(getattr(other, name), getattr(found, name))


def test_observations_of_a_peg_are_in_its_own_axes():
    made = led(PegInterface, "peg_in_hole", holes())
    tilt = so3.quaternion_exp(np.array([0.0, 0.2, 0.0]))
    made.reference.q[0] = so3.multiply(yaw(np.pi / 2), tilt)
    found = made.inputs(X, ACTION)
    np.testing.assert_allclose(found.force_P[0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found.torque_P[0], [4.0, 5.0, 6.0] - np.cross(TIP, [1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found.mouth[0], [2.3, -0.9, 3.1], atol=1e-12)
    np.testing.assert_allclose(found.lag_P[0], [0.4, -0.3, 0.5], atol=1e-12)
    np.testing.assert_allclose(found.lean[0], [0.2, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.velocity_P[0], [0.2, -0.1, 0.3], atol=1e-12)
    assert found.action is ACTION
