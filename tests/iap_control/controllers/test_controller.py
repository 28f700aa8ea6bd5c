# SPDX-License-Identifier: BSD-3-Clause
"""Controllers by name and of one's own on platforms of every kind, and what is left to them without estimates."""

from dataclasses import replace

import numpy as np
import pytest
from flying import DT, Loop, controller_of, fly_scenario, gains_of, model_of, scenario_of
from own_law import PoseDamper
from refusals import refusal
from various_platforms import platform_of, various

from iap_control.allocation.allocator import Allocator
from iap_control.controllers.controller import make_controller
from iap_control.controllers.estimate_failsafe import EstimateFailsafe, Failsafe, reason_of
from iap_control.lever import LeverCompensation
from iap_control.responders.control_responder import ControlResponder
from iap_control.responders.pose_stream import InputLimits
from iap_control.responders.reference_input import ReferenceInput
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import EstimateHealth, Reference
from iap_description.states import REF_FIXED, REF_P, REF_V, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_physics.engines.joints import joined_rows

OWN_LAW = "own_law:PoseDamper"
ASIDE = 0.3  # of the reference against the start [m]
PERIOD = round(DT * 1e9)
SOUND = EstimateHealth(tracks=80, blind=0.0, deviation=0.02, age=0.1)
LIMITS = Failsafe(blind=2.0, deviation=0.5, silence=1.0, action="land", descent=0.5)
GIVEN = Reference(np.r_[4.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, np.zeros(REF_FIXED - 7), 0.3])
X = np.r_[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, np.zeros(6)]
HOVER = {"type": "hover", "duration": 3.0, "position": [0.0, 0.0, 1.5], "rpy_deg": [0.0, 0.0, 0.0]}


def made(law, platform="three_star"):
    return make_controller(law, model_of(platform), gains_of(), dt=DT, yaw_mode="follow")


def hover_with(law):
    """A hover whose reference lies beside the start."""
    loop = Loop.of(scenario_of("hover", f"control.law={law}", duration=8.0))
    vehicle = loop.vehicles[0]
    vehicle.timeline = replace(vehicle.timeline, offset=np.array([ASIDE, 0.0, 0.0]))
    return loop


def arrives(x, row):
    """True if a state row is at rest at a reference row: within 1 cm, 1 cm/s and 0.5 deg."""
    q_e = x[3:7] * np.sign(x[3:7] @ row[3:7]) - row[3:7]
    gap, speed = np.linalg.norm(x[:3] - row[:3]), np.linalg.norm(x[7:10])
    return gap < 0.01 and speed < 0.01 and 2.0 * np.linalg.norm(q_e) < np.deg2rad(0.5)


def test_a_users_own_law_flies_to_its_reference_in_process():
    loop = hover_with(OWN_LAW)
    assert isinstance(loop.vehicles[0].controller, PoseDamper)
    flown = loop.fly()[0]
    assert np.linalg.norm(flown.position_error[0]) == pytest.approx(ASIDE)
    assert arrives(flown.x[-1, 0], flown.reference[-1])


def test_a_users_own_law_flies_to_its_reference_between_messages():
    loop = hover_with("auto")
    references = ReferenceInput(3, InputLimits(), "stamped", needs_headings=False)
    responder = ControlResponder(made(OWN_LAW), references)
    for k in range(round(8.0 / DT)):
        row = loop.vehicles[0].reference(k).row
        assert responder.take_state(k * PERIOD, k, loop.plant.state()[0, 0]) is None
        command = responder.take_reference(k * PERIOD, 0, row, np.zeros(6))
        loop.plant.command(0, command)
        loop.plant.advance()
    assert arrives(loop.plant.state()[0, 0], row)


