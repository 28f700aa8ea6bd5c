# SPDX-License-Identifier: BSD-3-Clause
"""Direct wrench control in the closed loop, with real rotors and autopilots, against something stiff."""

import numpy as np
import pytest
from contact import TIP_P, Rig, Socket, Wall, at
from flying import DT, controller_of, gains_of, model_of, platform_with_joints
from moving import Tumble

from iap_control.allocation.model import check_axes
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import ForceMode, ForceTask, Reference
from iap_physics.measured.state_noise import NO_NOISE

GAP = 0.01
NOISY = NO_NOISE.model_copy(update={"velocity": 0.005, "rate_deg": 0.2})
FASTEST = 0.1  # approach speed of the gains [m/s]


def axes(*chosen):
    return np.isin(np.arange(6), chosen)


def pushing(force, *, first=0.3, last=np.inf, ramp=0.5, what=None):
    """A task along x by the wrench between two times [s]; `what` is told the time."""

    def task(t, asked):
        if what is not None:
            what(t)
        asked.mode = ForceMode.SELECTIVE if first <= t < last else ForceMode.NONE
        asked.axes = axes(0)
        asked.desired_P[0] = force * min(1.0, max(0.0, t - first) / ramp)

    return task


def against_wall(wall, task, *, duration=6.0, **settings):
    rig = Rig(wall, start=(GAP, 0.0, 0.0), **settings)
    count = rig.controller.model.count
    return rig.fly(duration, lambda t: at([GAP, 0.0, 0.0], count), task)


def touched(flown):
    """Time of the first contact [s]."""
    return flown.t[np.flatnonzero(flown.raw[:, 0] > 0.01)[0]]


def rmse(error):
    return np.sqrt(np.mean(np.square(error), axis=0))


# --- selective: a wall ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "preset"), [("filtered", "default"), ("estimated", "paper"), ("raw", "paper")]
)
def test_5_n_against_a_wall(source, preset):
    flown = against_wall(Wall(), pushing(5.0), source=source, gains=gains_of(preset))
    settled = flown.between(touched(flown) + 2.0, 6.0)
    assert rmse(flown.force[settled, 0] - 5.0) < 0.2
    assert flown.force[:, 0].max() < 1.3 * 5.0
    assert np.abs(flown.x[:, 7]).max() < FASTEST


@pytest.mark.slow
@pytest.mark.parametrize(("stiffness", "damping"), [(1e3, 30.0), (1e6, 1300.0)])
def test_whatever_the_wall_is_made_of(stiffness, damping):
    flown = against_wall(Wall(stiffness=stiffness, damping=damping), pushing(5.0))
    settled = flown.between(touched(flown) + 2.0, 6.0)
    assert rmse(flown.force[settled, 0] - 5.0) < 0.2
    assert flown.force[:, 0].max() < 1.3 * 5.0


@pytest.mark.slow
@pytest.mark.parametrize("source", ["filtered", "estimated"])
def test_noise_of_the_state_is_borne(source):
    flown = against_wall(Wall(), pushing(5.0), source=source, noise=NOISY)
    settled = flown.between(touched(flown) + 2.0, 6.0)
    assert rmse(flown.force[settled, 0] - 5.0) < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three_line", "star_7"])
def test_other_platforms_push_too(name):
    flown = against_wall(Wall(), pushing(3.0), platform=name)
    settled = flown.between(touched(flown) + 2.0, 6.0)
    assert rmse(flown.force[settled, 0] - 3.0) < 0.2
    assert np.abs(flown.x[:, 7]).max() < FASTEST


@pytest.mark.slow
@pytest.mark.parametrize("source", ["filtered", "estimated"])
def test_contact_that_is_lost_sets_nothing_racing_and_is_found_again_gently(source):
    """The wall vanishes under 5 N and stands again 0.1 m further, which takes 3 s of searching."""
    wall = Wall()

    def what(t):
        wall.is_there = t < 4.0 or t > 4.5
        wall.x = -1.0 if t < 4.0 else -1.1

    task = pushing(5.0, what=what)
    flown = against_wall(wall, task, duration=12.0, source=source)
    lost = flown.between(4.0, 12.0)
    assert np.abs(flown.x[lost, 7]).max() < FASTEST
    assert flown.force[lost, 0].max() < 1.3 * 5.0
    assert rmse(flown.force[flown.between(10.0, 12.0), 0] - 5.0) < 0.2


