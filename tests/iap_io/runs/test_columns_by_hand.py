# SPDX-License-Identifier: BSD-3-Clause
"""Columns as messages and back, tables of columns, topics and descriptions of vehicles, by numbers by hand."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from made_up_columns import ESTIMATED, F450, FEELS, QUARTER, STAR, columns, records
from made_up_flights import vehicle_meta

from iap_description.math import so3
from iap_description.signals import ForceMode, ForceTask, Reference, Step, WrenchRecord
from iap_description.states import Command, Level, Mode
from iap_io.runs import column_messages, topics
from iap_io.runs.columns import Columns, ColumnTable, WrenchColumns, joined, parts_of, put_command
from iap_io.wire.cdr import decoded
from iap_io.wire.stamps import set_stamps, stamps_of

ARMED = vehicle_meta("m100_arm")


def test_a_state_has_poses_twists_rotors_and_joints():
    c, out = columns(STAR), records(topics.layouts(STAR)["state"], 3)
    column_messages.fill_state(out, c, STAR)
    np.testing.assert_array_equal(out["poses"], c.x[..., :7])
    np.testing.assert_array_equal(out["twists"], c.x[..., 7:])
    np.testing.assert_array_equal(out["rotor_rpm"], c.rpm.reshape(3, 12))
    np.testing.assert_array_equal(out["rotor_tilt"], c.tilt.reshape(3, 12))
    assert out["sequence"].tolist() == [7, 8, 9]
    assert stamps_of(out["header"]).tolist() == [1_500_000_000, 1_750_000_000, 2_000_000_000]
    relative = so3.multiply(so3.conjugate(c.x[:, 0, 3:7]), c.x[:, 2, 3:7])
    np.testing.assert_allclose(out["joint_positions"].reshape(3, 3, 4)[:, 1], relative, atol=1e-12)


def test_joints_of_an_arm_stand_behind_all_others_in_a_state():
    c = columns(ARMED)
    n = c.arm.q.shape[1]
    for i, part in enumerate((c.arm.q, c.arm.v, c.arm.efforts, c.arm.target, c.arm.load)):
        part[...] = 1000.0 * i + np.arange(part.size).reshape(part.shape)
    layouts = topics.layouts(ARMED)
    out = {name: records(layouts[name], 3) for name in ("state", *topics.ARM_TOPICS)}
    column_messages.fill_state(out["state"], c, ARMED)
    assert out["state"]["joint_positions"][:, -n:].tolist() == c.arm.q.tolist()
    assert out["state"]["joint_velocities"][:, -n:].tolist() == c.arm.v.tolist()
    assert out["state"]["loads"][:, 0].tolist() == c.arm.load.tolist()
    column_messages.fill_arm(out, c, c.arm)
    states, point = out[topics.JOINT_STATES], out[topics.JOINT_COMMAND]["points"][:, 0]
    found = [states[name] for name in ("position", "velocity", "effort")]
    found += [point[name] for name in ("positions", "velocities", "effort")]
    expected = [c.arm.q, c.arm.v, c.arm.efforts, *np.moveaxis(c.arm.target, 1, 0)]
    for each, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(each, other)
    assert stamps_of(states["header"]).tolist() == [1_500_000_000, 1_750_000_000, 2_000_000_000]


def test_references_and_commands_come_back_as_they_were_filled_in():
    c = columns(STAR)
    layouts = topics.layouts(STAR)
    messages = {name: records(layouts[name], 3) for name in ("state", "reference", "command")}
    column_messages.fill_state(messages["state"], c, STAR)
    column_messages.fill_reference(messages["reference"], c, c.reference)
    column_messages.fill_command(messages["command"], c)
    assert messages["reference"]["accel"][1].tolist() == c.reference[1, 13:19].tolist()
    assert messages["reference"]["aircraft_yaw"][1].tolist() == c.reference[1, 19:].tolist()
    back = column_messages.columns_of(messages, STAR)
    for name in (
        "k",
        "t",
        "x",
        "reference",
        "level",
        "reference_wrench_P",
        "mode",
        "wrench_P",
        "aircraft",
        "rpm",
        "tilt",
    ):
        np.testing.assert_array_equal(getattr(back, name), getattr(c, name), err_msg=name)
    assert back.wrench_record is None and back.estimated is None and back.arm is None


def test_columns_are_on_the_stamps_of_states_and_the_last_message_is_held():
    c, layouts = columns(F450, 4), topics.layouts(F450)
    messages = {name: records(layouts[name], 4) for name in ("state", "reference", "command")}
    column_messages.fill_state(messages["state"], c, F450)
    column_messages.fill_reference(messages["reference"], c, c.reference)
    column_messages.fill_command(messages["command"], c)
    messages["command"] = messages["command"][[0, 2]]
    back = column_messages.columns_of(messages, F450)
    np.testing.assert_array_equal(back.aircraft, c.aircraft[[0, 0, 2, 2]])
    set_stamps(messages["state"]["header"], np.array([5, 5, 6, 7]))
    with pytest.raises(ValueError, match="^stamps on state go backwards$"):
        column_messages.columns_of(messages, F450)


def test_wrenches_come_back_as_they_were_filled_in():
    c, layouts = columns(FEELS), topics.layouts(FEELS)
    felt = WrenchColumns.zeros(3, 3)
    for i, part in enumerate((felt.wrenches, felt.tracked, felt.measured, felt.integrals)):
        part[...] = 100.0 * i + np.arange(part.size).reshape(part.shape)
    felt.mode[:], felt.axes[:] = 2, [1, 0, 1, 0, 0, 1]
    names = (*topics.WRENCH_TOPICS, "state")
    messages = {name: records(layouts[name], 3) for name in names}
    column_messages.fill_wrenches(messages, c, felt)
    assert messages["wrench/estimated"]["wrench"][1].tolist() == felt.wrenches[1, 2].tolist()
    assert messages["wrench/task"]["desired"][1].tolist() == felt.wrenches[1, 3].tolist()
    assert messages["wrench/task"]["sequence"].tolist() == [7, 8, 9]
    back = column_messages._wrench_columns(messages, column_messages.stamps_ns(c.t))
    for name in ("wrenches", "tracked", "mode", "axes", "measured", "integrals"):
        np.testing.assert_array_equal(getattr(back, name), getattr(felt, name), err_msg=name)


def test_odometry_is_in_the_child_frame_and_comes_back_in_the_worlds():
    layout = topics.layouts(STAR)["odom"]
    out, x = records(layout, 2), np.zeros((2, 13))
    x[:, :7] = [1.0, 2.0, 3.0, *QUARTER]
    x[:, 7:] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    column_messages.fill_odometry(out, np.array([1.0, 2.0]), x)
    np.testing.assert_allclose(out["twist"][0, :6], [2.0, -1.0, 3.0, 5.0, -4.0, 6.0], atol=1e-12)
    np.testing.assert_allclose(column_messages._states(out), x, atol=1e-12)
    estimate = {topics.estimate_topic("base_link"): out}
    found = column_messages._estimated(estimate, ESTIMATED, np.array([1, 2, 3]) * 10**9)
    assert found.shape == (3, 4, 13) and np.isnan(found[2]).all() and np.isnan(found[:2, 1:]).all()
    np.testing.assert_allclose(found[:2, 0], x, atol=1e-12)


def test_frames_are_in_the_map_or_in_their_central_body():
    layout = topics.frames_layout([F450, STAR])
    out, t = records(layout, 1), np.array([2.0])
    one, star = np.zeros((1, 1, 13)), np.zeros((1, 4, 13))
    one[..., :7] = [9.0, 8.0, 7.0, *QUARTER]
    star[..., :7] = [1.0, 2.0, 3.0, *QUARTER]
    star[:, 2, :7] = 1.0, 4.0, 3.0, 0.0, 0.0, 1.0, 0.0
    column_messages.fill_frames(out, t, [one, star])
    said = decoded(out.tobytes(), "tf2_msgs/msg/TFMessage").transforms
    assert [(each.header.frame_id, each.child_frame_id) for each in said] == [
        ("map", "one/base_link"), ("map", "star/base_link"),
        *(("star/base_link", f"star/drone_{k}") for k in (1, 2, 3)),
    ]  # fmt: skip
    place, turn = said[3].transform.translation, said[3].transform.rotation
    np.testing.assert_allclose([place.x, place.y, place.z], [2.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose([turn.x, turn.y, turn.z, turn.w], QUARTER, atol=1e-12)
    assert said[0].transform.translation.x == 9.0 and said[4].header.stamp.sec == 2
    names = [
        each.child_frame_id
        for each in decoded(
            topics.frames_layout([ESTIMATED]).template.tobytes(), "tf2_msgs/msg/TFMessage"
        ).transforms
    ]
    assert names[:2] == ["star/truth/base_link", "star/truth/drone_1"]


def test_a_tick_comes_back_as_the_step_that_it_was_put_from():
    rng = np.random.default_rng(1)
    meta = FEELS.model_copy(update={"state_source": "vio"})
    c = Columns.zeros(2, meta)
    reference = Reference(rng.normal(size=22), Level.POSE, rng.normal(size=6))
    command = Command.zeros(3, Mode.RPM)
    command.rpm[:], command.tilt[:], command.thrust[:] = (
        rng.normal(size=(3, 4)),
        rng.normal(size=(3, 4)),
        rng.normal(size=3),
    )
    task = ForceTask(
        ForceMode(1),
        *rng.normal(size=(2, 6)),
        np.array([True, False] * 3),
        *rng.normal(size=(2, 6)),
    )
    felt = WrenchRecord(*rng.normal(size=(3, 6)), Reference(rng.normal(size=22), Level.POSE), task)
    x, rpm, estimated = rng.normal(size=(4, 13)), rng.normal(size=(3, 4)), rng.normal(size=(4, 13))
    c.put(1, Step(5, 0.75, x, reference, command, rpm, felt, estimated))
    back = c.step(1)
    assert (back.k, back.t, back.reference.level, back.command.mode) == (
        5,
        0.75,
        Level.POSE,
        Mode.RPM,
    )
    for found, put in (
        (back.x, x), (back.rpm, rpm), (back.estimated, estimated), (back.tilt, 0.0),
        (back.reference.row, reference.row),
        (back.reference.wrench_P, reference.wrench_P), (back.command.rpm, command.rpm),
        (back.command.tilt, command.tilt),
        (back.command.thrust, command.thrust), (back.wrench_record.raw_P, felt.raw_P),
        (back.wrench_record.filtered_P, felt.filtered_P), (back.wrench_record.estimated_P, felt.estimated_P),
        (back.wrench_record.tracked.row, felt.tracked.row), (back.wrench_record.task.desired_P, task.desired_P),
        (back.wrench_record.task.measured_P, task.measured_P), (back.wrench_record.task.axes, task.axes),
        (back.wrench_record.task.pose_integral_P, task.pose_integral_P),
        (back.wrench_record.task.wrench_integral_P, task.wrench_integral_P),
    ):  # fmt: skip
        np.testing.assert_array_equal(found, put)
    assert back.wrench_record.task.mode == ForceMode(1) and not c.x[0].any()
    c.put(0, Step(4, 0.5, x, reference, command, rpm))
    assert np.isnan(c.estimated[0]).all() and not c.wrench_record.wrenches[0].any()


@dataclass
class Inner(ColumnTable):
    a: np.ndarray


@dataclass
class Outer(ColumnTable):
    b: np.ndarray
    inner: Inner
    none: np.ndarray | None = None


def table(count=6, first=0.0):
    return Outer(
        first + np.arange(2.0 * count).reshape(count, 2), Inner(first + np.arange(1.0 * count))
    )


def test_tables_of_columns_are_cut_shaped_copied_and_joined():
    whole = table()
    part = whole.rows(slice(1, None, 2))
    assert (
        part.inner.a.tolist() == [1.0, 3.0, 5.0]
        and part.b[0].tolist() == [2.0, 3.0]
        and part.none is None
    )
    shaped = whole.shaped(2, 3)
    assert shaped.b.shape == (2, 3, 2) and shaped.inner.a.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert shaped.rows((slice(None), 1)).inner.a.tolist() == [1.0, 4.0]
    copied = whole.copy()
    copied.inner.a[0] = 9.0
    whole.put_rows(2, table(2, first=100.0))
    assert whole.inner.a.tolist() == [0.0, 1.0, 100.0, 101.0, 4.0, 5.0] and whole.b[
        3
    ].tolist() == [102.0, 103.0]
    both = joined([table(2), table(3, first=50.0)])
    assert (
        both.inner.a.tolist() == [0.0, 1.0, 50.0, 51.0, 52.0]
        and both.b.shape == (5, 2)
        and both.none is None
    )
    whole.check_shapes(table(0))
    with pytest.raises(ValueError, match=r"^b of shape \(2,\), not \(3,\)$"):
        whole.check_shapes(replace(table(0), b=np.zeros((0, 3))))
    with pytest.raises(ValueError, match=r"^a of shape \(\), not \(4,\)$"):
        whole.check_shapes(replace(table(0), inner=Inner(np.zeros((0, 4)))))


def test_a_command_of_an_aircraft_has_sixteen_numbers():
    rows, command = np.zeros((2, 16)), Command.zeros(2)
    for k, part in enumerate(
        (command.thrust, command.q_WB, command.w_WB_B, command.rpm, command.tilt)
    ):
        part[...] = 10.0 * (k + 1) + np.arange(part.size).reshape(part.shape)
    put_command(rows, command)
    assert rows[1].tolist() == [11, 24, 25, 26, 27, 33, 34, 35, 44, 45, 46, 47, 54, 55, 56, 57]
    thrust, q, w, rpm, tilt = parts_of(rows)
    assert (thrust[1], q[1, 0], w[1, 2], rpm[0, 3], tilt[0, 0]) == (11.0, 24.0, 35.0, 43.0, 50.0)
