# SPDX-License-Identifier: BSD-3-Clause
"""Commands that are late, lost or of the future, of aircraft and of arms, by numbers worked out by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import Command, Mode
from iap_physics.arm.arm_commands import ArmCommands, JointTrajectory
from iap_physics.measured.state_noise import StateNoise, late_periods
from iap_physics.propulsion.last_command import CommandDelay, LastCommand
from iap_physics.session.command_buffer import CommandBuffer


def test_commands_act_whole_periods_later_in_each_world_of_its_own() -> None:
    acting = LastCommand(
        np.zeros((2, 1), np.int64),
        *(np.zeros((2, 1, *shape)) for shape in ((), (4,), (3,), (4,), (4,))),
    )
    delay = CommandDelay(acting)
    delay.set_periods(1, 2)
    seen = []
    for k in range(1, 6):
        delay.latest.thrust[:] = float(k)
        delay.apply_due()
        seen.append(acting.thrust[:, 0].tolist())
    assert seen == [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 2.0], [5.0, 3.0]]
    delay.reset(np.array([1]))
    delay.apply_due()
    assert acting.thrust[:, 0].tolist() == [5.0, 3.0]
    assert acting.of_aircraft(0).rpm.shape == (2, 1, 4)


def test_a_longer_delay_of_one_world_leaves_what_is_on_its_way_in_another() -> None:
    acting = LastCommand(
        np.zeros((2, 1), np.int64),
        *(np.zeros((2, 1, *shape)) for shape in ((), (4,), (3,), (4,), (4,))),
    )
    delay, seen = CommandDelay(acting), []
    delay.set_periods(1, 2)
    for k in range(1, 12):
        if k == 5:
            delay.set_periods(0, 4)
        delay.latest.thrust[:] = float(k)
        delay.apply_due()
        seen.append(acting.thrust[:, 0].tolist())
    assert [other for _, other in seen] == [0.0, 0.0, *range(1, 10)]
    assert [late for late, _ in seen[-4:]] == [4.0, 5.0, 6.0, 7.0]


def test_latencies_are_whole_periods_drawn_around_their_middle() -> None:
    noise = StateNoise(
        position=0.0,
        attitude_deg=0.0,
        velocity=0.0,
        rate_deg=0.0,
        latency=0.05,
        latency_spread=0.02,
    )
    drawn = {late_periods(noise, np.random.default_rng(k), 0.005) for k in range(300)}
    assert drawn == set(range(6, 15))
    assert (
        late_periods(
            noise.model_copy(update={"latency_spread": 0.0}), np.random.default_rng(0), 0.005
        )
        == 10
    )
    for latency, is_allowed in ((1.0, True), (1.001, False)):
        values = {
            "position": 0.0,
            "attitude_deg": 0.0,
            "velocity": 0.0,
            "rate_deg": 0.0,
            "latency": latency,
        }
        if is_allowed:
            StateNoise(**values)
        else:
            with pytest.raises(ValueError, match="latency"):
                StateNoise(**values)


def test_commands_are_counted_as_in_time_late_or_lost() -> None:
    begun: list[Any] = []
    hold: Any = SimpleNamespace(begin=begun.append)
    buffer = CommandBuffer("iap", 1, hold)

    def offer(number: int, k: int, mode: Mode = Mode.RPM) -> None:
        def fill(command: Command) -> None:
            command.mode, command.thrust[:] = mode, number

        buffer.offer(number, k, fill)

    offer(0, 0)
    command = buffer.next_command(np.zeros(13), is_stale=False)
    assert command is not None and command.thrust[0] == 0.0
    assert buffer.next_command(np.zeros(13), is_stale=False) is None  # nothing new
    offer(3, 4)
    offer(2, 4)  # overtaken
    assert vars(buffer.counts) == {"taken": 1, "late": 3, "lost": 0, "holds": 0}
    for number, k, mode, words in (
        (6, 5, Mode.RPM, "later than the present state"),
        (5, 5, Mode.WRENCH, "wrench"),
    ):
        with pytest.raises(BadInput, match=words):
            offer(number, k, mode)
    assert buffer.newest == 3


def test_a_trajectory_is_cubic_between_its_points_and_rests_beyond_them() -> None:
    points = np.array([[[0.0], [1.0], [4.0]], [[2.0], [-1.0], [8.0]]])
    path = JointTrajectory(np.array([1.0, 3.0]), points)
    for t in (1.0, 1.5, 2.0, 2.9):
        s = t - 1.0
        # q(0) = 0, q'(0) = 1, q(2) = 2, q'(2) = -1
        coefficients = np.linalg.solve([[4.0, 8.0], [4.0, 12.0]], [2.0 - 2.0, -1.0 - 1.0])
        q = s + coefficients @ [s**2, s**3]
        rate = 1.0 + coefficients @ [2.0 * s, 3.0 * s**2]
        np.testing.assert_allclose(path.at(t)[:, 0], [q, rate, 4.0 + 2.0 * s], atol=1e-12)
    np.testing.assert_allclose(path.at(0.5)[:, 0], [0.0, 0.0, 4.0])
    np.testing.assert_allclose(path.at(3.0)[:, 0], [2.0, -1.0, 8.0])
    np.testing.assert_allclose(path.at(3.1)[:, 0], [2.0, 0.0, 8.0])
    alone = JointTrajectory(np.array([1.0]), points[:1])
    np.testing.assert_allclose(
        [alone.at(0.0)[1, 0], alone.at(5.0)[1, 0]], [1.0, 1.0]
    )  # a velocity goes on


def test_the_newest_command_of_an_arm_counts_and_none_of_the_future() -> None:
    commands, (old, new) = (
        ArmCommands(),
        (JointTrajectory(np.array([0.0]), np.full((1, 3, 1), value)) for value in (1.0, 2.0)),
    )
    assert commands.target(0.0) is None and commands.newest == -1
    commands.offer(5, 5, new)
    commands.offer(4, 6, old)
    assert commands.target(0.0)[0, 0] == 2.0 and commands.newest == 5  # type: ignore[index]
    commands.offer(5, 6, old)
    assert commands.target(0.0)[0, 0] == 1.0  # type: ignore[index]
    with pytest.raises(BadInput, match="later than the present state"):
        commands.offer(7, 6, new)