@pytest.mark.slow
def test_without_a_wall_it_searches_at_a_bounded_speed_for_ever():
    wall = Wall(is_there=False)
    flown = against_wall(wall, pushing(50.0), duration=10.0)
    assert np.abs(flown.x[:, 7]).max() < FASTEST
    assert flown.x[-1, 7] < -0.02
    assert np.abs(flown.pose_error[:, 1:3]).max() < 0.02
    assert np.rad2deg(np.abs(flown.pose_error[:, 3:])).max() < 1.0


@pytest.mark.slow
def test_sliding_along_a_wall_keeps_the_normal_force():
    rig = Rig(Wall(friction=0.4), start=(GAP, 0.0, 0.0))

    def reference(t):
        row = at([GAP, 0.1 * max(0.0, t - 4.0), 0.0])
        row[8] = 0.1 if t > 4.0 else 0.0
        return row

    flown = rig.fly(10.0, reference, pushing(3.0))
    slide = flown.between(4.0, 10.0)
    assert np.abs(flown.force[slide, 0] - 3.0).max() < 0.5
    assert flown.raw[slide, 0].min() > 0.0


# --- selective: a socket -------------------------------------------------------------------------


def into_socket(mode, desired, *, duration, chosen=(0, 1), ramp=1.0, **settings):
    """On at first contact, while the reference moves on by 0.2 m into the board."""
    rig = Rig(Socket(), start=(GAP, 0.0, 0.0), **settings)
    began = []

    def task(t, asked):
        if not began and np.linalg.norm(asked.measured_P[:3]) > 0.3:
            began.append(t)
        asked.axes = axes(*chosen)
        asked.mode = mode if began else ForceMode.NONE
        asked.desired_P[:] = desired * min(1.0, (t - began[0]) / ramp) if began else 0.0

    def reference(t):
        row = at([GAP - 0.02 * min(t, 10.0), 0.0, 0.0])
        row[7] = -0.02 if t < 10.0 else 0.0
        return row

    return rig.fly(duration, reference, task), began[0]


FIGURE_16 = np.array([1.5, -4.0, 0.0, 0.0, 0.0, 4.0])  # FLU


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "bar", "noise"),
    [
        ("filtered", 0.2, NO_NOISE),
        ("estimated", 0.4, NO_NOISE),
        ("estimated", 0.4, NOISY),
    ],
)
def test_forces_in_a_socket_converge_and_the_pose_is_held(source, bar, noise):
    flown, on = into_socket(
        ForceMode.SELECTIVE, FIGURE_16, duration=9.0, source=source, noise=noise
    )
    settled = flown.between(on + 5.0, 9.0)
    error = rmse(flown.force[settled] - FIGURE_16)
    assert error[:2].max() < bar
    assert error[5] < bar
    assert np.abs(flown.pose_error[settled, 2]).max() < 0.02
    assert np.rad2deg(np.abs(flown.pose_error[settled, 3:])).max() < 1.0


# --- paper ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_equation_21_holds_contact_and_comes_nearer_to_the_wanted_wrench():
    flown, on = into_socket(ForceMode.PAPER, FIGURE_16, duration=25.0)
    late = flown.between(on + 1.0, 25.0)
    assert (np.abs(flown.raw[late, :3]).max(axis=1) > 0.01).mean() > 0.99
    after_5, at_the_end = (np.abs(flown.force[k] - FIGURE_16) for k in (round(5 / DT), -1))
    assert at_the_end[1] < 0.5 * after_5[1]
    assert at_the_end.max() < 1.0
    assert np.abs(flown.x[late, 7:10]).max() < 0.1


@pytest.mark.slow
def test_too_little_force_makes_it_push_more():
    """The sign with which eq. (21) is negative feedback: the wall is on the side of -x."""
    for mode in (ForceMode.PAPER, ForceMode.SELECTIVE):
        controller, reference = controller_of("three_star"), Reference(at([0.0, 0.0, 0.0]))
        x = np.zeros(13)
        x[6] = 1.0
        controller.wrench(x, reference)
        task = ForceTask(mode, np.zeros(6), np.zeros(6), axes(0))
        task.measured_P[0], task.desired_P[0] = 2.0, 4.0
        for _ in range(200):
            U = controller.wrench(x, reference, task=task)
        assert U[0] < -1.5