@pytest.mark.parametrize(
    ("law", "platform"),
    [
        ("full_actuation", "three_star"),
        ("under_actuation", "two_line"),
        ("position_yaw", "f450"),
    ],
)
def test_auto_is_the_law_that_the_joints_allow(law, platform):
    x, row = np.zeros(13), np.zeros(REF_FIXED + model_of(platform).count)
    x[6], row[2], row[6] = 1.0, 0.1, 1.0
    commands = [made(name, platform)(x, Reference(row)) for name in (law, "auto")]
    commands.append(controller_of(platform)(x, Reference(row)))
    for command in commands[1:]:
        np.testing.assert_array_equal(command.wrench_P, commands[0].wrench_P)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("position_yaw", "'position_yaw' flies platforms of actuation rigid, this one's is full"),
        ("strange", "unknown name 'strange': choose auto, full_actuation, under_actuation, "),
        ("flying:FlightRecord", "class 'flying:FlightRecord' has no method '__call__'"),
        ("iap_control.interaction.wrench_control:WrenchControl", "cannot be made: "),
    ],
)
def test_what_is_no_controller_is_refused(law, message):
    line = refusal(made, law)
    assert line.startswith("key 'control.law': ")
    assert message in line


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"blind": 2.1}, "nothing seen for 2.1 s"),
        ({"deviation": 0.7}, "uncertain by 0.70 m"),
        ({"deviation": float("nan")}, ""),
        ({"age": 1.5}, "no update for 1.5 s"),
    ],
)
def test_each_limit_has_its_reason(change, words):
    assert reason_of(SOUND._replace(**change), LIMITS) == words


def test_a_gap_in_the_states_is_a_loss_that_lasts_until_a_reset():
    failsafe = EstimateFailsafe(LIMITS)
    for t in (0.0, 0.005, 1.0):
        assert failsafe.reference(t, X, GIVEN) is GIVEN
    down = failsafe.reference(2.01, X, GIVEN)
    assert failsafe.text == "estimate lost at 2.01 s, no state for 1.0 s"
    assert down.row[REF_V] == pytest.approx([0.0, 0.0, -0.5])
    assert failsafe.reference(4.01, X, GIVEN).row[REF_P] == pytest.approx([1.0, 2.0, 2.0])
    failsafe.reset()
    assert failsafe.reference(0.0, X, GIVEN) is GIVEN
    assert not failsafe.text


def test_the_first_reason_stays():
    failsafe = EstimateFailsafe(LIMITS)
    assert not failsafe.judge(0.0, SOUND)
    assert failsafe.judge(1.0, SOUND._replace(blind=2.5))
    assert not failsafe.judge(2.0, SOUND._replace(deviation=0.9))
    assert failsafe.text == "estimate lost at 1.00 s, nothing seen for 2.5 s"
    assert failsafe.is_landing


def model(**joint):
    return model_of(platform_of(various(**joint)))


