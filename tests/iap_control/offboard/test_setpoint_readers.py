# SPDX-License-Identifier: BSD-3-Clause
"""Set-points of outside controllers are read as the same motion that offboard_node writes, and as PX4 takes them."""

import math

import numpy as np
import pytest
from autopilot_messages import KINDS as STAND_INS
from autopilot_messages import stand_in

from iap_control.offboard.aircraft_setpoint import AircraftSetpoint, MotionSetpoint
from iap_control.offboard.kinds import KINDS, make_messages, make_reader
from iap_control.offboard.setpoint_input import SetpointInput
from iap_description.errors import BadInput
from iap_description.frames import R_ENU_NED, R_FLU_FRD, from_ned, swap_attitude, to_ned
from iap_description.math import so3
from iap_description.states import REF_Q, Command, Level, Mode, P, Q, V, W

NAN = math.nan
THRUST_MAX = 20.0
AUTOPILOTS = sorted(KINDS)


def heard(kind, outlets):
    """The set-point in force after messages of a kind have come, each as often as it is needed."""
    source = SetpointInput(make_reader(kind, stand_in), 1.0)
    inlets = {inlet.topic: inlet for inlet in make_reader(kind, stand_in).inlets}
    for topic, message in outlets:
        source.take(inlets[topic], message, 0.0)
    return source.at(0.5)


def command(mode, seed):
    rng = np.random.default_rng(seed)
    out = Command.zeros(1, mode)
    out.q_WB[:] = so3.normalized(rng.normal(size=(1, 4)))
    out.w_WB_B[:], out.thrust[:] = rng.normal(size=(1, 3)), rng.uniform(0.0, THRUST_MAX)
    return out


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", AUTOPILOTS)
@pytest.mark.parametrize("mode", [Mode.ATTITUDE_THRUST, Mode.RATE_THRUST])
def test_a_command_that_was_sent_comes_back_as_the_same_command(kind, mode, seed):
    """But for the rates beside an attitude, of which autopilots take the turn about the vertical alone, or none."""
    sent, back = command(mode, seed), Command.zeros(1, mode)
    messages = make_messages(kind, stand_in)
    setpoint = AircraftSetpoint.of(sent, 0, THRUST_MAX)
    came = heard(kind, messages.fill(setpoint, 0))
    came.put(back, 0, THRUST_MAX)
    assert came.mode == mode
    assert back.thrust == pytest.approx(sent.thrust, abs=1e-9)
    if mode == Mode.RATE_THRUST:
        assert back.w_WB_B == pytest.approx(sent.w_WB_B, abs=1e-9)
        return
    q = back.q_WB[0] * np.sign(back.q_WB[0] @ sent.q_WB[0])
    assert q == pytest.approx(sent.q_WB[0], abs=1e-9)
    turns = so3.rotate(sent.q_WB[0], sent.w_WB_B[0])[2] if kind == "px4" else 0.0
    assert so3.rotate(q, back.w_WB_B[0]) == pytest.approx([0.0, 0.0, turns], abs=1e-9)


@pytest.mark.parametrize("level", [Level.POSE, Level.VELOCITY, Level.ACCELERATION])
@pytest.mark.parametrize("kind", AUTOPILOTS)
def test_a_reference_that_was_sent_comes_back_as_the_same_motion(kind, level):
    row = np.random.default_rng(3).normal(size=20)
    row[REF_Q] = so3.quaternion_exp(np.array([0.0, 0.0, -2.5]))
    sent = MotionSetpoint.of(row, level)
    came = heard(kind, make_messages(kind, stand_in).fill_motion(sent, 0))
    for got, expected in zip(came, sent, strict=True):
        assert got == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("kind", AUTOPILOTS)
def test_what_is_read_and_written_again_are_the_same_messages(kind):
    """Also where one axis alone has a position, as in a climb at a level velocity."""
    sent = MotionSetpoint((NAN, NAN, 2.0), (1.0, -0.5, NAN), (NAN, NAN, NAN), NAN, 0.3)
    messages = make_messages(kind, stand_in)
    came = heard(kind, messages.fill_motion(sent, 0))
    for got, expected in zip(came, sent, strict=True):
        assert got == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("seed", range(5))
