# SPDX-License-Identifier: BSD-3-Clause
"""Messages and stamps that are refused."""

import struct

import numpy as np
import pytest
from refusals import refusal

from iap_description.errors import BadInput
from iap_description.states import Command, Mode
from iap_io.wire.cdr import HEADER_SIZE, in_frame, message, serialised
from iap_io.wire.message_reader import MOST_BYTES, MessageReader, state_reader
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.sample_views import InertialMessage, OdometryMessage, PoseMessage, WrenchMessage
from iap_io.wire.stamp_guard import StampGuard
from iap_io.wire.stamps import SECOND

STATE = StateMessage.TYPE
POSE, TWIST = message("geometry_msgs/msg/Pose"), message("geometry_msgs/msg/Twist")
PERIOD = SECOND // 200


def state_bytes(bodies=4, rotors=12, value=None, place=(0, 9)):
    out = StateMessage.of_names([f"body_{i}" for i in range(bodies)], rotors=rotors)
    x = np.zeros((bodies, 13))
    x[:, 6] = 1.0
    if value is not None:
        x[place] = value
    out.put_rows(x, np.zeros((rotors // 4, 4)))
    return out.dump()


def test_an_empty_state_is_none():
    assert "0 poses and 0 twists" in refusal(
        state_reader().read, serialised(in_frame(STATE, "map"))
    )


def test_poses_and_twists_of_different_numbers_are_no_state():
    data = serialised(in_frame(STATE, "map", poses=[POSE] * 4, twists=[TWIST] * 3))
    assert "4 poses and 3 twists" in refusal(state_reader().read, data)


@pytest.mark.parametrize("end", range(0, len(state_bytes()), 37))
def test_a_state_that_ends_too_early_is_refused_wherever_it_does(end):
    reader = state_reader(4)
    refusal(reader.read, state_bytes()[:end])
    assert len(reader.read(state_bytes()).rows) == 4


@pytest.mark.parametrize(
    ("value", "place", "reason"),
    [
        (np.nan, (2, 0), "poses[2].position.x is nan"),
        (np.inf, (0, 12), "twists[0].angular.z is inf"),
        (1e308, (3, 7), "twists[3].linear.x is 1e+308, beyond 1e+06"),
        (-2e6, (1, 2), "poses[1].position.z is -2e+06, beyond"),
        (0.0, (1, 6), "poses[1].orientation is no unit quaternion, but 0 long"),
        (1e3, (0, 6), "poses[0].orientation is no unit quaternion, but 1000 long"),
    ],
)
def test_a_number_that_cannot_be_meant_is_refused_by_its_name(value, place, reason):
    reader = state_reader(4)
    reader.read(state_bytes())
    assert reason in refusal(reader.read, state_bytes(value=value, place=place))
    assert np.isfinite(reader.read(state_bytes()).rows).all()


@pytest.mark.parametrize(
    ("seconds", "nanoseconds"), [(-1, 0), (0, 1_000_000_000), (2**31 - 1, 2**32 - 1)]
)
def test_a_stamp_that_is_no_time_is_refused(seconds, nanoseconds):
    data = bytearray(state_bytes())
    struct.pack_into("<iI", data, HEADER_SIZE, seconds, nanoseconds)
    assert "header.stamp" in refusal(state_reader().read, bytes(data))


def test_a_state_of_another_platform_is_refused():
    assert "of 3 bodies, not of 1 or 4" in refusal(state_reader(1, 4).read, state_bytes(3))
    assert "of 8 rotors, not of 12" in refusal(state_reader(4, rotors=12).read, state_bytes(4, 8))
    data = serialised(in_frame(STATE, "map", poses=[POSE], twists=[TWIST], rotor_rpm=np.zeros(3)))
    assert "rotor_rpm has 3 entries" in refusal(state_reader().read, data)


@pytest.mark.parametrize("kind", [StateMessage, PoseMessage, OdometryMessage, CommandMessage])
def test_a_message_in_a_frame_that_is_none_of_the_receiver_s_is_refused(kind):
    fields = {"poses": [POSE], "twists": [TWIST]} if kind is StateMessage else {}
    data = serialised(in_frame(kind.TYPE, "nonsense", **fields))
    assert "header.frame_id 'nonsense' is not map" in refusal(MessageReader(kind).read, data)


def test_a_pose_whose_quaternion_was_printed_with_two_digits_is_taken():
    typed = PoseMessage._of()
    typed.pose[3:] = 0.0, 0.0, 0.71, 0.71
    assert MessageReader(PoseMessage).read(typed.dump()).pose[5] == 0.71


def test_a_wrench_is_taken_in_the_vehicle_s_frame_only():
    reader = MessageReader(WrenchMessage, ("", "iap/base_link"))
    reader.read(WrenchMessage.of("iap/base_link").dump())
    reader.read(WrenchMessage.of("").dump())
    assert "is not iap/base_link" in refusal(reader.read, WrenchMessage.of("map").dump())


def test_a_message_without_end_is_not_looked_at_and_strangers_do_not_fill_the_memory():
    reader = state_reader()
    long = in_frame(
        STATE, "map", poses=[POSE], twists=[TWIST], joint_positions=np.zeros(MOST_BYTES)
    )
    assert "at most 131072 are read" in refusal(reader.read, serialised(long))
    sizes = []
    for bodies in range(1, 60):
        reader.read(state_bytes(bodies, 0))
        sizes.append(len(reader._learned))
    assert max(sizes) == 16
    assert sizes[:18] == [*range(1, 17), 1, 2]  # all are forgotten at once


@pytest.mark.parametrize("is_read", [True, False])
def test_a_message_may_be_as_long_as_the_limit(is_read):
    turned = message(
        "geometry_msgs/msg/Pose", orientation=message("geometry_msgs/msg/Quaternion", w=1.0)
    )

    def data(count):
        parts = {"poses": [turned], "twists": [TWIST], "joint_positions": np.zeros(count)}
        return serialised(in_frame(STATE, "map", **parts))

    count = 1 + (MOST_BYTES - len(data(1))) // 8 + (not is_read)
    reader = state_reader()
    if is_read:
        assert len(reader.read(data(count)).rows) == 1
    else:
        assert f"{len(data(count))} bytes" in refusal(reader.read, data(count))


@pytest.mark.parametrize("mode", [5, 9, 255])
def test_a_mode_and_a_level_that_there_are_none_of_are_refused(mode):
    command = serialised(in_frame(CommandMessage.TYPE, "map", mode=mode))
    with pytest.raises(BadInput, match=f"mode {mode} is none of 0 to 4"):
        MessageReader(CommandMessage).read(command).get(Command.zeros(0))
    attitude = message("geometry_msgs/msg/Quaternion", w=1.0)
    pose = message("geometry_msgs/msg/Pose", orientation=attitude)
    reference = serialised(in_frame(ReferenceMessage.TYPE, "map", level=mode, pose=pose))
    with pytest.raises(BadInput, match=f"level {mode} is none of 0 to 3"):
        _ = MessageReader(ReferenceMessage).read(reference).level


def test_attitudes_of_commands_count_where_the_mode_says_so():
    order, out, got = Command.zeros(3), CommandMessage.of(3), Command.zeros(3)
    order.q_WB[1] = 0.0
    order.mode = Mode.RATE_THRUST
    out.put(order)
    MessageReader(CommandMessage).read(out.dump()).get(got)
    order.mode = Mode.ATTITUDE_THRUST
    out.put(order)
    with pytest.raises(BadInput, match="no unit quaternion"):
        MessageReader(CommandMessage).read(out.dump()).get(got)


def test_samples_whose_numbers_do_not_fit_the_units_are_refused():
    data = serialised(in_frame(InertialMessage.TYPE, "iap/base_link", frames=["a", "b"]))
    assert "0, 0, 0" in refusal(MessageReader(InertialMessage, ("iap/base_link",)).read, data)


def guard_at(stamp: int) -> StampGuard:
    guard = StampGuard()
    assert guard.offer(stamp, stamp) == (stamp,)
    return guard


def test_what_goes_on_counts_at_once_and_so_does_what_comes_again():
    guard = guard_at(10 * PERIOD)
    for stamp in (10 * PERIOD, 11 * PERIOD, 30 * PERIOD):
        assert guard.offer(stamp, stamp) == (stamp,)
    assert not guard.stray()


def test_a_message_of_long_ago_or_far_ahead_is_a_stray():
    for stamp in (0, 10**18):
        guard = guard_at(2 * SECOND)
        assert guard.offer(stamp, stamp) == ()
        assert guard.offer(2 * SECOND + PERIOD, "next") == ("next",)
        assert f"a message of {stamp / SECOND:.3f} s, while time is 2.005 s" in guard.stray()
        assert not guard.stray()


def test_a_reset_is_followed_by_its_second_message_and_nothing_is_lost():
    guard = guard_at(2 * SECOND)
    assert guard.offer(0, "first") == ()
    assert guard.offer(PERIOD, "second") == ("first", "second")
    assert guard.offer(2 * PERIOD, "third") == ("third",)
    assert not guard.stray()


def test_the_copy_of_a_reset_s_first_message_stands_for_both():
    guard = guard_at(2 * SECOND)
    assert guard.offer(0, "state") == ()
    assert guard.offer(0, "copy") == ("copy",)


def test_of_two_publishers_the_first_stays():
    guard = guard_at(100 * SECOND)
    for k in range(1, 50):
        assert guard.offer(3 * SECOND + k * PERIOD, "other") == ()
        assert guard.offer(100 * SECOND + k * PERIOD, "own") == ("own",)
        assert guard.stray()


def test_late_ones_count_where_the_topic_may_have_them():
    guard = StampGuard(back=SECOND // 2)
    guard.offer(SECOND, "newest")
    assert guard.offer(SECOND // 2, "late") == ("late",)
    assert guard.offer(0, "too late") == ()


def test_the_stamp_of_a_message_that_is_refused_does_not_count():
    """Of another platform, say: what comes next is no stray because of it."""
    guard = guard_at(PERIOD)
    assert guard.offer(10 * PERIOD, "of another") == ("of another",)
    guard.undo()
    assert guard.offer(2 * PERIOD, "own") == ("own",)
    assert not guard.stray()


def test_a_stamp_a_nanosecond_before_the_newest_is_held_back():
    guard = guard_at(SECOND)
    assert guard.offer(SECOND - 1, "late") == ()
    assert guard_at(SECOND).offer(SECOND, "again") == ("again",)
