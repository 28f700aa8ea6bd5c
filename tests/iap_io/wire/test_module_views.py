# SPDX-License-Identifier: BSD-3-Clause
"""Messages between modules, their coordinator and their latches keep what is put into them, and refuse the rest."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.latching import Hold
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.module_views import ModuleJointsMessage, ModuleReferenceMessage


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


def test_joints_carry_what_shall_hold() -> None:
    out = ModuleJointsMessage.of(["a", "bc"], ["m1", "m2"], ["m2", "m3"])
    out.put_head(5, 7)
    out.holds[:] = [2, 0]
    read = MessageReader(ModuleJointsMessage).read(out.dump())
    assert read.wanted == {"a": Hold.LOCKED, "bc": Hold.OPEN}


def test_roles_and_holds_that_are_none_are_refused() -> None:
    reference, joints = ModuleReferenceMessage.of(1), ModuleJointsMessage.of(["a"], ["b"], ["c"])
    reference.put_role(3, np.zeros(6))
    joints.holds[:] = 3
    with pytest.raises(BadInput, match="role 3"):
        _ = reference.role
    with pytest.raises(BadInput, match="holds: 3"):
        _ = joints.wanted
