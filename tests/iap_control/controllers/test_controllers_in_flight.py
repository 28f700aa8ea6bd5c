# SPDX-License-Identifier: BSD-3-Clause
"""Controllers that fly on with another load, arm or gains, and one world of many as a controller of its own."""

from types import SimpleNamespace

import numpy as np
import pytest
from flying import DT, controller_of, gains_of, model_of

from iap_control.actuation.vectored import VectoredActuation, check_attitudes, sampled_attitudes
from iap_control.allocation.model import lumped_inertia, uncoupled
from iap_control.arm.arm_model import MovingArm
from iap_control.batch.controllers import ControllerOfOne, Controllers
from iap_control.batch.records import Setpoints
from iap_control.docking.missed_approach import MissedApproach, MissedApproachSettings
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import yaw_of
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, REF_Q, resting_state

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
PUSH = np.array([1.0, -2.0, 0.5, 0.1, 0.2, -0.3])


def state(x=0.3):
    return resting_state(
        np.array([x, 0.1, -0.2]), so3.quaternion_exp(np.array([0.05, -0.02, 0.3]))
    )


def reference(count):
    row = np.zeros(REF_FIXED + count)
    row[6] = 1.0
    return Reference(row)


def flown(controller, steps=5, count=3):
    """The last of some commands of a state that does not move."""
    for _ in range(steps):
        command = controller(state(), reference(count))
    return np.concatenate(
        [command.thrust.ravel(), command.w_WB_B.ravel(), command.wrench_P.ravel()]
    )


def test_one_world_of_many_commands_as_a_controller_of_its_own():
    alone, made = controller_of("three_star"), ControllerOfOne.like(controller_of("three_star"))
    first = flown(made, 1)
    made.reset()
    np.testing.assert_array_equal(flown(made), flown(alone))
    assert not np.array_equal(flown(made, 1), first)  # integrals have grown
    made.reset()
    np.testing.assert_array_equal(flown(made, 1), first)
    assert made.mode == alone.allocator.command.mode
    assert len(made.parts) == 2
    made.set_gains(gains_of("paper"))
    made.reset()
    np.testing.assert_array_equal(
        flown(made), flown(controller_of("three_star", gains_of("paper")))
    )


@pytest.mark.parametrize("given", [{"wrench_P": np.zeros(6)}, {"task": object()}])
def test_one_world_of_many_flies_freely_alone(given):
    made = ControllerOfOne(model_of("three_star"), gains_of(), dt=DT)
    with pytest.raises(BadInput, match="^controllers of batches know free flight only$"):
        made(state(), reference(3), **given)


def test_worlds_feel_the_wrenches_of_their_environment_until_the_next():
    model = model_of("three_star")
    many, alone = Controllers(model, gains_of(), batch=3, dt=DT), controller_of("three_star")
    x, rows = np.stack([state()[None]] * 3), np.stack([reference(3).row] * 3)
    setpoints = Setpoints(x, rows, np.zeros(3, np.int64), np.zeros((3, 6)))
    many.feel(np.outer([1.0, 2.0, 3.0], PUSH), np.array([1]))
    free = flown(controller_of("three_star"), 1)
    felt = alone(state(), reference(3), 2.0 * PUSH)
    command = many(setpoints)
    np.testing.assert_allclose(command.wrench_P[1], felt.wrench_P, atol=1e-9)
    for world in (0, 2):
        np.testing.assert_allclose(command.wrench_P[world], free[-6:], atol=1e-9)


def test_a_wrench_from_outside_is_allocated_with_the_aircraft_headed_as_they_are_mounted():
    own, other = controller_of("three_star").allocator, controller_of("three_star").allocator
    q = so3.quaternion_exp(np.array([0.05, -0.02, 0.6]))
    wrench = np.array([1.0, 2.0, 60.0, 0.1, 0.2, 0.3])
    found = own.allocate(wrench, q)
    wanted = other(wrench, q, own.model.mount_yaw + yaw_of(q))
    np.testing.assert_array_equal(found.thrust, wanted.thrust)
    np.testing.assert_array_equal(found.q_WB, wanted.q_WB)


