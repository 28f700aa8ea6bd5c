# SPDX-License-Identifier: BSD-3-Clause
"""A controller that is told of faults shares wrenches out among what is left, and says whether that carries."""

import numpy as np
import pytest
from flying import controller_of, model_of

from iap_control.controllers import known_faults
from iap_control.controllers.known_faults import KnownFaults, RemainingThrust, read_faults
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.faults import BatteryFault, MotorFault, RotorFault
from iap_description.vehicles.platform import load_platform

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def off(aircraft, at=1.0):
    return MotorFault(at=at, aircraft=aircraft, motors="off", known=True)


def loss_of(platform, *faults):
    return RemainingThrust.of(1.0, model_of(platform), faults, "test")


def made(model, command):
    """The wrench (6,) in P of a command to a level jointed platform."""
    f_W = command.thrust[:, None] * so3.rotate(command.q_WB, np.array([0.0, 0.0, 1.0]))
    return model.B @ f_W.ravel()


def hover(model):
    """The active wrench of level hover, about P's origin."""
    weight = np.array([0.0, 0.0, model.inertia.mass * 9.81])
    return np.concatenate([weight, np.cross(model.inertia.d_0, weight)])


def test_the_rest_makes_the_wrench_and_the_lost_aircraft_stops():
    controller = controller_of("star_6")
    controller.set_model(loss_of("star_6", off(2)).model)
    wanted = hover(controller.model) + [4.0, -3.0, 2.0, 0.5, -0.7, 0.4]
    command = controller.allocator(wanted, LEVEL, np.zeros(6))
    assert command.thrust[1] == 0.0
    np.testing.assert_allclose(made(controller.model, command), wanted, atol=1e-9)
    assert not controller.allocator.saturated
    np.testing.assert_array_equal(controller.allocator.short, 0.0)


def test_a_weak_aircraft_takes_less_within_what_it_can():
    model = loss_of("star_6", BatteryFault(at=1.0, aircraft=1, battery=0.7)).model
    np.testing.assert_allclose(model.thrust_limits[:, 1], [0.49 * 36.0, *[36.0] * 5], rtol=1e-6)
    forces = np.linalg.norm((model.B_inverse @ hover(model)).reshape(-1, 3), axis=1)
    assert forces[0] < 0.6 * forces[1:].min()
    np.testing.assert_allclose(model.B @ model.B_inverse, np.eye(6), atol=1e-9)


def test_a_weak_rotor_limits_its_whole_aircraft():
    """Rotors whose torques balance thrust alike."""
    model = loss_of("star_6", RotorFault(at=1.0, aircraft=3, rotor=2, thrust=0.6)).model
    np.testing.assert_allclose(model.thrust_limits[2, 1], 0.6 * 36.0, rtol=1e-6)


def test_a_weak_rotors_aircraft_is_asked_for_what_its_autopilot_falls_short_of():
    """Balanced rotors thrust f each; three are commanded f and the weak one f / 0.6."""
    controller = controller_of("star_6")
    controller.set_model(
        loss_of("star_6", RotorFault(at=1.0, aircraft=3, rotor=2, thrust=0.6)).model
    )
    command = controller.allocator(hover(controller.model), LEVEL, np.zeros(6))
    real = command.thrust.copy()
    real[2] /= (3.0 + 1.0 / 0.6) / 4.0
    command.thrust[:] = real
    np.testing.assert_allclose(made(controller.model, command), hover(controller.model), atol=1e-9)


def test_star_4_cannot_lose_one_and_says_by_how_much_and_star_6_can():
    lost = loss_of("star_4", off(2))
    assert not lost.can_carry
    assert "36.8 of the 36.0 N" in lost.text and "cannot carry" in lost.text
    assert lost.load == pytest.approx(36.8 / 36.0, abs=2e-3)
    kept = loss_of("star_6", off(2))
    assert kept.can_carry and 0.7 < kept.load < 0.9


def test_what_holds_no_attitude_cannot_carry_whatever_its_thrust():
    lost = loss_of("three_star", off(1))
    assert not lost.can_carry
    assert "no thrusts of the rest hold it level" in lost.text


def test_without_any_aircraft_left_nothing_carries_and_commands_are_numbers():
    controller = controller_of("three_star")
    lost = loss_of("three_star", off(1), off(2), off(3))
    assert not lost.can_carry
    controller.set_model(lost.model)
    command = controller.allocator(hover(lost.model), LEVEL, np.zeros(3))
    assert all(np.isfinite(array).all() for array in command.arrays)
    assert not command.thrust.any()


