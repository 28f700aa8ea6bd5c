# SPDX-License-Identifier: BSD-3-Clause
"""States, commands and the papers' frames, with numbers by hand."""

import numpy as np
import pytest

from iap_description import frames, signals, states
from iap_description.errors import BadInput, FlightFailed, shown
from iap_description.math import so3
from iap_description.states import Command, CommandRows, Level, Mode

NAMES = ("wrench_P", "thrust", "q_WB", "w_WB_B", "rpm", "tilt")


def test_places_in_rows_of_states_and_references():
    row = list(range(20))
    parts = [row[each] for each in (states.P, states.Q, states.V, states.W)]
    assert parts == [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9], [10, 11, 12]]
    parts = [row[each] for each in (states.REF_P, states.REF_Q, states.REF_V, states.REF_W)]
    assert parts == [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9], [10, 11, 12]]
    assert (row[states.REF_A], row[states.REF_ALPHA]) == ([13, 14, 15], [16, 17, 18])
    assert (states.STATE_SIZE, states.REF_FIXED) == (13, 19)


def test_a_resting_state_has_place_and_attitude_alone():
    p, q = np.arange(6.0).reshape(2, 3), np.arange(8.0).reshape(2, 4)
    x = states.resting_state(p, q)
    assert x.shape == (2, 13)
    np.testing.assert_array_equal(x[:, :3], p)
    np.testing.assert_array_equal(x[:, 3:7], q)
    assert not x[:, 7:].any()
    assert states.resting_state(np.zeros((4, 2, 3)), np.ones(4)).shape == (4, 2, 13)


def test_numbers_of_levels_modes_and_force_modes_are_those_of_messages():
    assert [int(each) for each in Level] == [0, 1, 2, 3]
    assert [each.name for each in Mode] == [
        "WRENCH",
        "ATTITUDE_THRUST",
        "RATE_THRUST",
        "RPM",
        "VELOCITY",
    ]
    assert [int(each) for each in Mode] == [0, 1, 2, 3, 4]
    assert [(each.name, int(each)) for each in signals.ForceMode] == [
        ("NONE", 0),
        ("PAPER", 1),
        ("SELECTIVE", 2),
    ]
    assert signals.AXES == ("x", "y", "z", "roll", "pitch", "yaw")
    assert CommandRows() == (1, 4, 3, 4, 4)


def test_an_empty_command_is_level_and_has_arrays_of_its_own():
    command = Command.zeros(3)
    assert command.mode == Mode.ATTITUDE_THRUST and Command.zeros(1, Mode.RPM).mode == Mode.RPM
    assert [each.shape for each in command.arrays] == [(6,), (3,), (3, 4), (3, 3), (3, 4), (3, 4)]
    assert command.q_WB.tolist() == [[0.0, 0.0, 0.0, 1.0]] * 3
    command.check(3, 5)
    assert all(
        each is getattr(command, name) for each, name in zip(command.arrays, NAMES, strict=True)
    )
    command.rpm[:] = 1.0
    assert not command.tilt.any()


@pytest.mark.parametrize("name", NAMES)
def test_shapes_of_commands_are_those_of_one_world_or_of_all(name):
    command = Command.zeros(3)
    array = getattr(command, name)
    setattr(command, name, np.stack([array] * 5))
    command.check(3, 5)
    with pytest.raises(
        BadInput, match=f"'{name}' has shape .* is expected, or .* with one command for each world"
    ):
        command.check(3, 4)
    setattr(command, name, array[:-1])
    with pytest.raises(BadInput, match=f"'{name}' has shape"):
        command.check(3, 5)


@pytest.mark.parametrize("name", NAMES)
def test_worlds_whose_command_is_no_number_are_told_apart(name):
    command = Command.zeros(2)
    array = np.stack([getattr(command, name)] * 4)
    setattr(command, name, array)
    assert command.finite_worlds(4).all()
    array[2].flat[-1] = np.nan
    array[0].flat[0] = np.inf
    assert command.finite_worlds(4).tolist() == [False, True, False, True]
    setattr(command, name, array[2])
    assert command.finite_worlds(3).tolist() == [False] * 3


def test_references_and_tasks_share_no_arrays_that_can_be_changed():
    one, other = (signals.Reference(np.zeros(20)) for _ in range(2))
    assert one.wrench_P is other.wrench_P and not one.wrench_P.flags.writeable
    assert one.level == Level.POSE
    first, second = (
        signals.ForceTask(signals.ForceMode.PAPER, *[np.zeros(6)] * 3) for _ in range(2)
    )
    first.pose_integral_P[:], first.wrench_integral_P[:] = 1.0, 2.0
    assert not second.pose_integral_P.any() and not second.wrench_integral_P.any()
    assert second.pose_integral_P.shape == second.wrench_integral_P.shape == (6,)


def test_east_is_the_papers_second_axis_and_up_is_against_its_third():
    assert frames.swap_world([1.0, 2.0, 3.0]).tolist() == [2.0, 1.0, -3.0]
    assert frames.swap_body([[1.0, 2.0, 3.0]]).tolist() == [[1.0, -2.0, -3.0]]
    np.testing.assert_array_equal(frames.R_ENU_NED @ [1.0, 2.0, 3.0], [2.0, 1.0, -3.0])
    np.testing.assert_array_equal(frames.R_FLU_FRD @ [1.0, 2.0, 3.0], [1.0, -2.0, -3.0])
    for each in (frames.R_ENU_NED, frames.R_FLU_FRD):
        assert not each.flags.writeable
    north = frames.swap_attitude(np.eye(3))
    np.testing.assert_array_equal(north, [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(frames.swap_attitude(north), np.eye(3))


@pytest.mark.parametrize("seed", range(4))
def test_a_quaternion_to_ned_is_the_matrix_with_both_sides_swapped(seed):
    q = so3.normalized(np.random.default_rng(seed).normal(size=4))
    w, x, y, z = frames.to_ned(tuple(q.tolist()))
    expected = frames.swap_attitude(so3.matrix_from_quaternion(q))
    np.testing.assert_allclose(
        so3.matrix_from_quaternion(np.array([x, y, z, w])), expected, atol=1e-12
    )
    assert np.linalg.norm([w, x, y, z]) == pytest.approx(1.0)


def test_values_of_files_are_shown_short():
    assert shown("a" * 78) == repr("a" * 78)
    assert len(shown("a" * 79)) == 80 and "..." in shown("a" * 79)
    assert (shown([[[1]]]), shown([[[[1]]]])) == ("[[[1]]]", "[[[[...]]]]")
    assert shown(10**79) == str(10**79) and len(shown(10**80)) == 80
    error = FlightFailed("diverged", 1.23456, "it\nturned")
    assert str(error) == "diverged at t = 1.235 s: it turned"
    assert (error.outcome, error.t) == ("diverged", 1.23456)