def test_two_free_aircraft_and_a_fixed_one_make_any_wrench():
    mixed = model(fixed=(0,))
    assert mixed.actuation.name == "full"
    np.testing.assert_allclose(mixed.B @ mixed.B_inverse, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(mixed.B_inverse[:2], 0.0, atol=1e-12)  # along its own z axis


def test_too_few_free_aircraft_are_refused_with_the_key():
    with pytest.raises(BadInput, match=r"key 'platform\.joints': .* push along 5 of 6 axes"):
        model(fixed=(0, 1))


def test_a_stronger_aircraft_bears_more():
    mixed = model(heavy=0)
    weight = mixed.inertia.mass * 9.81
    thrusts = mixed.B_inverse @ np.array([0.0, 0.0, weight, 0.0, 0.0, 0.0])
    lift = thrusts.reshape(3, 3)[:, 2]
    assert lift.sum() == pytest.approx(weight)
    torque = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    across = np.linalg.norm((mixed.B_inverse @ torque).reshape(3, 3), axis=1)
    assert across[0] > 1.3 * across[1]


def test_equal_aircraft_share_as_the_papers_minimum_norm_says():
    star = model()
    np.testing.assert_allclose(star.B_inverse, np.linalg.pinv(star.B), atol=1e-12)


def test_commands_stay_off_the_stops():
    star = model(limit_deg=20.0)
    allocator, rng = Allocator(star, rate_filter=0.01, dt=0.005), np.random.default_rng(4)
    for U in rng.normal(size=(100, 6)) * 60.0 + [0.0, 0.0, 60.0, 0.0, 0.0, 0.0]:
        q_WP = so3.quaternion_exp(0.1 * rng.normal(size=3))
        command = allocator(U, q_WP, np.zeros(3))
        z_P = so3.rotate(so3.conjugate(q_WP), so3.rotate(command.q_WB, np.array([0.0, 0.0, 1.0])))
        assert np.rad2deg(np.arccos(z_P[:, 2])).max() < 20.0
    assert allocator.saturated


def test_a_fixed_aircraft_gets_the_attitude_that_it_has():
    mixed = model(fixed=(1,))
    allocator = Allocator(mixed, rate_filter=0.01, dt=0.005)
    q_WP = so3.quaternion_exp(np.array([0.1, -0.2, 0.3]))
    weight = mixed.inertia.mass * 9.81
    command = allocator(np.array([3.0, 1.0, weight, 0.5, 0.2, 0.3]), q_WP, np.zeros(3))
    np.testing.assert_allclose(command.q_WB[1], so3.multiply(q_WP, mixed.q_PB[1]), atol=1e-12)


@pytest.mark.parametrize(
    "joint",
    [{"heavy": 0}, {"fixed": (0,)}, {"heavy": 0, "fixed": (1,)}, {"heavy": 2, "fixed": (0, 1, 2)}],
)
def test_platforms_of_several_kinds_hover(joint):
    (flown,) = fly_scenario({"description": "", "platform": various(**joint), "reference": HOVER})
    assert flown.position_rmse < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("joint", [{"heavy": 0}, {"fixed": (0,)}])
def test_platforms_of_several_kinds_fly_the_figure_eight(joint):
    eight = {"type": "figure_eight", "half_lap": 24.0, "laps": 1, "altitude": 4.1}
    eight |= {"amplitude": [4.5, 4.5, 2.4], "ramp_deg": [22.5, -22.5, 45.0]}
    tree = {"description": "", "platform": various(**joint), "reference": eight}
    (flown,) = fly_scenario(tree, duration=30.0)
    assert flown.position_rmse < 3e-3


def test_without_levers_nothing_is_compensated():
    assert LeverCompensation.of(Assembly.of(platform_of(various()))) is None
    rigid = platform_of(various(fixed=(0, 1, 2), offset=[0.0, 0.0, 0.02]))
    assert LeverCompensation.of(Assembly.of(rigid)) is None


def test_a_lever_adds_nothing_to_the_compensated_velocity():
    """The aircraft turn about their CoMs, which stand still: so does the platform, but for its levers."""
    assembly = Assembly.of(platform_of(various(offset=[0.0, 0.0, -0.02])))
    lever = LeverCompensation.of(assembly)
    q = np.array([joint.q_PJ for joint in assembly.joints])
    w = np.tile([0.7, -0.3, 0.0], (3, 1))
    base = np.concatenate([np.zeros(6), [1.0], np.cross(w[0], [0.0, 0.0, -0.02]), np.zeros(3)])
    x = joined_rows(assembly, base, q, w)
    np.testing.assert_allclose(x[1:, V], 0.0, atol=1e-12)
    np.testing.assert_allclose(lever(x, x[0])[[*range(7, 13)]], 0.0, atol=1e-12)


def test_a_motion_of_the_whole_platform_is_left_as_it_is():
    assembly = Assembly.of(platform_of(various(offset=[0.01, 0.0, -0.02])))
    base = np.concatenate(
        [np.zeros(3), so3.quaternion_exp(np.array([0.2, 0.1, -0.4])), np.arange(6.0)]
    )
    x = joined_rows(assembly, base)
    seen = LeverCompensation.of(assembly)(x, x[0])
    np.testing.assert_allclose(seen, x[0], atol=1e-12)
    assert seen[V] is not x[0, V] and (x[1:, W] == x[0, W]).all() and (x[0, Q] == base[Q]).all()