def test_a_controller_is_fresh_until_it_commands_and_once_it_is_reset():
    controller = controller_of("three_star")
    assert controller.is_fresh
    controller(state(), reference(3))
    assert not controller.is_fresh
    controller.reset()
    assert controller.is_fresh
    controller.feed_forward_P = np.zeros(6)
    assert not controller.is_fresh


@pytest.mark.parametrize(("platform", "count"), [("three_star", 3), ("f450", 1)])
def test_what_carries_on_the_motion_of_an_arm_is_added_until_the_next_call(platform, count):
    """Of the same inertia and a momentum of zero nothing else changes."""
    plain, moved = controller_of(platform), controller_of(platform)
    inertia = moved.model.inertia
    moved.follow_arm(
        MovingArm(inertia, np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0]), np.zeros(6), np.zeros(3))
    )
    up = (
        moved(state(), reference(count)).wrench_P[2] - plain(state(), reference(count)).wrench_P[2]
    )
    assert up == pytest.approx(2.0, abs=0.01 if platform == "three_star" else 0.1)
    moved.reset()
    plain.reset()
    np.testing.assert_array_equal(flown(moved, 1, count), flown(plain, 1, count))


@pytest.mark.parametrize(("platform", "count"), [("three_star", 3), ("f450", 1)])
def test_another_inertia_turns_it_with_other_torques(platform, count):
    heavy, light = controller_of(platform), controller_of(platform)
    mass, d_0, J, _, coupling, gravity = heavy.model.inertia
    wide = lumped_inertia(mass, d_0, 3.0 * J, gravity=gravity, com_coupling=coupling > 0.0)
    heavy.follow_arm(MovingArm(wide, np.zeros(6), np.zeros(6), np.zeros(3)))
    torques = [each(state(), reference(count)).wrench_P[3:] for each in (heavy, light)]
    assert np.linalg.norm(torques[0]) > 2.0 * np.linalg.norm(torques[1])


def test_the_momentum_of_an_arm_is_none_of_a_disturbance():
    """An arm that begins to move in one period has pushed the platform back: the observer counts on it."""
    told, untold = (
        controller_of("three_star", gains_of(disturbance=on())).disturbance for _ in range(2)
    )
    x, inertia = resting_state(np.zeros(3), LEVEL), controller_of("three_star").model.inertia
    for observer in (told, untold):
        observer(x, np.zeros(6))
        observer.note(np.array([0.0, 0.0, inertia.mass * inertia.gravity, 0.0, 0.0, 0.0]))
    x[7] = -0.1
    told.set_inertia(inertia, np.array([0.1 * inertia.mass, 0.0, 0.0, 0.0, 0.0, 0.0]))
    felt = [observer(x, np.zeros(6))[0] for observer in (told, untold)]
    assert abs(felt[0]) < 0.02 * abs(felt[1])


def on():
    """Gains of an observer that is on."""
    return gains_of().disturbance.model_copy(
        update={"actuation": ("full",), "bandwidth": (4.0, 4.0)}
    )


def test_inertia_without_coupling_has_no_moments_of_forces():
    inertia = lumped_inertia(
        2.0, np.array([0.1, 0.2, 0.3]), np.diag([1.0, 2.0, 3.0]), gravity=9.8, com_coupling=True
    )
    assert inertia.M[0, 5] == pytest.approx(-2.0 * 0.2) and inertia.coupling == 1.0
    np.testing.assert_allclose(inertia.M, inertia.M.T)
    bare = uncoupled(inertia)
    np.testing.assert_array_equal(bare.M, np.diag([2.0, 2.0, 2.0, 1.0, 2.0, 3.0]))
    assert (bare.mass, bare.coupling, bare.gravity) == (2.0, 0.0, 9.8)
    np.testing.assert_array_equal(bare.d_0, inertia.d_0)


@pytest.mark.parametrize(
    ("platform", "angles"), [("three_star", (True, True, True)), ("f450", (False, False, True))]
)
def test_angles_are_controlled_as_a_kind_of_actuation_can(platform, angles):
    model = model_of(platform)
    assert model.actuation.controlled_angles(model) == angles


