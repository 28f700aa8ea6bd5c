# SPDX-License-Identifier: BSD-3-Clause
"""Set-points of real autopilots mean the same motion as the suite's commands."""

import math

import numpy as np
import pytest
from autopilot_messages import stand_in

from iap_control.offboard.aircraft_setpoint import AircraftSetpoint, MotionSetpoint
from iap_control.offboard.kinds import KINDS, make_messages
from iap_control.offboard.mavros import MavrosSetpoints
from iap_control.offboard.px4 import Px4Setpoints
from iap_description.errors import BadInput
from iap_description.frames import R_ENU_NED, R_FLU_FRD, swap_attitude
from iap_description.math import so3
from iap_description.states import REF_A, REF_P, REF_Q, REF_V, REF_W, Command, Level, Mode

STAMP = 12_345_678_901  # [ns]
THRUST_MAX = 20.0


def command(mode, seed=0):
    """A command for two aircraft with any values."""
    rng = np.random.default_rng(seed)
    out = Command.zeros(2, mode)
    out.q_WB[:] = so3.normalized(rng.normal(size=(2, 4)))
    out.w_WB_B[:], out.thrust[:] = rng.normal(size=(2, 3)), (5.0, 15.0)
    return out


def said(kind, given, number=1):
    """What a kind publishes for an aircraft, by topic."""
    setpoint = AircraftSetpoint.of(given, number, THRUST_MAX)
    return dict(kind(stand_in).fill(setpoint, STAMP))


def flags(offboard):
    """Which loops an OffboardControlMode names."""
    return [name for name in type(offboard).__slots__ if getattr(offboard, name, False) is True]


def reference(yaw=0.7):
    """A reference row with any motion, level at a heading [rad] and turning."""
    row = np.random.default_rng(3).normal(size=20)
    row[REF_Q] = (0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))
    row[REF_W] = (0.0, 0.0, 0.4)
    return row


def motion_said(kind, row, level=Level.POSE):
    """What a kind publishes for a reference, by topic."""
    return dict(kind(stand_in).fill_motion(MotionSetpoint.of(row, level), STAMP))


def xyz(vector):
    return [vector.x, vector.y, vector.z]


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.5, 3.1])
def test_px4s_trajectory_is_the_reference_in_north_east_down(yaw):
    row = reference(yaw)
    message = motion_said(Px4Setpoints, row)["fmu/in/trajectory_setpoint"]
    for got, part in (
        (message.position, REF_P),
        (message.velocity, REF_V),
        (message.acceleration, REF_A),
    ):
        assert got == pytest.approx(R_ENU_NED.T @ row[part], abs=1e-12)
    nose_W = so3.rotate(row[REF_Q], np.array([1.0, 0.0, 0.0]))
    nose = [math.cos(message.yaw), math.sin(message.yaw), 0.0]  # north, east, down
    assert nose == pytest.approx(R_ENU_NED.T @ nose_W, abs=1e-12)
    assert abs(message.yaw) <= math.pi
    assert message.yawspeed == pytest.approx(-0.4)
    assert np.isnan(message.jerk).all()


LOOPS = [
    (Level.POSE, "position"),
    (Level.VELOCITY, "velocity"),
    (Level.ACCELERATION, "acceleration"),
]


@pytest.mark.parametrize(("level", "loop"), LOOPS)
def test_px4_tracks_what_the_references_level_says_and_nothing_above(level, loop):
    offboard, message = motion_said(Px4Setpoints, reference(), level).values()
    assert flags(offboard) == [loop]
    assert np.isnan(message.position).all() == (level > Level.POSE) == math.isnan(message.yaw)
    assert (
        np.isnan(message.velocity).all()
        == (level > Level.VELOCITY)
        == math.isnan(message.yawspeed)
    )
    assert np.isfinite(message.acceleration).all()


MASKS = [(Level.POSE, 0), (Level.VELOCITY, 7 + 1024), (Level.ACCELERATION, 7 + 56 + 1024 + 2048)]


@pytest.mark.parametrize(("level", "mask"), MASKS)
def test_mavros_gets_the_reference_as_it_is_and_a_mask_of_what_is_not_tracked(level, mask):
    row = reference()
    ((topic, point),) = motion_said(MavrosSetpoints, row, level).items()
    assert topic == "mavros/setpoint_raw/local"
    assert (point.type_mask, point.coordinate_frame, point.header.frame_id) == (mask, 1, "map")
    assert xyz(point.acceleration_or_force) == row[REF_A].tolist()
    if level == Level.POSE:
        assert xyz(point.position) + xyz(point.velocity) == [*row[REF_P], *row[REF_V]]
        assert (point.yaw, point.yaw_rate) == pytest.approx((0.7, 0.4))


def test_a_reference_of_a_wrench_is_refused():
    with pytest.raises(BadInput, match="WRENCH"):
        MotionSetpoint.of(reference(), Level.WRENCH)


