# SPDX-License-Identifier: BSD-3-Clause
"""The law `attitude`: attitude and thrust of one aircraft, which its own autopilot turns to."""

import numpy as np
import pytest

from iap_control.actuation.kinds import platform_model
from iap_control.controllers.attitude import AttitudeController
from iap_control.controllers.controller import PlatformController, make_controller
from iap_control.controllers.velocity import VelocityController
from iap_control.gains import Gains, gains_tree
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import Level, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_simulation.simulation.simulation import Simulation

GAINS = Gains.model_validate(gains_tree("default"))


def controller(platform):
    record = load_platform(platform)
    assembly = Assembly.of(record)
    model = platform_model(assembly, record.fleet, gravity=9.81, com_coupling=True)
    return AttitudeController(model, GAINS, dt=0.005)


def at_rest():
    x = np.zeros(13)
    x[6] = 1.0
    return x


def reference(acceleration=(0.0, 0.0, 0.0)):
    row = np.zeros(20)
    row[6], row[13:16] = 1.0, acceleration
    return Reference(row)


def test_in_hover_it_commands_the_weight_and_a_level_attitude():
    command = controller("f450")(at_rest(), reference())
    assert command.mode == Mode.ATTITUDE_THRUST
    assert command.thrust == pytest.approx([1.6 * 9.81])
    assert command.q_WB[0] == pytest.approx([0.0, 0.0, 0.0, 1.0])


def test_the_thrust_points_where_the_acceleration_of_the_reference_needs_it():
    command = controller("f450")(at_rest(), reference((2.0, 1.0, 0.5)))
    up = so3.rotate(command.q_WB[0], np.array([0.0, 0.0, 1.0]))
    wanted = np.array([2.0, 1.0, 9.81 + 0.5])
    assert up == pytest.approx(wanted / np.linalg.norm(wanted))


def test_platforms_of_several_aircraft_are_refused_by_the_key():
    with pytest.raises(BadInput, match="key 'control.law': 'attitude'"):
        controller("three_star")


def test_wrenches_as_references_say_nothing_of_an_attitude():
    with pytest.raises(BadInput, match="follows poses"):
        controller("f450")(at_rest(), Reference(reference().row, Level.WRENCH))


@pytest.mark.slow
def test_the_aircrafts_own_autopilot_follows_a_figure_by_it():
    settings = {"control.law": "attitude", "engine.name": "closed_form"}
    with Simulation.of("figure_eight", platform="f450", settings=settings) as simulation:
        worst = 0.0
        while simulation.t < 12.0:
            row = simulation.loop.vehicles[0].reference(simulation.loop.k).row
            worst = max(worst, float(np.linalg.norm(simulation.state[0, :3] - row[:3])))
            simulation.step()
    assert worst < 0.02


@pytest.mark.parametrize(
    ("law", "made"),
    [
        ("attitude", AttitudeController),
        ("velocity", VelocityController),
        ("auto", PlatformController),
    ],
)
def test_a_law_is_made_by_its_name(law, made):
    """Laws of one multirotor, and the platform's own."""
    record = load_platform("f450")
    model = platform_model(Assembly.of(record), record.fleet, gravity=9.81, com_coupling=True)
    controller = make_controller(law, model, GAINS, dt=0.005, yaw_mode="follow")
    assert type(controller) is made
