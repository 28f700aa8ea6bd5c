# SPDX-License-Identifier: BSD-3-Clause
"""Messages between modules, their coordinator and their latches keep what is put into them, and refuse the rest."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.vehicles.latching import Hold
from iap_io.wire.cdr import decoded
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.module_views import (
    JointStates,
    JointWrenchesMessage,
    ModuleJointsMessage,
    ModuleReferenceMessage,
)
from iap_io.wire.sample_views import InertialMessage


def test_a_reference_carries_role_and_feed_forward() -> None:
    out = ModuleReferenceMessage.of(1)
    row, wrench_P = np.arange(20.0), np.arange(6.0)
    row[3:7] = (0.0, 0.0, 0.0, 1.0)
    out.put_head(5, 7)
    out.put_row(row, 0, np.zeros(6))
    out.put_role(2, wrench_P)
    read = MessageReader(ModuleReferenceMessage).read(out.dump())
    taken = np.zeros(20)
    read.get_row(taken)
    assert (read.stamp, read.sequence, read.role) == (5, 7, 2)
    np.testing.assert_array_equal(taken, row)
    np.testing.assert_array_equal(read.feed_forward_P, wrench_P)


def said(**parts: list[int]) -> JointStates:
    """Of two joints between three modules."""
    numbers = {
        "states": [4, 0],
        "holds": [2, 0],
        "returns": [0, 300],
        "failed": [0, 1],
        "led_by": [1, 1, 2],
        "lost": [0, 0, 1],
    }
    arrays = {name: np.array(values) for name, values in {**numbers, **parts}.items()}
    return JointStates(**arrays, steps_done=3)


def read_back(put: JointStates) -> ModuleJointsMessage:
    out = ModuleJointsMessage.of(["a", "bc"], ["m1", "m2"], ["m2", "m3"], ["m1", "m2", "m3"])
    out.put_head(5, 7)
    out.put(put)
    return MessageReader(ModuleJointsMessage).read(out.dump())


def test_joints_carry_what_modules_do_and_what_shall_hold() -> None:
    read = read_back(said())
    assert read.requested_holds == {"a": Hold.LOCKED, "bc": Hold.OPEN}
    for name, values in said()._asdict().items():
        np.testing.assert_array_equal(getattr(read.joint_states, name), values)


@pytest.mark.parametrize(("part", "numbers"), [("states", [7, 0]), ("led_by", [0, 3, 0])])
def test_states_and_leaders_that_are_none_are_refused(part: str, numbers: list[int]) -> None:
    read = read_back(said(**{part: numbers}))
    with pytest.raises(BadInput, match=f"{part}: {max(numbers)} is none"):
        _ = read.joint_states


def test_wrenches_of_joints_come_as_they_were_put() -> None:
    out = JointWrenchesMessage.of(["a", "bc"])
    out.wrenches[:] = np.arange(12.0).reshape(2, 6)
    read = MessageReader(JointWrenchesMessage).read(out.dump())
    np.testing.assert_array_equal(read.wrenches, np.arange(12.0).reshape(2, 6))


def test_roles_and_holds_that_are_none_are_refused() -> None:
    reference, joints = (
        ModuleReferenceMessage.of(1),
        ModuleJointsMessage.of(["a"], ["b"], ["c"], ["b", "c"]),
    )
    reference.put_role(3, np.zeros(6))
    joints.holds[:] = 3
    with pytest.raises(BadInput, match="role 3"):
        _ = reference.role
    with pytest.raises(BadInput, match="holds: 3"):
        _ = joints.requested_holds


def test_wrenches_are_taken_of_the_joints_that_are_expected_in_their_order() -> None:
    out = JointWrenchesMessage.of(["left", "right"])
    out.wrenches[:] = np.arange(12.0).reshape(2, 6)
    read = MessageReader(JointWrenchesMessage).read(out.dump())
    borne = read.borne(["left", "right"])
    np.testing.assert_array_equal(borne, np.arange(12.0).reshape(2, 6))
    for others in (["right", "left"], ["left"], []):
        with pytest.raises(BadInput, match="names: left, right; the joints are"):
            read.borne(others)


@pytest.mark.parametrize("frame", ["map", "drone_1/base", "x"])
def test_the_frame_of_a_message_is_that_of_its_header(frame: str) -> None:
    made = InertialMessage.of(frame, ["imu"], 1)
    assert made.frame_id == frame
    assert decoded(made.dump(), InertialMessage.TYPE).header.frame_id == frame
