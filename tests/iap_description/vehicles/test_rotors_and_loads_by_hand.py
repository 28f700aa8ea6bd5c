# SPDX-License-Identifier: BSD-3-Clause
"""Rotors, mixers, loads, faults and what is left of rotors, by numbers that are worked out by hand."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.vehicles.aircraft import (
    inertia_matrix,
    obey_triangle_inequality,
    principal_moments,
)
from iap_description.vehicles.chain_inertia import Bodies
from iap_description.vehicles.faults import (
    BatteryFault,
    LateCommands,
    MotorFault,
    RotorFault,
    SensorFault,
    has_come,
    overlap,
)  # fmt: skip
from iap_description.vehicles.gripper import Load, carrying, row_of
from iap_description.vehicles.health import Health
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.proximity import Proximity
from iap_description.vehicles.rotor import Rotor, RotorModel, RotorTilt

MODEL = RotorModel(
    thrust_coefficient=2e-7, thrust_factor=0.5, torque_ratio=0.02, rpm_min=1000.0, rpm_max=6000.0,
    time_constant_up=0.02, time_constant_down=0.03,
)  # fmt: skip
CORNERS = ((0.3, -0.2, 0.0), (-0.3, 0.2, 0.0), (0.3, 0.2, 0.0), (-0.3, -0.2, 0.0))
SPINS = ("ccw", "ccw", "cw", "cw")


def rotors(**keys):
    return tuple(
        Rotor(position=p, spin=spin, **keys) for p, spin in zip(CORNERS, SPINS, strict=True)
    )


def aircraft(**keys):
    """The aircraft of a platform with rotors of its own."""
    made = load_platform("three_star").aircraft.model_dump()
    made |= {"rotor": MODEL, "rotors": rotors(), "tilt": None} | keys
    return type(load_platform("three_star").aircraft).model_validate(made)


def test_an_inertia_of_six_numbers_has_its_products_off_the_diagonal():
    J = inertia_matrix((1.0, 2.0, 3.0, 0.1, 0.2, 0.3))
    assert J.tolist() == [[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 3.0]]
    assert inertia_matrix((1.0, 2.0, 3.0)).tolist() == np.diag([1.0, 2.0, 3.0]).tolist()
    np.testing.assert_allclose(principal_moments((2.0, 2.0, 5.0, 1.0, 0.0, 0.0)), [1.0, 3.0, 5.0])
    assert obey_triangle_inequality(1.0, 2.0, 3.0) and not obey_triangle_inequality(
        1.0, 2.0, 3.001
    )


def test_thrust_of_a_model_is_what_the_airframe_leaves_of_it():
    assert MODEL.c_f == pytest.approx(1e-7)
    one = aircraft(tilt_max_deg=45.0)
    assert one.thrust_limits == pytest.approx((0.4, 14.4)) and one.tilt_max == pytest.approx(
        np.pi / 4.0
    )
    two = aircraft(rotors=rotors()[:2])
    assert two.thrust_limits == pytest.approx((0.2, 7.2))
    assert (
        not two.turns_itself and two.presence.tolist() == [1.0, 1.0, 0.0, 0.0] and one.turns_itself
    )


def test_wrenches_of_four_thrusts_are_lift_lever_arms_and_drag():
    one = aircraft()
    made = one.wrench_of_rotor_thrusts
    np.testing.assert_allclose(made[:, 0], [0.0, 0.0, 1.0, -0.2, -0.3, -0.02])
    np.testing.assert_allclose(made[:, 3], [0.0, 0.0, 1.0, -0.2, 0.3, 0.02])
    np.testing.assert_allclose(made[2:] @ one.mix, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(one.mix[0], [0.25, -1.25, -1.0 / 1.2, -12.5])
    assert not one.is_vectored
    two = aircraft(rotors=rotors()[:2])
    assert two.wrench_of_rotor_thrusts[:, 2:].tolist() == np.zeros((6, 2)).tolist()
    np.testing.assert_allclose(two.mix[:2, 0], [0.5, 0.5])
    assert not two.mix[2:].any() and not two.mix[:, 3].any()


def test_rotors_that_lean_push_along_their_direction():
    leaning = rotors(direction=(0.0, 3.0, 4.0))
    one = aircraft(rotors=leaning)
    assert one.is_vectored
    np.testing.assert_allclose(leaning[0].ahead, [0.0, 0.6, 0.8])
    force = np.array([0.0, 0.6, 0.8])
    torque = np.cross(CORNERS[0], force) - 0.02 * force
    np.testing.assert_allclose(one.wrench_of_rotor_thrusts[:, 0], [*force, *torque])
    disc = so3.matrix_from_quaternion(leaning[0].attitude())
    np.testing.assert_allclose(disc[:, 2], force, atol=1e-12)
    np.testing.assert_allclose(disc[:, 0], [1.0, 0.0, 0.0], atol=1e-12)


def test_a_rotor_tilts_about_its_arm():
    tilt = RotorTilt(limit_deg=90.0, rate=3.0, time_constant=0.1)
    one = aircraft(tilt=tilt)
    rotor = one.rotors[0]
    assert tilt.limit == pytest.approx(np.pi / 2.0) and one.is_vectored
    length = np.hypot(0.3, 0.2)
    np.testing.assert_allclose(rotor.axis, [0.3 / length, -0.2 / length, 0.0])
    np.testing.assert_allclose(rotor.sideways, [-0.2 / length, -0.3 / length, 0.0])
    for angle in (0.0, 0.4, -1.2):
        thrust = np.cos(angle) * rotor.ahead + np.sin(angle) * rotor.sideways
        np.testing.assert_allclose(
            so3.rotate(rotor.attitude(angle), np.array([0.0, 0.0, 1.0])), thrust, atol=1e-12
        )
    made = one.wrench_of_tilted_thrusts
    assert made.shape == (6, 8)
    for k, each in enumerate(one.rotors):
        np.testing.assert_allclose(made[:, 2 * k], each.column(each.ahead, 0.02))
        np.testing.assert_allclose(made[:, 2 * k + 1], each.column(each.sideways, 0.02))
    assert not aircraft().wrench_of_tilted_thrusts[:, 1::2].any()
    own = Rotor(position=(0.3, 0.2, 0.0), spin="cw", arm=(0.0, 2.0, 0.0))
    np.testing.assert_allclose(own.axis, [0.0, 1.0, 0.0])


def test_a_load_is_a_row_of_ten_numbers():
    inertia = np.array([[1.0, 0.1, 0.2], [0.1, 1.2, 0.3], [0.2, 0.3, 1.4]])
    load = Load(0.5, np.array([7.0, 8.0, 9.0]), inertia)
    row = row_of(load)
    assert row.tolist() == [0.5, 7.0, 8.0, 9.0, 1.0, 0.1, 0.2, 1.2, 0.3, 1.4]
    back = Load.of(row)
    assert (
        back.mass == 0.5
        and back.com.tolist() == [7.0, 8.0, 9.0]
        and back.inertia.tolist() == inertia.tolist()
    )
    assert row_of(None).tolist() == [0.0] * 10 and Load.of(np.zeros(10)) is None


def test_the_last_body_of_a_chain_carries_a_load():
    bodies = Bodies(
        np.array([5.0, 1.0]), np.array([[0.0] * 3, [0.1, 0.0, 0.0]]), np.array([np.eye(3)] * 2)
    )
    assert carrying(bodies, None) is bodies
    masses, coms, inertias = carrying(
        bodies, Load(3.0, np.array([0.5, 0.0, 0.0]), 2.0 * np.eye(3))
    )
    assert masses.tolist() == [5.0, 4.0] and coms[1].tolist() == pytest.approx([0.4, 0.0, 0.0])
    np.testing.assert_allclose(inertias[1], np.diag([3.0, 3.12, 3.12]))
    assert bodies.masses.tolist() == [5.0, 1.0] and inertias[0].tolist() == np.eye(3).tolist()


FAULTS = (
    RotorFault(at=1.0, aircraft=2, rotor=3, thrust=0.25),
    MotorFault(at=2.0, aircraft=1, motors="off"),
    BatteryFault(at=1.0, aircraft=2, battery=0.8, over=2.0),
    SensorFault.model_validate({"at": 1.0, "sensor": "imu", "output": "frozen", "for": 2.5}),
    SensorFault(at=1.0, sensor="left", aircraft=3, output="silent"),
    LateCommands.model_validate({"at": 1.0, "commands_late": 0.025, "for": 0.5}),
)


def test_faults_say_what_they_do():
    assert [str(each) for each in FAULTS] == [
        "rotor 3 of aircraft 2 at 25 % thrust",
        "motors of aircraft 1 stopped",
        "battery of aircraft 2 down to 80 % speed",
        "imu of all aircraft frozen",
        "left of aircraft 3 silent",
        "commands 25 ms late",
    ]
    assert [each.until for each in FAULTS] == [np.inf, np.inf, np.inf, 3.5, np.inf, 1.5]
    assert (
        FAULTS[3].model_dump(by_alias=False)["for"] == 2.5
        and "lasts" not in FAULTS[3].model_dump()
    )


@pytest.mark.parametrize(
    ("t", "come"), [(0.9999989, False), (0.9999991, True), (1.0, True), (1.5, True)]
)
def test_an_instant_has_come_a_microsecond_before_it(t, come):
    assert has_come(1.0, t) == come
    assert FAULTS[5].acts(t) == (come and t < 1.5)


def test_faults_of_one_part_overlap_where_their_times_do():
    def imu(at, lasts=None, aircraft=None, sensor="imu"):
        return SensorFault.model_validate(
            {"at": at, "sensor": sensor, "aircraft": aircraft, "output": "silent", "for": lasts}
        )

    for first, second, both in (
        (imu(1.0, 1.0), imu(2.0), False), (imu(1.0, 1.1), imu(2.0), True), (imu(2.0), imu(1.0, 1.0), False),
        (imu(1.0, aircraft=1), imu(1.0, aircraft=2), False), (imu(1.0, aircraft=1), imu(1.0), True),
        (imu(1.0), imu(1.0, aircraft=2), True), (imu(1.0), imu(1.0, sensor="uwb"), False), (imu(1.0), FAULTS[0], False),
    ):  # fmt: skip
        assert overlap(first, second) == overlap(second, first) == both


def test_what_faults_leave_of_rotors():
    fleet = (aircraft(), aircraft(), aircraft(rotors=rotors()[:2]))
    health = Health.sound(fleet)
    assert health.aircraft.tolist() == [1.0, 1.0, 0.0] and health.rotors.tolist()[2] == [
        1.0,
        1.0,
        0.0,
        0.0,
    ]
    health.weaken(FAULTS, 0.5)
    assert (
        health.thrust.tolist() == health.presence.tolist() and health.speed.tolist() == [1.0] * 3
    )
    health.weaken(FAULTS, 2.0)
    assert health.speed.tolist() == pytest.approx([0.0, 0.9, 1.0])
    assert health.rotors[1].tolist() == pytest.approx([0.81, 0.81, 0.25 * 0.81, 0.81])
    assert health.aircraft.tolist() == pytest.approx([0.0, 0.2025, 0.0])
    assert health.thrust_per_command.tolist() == pytest.approx([1.0, 4.0 / 7.0, 1.0])
    health.weaken(FAULTS, 9.0)
    assert health.speed.tolist() == pytest.approx([0.0, 0.8, 1.0])
    health.weaken((), 9.0)
    assert (
        health.thrust.tolist() == health.presence.tolist() and health.speed.tolist() == [1.0] * 3
    )


@pytest.mark.parametrize(
    ("t", "factor"), [(0.99, 1.0), (1.0, 1.0), (1.5, 0.95), (3.0, 0.8), (9.0, 0.8)]
)
def test_a_battery_sags_in_a_straight_line(t, factor):
    assert FAULTS[2].factor(t) == pytest.approx(factor)
    assert BatteryFault(at=1.0, aircraft=2, battery=0.8).factor(t) == (1.0 if t < 1.0 else 0.8)


@pytest.mark.parametrize(
    ("push", "sink", "acts"), [(0.0, 0.0, False), (0.1, 0.0, True), (0.0, 0.1, True)]
)
def test_air_between_modules_acts_where_one_of_both_forces_does(push, sink, acts):
    assert Proximity(push=push, sink=sink, length=0.1).acts == acts
