# SPDX-License-Identifier: BSD-3-Clause
"""Arms and grippers in worlds with contact: each world is its single run bit for bit, also where grippers yield."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from support.held_flights import PICK, PLAIN
from support.world_flights import WIDTHS, assert_one_flight, cases, ends_of

from iap_description.errors import BadInput
from iap_description.states import P, Q
from iap_physics.arm.batch_grippers import BatchGrippers
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING
from iap_physics.engines.make import is_installed
from iap_simulation.batch.worlds import Worlds

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")

FREE = {**PLAIN, "arm.holding": False, "gripper.known_load": False}
WEAK = {**PLAIN, "gripper.max_force": 1.5}  # less than what the box weighs
DRAWN = {"draw.loose_position": [0.002, 0.002, 0.0], "draw.object_mass": 0.2}
COMMANDED = {**PICK, **DRAWN, "gripper.close": None, "gripper.open": None}
GIVEN = {**PLAIN, "arm.motion": {"type": "external"}, "gripper.open": 5.0}
NARROW = {key: 0.2 * width for key, width in WIDTHS.items()}


def worlds_of(keys, seeds, **how):
    return Worlds.of("arm_pick", seeds, settings=keys, sensors="none", **how)


def assert_single_runs(base, case, periods, command=lambda _: None):
    noise = {f"state_noise.{key}": value for key, value in case.noise.items()}
    keys = {**base, **case.settings, **noise}
    return assert_one_flight(partial(worlds_of, keys), case, periods, command, has_taken)


def has_taken(worlds, one):
    """Whether the gripper of a world has held its box."""
    return worlds.plant.part(BatchGrippers).grippers[one].taken


def swing(flown):
    """Let the arm follow what a program asks for at each instant."""
    t = float(flown.times[0]) if isinstance(flown, Worlds) else flown.t
    flown.command_arm([0.3 * np.sin(3.0 * t), 0.2 * t, 0.0], [0.0, 0.2, 0.0])


def grip(flown):
    """Command the gripper to be closed for a while."""
    t = float(flown.times[0]) if isinstance(flown, Worlds) else flown.t
    flown.command_gripper(closes=0.1 <= t < 0.6)


@settings(deadline=None, derandomize=True, max_examples=1)
@given(case=cases(most=3, widths=NARROW, kept=(60, 90)))
def test_a_world_takes_by_commands_a_box_of_its_own_place_and_mass_as_its_single_run(case):
    assert_single_runs(COMMANDED, case, 130, grip)


def test_who_has_no_gripper_by_commands_is_told_so_and_so_is_a_wrong_shape():
    worlds = worlds_of(PLAIN, [1, 2])
    with pytest.raises(BadInput, match="command_gripper: there is no gripper with gripper.close="):
        worlds.command_gripper(closes=True)
    worlds = worlds_of(COMMANDED, [1, 2])
    with pytest.raises(BadInput, match=r"command_gripper: shape \(3,\); \(2,\) is expected"):
        worlds.command_gripper([True, False, True])


@pytest.mark.parametrize("base", [PLAIN, WEAK])
@settings(deadline=None, derandomize=True, max_examples=1)
@given(case=cases(most=3, widths=NARROW, kept=(60, 90)))
def test_a_world_with_an_arm_is_the_same_flight_with_any_others(base, case):
    assert_single_runs(base, case, periods=130)


@pytest.mark.slow
@pytest.mark.parametrize("base", [PLAIN, PICK, WEAK, FREE])
@settings(deadline=None, derandomize=True, max_examples=2)
@given(case=cases(most=7, widths=NARROW))
def test_a_world_with_an_arm_is_the_same_flight_for_long(base, case):
    assert_single_runs(base, case, periods=240)


@settings(deadline=None, derandomize=True, max_examples=1)
@given(case=cases(most=3, widths=NARROW, kept=(60, 90)))
def test_arms_that_a_program_commands_are_those_of_single_runs(case):
    worlds = assert_single_runs(GIVEN, case, 100, swing)
    q = worlds.plant.engine.arm_batches[0].q
    assert np.abs(q[:, 0]).max() > 0.05


def test_what_a_gripper_has_taken_rises_with_the_arm_and_falls_when_it_opens():
    worlds, heights = worlds_of(PLAIN, 3), []
    for _ in range(300):
        worlds.advance()
        heights.append(worlds.object_states[:, 1, P][:, 2])
    z = np.array(heights)
    assert (z.max(axis=0) > z[0] + 0.03).all()
    np.testing.assert_allclose(z[-1], 1.254, atol=2e-3)  # on the table again
    grippers = worlds.plant.part(BatchGrippers)
    assert all(each.taken for each in grippers.grippers)
    assert not grippers.holds.any()


def test_a_gripper_weaker_than_its_load_loses_it_in_its_world_alone():
    worlds = worlds_of(WEAK, 2)
    for _ in range(119):
        worlds.advance()
    assert worlds.object_states[:, 1, 2].max() < 1.27  # the box stays where it was
    assert [each.lost for each in worlds.plant.part(BatchGrippers).grippers] == [True, True]


def test_a_gripper_takes_its_box_where_its_own_world_s_com_has_the_arm():
    keys = {**PLAIN, "draw.com": 0.002}
    worlds, alone = worlds_of(keys, range(5, 8)), worlds_of(keys, [7])
    for _ in range(40):
        worlds.advance()
        alone.advance()
    assert has_taken(worlds, 2)
    assert ends_of(worlds)[2] == ends_of(alone)[0]


def test_worlds_whose_boxes_are_held_start_anew_and_return_to_snapshots():
    worlds, fresh = worlds_of(PLAIN, 2), worlds_of(PLAIN, [0, 9])
    for _ in range(60):
        worlds.advance()
    snapshot, held = worlds.snapshot(), worlds.plant.part(BatchGrippers).holds.copy()
    assert held.all()
    worlds.reset([1], seeds=[9])
    for _ in range(60):
        worlds.advance()
        fresh.advance()
    assert ends_of(worlds)[1] == ends_of(fresh)[1]
    worlds.restore(snapshot)
    for _ in range(20):
        worlds.advance()
    rise = worlds.object_states[:, 1, 2] - 1.254
    assert (rise > 0.0).all()
    assert worlds.plant.part(BatchGrippers).holds.all()
    assert np.isfinite(worlds.state[:, 0, Q]).all()


def test_a_target_that_is_no_number_ends_its_world_alone():
    worlds = worlds_of(GIVEN, 2)
    worlds.command_arm([[0.1, 0.1, 0.1], [0.1, np.nan, 0.1]])
    worlds.advance()
    assert worlds.status.tolist() == [RUNNING, INVALID_COMMAND]


@pytest.mark.parametrize(
    ("base", "q", "why"),
    [
        (PLAIN, [0.0, 0.0, 0.0], "no arm with arm.motion.type=external"),
        (GIVEN, [0.0, 0.0], r"shape \(2,\); \(1, 3\) is expected"),
    ],
)
def test_commands_that_fit_no_arm_are_refused_in_one_line(base, q, why):
    worlds = worlds_of(base, 1)
    with pytest.raises(BadInput, match=why) as refusal:
        worlds.command_arm(q)
    assert "\n" not in str(refusal.value)


def test_arms_without_an_engine_that_builds_them_are_refused_by_their_key():
    with pytest.raises(BadInput, match=r": platform.arm in closed_form"):
        worlds_of({**PLAIN, "engine.name": "closed_form", "gripper": None}, 1)
