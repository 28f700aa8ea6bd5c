# SPDX-License-Identifier: BSD-3-Clause
"""Views of messages and of sensors' samples."""

import numpy as np
import pytest
from joint_angles import joint_states

from iap_control.actuation.kinds import platform_model
from iap_description.errors import BadInput
from iap_description.signals import EstimateHealth
from iap_description.states import REF_FIXED, REF_Q, Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.gripper import Load
from iap_description.vehicles.platform import load_platform
from iap_io.runs import topics
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.wire.cdr import message, message_types, records_of
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.sample_views import (
    ForceTaskMessage,
    HealthMessage,
    InertialMessage,
    LatchStateMessage,
    WrenchMessage,
)

STAMP = 12_345_678_901
PLATFORMS = ["three_star", "two_line", "three_star_fixed", "f450"]
FRAMES = ["iap/base_link_imu", "iap/drone_1_imu"]
SAMPLE_STAMP = 12_345_000_000


def random_rows(bodies):
    rows = np.random.default_rng(5).normal(size=(bodies, 13))
    rows[:, 3:7] /= np.linalg.norm(rows[:, 3:7], axis=1, keepdims=True)
    return rows


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_state_says_what_the_recorder_s_says(name):
    platform = load_platform(name)
    assembly = Assembly.of(platform)
    rows, rpm = random_rows(len(assembly.bodies)), np.arange(4.0 * platform.count).reshape(-1, 4)
    out = StateMessage.of(assembly, 4 * platform.count)
    out.put_head(STAMP, 77)
    out.put_rows(rows, rpm)
    state = message_types().deserialize_cdr(out.dump(), StateMessage.TYPE)

    model = platform_model(assembly, platform.fleet, gravity=9.81, com_coupling=True)
    meta = VehicleMeta.of(
        assembly, platform, model.controlled_angles, gains="default", window_s=(0.0, 1.0)
    )
    assert topics.layouts(meta)[topics.STATE].template.size == len(out.dump())
    assert (state.header.stamp.sec, state.header.stamp.nanosec) == (12, 345_678_901)
    assert (state.header.frame_id, state.sequence) == ("map", 77)
    assert state.body_names == [body.name for body in assembly.bodies]
    q, w = joint_states(assembly, rows)
    free = [i for i, joint in enumerate(assembly.joints) if joint.type == "spherical"]
    np.testing.assert_allclose(state.joint_positions, q[free].ravel(), atol=1e-14)
    np.testing.assert_allclose(state.joint_velocities, w[free].ravel(), atol=1e-14)

    heard = MessageReader(StateMessage).read(out.dump())
    np.testing.assert_array_equal(heard.rows, rows)
    np.testing.assert_array_equal(heard.rpm, rpm)
    assert (heard.stamp, heard.sequence) == (STAMP, 77)


def test_a_measured_state_holds_nothing_but_the_centre():
    out = StateMessage.of_names(["base_link"])
    rows = random_rows(1)
    out.put_rows(rows, np.zeros((0, 4)))
    heard = MessageReader(StateMessage).read(out.dump())
    np.testing.assert_array_equal(heard.rows, rows)


def test_a_reference_arrives_as_it_was_sent():
    row, wrench = np.random.default_rng(1).normal(size=(REF_FIXED + 3)), np.arange(6.0)
    row[REF_Q] /= np.linalg.norm(row[REF_Q])
    out = ReferenceMessage.of(3)
    out.put_head(STAMP, 5)
    out.put_row(row, 2, wrench)
    heard, got = MessageReader(ReferenceMessage).read(out.dump()), np.zeros(REF_FIXED + 3)
    heard.get_row(got)
    np.testing.assert_array_equal(got, row)
    np.testing.assert_array_equal(heard.wrench_P, wrench)
    assert (heard.level, heard.stamp, heard.sequence) == (2, STAMP, 5)
    with pytest.raises(BadInput, match="3 entries in aircraft_yaw, for 2 aircraft"):
        heard.get_row(np.zeros(REF_FIXED + 2))


def test_a_reference_without_headings_leaves_them_open():
    store = message_types()
    level = message("geometry_msgs/msg/Quaternion", w=1.0)
    pose = message("geometry_msgs/msg/Pose", orientation=level)
    given = message(ReferenceMessage.TYPE, pose=pose)
    bare = bytes(store.serialize_cdr(given, ReferenceMessage.TYPE))
    row = np.zeros(REF_FIXED + 3)
    MessageReader(ReferenceMessage).read(bare).get_row(row)
    assert np.isnan(row[REF_FIXED:]).all()


