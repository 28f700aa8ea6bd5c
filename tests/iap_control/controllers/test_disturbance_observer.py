# SPDX-License-Identifier: BSD-3-Clause
"""The disturbance observer: on exact motions, and in the closed loop on real rotors and autopilots."""

import numpy as np
import pytest
from contact import Rig, Wall, at
from flying import DT, GRAVITY, controller_of, gains_of, hover_rpm, model_of, plant_of
from moving import Tumble, newton_euler

from iap_control.controllers.disturbance_observer import DisturbanceObserver
from iap_control.gains import DisturbanceGains
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.signals import NO_WRENCH, ForceMode, Reference
from iap_description.states import resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_physics.engines.joints import joined_rows
from iap_physics.plant.disturbances import Disturbance
from iap_simulation.scenario.resolving import Options, resolve

BANDWIDTH = 5.0  # [rad/s]
ALL = ("full", "collinear", "rigid")
SETTINGS = {"actuation": ALL, "limit": (4.0, 4.0), "contact": 0.01}
OFF = {"disturbance": DisturbanceGains(bandwidth=(0.0, 0.0), **SETTINGS)}
EVERYWHERE = gains_of(disturbance=DisturbanceGains(bandwidth=(4.0, 0.0), **SETTINGS))
PUSH = np.array([3.0, -2.0, -4.0, 0.0, 0.0, 0.0])  # [N, N m]


def observer_of(name="three_star", limit=(10.0, 50.0)):
    gains = DisturbanceGains(
        actuation=ALL, bandwidth=(BANDWIDTH, BANDWIDTH), limit=limit, contact=0.01
    )
    return DisturbanceObserver(model_of(name).inertia, gains, DT)


def at_rest():
    return resting_state(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))


def lift_of(name="three_star"):
    """The active wrench that carries a level platform."""
    return newton_euler(Assembly.of(load_platform(name)), at([0.0, 0.0, 0.0]), GRAVITY)


def hover(name, wrench_W, duration, *, since=0.0, gains=None):
    """Position errors (T, 3) and estimates (T, 6) in W of a hover in which a wrench acts on P's origin from then on."""
    gains, platform = gains or gains_of(), load_platform(name)
    push = Disturbance(at=since, until=1e6, force=tuple(wrench_W[:3]), torque=tuple(wrench_W[3:]))
    controller, plant = controller_of(name, gains), plant_of(name, gains, disturbances=((push,),))
    rows = joined_rows(Assembly.of(platform), at_rest())
    plant.reset(
        rows[None], [np.full((platform.count, 4), hover_rpm(platform))], stream(1, "gusts")
    )
    errors, estimates = [], []
    for _ in range(round(duration / DT)):
        x = plant.state()[0, 0].copy()
        command = controller(x, Reference(at([0.0, 0.0, 0.0], platform.count)))
        errors.append(x[:3])
        estimates.append(so3.rotate(x[3:7], controller.disturbance.wrench_P.reshape(2, 3)).ravel())
        plant.command(0, command)
        plant.advance()
    return np.array(errors), np.array(estimates)


# --- alone ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["three_star", "three_square"])
def test_a_motion_that_thrust_and_weight_explain_leaves_nothing_to_explain(name):
    observer, motion, assembly = observer_of(name), Tumble(3), Assembly.of(load_platform(name))
    largest = np.abs(newton_euler(assembly, motion.row(0.0, 3), GRAVITY)).max()
    for k in range(400):
        estimate = observer(motion.state(k * DT), NO_WRENCH)
        observer.note(newton_euler(assembly, motion.row((k + 0.5) * DT, 3), GRAVITY))
        assert np.abs(estimate).max() < 0.01 * largest


def test_a_step_is_answered_as_by_a_first_order_low_pass():
    observer, made = observer_of(), lift_of() - PUSH
    for k in range(200):
        expected = (1.0 - np.exp(-BANDWIDTH * k * DT)) * PUSH
        np.testing.assert_allclose(observer(at_rest(), NO_WRENCH), expected, atol=1e-9)
        observer.note(made)


@pytest.mark.slow
def test_contact_is_no_disturbance_and_what_was_known_before_stays():
    observer = observer_of()
    for _ in range(200):
        before = observer(at_rest(), NO_WRENCH).copy()
        observer.note(lift_of() - PUSH)
    for _ in range(200):
        np.testing.assert_array_equal(observer(at_rest(), 0.01 * PUSH), before)
        observer.note(lift_of() - 3.0 * PUSH)


@pytest.mark.slow
def test_an_estimate_stays_below_its_limit():
    observer, m = observer_of(limit=(0.5, 1.0)), model_of("three_star").inertia.mass
    for _ in range(400):
        estimate = observer(at_rest(), NO_WRENCH)
        observer.note(lift_of() - 10.0 * PUSH)
    assert np.linalg.norm(estimate[:3]) == pytest.approx(0.5 * m)
    np.testing.assert_allclose(estimate[:3] / estimate[0], PUSH[:3] / PUSH[0], atol=1e-9)