def test_a_rigid_platform_turns_its_weak_rotors_faster_and_its_lost_ones_not_at_all():
    weak = RotorFault(at=1.0, aircraft=1, rotor=2, thrust=0.8)
    model = loss_of("star_6_fixed", weak, off(4)).model
    controller = controller_of("star_6_fixed")
    controller.set_model(model)
    wanted = hover(model) + [0.0, 0.0, 1.0, 0.3, -0.2, 0.0]
    command = controller.allocator(wanted, LEVEL, np.zeros(6))
    assert not command.rpm[3].any()
    per_square = model.fleet[0].rotor.thrust_coefficient * model.health.rotors
    wrench = model.B @ (per_square * np.square(command.rpm)).ravel()
    np.testing.assert_allclose(wrench[2:], wanted[2:], atol=1e-9)


class Pilot:
    """Keeps what it is told."""

    def __init__(self):
        self.models = []

    def set_model(self, model):
        self.models.append(model)


def test_each_is_reported_in_its_time_and_a_reset_makes_all_sound():
    pilot, model = Pilot(), model_of("star_6")
    unknown = MotorFault(at=0.5, aircraft=6, motors="off")
    faults = KnownFaults([off(3, at=2.0), unknown, off(1)], model, pilot)
    faults.tell(0.995)
    assert not pilot.models
    faults.tell(1.0)
    assert pilot.models[-1].health.speed.tolist() == [0, 1, 1, 1, 1, 1]
    faults.tell(1.5)
    assert len(pilot.models) == faults.applied == 1
    faults.tell(2.0)
    assert pilot.models[-1].health.speed.tolist() == [0, 1, 0, 1, 1, 1]
    faults.reset()
    assert pilot.models[-1] is model and faults.applied == 0


def test_a_controller_that_takes_no_faults_is_refused():
    with pytest.raises(BadInput, match="key 'faults': .* set_model; object has none"):
        KnownFaults([off(1)], model_of("three_star"), object())
    KnownFaults([], model_of("three_star"), object())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[{at: 1.0, aircraft: 4, motors: off}]", "parameter faults: key 'faults.0.aircraft'"),
        ("[{at: 1.0, aircraft: 1, rotor: 9, thrust: 0.5}]", "key 'faults.0.rotor'"),
        ("[{at: 1.0, commands_late: 0.1}]", "key 'faults.0"),
        ("{at: 1.0}", "key 'faults'"),
    ],
)
def test_a_bad_parameter_is_refused_by_its_key(text, words):
    with pytest.raises(BadInput, match=words):
        read_faults(text, load_platform("three_star").fleet, source="parameter faults")


@pytest.mark.parametrize(
    ("load", "carries"), [(0.5, True), (0.9, True), (0.901, False), (0.91, False), (np.inf, False)]
)
def test_what_is_left_carries_with_a_tenth_to_spare(monkeypatch, load, carries):
    monkeypatch.setattr(known_faults, "_load", lambda model, parts: (load, "hovering takes much"))
    lost = RemainingThrust.of(2.0, model_of("star_6"), [off(2)], "new")
    end = "" if carries else ": what is left cannot carry the platform with margin"
    assert lost.can_carry == carries and lost.text == f"new: hovering takes much{end}"
    assert (lost.at, lost.load) == (2.0, load)


def test_a_loss_names_the_faults_that_are_new_then_but_counts_all():
    both = [off(1), off(3, at=2.0), MotorFault(at=2.0, aircraft=5, motors="off", known=True)]
    faults = KnownFaults(both, model_of("star_6"), Pilot())
    first, second = faults.losses
    assert first.text.startswith(f"{both[0]}: ") and str(both[1]) not in first.text
    assert second.text.startswith(f"{both[1]}, {both[2]}: ")
    assert second.model.health.speed.tolist() == [0, 1, 0, 1, 0, 1]
    assert [each.at for each in faults.losses] == [1.0, 2.0]


def test_who_takes_most_is_an_aircraft_or_a_rotor_of_one_body():
    jointed, rigid = loss_of("star_6", off(2)), loss_of("f450")
    assert jointed.text.split(" N of ")[1].startswith("aircraft ")
    assert rigid.text.split(" N of ")[1].startswith("rotor ") and " of aircraft 1" in rigid.text
    assert known_faults._whose(6, is_rotor=True) == "rotor 3 of aircraft 2"
    assert known_faults._whose(6, is_rotor=False) == "aircraft 7"