@pytest.mark.parametrize("topic", ["wrench/raw", "wrench/task"])
def test_the_message_of_a_wrench_is_the_recorders_template_byte_for_byte(topic):
    platform = load_platform("three_star")
    assembly = Assembly.of(platform)
    model = platform_model(assembly, platform.fleet, gravity=9.81, com_coupling=True)
    settings = {"gains": "default", "window_s": (0.0, 1.0), "feels": True}
    meta = VehicleMeta.of(assembly, platform, model.controlled_angles, **settings)
    kind = ForceTaskMessage if topic == topics.TASK else WrenchMessage
    assert kind.of("iap/base_link").dump() == topics.layouts(meta)[topic].template.tobytes()


def test_a_wrench_arrives_as_it_was_sent():
    out, wrench = WrenchMessage.of("iap/base_link"), np.random.default_rng(2).normal(size=6)
    out.put_wrench(STAMP, wrench)
    heard = MessageReader(WrenchMessage, frames=("", "iap/base_link")).read(out.dump())
    assert heard.stamp == STAMP
    np.testing.assert_array_equal(heard.wrench_P, wrench)
    message = message_types().deserialize_cdr(out.dump(), WrenchMessage.TYPE)
    assert message.header.frame_id == "iap/base_link"
    assert [message.wrench.force.y, message.wrench.torque.z] == [wrench[1], wrench[5]]


def test_a_force_task_arrives_as_it_was_sent():
    out = ForceTaskMessage.of("iap/base_link")
    out.put_head(STAMP, 9)
    out.mode, out.axes[:] = 2, [1, 0, 0, 0, 0, 1]
    parts = ("measured_P", "desired_P", "pose_integral_P", "wrench_integral_P")
    for i, part in enumerate(parts):
        getattr(out, part)[:] = i + np.arange(6.0)
    heard = MessageReader(ForceTaskMessage, frames=("", "iap/base_link")).read(out.dump())
    assert (heard.stamp, heard.sequence, heard.mode) == (STAMP, 9, 2)
    assert heard.axes.tolist() == [1, 0, 0, 0, 0, 1]
    for i, part in enumerate(parts):
        np.testing.assert_array_equal(getattr(heard, part), i + np.arange(6.0))


def test_a_mode_of_force_that_there_is_none_of_is_refused():
    out = ForceTaskMessage.of("")
    for mode in range(3):
        out.mode = mode
        assert out.mode == mode
    out.mode = 3
    with pytest.raises(BadInput, match="mode 3 is none of 0 to 2"):
        _ = out.mode


def test_what_an_estimator_reports_of_itself_arrives_as_it_was_sent():
    out, health = HealthMessage.empty(), EstimateHealth(7, 0.25, np.nan, 1.5, 3)
    out.put(health)
    back = MessageReader(HealthMessage).read(out.dump()).health
    np.testing.assert_array_equal(back, health)


def test_an_inlet_learns_another_layout_and_goes_back():
    small, large = CommandMessage.of(2), CommandMessage.of(12)
    inlet = MessageReader(CommandMessage)
    for out, count in ((small, 2), (large, 12), (small, 2)):
        command = Command.zeros(count)
        command.thrust[:] = 10.0 + np.arange(count)
        command.mode = Mode.RATE_THRUST
        out.put(command)
        got = Command.zeros(count)
        inlet.read(out.dump()).get(got)
        np.testing.assert_array_equal(got.thrust, command.thrust)
        assert got.mode == Mode.RATE_THRUST


def test_every_field_of_a_command_arrives_as_it_was_sent():
    command, rng = Command.zeros(3, Mode.RPM), np.random.default_rng(5)
    fields = ("wrench_P", "thrust", "q_WB", "w_WB_B", "rpm", "tilt")
    for field in fields:
        getattr(command, field)[...] = rng.normal(size=getattr(command, field).shape)
    out, back = CommandMessage.of(3), Command.zeros(3)
    out.put(command)
    MessageReader(CommandMessage).read(out.dump()).get(back)
    assert back.mode == Mode.RPM
    for field in fields:
        np.testing.assert_array_equal(getattr(back, field), getattr(command, field))