def test_an_estimate_stays_as_it_is_while_nothing_is_known_of_the_thrusts():
    observer = observer_of()
    for _ in range(100):
        before = observer(at_rest(), NO_WRENCH).copy()
        observer.note(lift_of() - PUSH)
    observer.note(None)
    np.testing.assert_array_equal(observer(at_rest(), NO_WRENCH), before)


# --- in the loop ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["three_star", "three_line", "f450"])
def test_a_constant_force_is_known_within_1_percent_and_moves_nothing_in_the_end(name):
    push = PUSH * [1, name != "three_line", 1, 0, 0, 0]  # across its line it would swing on
    errors, estimates = hover(name, push, 10.0, gains=EVERYWHERE)
    np.testing.assert_allclose(estimates[-1, :3], push[:3], atol=0.01 * np.abs(push).max())
    assert np.abs(errors[-1]).max() < 1e-3


@pytest.mark.parametrize("name", ["three_star", "three_line", "f450"])
def test_a_gust_moves_the_platform_less_than_half_as_far(name):
    reach = []
    for gains in (EVERYWHERE, gains_of(**OFF)):
        errors, _ = hover(name, PUSH, 3.0, since=0.5, gains=gains)
        assert np.isfinite(errors).all()
        reach.append(np.sqrt((errors**2).mean()))
    assert reach[0] < 0.5 * reach[1]


@pytest.mark.parametrize("name", ["three_star", "two_line", "f450"])
def test_without_it_commands_are_the_law_s_and_the_allocation_s_bit_for_bit(name):
    gains = gains_of(**OFF)
    controller, parts = controller_of(name, gains), controller_of(name, gains)
    count = controller.model.count
    for k in range(50):
        x, reference = Tumble(1).state(0.01 * k), Reference(Tumble(2).row(0.01 * k, count))
        command = controller(x, reference)
        U = parts.wrench(x, reference)
        expected = parts.allocator(U, x[3:7], parts.headings(x, reference))
        for made, wanted in zip(command.arrays, expected.arrays, strict=True):
            np.testing.assert_array_equal(made, wanted)


def test_the_preset_paper_has_none():
    assert not controller_of("three_star", gains_of("paper")).disturbance.is_on
    assert controller_of("three_star").disturbance.is_on


@pytest.mark.parametrize("name", ["three_star_fixed", "three_line"])
def test_the_preset_default_leaves_platforms_alone_that_tilt_slowly_or_swing(name):
    assert not controller_of(name).disturbance.is_on


@pytest.mark.slow
@pytest.mark.parametrize("source", ["filtered", "estimated"])
def test_a_wanted_force_is_not_fought(source):
    rig = Rig(Wall(), start=(0.01, 0.0, 0.0), source=source)

    def push(t, asked):
        asked.mode = ForceMode.SELECTIVE if t > 0.3 else ForceMode.NONE
        asked.axes, asked.desired_P[0] = (
            np.eye(6, dtype=bool)[0],
            5.0 * min(max(t - 0.3, 0.0), 1.0),
        )

    flown = rig.fly(6.0, lambda t: at([0.01, 0.0, 0.0]), push)
    assert flown.force[-200:, 0].mean() == pytest.approx(5.0, abs=0.1)
    assert np.abs(rig.controller.disturbance.wrench_P[:3]).max() < 0.2


def test_switching_it_off_in_flight_forgets_what_it_knew():
    controller, gains = controller_of("three_star"), gains_of()
    x, reference = at_rest(), Reference(at([0.1, 0.0, 0.0]))
    for _ in range(50):
        controller(x, reference)
    assert np.abs(controller.disturbance.wrench_P).max() > 0.1
    controller.set_gains(gains_of(**OFF))
    controller.set_gains(gains)
    controller(x, reference)
    np.testing.assert_array_equal(controller.disturbance.wrench_P, 0.0)


def test_switching_it_on_in_flight_takes_no_speed_for_a_gust():
    controller, reference = (
        controller_of("three_star", gains_of(**OFF)),
        Reference(at([0.0, 0.0, 0.0])),
    )
    x = at_rest()
    x[7:10] = [2.0, 0.0, 0.0]
    for _ in range(3):
        controller(x, reference)
    controller.set_gains(gains_of())
    controller(x, reference)
    np.testing.assert_array_equal(controller.disturbance.wrench_P, 0.0)


def test_a_negative_bandwidth_is_refused_by_its_key():
    key = "control.gains.disturbance.bandwidth"
    with pytest.raises(BadInput, match=r"disturbance\.bandwidth\.0"):
        resolve("hover", Options(assignments=(f"{key}=[-1.0, 0.0]",)))