def test_its_integrals_have_room_for_a_minute_of_compromise():
    """A wrench error of 1 N or N m and a pose error of 0.1 m or rad on every axis."""
    gains = gains_of().wrench.paper
    assert np.all(60.0 * 1.0 * np.array(gains.kwI) < np.array(gains.wrench_integral_limit))
    assert np.all(60.0 * 0.1 * np.array(gains.kI) < np.array(gains.integral_limit))


@pytest.mark.parametrize("mode", [ForceMode.PAPER, ForceMode.SELECTIVE])
def test_the_task_tells_the_integrals_shares(mode):
    controller, reference = controller_of("three_star"), Reference(at([0.01, 0.0, 0.0]))
    x = np.zeros(13)
    x[6] = 1.0
    task = ForceTask(mode, np.zeros(6), np.zeros(6), axes(1))
    task.desired_P[1] = 0.5
    for _ in range(100):
        controller.wrench(x, reference, task=task)
    gains, m = controller.gains, controller.model.inertia.mass
    paper, selective = gains.wrench.paper, gains.wrench.selective
    kI, law = selective.kI[1], m * gains.kI[0]
    if mode == ForceMode.PAPER:
        kI, law = paper.kwI[1], paper.kI[0]
    assert task.wrench_integral_P[1] == pytest.approx(-kI * 0.5 * 100 * DT, rel=1e-6)
    assert task.wrench_integral_P[0] == 0.0
    assert task.pose_integral_P[0] == pytest.approx(law * 0.01 * 100 * DT, rel=0.02)


# --- in and out ----------------------------------------------------------------------------------