@pytest.mark.parametrize("field", ["wrench_P", "thrust", "q_WB", "w_WB_B", "rpm"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_command_that_is_no_number_is_refused_and_leaves_the_old_one(field, value):
    spoilt, got = Command.zeros(3), Command.zeros(3)
    getattr(spoilt, field).flat[1] = value
    out = CommandMessage.of(3)
    out.put(spoilt)
    got.thrust[:] = 7.0
    with pytest.raises(BadInput, match=f"is {value}"):
        MessageReader(CommandMessage).read(out.dump()).get(got)
    np.testing.assert_array_equal(got.thrust, 7.0)


def test_bytes_of_another_kind_are_refused():
    out = bytearray(CommandMessage.of(3).dump())
    out[1] = 0  # big-endian
    with pytest.raises(BadInput, match="little-endian"):
        MessageReader(CommandMessage).read(bytes(out))


@pytest.mark.parametrize("name", ["a", "ab", "abc", "target.socket"])
def test_padding_of_dds_is_no_other_layout(name):
    """Between processes a payload is a multiple of four bytes long."""
    latches = LatchStateMessage.of([name])
    latches.phases[:] = 2
    data = latches.stamped(3)
    padded = data + bytes(-len(data) % 4)
    assert len(padded) > len(data)
    taken = MessageReader(LatchStateMessage).read(padded)
    assert (taken.stamp, list(taken.phases)) == (3, [2])
    (record,) = records_of(LatchStateMessage.TYPE, [padded])
    assert list(record["phases"]) == [2]
    with pytest.raises(BadInput):
        MessageReader(LatchStateMessage).read(padded + bytes(4))


def turns(seed=0):
    q = np.random.default_rng(seed + 100).normal(size=(2, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def filled(instants, seed=0):
    out = InertialMessage.of("iap/base_link", FRAMES, instants)
    stamps = SAMPLE_STAMP - 1_000_000 * np.arange(instants)[::-1]
    w_S, f_S = np.random.default_rng(seed).normal(size=(2, instants, len(FRAMES), 3))
    out.put_head(SAMPLE_STAMP, 7)
    out.put_samples(turns(seed), stamps, w_S, f_S)
    return out, stamps, w_S, f_S


def test_samples_arrive_as_they_were_sent_whatever_their_number():
    inlet = MessageReader(InertialMessage, frames=())
    for number, instants in enumerate((1, 5, 0, 1, 2, 5)):
        out, stamps, w_S, f_S = filled(instants, seed=number)
        heard = inlet.read(out.dump())
        assert (heard.stamp, heard.sequence, heard.frames) == (SAMPLE_STAMP, 7, FRAMES)
        np.testing.assert_array_equal(heard.q_WB, turns(number))
        np.testing.assert_array_equal(heard.stamps, stamps)
        np.testing.assert_array_equal(heard.w_S, w_S)
        np.testing.assert_array_equal(heard.f_S, f_S)
        assert heard.w_S.shape == (instants, 2, 3)


def test_a_layout_is_learned_once_for_every_number_of_instants():
    inlet = MessageReader(InertialMessage, frames=())
    first = [inlet.read(filled(instants)[0].dump()) for instants in (1, 5)]
    again = [inlet.read(filled(instants, seed=1)[0].dump()) for instants in (1, 5)]
    assert all(a is b for a, b in zip(first, again, strict=True))


def test_the_message_is_the_one_that_rosbags_knows():
    out, stamps, w_S, f_S = filled(2)
    said = message_types().deserialize_cdr(out.dump(), InertialMessage.TYPE)
    assert said.header.frame_id == "iap/base_link"
    assert [s.sec * 10**9 + s.nanosec for s in said.stamps] == stamps.tolist()
    at = said.angular_velocities[3]
    assert [at.x, at.y, at.z] == w_S[1, 1].tolist()
    at = said.specific_forces[2]
    assert [at.x, at.y, at.z] == f_S[1, 0].tolist()


def test_other_bytes_are_refused():
    with pytest.raises(BadInput, match="InertialSamples"):
        MessageReader(InertialMessage, frames=()).read(b"\x00\x00\x00\x00")


def test_a_state_carries_an_arm_and_what_its_gripper_holds():
    sent = StateMessage.of_names(("base_link",), (), (), 4, ("yaw", "elbow"))
    inertia = np.array([[3.0, 0.1, 0.2], [0.1, 4.0, 0.3], [0.2, 0.3, 5.0]]) * 1e-3
    held = Load(0.4, np.array([0.1, -0.2, 0.3]), inertia)
    sent.put_arm(np.array([0.5, -0.6]), np.array([0.7, -0.8]), held)
    for part, expected in zip(sent.arm(2), ([0.5, -0.6], [0.7, -0.8]), strict=True):
        np.testing.assert_array_equal(part, expected)
    for part, expected in zip(sent.arm_load, held, strict=True):
        np.testing.assert_allclose(part, expected)
    with pytest.raises(BadInput, match="of 2 numbers, the arm has 3 joints"):
        sent.arm(3)
    sent.put_arm(np.zeros(2), np.zeros(2), held._replace(mass=-0.4))
    with pytest.raises(BadInput, match="no body has such a mass and inertia"):
        _ = sent.arm_load
    sent.put_arm(np.zeros(2), np.zeros(2), None)
    assert sent.arm_load is None
