# SPDX-License-Identifier: BSD-3-Clause
"""The scripted pilot: where it steers, how late, and what its gamepad reports."""

from dataclasses import replace

import numpy as np
import pytest

from iap_bringup.experiments.scripted_pilot import (
    REACTION_TIME,
    STEPS,
    FreeVolume,
    ScriptedPilot,
    Waypoint,
)
from iap_bringup.teleop.mappings import MAPPINGS, JoystickMapping
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import validate
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q, REF_V

DT = 0.02
GOALS = FreeVolume((-5.0, -4.0, 1.0), (5.0, 4.0, 3.0))
AHEAD = Waypoint(np.array([10.0, 0.0, 2.0]), 0.8, 0.0, np.zeros(2), 0.0, 1e9)


@pytest.fixture(scope="module")
def mapping():
    path = MAPPINGS.folder / "gamepad.yaml"
    return validate(JoystickMapping, read_yaml(path), source=str(path))


@pytest.fixture
def pilot(mapping):
    return ScriptedPilot(GOALS, mapping, np.random.default_rng(5), DT)


def row_at(p=(0.0, 0.0, 2.0), rpy=(0.0, 0.0, 0.0), v=(0.0, 0.0, 0.0)):
    row = np.zeros(19)
    row[REF_P], row[REF_V] = p, v
    row[REF_Q] = so3.quaternion_from_matrix(so3.matrix_from_euler(np.array(rpy)))
    return row


@pytest.mark.parametrize(
    ("yaw", "goal", "expected"),
    [
        (0.0, (10.0, 0.0, 2.0), (0.8, 0.0, 0.0)),
        (np.pi / 2, (10.0, 0.0, 2.0), (0.0, -0.8, 0.0)),
        (0.0, (0.0, 10.0, 2.0), (0.0, 0.8, 0.0)),
        (0.0, (0.0, 0.0, -8.0), (0.0, 0.0, -0.8)),
    ],
)
def test_it_steers_to_the_goal_in_the_axes_of_the_platform(pilot, yaw, goal, expected):
    move, _ = pilot._deflections(replace(AHEAD, goal_W=np.array(goal)), row_at(rpy=(0, 0, yaw)))
    np.testing.assert_allclose(move[:3], expected, atol=1e-12)


def test_near_the_goal_the_speed_is_that_of_its_distance(pilot, mapping):
    move, _ = pilot._deflections(replace(AHEAD, goal_W=np.array([0.1, 0.0, 2.0])), row_at())
    assert move[0] == pytest.approx(1.1 * 0.1 / abs(mapping.velocity.x.full))


@pytest.mark.parametrize(
    ("v", "yaw", "turn"),
    [((1.0, 1.0, 0.0), 0.5, np.pi / 4 - 0.5), ((0.0, 1.0, 0.0), 0.0, 1.0), ((0.3, 0.3, 5.0), 0.0, 0.0),
     ((-1.0, -0.01, 0.0), 3.0, 0.15159)],
)  # fmt: skip
def test_it_turns_into_the_direction_of_flight_the_shorter_way(pilot, v, yaw, turn):
    free = replace(AHEAD, turn=float("nan"))
    move, _ = pilot._deflections(free, row_at(rpy=(0, 0, yaw), v=v))
    assert move[3] == pytest.approx(turn, abs=1e-4)
    held, _ = pilot._deflections(replace(AHEAD, turn=-0.7), row_at(v=v))
    assert held[3] == -0.7


@pytest.mark.parametrize(
    ("rpy", "cross"), [((0.0, 0.0), (1, -1)), ((0.1, -0.1), (0, 0)), ((0.2, -0.2), (-1, 1))]
)
def test_the_cross_is_pressed_until_the_tilt_is_held(pilot, rpy, cross):
    leaning = replace(AHEAD, tilt=np.array([0.1, -0.1]))
    _, pressed = pilot._deflections(leaning, row_at(rpy=(*rpy, 0.0)))
    assert pressed.tolist() == list(cross)


def test_waypoints_are_far_within_the_volume_and_change_when_reached_or_late(pilot):
    row = row_at()
    for _ in range(100):
        pilot._waypoint = None
        first = pilot._next_waypoint(7.0, row)
        assert (first.goal_W >= GOALS.low).all() and (first.goal_W <= GOALS.high).all()
        assert np.linalg.norm(first.goal_W - row[REF_P]) > 2.5
        pause = first.start - 7.0
        assert pause == 0.0 or 0.3 <= pause <= 0.9
        assert 3.0 <= first.deadline - first.start <= 6.0 and 0.6 <= first.speed <= 1.0
        assert np.abs(np.degrees(first.tilt)).max() <= 10.0 + 1e-9
    pilot._waypoint = first
    assert pilot._next_waypoint(first.deadline - 0.01, row) is first
    assert pilot._next_waypoint(first.deadline + 0.01, row) is not first
    near = row_at(first.goal_W + [0.69, 0.0, 0.0])
    assert pilot._next_waypoint(7.1, near) is not first


def test_it_acts_on_what_it_saw_a_reaction_time_ago(pilot, monkeypatch):
    seen = []
    monkeypatch.setattr(
        pilot,
        "_next_waypoint",
        lambda t, row: seen.append(row[REF_P][0]) or replace(AHEAD, start=9e9),
    )
    for k in range(40):
        pilot.sticks(k * DT, row_at((k * DT, 0.0, 2.0)), is_done=False)
    assert 39 * DT - seen[-1] == pytest.approx(REACTION_TIME, abs=1.01 * DT)


def test_axes_are_reported_in_steps_with_their_signs_and_the_dead_man_is_held(pilot, mapping):
    pilot._waypoint = AHEAD
    for k in range(100):
        axes, buttons = pilot.sticks(k * DT, row_at(), is_done=False)
        np.testing.assert_allclose(axes * STEPS, np.round(axes * STEPS), atol=1e-9)
        assert [i for i, held in enumerate(buttons) if held] == [mapping.dead_man]
        assert len(axes) == 8 and len(buttons) == 12 and np.abs(axes).max() <= 1.0
    forward = mapping.velocity.x
    assert axes[forward.axis] * np.sign(forward.full) > 0.4
    for k in range(200):
        axes, _ = pilot.sticks(2.0 + k * DT, row_at(rpy=(0.5, 0.0, 0.0)), is_done=True)
    assert not axes.any()  # released for good, without a tremor