def test_a_platform_whose_joints_lie_on_a_line_does_not_turn_about_it():
    model = model_of("two_line")
    line = int(np.argmax(np.abs(model.line.direction_P)))
    assert model.actuation.controlled_angles(model) == tuple(k != line for k in range(3))
    refusals = [model.actuation.axis_refusal(model, axis) for axis in range(6)]
    assert [k for k, each in enumerate(refusals) if each] == [3 + line]


class Rows:
    """References of which each is pitched by its number [mrad]."""

    def __init__(self, last):
        self.last = last

    def rows(self, start, stop):
        out = np.zeros((stop - start, REF_FIXED))
        out[:, REF_Q] = so3.quaternion_exp(np.array([0.0, 1e-3 * start, 0.0]))
        return out


@pytest.mark.parametrize(("last", "count"), [(10, 11), (310, 32), (0, 1)])
def test_attitudes_of_a_flight_are_looked_at_from_the_first_to_the_last(last, count):
    pitches = so3.quaternion_log(sampled_attitudes(Rows(last)))[:, 1] * 1e3
    assert len(pitches) == count
    np.testing.assert_allclose(pitches, np.linspace(0, last, count), atol=0.5)


def test_a_reference_at_which_a_rotor_would_have_to_tilt_too_far_is_refused_beforehand():
    model = model_of("beetle")
    VectoredActuation().check_references(model, Rows(10), "iap")
    with pytest.raises(
        BadInput, match="^vehicle 'iap': key 'reference': to rest at roll 0.0, pitch "
    ):
        VectoredActuation().check_references(model, Rows(1500), "iap")
    over = so3.quaternion_exp(np.array([[np.pi, 0.0, 0.0]]))
    with pytest.raises(
        BadInput, match=r"roll -?180\.0, pitch 0\.0, yaw 0\.0 deg rotor 1 would have to "
    ):
        check_attitudes(model, over, "iap")


def test_a_missed_approach_ends_before_its_own_gate_and_none_is_never_missed():
    script = SimpleNamespace(_replace=lambda gate: ("script", gate))
    settings = MissedApproachSettings(depth=0.02, speed=0.03, time=1.5, retreat=0.4)
    assert tuple(MissedApproach.of(settings, script)) == (0.02, 0.03, 1.5, ("script", 0.4))
    none = MissedApproach.of(None, script)
    assert none.time == np.inf and none.script is script and none.depth == none.speed == 0.0


def test_a_law_is_told_of_another_model_and_a_reset_forgets_the_last_command():
    """A rigid law's largest pull is that of what is left of its rotors."""
    controller, told = controller_of("three_star"), []
    law = controller.law
    real = law.set_gains
    law.set_gains = lambda model, gains: told.append((model, gains)) or real(model, gains)
    controller.set_model(model_of("three_star"))
    ((model, gains),) = told
    assert gains is controller.gains and model is controller.model
    first = flown(controller, 1)
    later = flown(controller, 20)
    assert np.abs(later - first).max() > 1e-6
    controller.reset()
    np.testing.assert_array_equal(flown(controller, 1), first)


def test_an_observer_that_is_switched_off_forgets_its_estimate():
    controller = controller_of("three_star", gains_of(disturbance=on()))
    observer, x = controller.disturbance, state()
    inertia = controller.model.inertia
    for k in range(20):
        x[7] = 0.01 * k
        observer(x, np.zeros(6))
        observer.note(np.zeros(6))
    assert observer.is_on and observer.wrench_P.any()
    kept = observer.wrench_P.copy()
    observer.set_gains(inertia, on())
    np.testing.assert_array_equal(observer.wrench_P, kept)
    observer.set_gains(inertia, on().model_copy(update={"bandwidth": (0.0, 0.0)}))
    assert not observer.is_on and not observer.wrench_P.any()
    observer.set_gains(inertia, on())
    np.testing.assert_array_equal(
        observer(x, np.zeros(6)), 0.0
    )  # its first state changes no estimate