def state_beside(row, seed=5):
    """A state near a reference row."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([row[:3] + 0.02 * rng.normal(size=3), row[3:7], row[7:10], np.zeros(3)])
    x[3:7] = so3.multiply(x[3:7], so3.quaternion_exp(0.02 * rng.normal(size=3)))
    x[10:13] = so3.rotate(x[3:7], row[10:13])
    return x


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three_star", "three_line"])
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_the_active_wrench_does_not_jump_when_table_v_takes_over_or_hands_back(preset, name):
    controller = controller_of(name, gains_of(preset))
    row = Tumble(4, turn=0.3).row(0.3, 3)
    row[7:19] *= 0.1
    x, task = state_beside(row), ForceTask(ForceMode.NONE, np.zeros(6), np.zeros(6), axes())
    task.measured_P[:], task.desired_P[:] = (1, -2, 0.5, 0, 0.1, 0.2), (3, 0, 0, 0, 0, 0)
    for _ in range(200):
        last = controller.wrench(x, Reference(row), task=task).copy()
    for mode in (ForceMode.PAPER, ForceMode.NONE):
        task.mode = mode
        U = controller.wrench(x, Reference(row), task=task).copy()
        np.testing.assert_allclose(U, last, atol=0.1)
        for _ in range(100):
            last = controller.wrench(x, Reference(row), task=task).copy()


@pytest.mark.slow
def test_what_was_pushed_away_comes_back_without_haste():
    """Wrench control is left 0.2 m from the reference, with nothing in the way."""
    rig = Rig(Wall(is_there=False), start=(0.0, 0.0, 0.0))
    flown = rig.fly(10.0, lambda t: at([0.0, 0.0, 0.0]), pushing(5.0, last=6.0))
    left = round(6.0 / DT)
    away = -flown.pose_error[left, 0]
    assert away > 0.1
    assert np.abs(flown.U[left] - flown.U[left - 1]).max() < 0.05
    assert np.abs(flown.x[left:, 7]).max() < away  # m/s
    np.testing.assert_allclose(flown.pose_error[-1], 0.0, atol=0.01)


@pytest.mark.slow
def test_retreat_from_a_wall_is_gentle():
    rig = Rig(Wall(), start=(GAP, 0.0, 0.0))
    flown = rig.fly(8.0, lambda t: at([0.05, 0.0, 0.0]), pushing(5.0, last=4.0))
    assert np.abs(flown.x[flown.between(4.0, 8.0), 7]).max() < 0.15
    assert np.abs(np.diff(flown.U, axis=0))[flown.between(3.9, 8.0)].max() < 1.0
    np.testing.assert_allclose(flown.pose_error[-1], 0.0, atol=0.005)


def test_flight_without_a_task_and_with_an_idle_one_are_the_same():
    task = ForceTask(ForceMode.NONE, np.ones(6), np.ones(6), axes(0))
    with_task, without = controller_of("three_star"), controller_of("three_star")
    for k in range(50):
        x, row = Tumble(1).state(0.01 * k), Tumble(2).row(0.01 * k, 3)
        U = with_task.wrench(x, Reference(row), task=task)
        np.testing.assert_array_equal(U, without.wrench(x, Reference(row)))


def test_reset_forgets_wrench_control():
    controller, x = controller_of("three_star"), Tumble(1).state(0.2)
    row = Tumble(2).row(0.2, 3)
    first = controller.wrench(x, Reference(row)).copy()
    task = ForceTask(ForceMode.PAPER, np.ones(6), np.zeros(6), axes())
    for _ in range(50):
        controller.wrench(x, Reference(row), task=task)
    controller.reset()
    np.testing.assert_array_equal(controller.wrench(x, Reference(row)), first)


# --- what can be asked for -----------------------------------------------------------------------


def test_a_fully_actuated_platform_takes_every_axis():
    check_axes(model_of("three_star"), axes(*range(6)), "iap")


def test_a_line_takes_all_but_the_torque_about_it():
    check_axes(model_of("three_line"), axes(0, 1, 2, 4, 5), "iap")
    with pytest.raises(BadInput, match="vehicle 'iap': axis 'roll': .* line cannot turn about it"):
        check_axes(model_of("three_line"), axes(0, 3), "iap")
    tilted = platform_with_joints([(1.0, 1.0, 0.05), (0.0, 0.0, 0.05), (-1.0, -1.0, 0.05)])
    check_axes(model_of(tilted), axes(5), "iap")
    with pytest.raises(BadInput, match="axis 'pitch'"):
        check_axes(model_of(tilted), axes(4), "iap")


def test_a_platform_without_joints_takes_none():
    with pytest.raises(BadInput, match="vehicle 'solo': axis 'z': .* without spherical joints"):
        check_axes(model_of("f450"), axes(2), "solo")
    controller, x = controller_of("f450"), np.zeros(13)
    x[6] = 1.0
    task = ForceTask(ForceMode.SELECTIVE, np.zeros(6), np.zeros(6), axes(2))
    with pytest.raises(BadInput, match="without spherical joints"):
        controller(x, Reference(at([0.0, 0.0, 0.0], 1)), task=task)


@pytest.mark.parametrize("mode", [ForceMode.PAPER, ForceMode.SELECTIVE])
def test_a_line_is_never_asked_to_turn_about_itself(mode):
    controller, row = controller_of("three_line"), at([0.0, 0.0, 0.0])
    task = ForceTask(mode, np.zeros(6), np.zeros(6), axes(0, 1, 2, 4, 5))
    task.measured_P[:], task.desired_P[:] = (1, 2, 3, 0.3, 0.2, 0.1), (2, -1, 0, 0, 0.5, 0)
    x = state_beside(row)
    for _ in range(3):
        U = controller.wrench(x, Reference(row), task=task)
    turn = np.concatenate(
        [-np.cross(controller.model.line.direction_P, controller.model.line.point_P), [1, 0, 0]]
    )
    assert abs(turn @ U) < 1e-9


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("selective", "damping"), [0.0] * 6, "key 'selective.damping.0'"),
        (("selective", "compensation"), [1.5, 0.0], "key 'selective.compensation.0'"),
        (("paper", "derivative_filter"), [0.0] * 6, "key 'paper.derivative_filter.0'"),
        (("blend_time",), -1.0, "key 'blend_time'"),
    ],
)
def test_gains_that_make_no_sense_are_refused(path, value, message):
    tree = gains_of().wrench.model_dump()
    node = tree
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    with pytest.raises(BadInput, match=message):
        validate(type(gains_of().wrench), tree, source="gains.yaml")


def test_the_tip_is_where_the_contact_is():
    """The rig's contact point is the one that the controller believes in."""
    np.testing.assert_array_equal(Rig(Wall()).controller.model.tip_P, TIP_P)
