# SPDX-License-Identifier: BSD-3-Clause
"""Observations, actions and reward of a docking policy, against kinematics, dynamics and sums."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_learning.tasks.kinds.docking.observations import TERMS as TABLE
from iap_learning.tasks.kinds.docking.observations import PairInputs
from iap_learning.tasks.kinds.docking.rewards import (
    DockingRules,
    DockingWeights,
    _mean_square_change,
    potential,
)
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.tasks.seeds import episode_seeds

QUIET = {
    "draw.position": [0.0, 0.0, 0.0],
    "draw.attitude_deg": [0.0, 0.0, 0.0],
    **{
        f"vehicles.{i}.state_noise.{key}": 0.0
        for i in (0, 1)
        for key in ("position", "attitude_deg", "velocity", "rate_deg")
    },
}
TERMS = ("tip", "tip_velocity", "estimated_tip", "estimated_tip_velocity")


def states(rng):
    """Rows (2, 13) of both, anyhow."""
    x = rng.normal(size=(2, 13))
    x[:, 3:7] = so3.quaternion_exp(rng.normal(scale=0.3, size=(2, 3)))
    return x


def moved(x, dt):
    """Rows after a time in which velocities stay."""
    out = x.copy()
    out[:, :3] += dt * x[:, 7:10]
    turns = so3.quaternion_exp(dt * x[:, 10:])
    for row, turn, q in zip(out, turns, x[:, 3:7], strict=True):
        row[3:7] = so3.multiply(turn, q)
    return out


def seen(x, names, pair, action=None, latched=False):
    """Numbers of terms of rows, where observers estimate what is true."""
    memory, numbers = np.zeros((1, 2, 13)), {}
    memory[0, :, :3], memory[0, :, 3:6] = x[:, :3], x[:, 7:10]
    action = np.zeros(6) if action is None else action
    actions = (action[None], np.zeros((1, 18)))
    state = (x[None], np.arange(6.0)[None], np.array([latched]), *actions, memory)
    inputs = PairInputs(*state, np.zeros((2, 3)), pair)
    for name in names:
        numbers[name] = np.zeros((1, TABLE[name].size or 6))
        TABLE[name].fill(inputs, np.zeros(1, int), numbers[name])
    return {name: row[0] for name, row in numbers.items()}


@pytest.fixture(scope="module")
def pair():
    return make_episodes("docking", 1).worlds.laws.pair


def test_the_tip_s_velocity_is_the_change_of_its_place(pair):
    rng, h = np.random.default_rng(1), 1e-6
    for _ in range(10):
        x = states(rng)
        before, after = (seen(moved(x, dt), TERMS, pair) for dt in (-h, h))
        now = seen(x, TERMS, pair)
        for place, velocity in (TERMS[:2], TERMS[2:]):
            change = (after[place] - before[place]) / (2.0 * h)
            np.testing.assert_allclose(now[velocity], change, atol=1e-7)


def test_terms_are_what_they_are_called(pair):
    x = states(np.random.default_rng(2))
    names = ("position_error", "velocity", "attitude", "rates", "wrench", "latched", "action")
    found = seen(x, names, pair, action=np.arange(6.0) / 6.0, latched=True)
    R = found["attitude"].reshape(2, 3, 3)
    for i in range(2):
        np.testing.assert_allclose(R[i], so3.matrix_from_quaternion(x[i, 3:7]), atol=1e-12)
        np.testing.assert_allclose(R[i] @ found["rates"].reshape(2, 3)[i], x[i, 10:], atol=1e-12)
    np.testing.assert_array_equal(found["position_error"].reshape(2, 3), x[:, :3])
    np.testing.assert_array_equal(found["velocity"].reshape(2, 3), x[:, 7:10])
    np.testing.assert_array_equal(found["wrench"], np.arange(6.0))
    np.testing.assert_array_equal(found["action"], np.arange(6.0) / 6.0)
    assert found["latched"] == 1.0


def test_at_the_references_the_probe_is_where_the_latch_catches_it():
    episodes = make_episodes("docking", 1)
    interface, pair = episodes.interface, episodes.worlds.laws.pair
    x = np.zeros((2, 13))
    x[:, 6], x[:, :3] = 1.0, interface.references
    depth = episodes.worlds.scenario.latches["dock"].depth
    tip = seen(x, ("tip",), pair)["tip"]
    np.testing.assert_allclose(tip, -depth * pair.socket.axis, atol=1e-12)


def test_observations_are_scaled_and_clipped():
    plain = make_episodes("docking", 1, settings={"observation": {"velocity": 1.0, "action": 1.0}})
    fine = make_episodes("docking", 1, settings={"observation": {"velocity": 1e-6, "action": 0.5}})
    assert plain.layout == (("velocity", 6, 1.0), ("action", 6, 1.0))
    for episodes in (plain, fine):
        episodes.reset(seeds=[3])
        episodes.step(np.full((1, 6), 0.5))
    a, b = plain.observe()[0], fine.observe()[0]
    np.testing.assert_array_equal(b[:6], np.clip(1e6 * a[:6], -100.0, 100.0))
    np.testing.assert_array_equal(b[6:], 2.0 * a[6:])


def after(kind, low, high, action, seconds):
    """State rows (2, 13) after quiet flight under one action."""
    settings = {
        "action.kind": kind,
        "action.low": low,
        "action.high": high,
        "action.compensated": False,
        "repeat": 1,
    }
    episodes = make_episodes("docking", 1, settings=settings, scenario=QUIET)
    for _ in range(round(seconds / episodes.dt)):
        episodes.step(np.array(action, float)[None])
    return episodes.worlds.pairs.x[0].copy()


def test_a_commanded_acceleration_is_flown():
    own = ("acceleration", [-4.0] * 3, [4.0] * 3, [0.0, 0.0, 0.25, 0.25, 0.0, -0.25])
    early, late = after(*own, 0.4), after(*own, 0.6)
    a = (late[:, 7:10] - early[:, 7:10]) / 0.2
    np.testing.assert_allclose(a, [[0.0, 0.0, 1.0], [1.0, 0.0, -1.0]], atol=0.12)


def test_commanded_thrusts_and_rates_are_flown():
    own = ("thrust_rates", [-0.8, -6.0, -6.0, -6.0], [0.8, 6.0, 6.0, 6.0])
    x = after(*own, [0.0, 0.1, 0.0, 0.0, 0.125, 0.0, 0.0, 0.0], 0.25)
    np.testing.assert_allclose(x[0, 10:], [0.6, 0.0, 0.0], atol=0.03)
    np.testing.assert_allclose(x[1, 9], 0.1 * 9.81 * 0.25, rtol=0.25)  # rotors lag


def test_commanded_angular_accelerations_are_flown():
    low, high = [-4.0] * 3 + [-20.0] * 3, [4.0] * 3 + [20.0] * 3
    action = np.zeros(12)
    action[3], action[10] = 0.1, -0.1
    early, late = (after("printed", low, high, action, t) for t in (0.1, 0.2))
    w = (late[:, 10:] - early[:, 10:]) / 0.1
    np.testing.assert_allclose(w, [[2.0, 0.0, 0.0], [0.0, -2.0, 0.0]], atol=0.3)


def only(**potential_weights):
    """A reward that is the growth of a potential alone."""
    none = dict.fromkeys(("time", "force", "change", "touch", "success", "failure"), 0.0)
    weights = {"along": 0.0, "aside": 0.0, "angle": 0.0, "latched": 0.0, **potential_weights}
    gentle = {"gentle_force": 0.0, "gentle_touch": 0.0}
    return {"reward": {"potential": weights, **none, **gentle}}


def phi(episodes):
    """Potentials (B,) of the worlds' true states."""
    worlds, weights = episodes.worlds, DockingWeights.of(episodes.task, episodes.dt)
    pair, held = worlds.laws.pair, worlds.is_caught
    rules = DockingRules((pair.probe, pair.socket), worlds.limits, weights, depth=0.115)
    states = enumerate(worlds.pairs.x)
    return np.array([potential(x, bool(held[b]), rules) for b, x in states])


