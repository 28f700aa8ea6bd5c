# SPDX-License-Identifier: BSD-3-Clause
"""Rotors and arms of states, and numbers of modules' joints that do not fit their names."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.vehicles.joint_types import joint_type
from iap_io.wire.message_views import StateMessage
from iap_io.wire.module_views import JointWrenchesMessage, ModuleJointsMessage


def test_rotors_have_their_speeds_and_angles_and_none_without_a_tilt():
    state = StateMessage.of_names(["a", "b"], rotors=8)
    x = np.arange(26.0).reshape(2, 13)
    rpm, tilt = np.arange(8.0).reshape(2, 4), 10.0 + np.arange(8.0).reshape(2, 4)
    state.put_rows(x, rpm, tilt)
    for found, put in ((state.rows, x), (state.rpm, rpm), (state.tilt, tilt)):
        np.testing.assert_array_equal(found, put)
    state.put_rows(x, rpm)
    assert state.tilt.shape == (2, 4) and not state.tilt.any()


def test_joints_of_an_arm_come_last():
    kinds = [joint_type("spherical"), joint_type("revolute")]
    state = StateMessage.of_names(["a", "b", "c"], ["one", "two"], kinds, arm=["x", "y"])
    q, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    state.put_arm(q, v, None)
    found_q, found_v = state.arm(2)
    assert found_q.tolist() == [1.0, 2.0] and found_v.tolist() == [3.0, 4.0]
    assert state.view("joint_positions").tolist() == [0.0] * 5 + [1.0, 2.0]
    assert state.view("joint_velocities").tolist() == [0.0] * 4 + [3.0, 4.0]
    assert state.arm_load is None
    with pytest.raises(BadInput, match="of 7 numbers, the arm has 7 joints"):
        state.arm(7)


@pytest.mark.parametrize("part", ["states", "holds", "returns", "failed", "led_by", "lost"])
def test_numbers_of_joints_are_as_many_as_their_names(part):
    values = {
        name: np.zeros(
            2 if name in ("led_by", "lost") else 3, np.uint32 if name == "returns" else np.uint8
        )
        for name in ("states", "holds", "returns", "failed", "led_by", "lost")
    }
    names = {
        "names": ["a", "b", "c"],
        "leaders": ["p"] * 3,
        "followers": ["q"] * 3,
        "modules": ["p", "q"],
    }
    assert ModuleJointsMessage._of(**names, **values).names == ["a", "b", "c"]
    count = len(values[part])
    with pytest.raises(BadInput, match=f"{part}: {count + 1} numbers, {count} are expected"):
        ModuleJointsMessage._of(
            **names, **{**values, part: np.append(values[part], values[part][:1])}
        )


def test_wrenches_are_as_many_as_their_names():
    with pytest.raises(BadInput, match="wrenches: 0, names of 1 joints"):
        JointWrenchesMessage._of(names=["a"], wrenches=[])
