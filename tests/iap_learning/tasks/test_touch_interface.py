# SPDX-License-Identifier: BSD-3-Clause
"""The interface of platforms that touch: tips and their references, wrenches as they are measured, and velocities."""

from types import SimpleNamespace

import numpy as np

from iap_description.math import so3
from iap_description.states import REF_P, REF_Q, REF_V, REF_W, Level
from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.touch_interface import LineInterface, TipInterface, TipReference
from iap_simulation.batch.references import References

TIP = np.array([-1.0, 0.2, 0.1])


def row_at():
    row = np.arange(22.0)
    row[REF_P], row[REF_Q] = [1.0, 2.0, 3.0], so3.quaternion_exp(np.array([0.1, -0.2, 0.7]))
    return row


def test_a_tip_moves_in_the_world_while_the_platform_turns_about_it_in_its_own_axes():
    row = row_at()
    reference = TipReference(row, TIP, 3)
    R = so3.matrix_from_quaternion(row[REF_Q])
    np.testing.assert_allclose(reference.tip, np.tile(row[REF_P] + R @ TIP, (3, 1)))
    v, turn = np.random.default_rng(1).normal(size=(2, 3, 3))
    reference.move(v, turn, 0.1)
    np.testing.assert_allclose(reference.tip, row[REF_P] + R @ TIP + 0.1 * v)
    expected = so3.multiply(row[REF_Q], so3.quaternion_exp(0.1 * turn))
    np.testing.assert_allclose(reference.q, expected, atol=1e-12)
    given = References.of(np.tile(row, (3, 1)))
    rows = reference.among(given).rows
    np.testing.assert_allclose(
        rows[:, REF_P] + so3.rotate(rows[:, REF_Q], TIP), reference.tip, atol=1e-12
    )
    np.testing.assert_array_equal(rows[:, REF_Q], reference.q)
    np.testing.assert_array_equal(rows[:, 7:], given.rows[:, 7:])
    np.testing.assert_array_equal(given.rows, np.tile(row, (3, 1)))
    reference.reset(np.array([1]))
    np.testing.assert_allclose(reference.tip[1], row[REF_P] + R @ TIP)
    np.testing.assert_array_equal(reference.q[1], row[REF_Q])
    assert np.abs(reference.tip[[0, 2]] - reference.tip[1]).max() > 1e-3


class Interface(TipInterface):
    """Actions (B, 3) are velocities of the tips, and nothing is observed."""

    of = inputs = None
    seen = ()

    def _move(self, x, values):
        self.seen += (x.tolist(),)
        self.reference.move(values, np.zeros((len(x), 3)), self._dt)


def interface(**sensor):
    """Two tips whose wrenches have no errors, and are known at once and as means over two periods."""
    task = make_task("peg_in_hole", {"repeat": 2})
    exact = {"force_noise": 0.0, "torque_noise": 0.0, "force_bias": 0.0, "torque_bias": 0.0}
    exact = task.sensor.model_copy(update={**exact, "delay": 0, **sensor})
    return Interface(task, exact, row_at(), TIP, dt=0.1, batch=2)


def bodies():
    """Two bodies of two worlds; the first ones are turned by a quarter about z, and by none."""
    x = np.random.default_rng(2).normal(size=(2, 2, 13))
    x[:, 0, :3] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    x[:, 0, 3:7] = so3.quaternion_exp(np.array([[0.0, 0.0, np.pi / 2], [0.0, 0.0, 0.0]]))
    return x


def test_references_of_a_period_are_those_of_the_scenario_with_tips_that_have_moved_once():
    x, row, made = bodies(), row_at(), interface()
    rows = np.tile(row, (2, 1))
    rows[1, REF_P] = 70.0  # wherever the scenario's own law would be
    rows[:, 12] = [5.0, 6.0]
    worlds = SimpleNamespace(state=x, references=lambda: References.of(rows))
    values = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    for periods in (1, 2):
        found = made.references(worlds, values).rows
        np.testing.assert_allclose(found[:, REF_P], row[REF_P] + 0.1 * periods * values)
        np.testing.assert_allclose(found[:, REF_Q], rows[:, REF_Q])
        np.testing.assert_array_equal(found[:, 7:], rows[:, 7:])
    assert made.seen == (x[:, 0].tolist(),) * 2
    made.reset(np.array([1]), np.array([7]))
    np.testing.assert_allclose(made.reference.tip[1], made.reference._first_tip)
    np.testing.assert_allclose(
        made.reference.tip[0], made.reference._first_tip + 0.1 * 2 * values[0]
    )