@pytest.mark.parametrize("flown", ["script", "random"])
def test_rewards_of_a_potential_add_up_to_its_difference(flown):
    settings = only(along=-2.0, aside=-5.0, angle=-1.0, latched=3.0)
    episodes = make_episodes("docking", 3, settings=settings)
    episodes.reset(seeds=[1, 2, 3])
    start, rng = phi(episodes), np.random.default_rng(0)
    for _ in range(120):
        actions = None if flown == "script" else rng.uniform(-1.0, 1.0, (3, 6))
        episodes.step(actions)
    np.testing.assert_allclose(episodes.returns, phi(episodes) - start, atol=1e-12)
    assert episodes.worlds.is_caught.all() == (flown == "script")


def test_potentials_are_distances():
    episodes = make_episodes("docking", 1, settings=only(along=-1.0))
    episodes.reset(seeds=[5])
    pair = episodes.worlds.laws.pair
    tip = seen(episodes.worlds.pairs.x[0], ("tip",), pair)["tip"]
    along = tip @ pair.socket.axis
    np.testing.assert_allclose(phi(episodes), -(along + 0.115))


def test_time_changes_and_touches_cost_what_the_task_says():
    settings = only()
    settings["reward"].update(time=-1.0, change=-0.5, touch=-10.0, gentle_touch=0.1)
    episodes = make_episodes("docking", 1, settings=settings)
    episodes.reset(seeds=[0])
    first = episodes.step(np.full((1, 6), 0.5)).reward[0]
    again = episodes.step(np.full((1, 6), 0.5)).reward[0]
    np.testing.assert_allclose([first, again], [-0.02 - 0.5 * 0.25, -0.02])
    episodes.reset(seeds=[0])
    while np.isnan(episodes.report()["closing_speed"][0]):
        reward = episodes.step(None).reward[0]
    hard = episodes.report()["closing_speed"][0] - 0.1
    np.testing.assert_allclose(reward, -0.02 - 10.0 * hard)
    assert episodes.step(None).reward[0] == pytest.approx(-0.02)  # once


def test_forces_cost_above_what_is_gentle():
    settings = only()
    settings["reward"].update(force=-0.1, gentle_force=2.0)
    episodes = make_episodes("docking", 1, settings=settings)
    episodes.reset(seeds=[0])
    rewards = np.array([episodes.step(None).reward[0] for _ in range(120)])
    assert rewards.max() == 0.0
    peak = episodes.report()["force_peak"][0]
    np.testing.assert_allclose(rewards.min(), -0.1 * (peak - 2.0))


def test_episodes_go_on_to_seeds_of_their_own():
    episodes = make_episodes("docking", 2)
    episodes.reset(seeds=[10, 11])
    episodes.reset([1])
    assert episodes.episode_seeds[0] == 10
    assert episodes.episode_seeds[1] == episode_seeds(np.array([11]), np.array([1]))[0]


def test_a_change_of_actions_costs_its_mean_square():
    now, before = np.array([0.5, -0.2, 0.0, 1.0]), np.array([0.1, -0.2, 0.3, 0.0])
    assert _mean_square_change(now, before) == pytest.approx((0.16 + 0.0 + 0.09 + 1.0) / 4)
    assert _mean_square_change(now, now) == 0.0