def test_attitudes_from_ned_are_the_inverse_of_those_to_ned(seed):
    q = so3.normalized(np.random.default_rng(seed).normal(size=4))
    assert from_ned(to_ned(tuple(q))) == pytest.approx(q, abs=1e-15)


def px4_message(name, **fields):
    message = next(kind for kind in STAND_INS if kind.__name__ == name)()
    for key, value in fields.items():
        setattr(message, key, value)
    return message


NOTHING = [NAN, NAN, NAN]


def point(**fields):
    """A TrajectorySetpoint that controls nothing but what is given."""
    nothing = dict.fromkeys(("position", "velocity", "acceleration", "jerk"), NOTHING)
    headings = {"yaw": NAN, "yawspeed": NAN}
    return px4_message("TrajectorySetpoint", **(nothing | headings | fields))


def mode(**flags):
    return px4_message("OffboardControlMode", **flags)


class Px4:
    """An outside controller by PX4's topics."""

    def __init__(self):
        reader = make_reader("px4", stand_in)
        self.inlets = {inlet.msgtype.split("/")[-1]: inlet for inlet in reader.inlets}
        self.input = SetpointInput(reader, 1.0)

    def say(self, message, t=0.0):
        return self.input.take(self.inlets[type(message).__name__], message, t)


def test_px4_reads_positions_and_headings_in_north_east_down():
    px4 = Px4()
    px4.say(mode(position=True))
    came = px4.say(point(position=[1.0, 2.0, -3.0], yaw=0.5 * math.pi))
    assert came.p_W == (2.0, 1.0, 3.0)
    assert came.yaw == pytest.approx(0.0)
    assert np.isnan([*came.v_W, *came.a_W, came.yaw_rate]).all()


UNFIT = [
    ({"position": [1.0, 2.0, NAN]}, "an axis has neither"),
    ({}, "an axis has neither"),
    ({"position": [1.0, NAN, -1.0], "velocity": [0.0, 0.0, 0.0]}, "x and y"),
    ({"velocity": [math.inf, 0.0, 0.0]}, "infinite"),
]


@pytest.mark.parametrize(("fields", "reason"), UNFIT)
def test_points_that_px4_would_not_fly_are_refused_and_the_one_before_stays(fields, reason):
    px4 = Px4()
    px4.say(mode(position=True))
    before = px4.say(point(position=[0.0, 0.0, -1.0]))
    with pytest.raises(BadInput, match=reason):
        px4.say(point(**fields))
    assert px4.input.at(0.1) is before


def attitude(**fields):
    whole = {"q_d": [1.0, 0.0, 0.0, 0.0], "thrust_body": [0.0, 0.0, -0.5], "yaw_sp_move_rate": NAN}
    return px4_message("VehicleAttitudeSetpoint", **(whole | fields))


def rates(**fields):
    whole = {"roll": 0.0, "pitch": 0.0, "yaw": 0.0, "thrust_body": [0.0, 0.0, -0.5]}
    return px4_message("VehicleRatesSetpoint", **(whole | fields))


REFUSED = [
    (attitude(q_d=[2.0, 0.0, 0.0, 0.0]), "q_d: of norm 2"),
    (attitude(q_d=[NAN, 0.0, 0.0, 0.0]), "q_d: nan"),
    (attitude(thrust_body=[0.1, 0.0, -0.5]), "thrust_body: .*sideways"),
    (rates(thrust_body=[0.0, 0.0, NAN]), "thrust_body: nan"),
    (rates(roll=NAN), "roll, pitch, yaw: nan"),
    (mode(), "none of position"),
    (mode(direct_actuator=True), "direct_actuator: rotors and torques"),
]


@pytest.mark.parametrize(("message", "reason"), REFUSED)
def test_px4_set_points_that_cannot_be_meant_are_refused_by_name(message, reason):
    with pytest.raises(BadInput, match=reason):
        Px4().say(message)