def test_wrenches_are_measured_in_the_platform_s_axes_and_known_as_means_over_a_step():
    x, made = bodies()[:, 0], interface()
    wrenches_W = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0, 0.0, 8.0, 0.0, 0.0, 10.0]])
    made.measure(x, wrenches_W)
    turned = [2.0, -1.0, 3.0, 5.0, -4.0, 6.0]
    np.testing.assert_allclose(made.mean_P[0], 0.5 * np.array(turned), atol=1e-12)
    made.measure(x, 2.0 * wrenches_W)
    np.testing.assert_allclose(made.mean_P[0], 1.5 * np.array(turned), atol=1e-12)
    np.testing.assert_allclose(made.mean_P[1], 1.5 * wrenches_W[1], atol=1e-12)
    np.testing.assert_allclose(made.force_W(x), 1.5 * wrenches_W[:, :3], atol=1e-12)
    made.reset(np.array([0]), np.array([7]))
    np.testing.assert_allclose(made.mean_P, [np.zeros(6), 1.5 * wrenches_W[1]], atol=1e-12)


def test_errors_of_wrenches_are_those_of_the_given_sensor_by_the_seeds():
    made, both = interface(force_bias=1.0), np.arange(2)
    made.reset(both, np.array([5, 5]))
    made.measure(bodies()[:, 0], np.zeros((2, 6)))
    first = made.mean_P.copy()
    assert 0.0 < np.abs(first[0, :3]).max() <= 0.5 and not first[:, 3:].any()
    np.testing.assert_array_equal(first[0], first[1])
    made.reset(both, np.array([5, 6]))
    made.measure(bodies()[:, 0], np.zeros((2, 6)))
    np.testing.assert_array_equal(made.mean_P[0], first[0])
    assert np.abs(made.mean_P[1] - first[1]).max() > 0.0


def test_tips_are_where_their_bodies_hold_them():
    x, made = bodies()[:, 0], interface()
    np.testing.assert_allclose(made.tips(x), [[0.8, 1.0, 3.1], [3.0, 5.2, 6.1]])


def test_references_at_velocities_are_level_and_turn_about_the_vertical():
    """As an action `velocity` asks of the suite's law in many worlds."""
    rows = np.tile(row_at(), (2, 1))
    model = SimpleNamespace(actuation=SimpleNamespace(tilts_to_push=False))
    worlds = SimpleNamespace(
        state=bodies(),
        rpm=np.zeros((2, 3, 4)),
        model=model,
        references=lambda: References.of(rows),
        known_states=bodies,
    )
    asked, velocities = [], np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]])
    line = SimpleNamespace(velocities=lambda *each: asked.append(each) or velocities)
    along = SimpleNamespace(line=line, _centering=2.0)
    made = LineInterface.references(along, worlds, np.array([[0.6], [0.9]]))
    ((x, towards, rate),) = asked
    np.testing.assert_array_equal(x, bodies()[:, 0])
    assert towards.tolist() == [0.6, 0.9] and rate == 2.0
    assert made.levels.tolist() == [Level.POSE] * 2
    np.testing.assert_array_equal(made.rows[:, REF_P], bodies()[:, 0, :3])  # wherever they are
    np.testing.assert_allclose(made.rows[:, REF_V], [[0.1, 0.2, 0.3], [0.5, 0.6, 0.7]])
    np.testing.assert_allclose(made.rows[:, REF_W], [[0.0, 0.0, 0.4], [0.0, 0.0, 0.8]])
