# SPDX-License-Identifier: BSD-3-Clause
"""Worlds of a batch that are commanded in different ways in the same control period."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import Level
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING
from iap_simulation.batch.actions import KINDS, action_of
from iap_simulation.batch.references import References
from iap_simulation.batch.tracking import MixedActions
from iap_simulation.batch.worlds import Worlds

WORLDS = 40
NOISY = {"state_noise.position": 0.002, "state_noise.attitude_deg": 0.1}


@cache
def hovering(platform):
    """Thrusts (N,) and rotor speeds (N, 4) that carry a platform."""
    worlds = Worlds.of("hover", 1, platform=platform)
    per_square = np.array([each.rotor.c_f for each in worlds.model.fleet])
    rpm = worlds.rpm[0].copy()
    return per_square * (rpm**2).sum(axis=1), rpm


def values_of(kind, worlds):
    """An action of a kind that a platform survives for a while."""
    thrusts, rpm = hovering(worlds.scenario.vehicles[0].platform.name)
    level = {
        "pose": [0.1, 0.0, 1.6, 0.2],
        "velocity": [0.1, 0.0, 0.1, 0.3],
        "acceleration": [0.2, 0.1, 0.0, -0.2],
        "wrench": [0.1, 0.0, 1.0, 0.0, 0.01, 0.0],
        "attitude_thrust": [[0.02, -0.01, 0.0, thrust] for thrust in thrusts],
        "rate_thrust": [[0.01, 0.0, 0.05, thrust] for thrust in thrusts],
        "rotor_thrust": [[thrust / 4] * 4 for thrust in thrusts],
        "rpm": rpm,
    }
    return np.tile(np.ravel(level[kind]), (len(worlds.seeds), 1))


def flown(platform, action, periods=30, **settings):
    """States of worlds under what `action(worlds, period)` says."""
    draw = {"position": 0.05, "attitude_deg": 2.0, "mass": 0.05}
    worlds = Worlds.of("hover", WORLDS, platform=platform, draw=draw, settings=settings)
    for period in range(periods):
        worlds.advance(action(worlds, period))
    return worlds


@pytest.mark.parametrize("platform", ["three_star", "f450"])
@pytest.mark.parametrize("noise", [{}, NOISY], ids=["", "noisy"])
def test_each_world_flies_as_where_all_take_its_kind(platform, noise):
    def alike(kind):
        return lambda worlds, _: action_of(kind, values_of(kind, worlds), worlds)

    kinds = [kind for kind in KINDS if platform != "f450" or kind != "wrench"]
    which = np.arange(WORLDS) % len(kinds)

    def mixed(worlds, _):
        return MixedActions(tuple(alike(kind)(worlds, 0) for kind in kinds), which)

    together = flown(platform, mixed, **noise)
    assert (together.status == RUNNING).all()
    for number, kind in enumerate(kinds):
        mine = which == number
        alone = flown(platform, alike(kind), **noise)
        assert np.array_equal(together.state[mine], alone.state[mine]), kind
        assert np.array_equal(together.rpm[mine], alone.rpm[mine]), kind


def test_worlds_change_their_kinds_as_a_batch_of_one_would():
    def kind(world, period):
        return ("velocity", "rate_thrust", "pose")[(world + period // 7) % 3]

    def mixed(worlds, period):
        kinds = ("velocity", "rate_thrust", "pose")
        actions = [action_of(k, values_of(k, worlds), worlds) for k in kinds]
        which = [kinds.index(kind(world, period)) for world in range(WORLDS)]
        return MixedActions(tuple(actions), np.array(which))

    together = flown("three_star", mixed, **NOISY)
    draw = {"position": 0.05, "attitude_deg": 2.0, "mass": 0.05}
    for world in (0, 1, 39):
        alone = Worlds.of("hover", [world], draw=draw, settings=NOISY)
        for period in range(30):
            chosen = kind(world, period)
            alone.advance(action_of(chosen, values_of(chosen, alone), alone))
        assert np.array_equal(together.state[world], alone.state[0])


def test_a_number_that_is_none_ends_the_world_whose_action_has_it_and_no_other():
    worlds = Worlds.of("hover", 3)
    rates, poses = values_of("rate_thrust", worlds), values_of("pose", worlds)
    rates[0], rates[2], poses[1], poses[2] = np.nan, np.nan, np.nan, np.nan
    actions = (action_of("rate_thrust", rates, worlds), action_of("pose", poses, worlds))
    worlds.advance(MixedActions(actions, np.array([0, 0, 1])))
    assert worlds.status.tolist() == [INVALID_COMMAND, RUNNING, INVALID_COMMAND]


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ([0, 1], r"shape \(2,\); \(3,\) is expected"),
        ([0, 1, 2], "there are 2"),
        ([0, -1, 0], "from -1 to 0"),
        ([0.0, 1.0, 1.0], "whole numbers"),
    ],
)
def test_what_is_no_choice_is_refused(which, words):
    worlds = Worlds.of("hover", 3)
    rows = worlds.references().rows.copy()
    actions = (References.of(rows, Level.POSE), References.of(rows, Level.VELOCITY))
    with pytest.raises(BadInput, match=words):
        worlds.advance(MixedActions(actions, np.array(which)))


def test_a_wrong_action_is_refused_before_another_one_acts():
    worlds = Worlds.of("hover", 3)
    before = worlds.snapshot()
    rates = action_of("rate_thrust", values_of("rate_thrust", worlds), worlds)
    wrong = replace(rates, thrust=rates.thrust[:, :2])
    with pytest.raises(BadInput, match="'thrust' has shape"):
        worlds.advance(MixedActions((rates, wrong), np.array([0, 1, 1])))
    found = worlds.plant.propulsion[0].command.modes.copy()
    worlds.restore(before)
    np.testing.assert_array_equal(found, worlds.plant.propulsion[0].command.modes)


def test_the_name_before_0_7_still_works_and_warns():
    from iap_simulation.batch import tracking

    with pytest.deprecated_call(match="Mixed is MixedActions now"):
        assert tracking.Mixed is MixedActions