@pytest.mark.parametrize(("down", "share"), [(0.5, 0.0), (-0.3, 0.3), (-1.5, 1.0)])
def test_a_thrust_of_px4_is_cut_at_none_and_the_largest(down, share):
    px4 = Px4()
    px4.say(mode(attitude=True))
    assert px4.say(attitude(thrust_body=[0.0, 0.0, down])).share == share


def test_the_outermost_loop_that_px4_is_told_counts_whatever_else_comes():
    px4 = Px4()
    assert px4.say(attitude()) is None  # no loop is named yet
    assert px4.input.at(0.0) is None
    px4.say(mode(attitude=True))
    assert px4.input.at(0.0).has_attitude
    assert px4.say(point(position=[0.0, 0.0, -1.0])).has_attitude
    px4.say(mode(position=True, attitude=True))
    assert isinstance(px4.input.at(0.0), MotionSetpoint)
    px4.say(mode(attitude=True))
    assert px4.input.at(0.0) is None  # the attitude of the time before does not come back
    px4.say(mode(body_rate=True))
    assert not px4.say(rates()).has_attitude


def test_px4s_offboard_mode_is_lost_without_its_messages_and_comes_back_with_them():
    px4 = Px4()
    px4.say(mode(attitude=True), t=1.0)
    px4.say(attitude(), t=1.0)
    assert px4.input.at(2.0).has_attitude and not px4.input.is_lost
    px4.say(attitude(), t=2.0)  # no sign of life
    assert px4.input.at(2.01) is None and px4.input.is_lost
    px4.say(mode(attitude=True), t=3.0)
    assert px4.input.at(3.0).has_attitude and not px4.input.is_lost


def test_a_simulation_that_begins_anew_does_not_lose_its_controller():
    px4 = Px4()
    px4.say(mode(attitude=True), t=50.0)
    px4.say(attitude(), t=50.0)
    assert px4.input.at(0.0).has_attitude
    assert px4.input.at(1.1) is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"coordinate_frame": 8}, "coordinate_frame 8"),
        ({"type_mask": 512}, "a force is not flown"),
        ({"type_mask": 7 + 56 + 448}, "an axis has neither"),
    ],
)
def test_points_that_mavros_could_not_hand_on_are_refused_by_name(fields, reason):
    messages = make_messages("mavros", stand_in)
    sent = MotionSetpoint((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0)
    (outlet,) = messages.fill_motion(sent, 0)
    for key, value in fields.items():
        setattr(outlet.message, key, value)
    with pytest.raises(BadInput, match=reason):
        heard("mavros", [outlet])


@pytest.mark.parametrize(
    ("mask", "reason"), [(64, "ignores the thrust"), (128 + 1, "ignores the attitude and a rate")]
)
def test_targets_of_mavros_without_what_a_set_point_needs_are_refused(mask, reason):
    messages = make_messages("mavros", stand_in)
    setpoint = AircraftSetpoint.of(command(Mode.ATTITUDE_THRUST, 0), 0, THRUST_MAX)
    (outlet,) = messages.fill(setpoint, 0)
    outlet.message.type_mask = mask
    with pytest.raises(BadInput, match=reason):
        heard("mavros", [outlet])


@pytest.mark.parametrize("seed", range(3))
def test_px4s_odometry_is_the_state_in_its_axes(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=13)
    x[Q] = so3.normalized(x[Q])
    (outlet,) = make_reader("px4", stand_in).motion(x, 5_000_000)
    said = outlet.message
    assert outlet.topic == "fmu/out/vehicle_odometry" and said.timestamp == 5000
    assert said.position == pytest.approx(R_ENU_NED.T @ x[P])
    assert said.velocity == pytest.approx(R_ENU_NED.T @ x[V])
    R = so3.matrix_from_quaternion(x[Q])
    w, a, b, c = said.q
    have = so3.matrix_from_quaternion(np.array([a, b, c, w]))
    assert have == pytest.approx(swap_attitude(R), abs=1e-12)
    assert said.angular_velocity == pytest.approx(R_FLU_FRD @ R.T @ x[W])
    assert (said.pose_frame, said.velocity_frame) == (1, 1)
