# SPDX-License-Identifier: BSD-3-Clause
"""The air of many worlds, each by its own wind and generator, and what is measured in them one by one."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_physics.air.batch_air import Air
from iap_physics.air.wind import GustParameters, Wind, first_gust, generators
from iap_physics.measured.state_noise import Arrivals, NoisyState, NoisyStates, StateNoise
from iap_physics.measured.wrench_sensor import WrenchFilter, WrenchSensor, WrenchSensors, to_world

GUSTY = Wind(speed=4.0, direction_deg=30.0, turbulence=8.0)
DT = 0.01


def rngs(*seeds):
    return [np.random.default_rng(seed) for seed in seeds]


def test_gusts_of_a_world_are_those_of_its_generator_alone_however_many_periods_at_once():
    air, alone = Air(GUSTY, rngs(1, 2, 3), has_drag=True), Air(GUSTY, rngs(2))
    blown = np.concatenate([air.advance(5, DT), air.advance(3, DT)])
    assert blown.shape == (8, 3, 3) and air.is_gusty and air.has_drag
    np.testing.assert_array_equal(blown[:, 1], alone.advance(8, DT)[:, 0])
    np.testing.assert_array_equal(air.now_W, blown[-1])
    assert np.ptp(blown[:, 0], axis=0).min() > 0.0 and not np.allclose(blown[:, 0], blown[:, 2])


def test_gusts_begin_anew_in_the_worlds_that_begin_with_their_generators():
    air = Air(GUSTY, rngs(1, 2, 3))
    first = air.advance(70, DT)  # more than are made at once
    air.reset(np.array([2, 0]), rngs(3, 1))
    again = air.advance(70, DT)
    np.testing.assert_array_equal(again[:, [0, 2]], first[:, [0, 2]])
    assert not np.allclose(again[:, 1], first[:, 1])


def test_a_world_may_have_a_wind_of_its_own():
    air = Air(Wind(speed=2.0), rngs(1, 2))
    air.set_wind(1, Wind(speed=3.0, direction_deg=90.0))
    steady = air.advance(4, DT)
    assert steady.shape == (1, 2, 3)
    np.testing.assert_allclose(steady[0], [[2.0, 0.0, 0.0], [0.0, 3.0, 0.0]], atol=1e-12)
    both = Air(GUSTY, rngs(1, 1))
    stronger = Wind(speed=8.0, direction_deg=30.0, turbulence=16.0)
    both.set_wind(1, stronger)
    np.testing.assert_allclose(both.now_W[1], stronger.mean_W)
    blown = both.advance(1, 1e-9)[0]
    ratio = GustParameters.of(stronger).sigma_uv / GustParameters.of(GUSTY).sigma_uv
    np.testing.assert_allclose(
        blown[1] - stronger.mean_W, ratio * (blown[0] - GUSTY.mean_W), rtol=1e-3
    )


def test_each_world_needs_a_generator_and_one_for_several_has_children():
    (only,) = generators(np.random.default_rng(3), 1)
    assert only.random() == np.random.default_rng(3).random()
    two = generators(np.random.default_rng(3), 2)
    assert two[0].random() != two[1].random()
    with pytest.raises(
        BadInput, match="gusts: 2 random generators are expected, one a world, got 3"
    ):
        generators(rngs(1, 2, 3), 2)
    one = first_gust(np.random.default_rng(3))
    assert one.shape == (1, 5)
    n = np.random.default_rng(3).standard_normal(5)
    expected = [n[0], n[1], 0.5 * (n[1] + n[2]), n[3], 0.5 * (n[3] + n[4])]
    np.testing.assert_allclose(one[0], expected)
    np.testing.assert_array_equal(first_gust(rngs(3, 4), batch=2)[0], one[0])


def test_rows_come_late_by_their_worlds_periods_and_lost_ones_leave_those_before():
    arrivals = Arrivals(2, 3)
    arrivals.reset(0, 2)
    seen = []
    for k in range(7):
        rows = np.full((2, 13), float(k))
        arrivals(rows, np.array([k == 3, k == 3]), np.array([0, 1]))
        seen.append(rows[:, 5].tolist())
    late, prompt = np.transpose(seen)
    assert late.tolist() == [0, 0, 0, 1, 2, 2, 4] and prompt.tolist() == [0, 1, 2, 2, 4, 5, 6]
    arrivals.reset(0, 1)
    for k, expected in ((7, 7.0), (8, 7.0), (9, 8.0)):
        rows = np.full((1, 13), float(k))
        arrivals(rows, np.array([False]), np.array([0]))
        assert rows[0, 0] == expected


NOISE = StateNoise(
    position=0.1, attitude_deg=2.0, velocity=0.3, rate_deg=4.0, position_bias=0.5, latency=0.03,
    latency_spread=0.02, dropout=0.2,
)  # fmt: skip


def test_some_worlds_may_be_measured_and_each_is_what_it_would_be_alone():
    states, x = NoisyStates(NOISE, rngs(1, 2, 3), DT), np.zeros((3, 13))
    x[:, 6] = 1.0
    alone = [NoisyState(NOISE, rng, DT) for rng in rngs(1, 2, 3)]
    np.testing.assert_array_equal(states.position_bias, [each.position_bias for each in alone])
    for k in range(80):
        x[:, 0] = k
        which = None if k % 3 else np.array([2, 0])
        seen = states(x if which is None else x[which], which)
        for n, b in enumerate(range(3) if which is None else which):
            np.testing.assert_allclose(seen[n], alone[b](x[b]), atol=1e-12)
    assert x[0, 0] == 79.0 and not x[:, 1].any()
    states.reset(np.array([1]), rngs(9))
    again = NoisyState(NOISE, *rngs(9), DT)
    np.testing.assert_allclose(states(x)[1], again(x[1]), atol=1e-12)


def test_without_noise_worlds_are_measured_as_they_are():
    noise = StateNoise(position=0.0, attitude_deg=0.0, velocity=0.0, rate_deg=0.0)
    states, x = NoisyStates(noise, rngs(1, 2), DT), np.ones((2, 13))
    out = states(x)
    assert states.is_zero and out is not x and np.array_equal(out, x)


def test_wrenches_of_worlds_are_measured_as_each_alone_in_those_that_are_asked_for():
    low_pass = WrenchFilter(cutoff=5.0, damping=0.8)
    worlds, alone = WrenchSensors(low_pass, DT, 3), WrenchSensor(low_pass, DT)
    rng = np.random.default_rng(2)
    for _ in range(5):
        wrenches = rng.normal(size=(3, 6))
        q_WP = so3.normalized(rng.normal(size=(3, 4)))
        worlds(wrenches, q_WP, np.array([2, 0]))
        alone(wrenches[2], q_WP[2])
        np.testing.assert_allclose(worlds.raw_P[2], alone.raw_P, atol=1e-12)
        np.testing.assert_allclose(worlds.filtered_P[2], alone.filtered_P, atol=1e-12)
        back = np.zeros(6)
        to_world(alone.raw_P, q_WP[2], back)
        np.testing.assert_allclose(back, wrenches[2], atol=1e-12)
        np.testing.assert_array_equal(alone.raw_W, wrenches[2])
        to_world(alone.filtered_P, q_WP[2], back)
        np.testing.assert_allclose(back, alone.filtered_W, atol=1e-12)
    assert not worlds.raw_P[1].any() and not worlds.filtered_P[1].any() and worlds.raw_P[0].any()
    worlds.reset(np.array([2]))
    assert not worlds.raw_P[2].any() and worlds.raw_P[0].any()
    worlds(wrenches, q_WP, np.array([2]))
    fresh = WrenchSensor(low_pass, DT)
    fresh(wrenches[2], q_WP[2])
    np.testing.assert_allclose(worlds.filtered_P[2], fresh.filtered_P, atol=1e-12)
