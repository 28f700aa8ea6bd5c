# SPDX-License-Identifier: BSD-3-Clause
"""The choice of a controller by its name, and a user's own one in flight: in process and between messages."""

from dataclasses import replace

import numpy as np
import pytest
from flying import DT, Loop, controller_of, gains_of, model_of, scenario_of
from own_law import PoseDamper

from iap_control.controllers.controller import make_controller
from iap_control.responders.control_responder import ControlResponder
from iap_control.responders.inputs import InputLimits
from iap_control.responders.reference_input import ReferenceInput
from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import REF_FIXED

OWN_LAW = "own_law:PoseDamper"
ASIDE = 0.3  # of the reference against the start [m]
PERIOD = round(DT * 1e9)


def made(law, platform="three_star"):
    return make_controller(law, model_of(platform), gains_of(), dt=DT, yaw_mode="follow")


def hover_with(law):
    """A hover whose reference lies beside the start."""
    loop = Loop.of(scenario_of("hover", f"control.law={law}", duration=8.0))
    vehicle = loop.vehicles[0]
    vehicle.timeline = replace(vehicle.timeline, offset=np.array([ASIDE, 0.0, 0.0]))
    return loop


def arrives(x, row):
    """Whether a state row is at rest at a reference row: within 1 cm, 1 cm/s and 0.5 deg."""
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
        ("strange", "unknown name 'strange' (choices: auto, full_actuation, under_actuation, "),
        ("flying:Flown", "class 'flying:Flown' has no method '__call__'"),
        ("iap_control.interaction.wrench_control:WrenchControl", "cannot be made: "),
    ],
)
def test_what_is_no_controller_is_refused(law, message):
    with pytest.raises(BadInput) as refusal:
        made(law)
    assert str(refusal.value).startswith("key 'control.law': ")
    assert message in str(refusal.value)
