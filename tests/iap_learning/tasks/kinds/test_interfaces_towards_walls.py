# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces of pushes and perches: velocities towards their walls, and forces and ranges as they are measured."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.touch_places import line, state, yaw

from iap_description.math import so3
from iap_description.states import REF_V, REF_W
from iap_learning.tasks.kinds.perch_on_wall.approach_line import line_of
from iap_learning.tasks.kinds.perch_on_wall.interface import PerchInterface
from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.kinds.wall_push.interface import PushInterface
from iap_learning.tasks.push_line import PushLine
from iap_learning.tasks.senses import Sense
from iap_physics.latching.kernel import CAUGHT, LOCKED, OPEN
from iap_simulation.batch.references import References
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.resolving import resolved

DT, BOTH = 0.01, np.arange(2)
ACTION = np.full((2, 1), 0.5)
EXACT = {
    "sensor.range_noise": 0.0, "sensor.closing_noise": 0.0, "sensor.range_bias": 0.0, "sensor.closing_bias": 0.0,
    "sensor.delay": 0,
}  # fmt: skip


def bodies():
    """Two platforms, the first of which comes and turns."""
    first = state((1.0, 2.0, 3.0), np.pi / 2, (0.1, 0.5, 0.3))
    first[10:13] = 0.0, 0.0, 2.0
    return np.array([first, state((1.3, 2.2, 3.4), np.pi / 2)])


def perches(**settings):
    """Two perches, whose walls begin 1.2 and 1 m ahead of the first reference."""
    task = make_task("perch_on_wall", {**EXACT, **settings})
    made = PerchInterface(task, line(), "wall", 1, dt=DT, batch=2)
    made._begins[:] = 1.2, 1.0
    made.reset(BOTH, BOTH)
    return made


@pytest.mark.parametrize(
    ("kind", "name"), [(PushInterface, "wall_push"), (PerchInterface, "perch_on_wall")]
)
def test_actions_are_velocities_towards_the_wall_and_back_to_the_line(kind, name):
    more = ("wall", 1) if kind is PerchInterface else ()
    made = kind(make_task(name, {"centering": 3.0}), line(), *more, dt=DT, batch=2)
    x, rows = bodies(), np.zeros((2, 22))
    x[0, 3:7] = yaw(np.pi / 2 - 0.1)
    worlds = SimpleNamespace(
        state=x[:, None], known_states=lambda: x[:, None], rpm=np.zeros((2, 3, 4)),
        references=lambda: References.of(rows),
        model=SimpleNamespace(actuation=SimpleNamespace(tilts_to_push=False)),
    )  # fmt: skip
    found = made.references(worlds, np.array([[0.3], [0.4]])).rows
    ahead = [[0.0, 0.3, 0.0], [-0.9, 0.4, -1.2]]
    np.testing.assert_allclose(found[:, REF_V], ahead, atol=1e-12)
    np.testing.assert_allclose(found[:, REF_W], [[0.0, 0.0, 0.3], [0.0, 0.0, 0.0]], atol=1e-12)


def of_scenario(kind, name):
    """An interface of three worlds of a task's scenario, the task, that, and its first reference."""
    task = make_task(name)
    scenario = resolved(task.scenario, task.settings, {"engine": "mujoco"})[0]
    row = np.zeros(22)
    row[:7] = 5.0, 6.0, 7.0, *yaw(0.0)
    return kind.of(task, scenario, row, 3), task, scenario, row


def check_parts(made, line_, periods):
    """Check the line of an interface, which begins at the first reference, and the size of its sensors."""
    for key, value in vars(line_).items():
        np.testing.assert_array_equal(getattr(made.line, key), value)
    assert made.line.start.tolist() == [5.0, 6.0, 7.0]
    assert made._sensors._noise.shape[:2] == (3, periods)


def test_an_interface_of_pushes_lets_the_scenario_s_own_law_rest_and_feels():
    made, task, scenario, row = of_scenario(PushInterface, "wall_push")
    line_ = PushLine.of(task.name, task.wall, scenario, row)
    check_parts(made, line_, task.periods(scenario.dt))
    assert made.NEEDS == {"control.wrench_mode": "none", "control.wrench_source": "filtered"}
    assert made.ASKS_FOR == (Sense.WRENCH,)