@pytest.mark.parametrize("seed", range(5))
def test_px4s_attitude_is_the_commanded_one_from_frd_to_ned(seed):
    given = command(Mode.ATTITUDE_THRUST, seed)
    message = said(Px4Setpoints, given)["fmu/in/vehicle_attitude_setpoint_v1"]
    w, x, y, z = message.q_d
    R = so3.matrix_from_quaternion(np.array([x, y, z, w]))
    expected = swap_attitude(so3.matrix_from_quaternion(given.q_WB[1]))
    assert R == pytest.approx(expected, abs=1e-12)
    thrust_W = R_ENU_NED @ R @ np.array(message.thrust_body)  # along the aircraft's z axis
    up_W = so3.rotate(given.q_WB[1], np.array([0.0, 0.0, 1.0]))
    assert thrust_W == pytest.approx(15.0 / THRUST_MAX * up_W, abs=1e-12)
    w_W = so3.rotate(given.q_WB[1], given.w_WB_B[1])
    assert message.yaw_sp_move_rate == pytest.approx(-w_W[2], abs=1e-12)


def test_level_to_the_north_is_no_turn_to_px4_and_to_the_east_a_quarter_right():
    given = command(Mode.ATTITUDE_THRUST)
    topic, half = "fmu/in/vehicle_attitude_setpoint_v1", math.sqrt(0.5)
    given.q_WB[1] = (0.0, 0.0, half, half)
    assert np.abs(said(Px4Setpoints, given)[topic].q_d) == pytest.approx([1, 0, 0, 0])
    given.q_WB[1] = (0.0, 0.0, 0.0, 1.0)
    q = np.array(said(Px4Setpoints, given)[topic].q_d)
    assert q * np.sign(q[0]) == pytest.approx([half, 0, 0, half])


def test_px4s_rates_are_those_of_its_own_body_axes():
    given = command(Mode.RATE_THRUST)
    message = said(Px4Setpoints, given, 0)["fmu/in/vehicle_rates_setpoint"]
    rates = np.array([message.roll, message.pitch, message.yaw])
    assert pytest.approx(R_FLU_FRD @ given.w_WB_B[0], abs=1e-12) == rates
    assert message.thrust_body == [0.0, 0.0, -0.25]


@pytest.mark.parametrize("mode", [Mode.ATTITUDE_THRUST, Mode.RATE_THRUST])
def test_px4_gets_first_which_of_both_counts(mode):
    (first, offboard), (_, setpoint) = said(Px4Setpoints, command(mode)).items()
    assert first == "fmu/in/offboard_control_mode"
    assert flags(offboard) == ["attitude" if mode == Mode.ATTITUDE_THRUST else "body_rate"]
    assert offboard.timestamp == setpoint.timestamp == STAMP // 1000


@pytest.mark.parametrize(("mode", "mask"), [(Mode.ATTITUDE_THRUST, 7), (Mode.RATE_THRUST, 128)])
def test_mavros_gets_attitude_and_rates_as_they_are_and_a_mask_of_what_does_not_count(mode, mask):
    given = command(mode)
    ((topic, target),) = said(MavrosSetpoints, given).items()
    assert topic == "mavros/setpoint_raw/attitude"
    q, w = target.orientation, target.body_rate
    assert [q.x, q.y, q.z, q.w] == given.q_WB[1].tolist()
    assert [w.x, w.y, w.z] == given.w_WB_B[1].tolist()
    assert (target.type_mask, target.thrust, target.header.frame_id) == (mask, 0.75, "map")
    assert target.header.stamp.sec + 1e-9 * target.header.stamp.nanosec == pytest.approx(
        1e-9 * STAMP
    )


@pytest.mark.parametrize(("thrust", "share"), [(-1.0, 0.0), (0.0, 0.0), (10.0, 0.5), (99.0, 1.0)])
def test_thrust_is_a_share_of_the_largest_within_0_and_1(thrust, share):
    given = command(Mode.ATTITUDE_THRUST)
    given.thrust[1] = thrust
    assert AircraftSetpoint.of(given, 1, THRUST_MAX).share == share


@pytest.mark.parametrize("mode", [Mode.WRENCH, Mode.RPM])
def test_commands_that_no_autopilot_takes_are_refused_by_name(mode):
    with pytest.raises(BadInput, match=f"mode {mode:d} \\({mode.name}\\)"):
        AircraftSetpoint.of(Command.zeros(1, mode), 0, THRUST_MAX)


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_that_is_not_installed_is_named_with_what_installs_it(kind):
    def missing(msgtype):
        raise ModuleNotFoundError(f"No module named '{msgtype.split('/', maxsplit=1)[0]}'")

    with pytest.raises(BadInput, match=f"'{kind}' needs .*No module named.*apt install"):
        make_messages(kind, missing)


@pytest.mark.parametrize("part", ["thrust", "w_WB_B", "q_WB"])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_command_that_is_no_number_does_not_reach_an_autopilot(part, number):
    given = command(Mode.ATTITUDE_THRUST)
    getattr(given, part)[1] = number
    with pytest.raises(BadInput, match="aircraft 2 is no finite number"):
        AircraftSetpoint.of(given, 1, THRUST_MAX)
    assert AircraftSetpoint.of(given, 0, THRUST_MAX).share == 0.25


def test_a_reference_that_is_no_number_is_refused_where_it_is_tracked():
    row = reference()
    row[REF_P] = math.nan
    with pytest.raises(BadInput, match="not finite"):
        MotionSetpoint.of(row, Level.POSE)
    assert np.isnan(MotionSetpoint.of(row, Level.VELOCITY).p_W).all()
