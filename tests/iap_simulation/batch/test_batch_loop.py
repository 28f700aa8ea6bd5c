# SPDX-License-Identifier: BSD-3-Clause
"""Several control periods in one compiled call are so many calls of `advance`, bit for bit."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_physics.engines.engine import INVALID_COMMAND
from iap_simulation.batch.actions import KINDS, act, action_of, action_size
from iap_simulation.batch.worlds import GUST_PERIODS, Worlds

DRAWN = {
    "draw.position": 0.2,
    "draw.mass": 0.1,
    "draw.com": 0.002,
    "draw.force": 0.2,
    "wind.speed": 2.0,
}
SIZE = {"rpm": (5000.0, 300.0), "attitude_thrust": (4.0, 1.0), "rate_thrust": (4.0, 1.0)}
WORLDS, PERIODS = 37, 3


def same(one, other):
    for name in ("state", "rpm", "status", "times", "instants"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert [one.ended(i) for i in range(WORLDS)] == [other.ended(i) for i in range(WORLDS)]


def advance(worlds, action=None):
    """One period, its halves called from Python one after the other."""
    worlds.control(action)
    worlds.plant.advance()


def pair(platform, **settings):
    """The same worlds twice, the second ones on two threads."""
    drawn = {**DRAWN, **settings}
    if platform == "two_line":  # nothing holds it against a CoM beside the line of its joints
        drawn["draw.com"] = 0.0
    return (
        Worlds.of("figure_eight", WORLDS, settings=drawn, platform=platform, threads=threads)
        for threads in (1, 2)
    )


@pytest.mark.parametrize("platform", ["three_star", "two_line", "f450", "beetle"])
def test_actions(platform):
    one, many = pair(platform)
    for kind in KINDS:
        one.reset()
        many.reset()
        assert_alike_by_actions(kind, one, many)


def assert_alike_by_actions(kind, one, many):
    rng, (mean, spread) = np.random.default_rng(2), SIZE.get(kind, (0.0, 2.0))
    shape = (WORLDS, action_size(kind, one.rpm.shape[1]))
    for step in range(12):
        values = rng.normal(mean, spread, shape)
        if step == 2:
            values[5] = np.nan
        for _ in range(PERIODS):
            advance(one, action_of(kind, values, one))
        act(kind, values, many, PERIODS)
    assert one.status[5] == INVALID_COMMAND
    same(one, many)
    one.reset([5, 7], seeds=[70, 71])
    many.reset([5, 7], seeds=[70, 71])
    one.advance()
    many.fly(1)
    same(one, many)
    action = action_of("velocity", np.full((WORLDS, 4), 0.3), one)
    advance(one, action)
    many.advance(action)
    same(one, many)


@pytest.mark.parametrize("gusts", [0.0, 8.0])
@pytest.mark.parametrize("platform", ["three_star", "two_line", "f450", "beetle"])
def test_the_scenario_s_own_references(platform, gusts):
    one, many = pair(platform, **{"wind.turbulence": gusts})
    one.reset([3])  # worlds may be at different instants
    for _ in range(10):
        many.fly(PERIODS)
        for _ in range(PERIODS):
            advance(one)
    many.advance()
    one.fly(1)
    same(one, many)


@pytest.mark.parametrize(
    "settings",
    [
        {"state_noise.position": 0.01},
        {"model_error.delay": 0.01},
        {"sensors": "imu"},
    ],
)
def test_where_more_than_states_changes_periods_are_flown_one_by_one(settings):
    one, many = pair("three_star", **settings)
    assert not many.flies_at_once
    with pytest.raises(BadInput, match="change with every control period"):
        many.fly(2)
    values = np.full((WORLDS, 4), 0.2)
    act("velocity", values, many, PERIODS)
    for _ in range(PERIODS):
        one.advance(action_of("velocity", values, one))
    same(one, many)


def test_gusts_are_the_same_however_many_are_made_ahead():
    gusty = {"wind.speed": 4.0, "wind.turbulence": 8.0}
    periods = 2 * GUST_PERIODS + 7
    one, many, other = (Worlds.of("hover", WORLDS, settings=gusty) for _ in range(3))
    many.fly(periods)
    calm = Worlds.of("hover", WORLDS, settings={"wind.speed": 4.0})
    calm.fly(periods)
    for _ in range(periods):
        one.fly(1)
        other.advance()
    same(one, many)
    same(other, many)
    assert np.abs(many.state[:, 0, :3] - calm.state[:, 0, :3]).max(axis=1).min() > 1e-5


def test_a_snapshot_goes_on_alike():
    one, many = pair("three_star")
    many.fly(5)
    kept = many.snapshot()
    many.fly(7)
    end = many.state.copy()
    many.restore(kept)
    many.fly(7)
    np.testing.assert_array_equal(many.state, end)