def test_an_interface_of_perches_takes_the_wall_and_the_latch_of_its_task():
    made, task, scenario, row = of_scenario(PerchInterface, "perch_on_wall")
    check_parts(made, line_of(task, scenario, row), task.periods(scenario.dt))
    assert made.NEEDS == {"control.admittance": False, "control.wrench_mode": "none"}
    assert set(made.ASKS_FOR) == {Sense.WRENCH, Sense.PHASES}
    found = []
    for seed in (5, 6):
        drawn = scenario.model_copy(update={"seed": seed})
        made.draw(1, drawn)
        ((_, wall),) = placed_world(drawn).objects.items()
        way = np.array(wall.position) - row[:3]
        np.testing.assert_allclose(made._begins, [0.0, made.line.axes[0] @ way, 0.0])
        found.append(made._begins[1])
    assert 0.0 < abs(found[1] - found[0]) <= 0.06
    made.look_at_latches(np.array([[CAUGHT], [LOCKED], [OPEN]]))
    x = np.tile(bodies()[1], (3, 1))
    assert made.inputs(x, ACTION).held.tolist() == [1.0, 1.0, 0.0]


def test_the_range_of_a_patch_shrinks_as_its_tip_comes_closer():
    """The tip is 0.5 m ahead of the start; a turn of 2 rad/s moves it back by 0.2 m/s."""
    np.testing.assert_allclose(perches().ranges(bodies()), [[0.7, 0.3], [0.3, 0.0]], atol=1e-12)


def test_ranges_are_measured_at_the_end_of_a_period_and_known_late():
    made = perches(**{"sensor.delay": 1})
    made.begin(np.array([1]), bodies())
    found = made.inputs(bodies(), ACTION)
    np.testing.assert_allclose(found.range, [0.0, 0.3])
    np.testing.assert_allclose(found.closing, 0.0, atol=1e-12)
    for _ in range(2):
        made.measure(bodies(), np.full((2, 6), np.nan))  # it feels no wrenches
    found = made.inputs(bodies(), ACTION)
    np.testing.assert_allclose(found.range, [0.7, 0.3])
    np.testing.assert_allclose(found.closing, [0.3, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("key", "column", "width"),
    [("range_bias", 0, 0.5), ("closing_bias", 1, 0.5), ("range_noise", 0, 2.0), ("closing_noise", 1, 2.0)],
)  # fmt: skip
def test_ranges_and_their_rates_have_errors_of_their_own(key, column, width):
    made = perches(**{f"sensor.{key}": 0.5})
    measured = []
    for _ in range(2):
        made.measure(bodies(), np.zeros((2, 6)))
        found = made.inputs(bodies(), ACTION)
        measured.append(np.column_stack([found.range, found.closing]) - made.ranges(bodies()))
    first, second = np.array(measured)
    assert not first[:, 1 - column].any()
    assert (first[:, column] != 0.0).all() and np.abs(first).max() <= width
    assert (key in ("range_bias", "closing_bias")) == np.array_equal(first, second)


def test_a_perch_is_observed_by_its_range_tilt_rates_and_hold():
    x, made = bodies(), perches()
    roll, pitch = (
        so3.quaternion_exp(np.array(turn)) for turn in ([0.3, 0.0, 0.0], [0.0, 0.2, 0.0])
    )
    x[:, 3:7] = so3.multiply(yaw(np.pi / 2), np.array([roll, pitch]))
    x[0, 10:13] = 1.0, 2.0, 0.0
    made.look_at_latches(np.array([[OPEN, CAUGHT], [CAUGHT, OPEN]]))
    found = made.inputs_of(x, ACTION, np.array([[0.7, 0.3], [0.6, 0.2]]))
    np.testing.assert_allclose(found.tilt, [[0.3, 0.0], [0.0, 0.2]], atol=1e-12)
    c, s = np.cos(0.3), np.sin(0.3)
    np.testing.assert_allclose(found.rates[0], [2.0, -c, s], atol=1e-12)
    assert found.held.tolist() == [1.0, 0.0] and found.range.tolist() == [0.7, 0.6]
    assert found.closing.tolist() == [0.3, 0.2] and found.action is ACTION
    made.look_at_latches(np.array([[OPEN, OPEN], [OPEN, LOCKED]]))
    assert made.inputs(x, ACTION).held.tolist() == [0.0, 1.0]
