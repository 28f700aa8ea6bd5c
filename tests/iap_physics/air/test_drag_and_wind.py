# SPDX-License-Identifier: BSD-3-Clause
import math

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import stacked
from iap_description.states import Q, V
from iap_physics.air import wind as wind_module
from iap_physics.air.drag import add_drag, drag_coefficients
from iap_physics.air.wind import FOOT, GustNoise, GustParameters, Wind, first_gust, step_gust

BREEZE = Wind(speed=4.0, direction_deg=0.0, turbulence=15.0, altitude=30.0)


def drag_of(assembly, v_W, wind_W=(0.0, 0.0, 0.0), q_WB=(0.0, 0.0, 0.0, 1.0)):
    """Wrenches (bodies, 6) on bodies that all move alike."""
    x = np.zeros((1, len(assembly.bodies), 13))
    x[..., Q], x[..., V] = q_WB, v_W
    wrenches = np.zeros((1, len(assembly.bodies), 6))
    add_drag(x, np.array([wind_W], dtype=float), wrenches, *drag_coefficients([assembly]))
    return wrenches[0]


def gusts(wind, dt, steps, batch, seed=0):
    """Gusts (steps, batch, 3) [m/s]."""
    rng, parameters = np.random.default_rng(seed), GustParameters.of(wind)
    state, record = first_gust(rng, batch=batch), []
    parameters = stacked([parameters] * batch)
    for _ in range(steps):
        state, gust_W = step_gust(state, parameters, dt, rng.standard_normal(state.shape))
        record.append(gust_W)
    return np.array(record)


def test_a_body_that_drifts_with_the_wind_has_no_drag(assembly_of):
    wind = (3.0, -1.0, 0.5)
    np.testing.assert_array_equal(drag_of(assembly_of("three_star"), wind, wind), 0.0)


def test_drag_is_linear_plus_quadratic_in_speed(assembly_of):
    star = assembly_of("three_star")
    for body, wrench in zip(star.bodies, drag_of(star, (5.0, 0.0, 0.0)), strict=True):
        expected = -(body.drag.linear[0] + body.drag.quadratic[0] * 5.0) * 5.0
        np.testing.assert_allclose(wrench, [expected, 0, 0, 0, 0, 0], atol=1e-14)


def test_wind_pushes_as_motion_against_it_does(assembly_of):
    star, v = assembly_of("three_star"), np.array([2.0, 1.0, -3.0])
    np.testing.assert_allclose(drag_of(star, -v), drag_of(star, 0.0 * v, v), atol=1e-15)


def test_drag_coefficients_belong_to_body_axes(assembly_of):
    star = assembly_of("two_line")  # its bar is slimmer along x
    quarter = so3.quaternion_exp(np.array([0.0, 0.0, 0.5 * math.pi]))
    along = drag_of(star, (0.0, 3.0, 0.0), q_WB=quarter)[0, :3]
    np.testing.assert_allclose(along, [0.0, drag_of(star, (3.0, 0, 0))[0, 0], 0.0], atol=1e-13)


def test_drag_takes_energy_from_the_relative_motion(assembly_of):
    star, rng = assembly_of("three_star"), np.random.default_rng(1)
    for _ in range(50):
        v, q_WB = 5.0 * rng.normal(size=3), so3.normalized(rng.normal(size=4))
        assert (drag_of(star, v, q_WB=q_WB)[:, :3] @ v < 0.0).all()


def test_mean_wind_blows_towards_its_direction():
    north = Wind(speed=4.0, direction_deg=90.0)
    np.testing.assert_allclose(north.mean_W, [0.0, 4.0, 0.0], atol=1e-15)


def test_gusts_have_the_specifications_standard_deviations():
    h = BREEZE.altitude / FOOT
    sigma_w = 0.1 * BREEZE.turbulence
    sigma_uv = sigma_w / (0.177 + 0.000823 * h) ** 0.4
    for dt in (1e-3, 0.5, 20.0):
        last = gusts(BREEZE, dt, 40, 20_000)[-1]
        np.testing.assert_allclose(last.std(axis=0), [sigma_uv, sigma_uv, sigma_w], rtol=0.02)


def test_gusts_that_start_from_calm_reach_their_variance():
    parameters, rng = GustParameters.of(BREEZE), np.random.default_rng(5)
    state, all_worlds = np.zeros((20_000, 5)), stacked([parameters] * 20_000)
    for _ in range(50):
        state, gust_W = step_gust(
            state, all_worlds, 0.2 * parameters.time_uv, rng.standard_normal(state.shape)
        )
    sigmas = [parameters.sigma_uv, parameters.sigma_uv, parameters.sigma_w]
    np.testing.assert_allclose(gust_W.std(axis=0), sigmas, rtol=0.02)


def test_gusts_decorrelate_as_the_dryden_spectra_say():
    parameters = GustParameters.of(BREEZE)
    for lag in (0.3, 1.0):
        first, *_, last = gusts(BREEZE, 0.1 * lag * parameters.time_uv, 11, 40_000)
        along, across, _ = (first * last).mean(axis=0) / parameters.sigma_uv**2
        assert along == pytest.approx(math.exp(-lag), abs=0.02)
        assert across == pytest.approx((1.0 - 0.5 * lag) * math.exp(-lag), abs=0.02)


def test_turbulence_is_isotropic_at_1000_feet():
    parameters = GustParameters.of(BREEZE.model_copy(update={"altitude": 1000.0 * FOOT}))
    assert parameters.sigma_uv == pytest.approx(parameters.sigma_w)
    assert parameters.time_uv * BREEZE.speed == pytest.approx(1000.0 * FOOT)
    assert parameters.time_w * BREEZE.speed == pytest.approx(1000.0 * FOOT)


def test_the_gusts_axes_turn_with_the_wind():
    low = BREEZE.model_copy(update={"direction_deg": 60.0})
    east, turned = gusts(BREEZE, 0.1, 50, 1), gusts(low, 0.1, 50, 1)
    q = so3.quaternion_exp(np.array([0.0, 0.0, math.radians(60.0)]))
    np.testing.assert_allclose(turned, so3.rotate(q, east), atol=1e-12)


def test_the_same_seed_gives_the_same_gusts_and_another_seed_others():
    np.testing.assert_array_equal(gusts(BREEZE, 1e-3, 100, 1), gusts(BREEZE, 1e-3, 100, 1))
    assert not np.array_equal(gusts(BREEZE, 1e-3, 100, 1), gusts(BREEZE, 1e-3, 100, 1, seed=1))


def test_without_turbulence_there_are_no_gusts():
    np.testing.assert_array_equal(gusts(Wind(), 0.01, 5, 3), 0.0)


def test_gusts_without_a_wind_to_carry_them_are_refused():
    with pytest.raises(BadInput, match="'turbulence'"):
        validate(Wind, {"turbulence": 5.0}, source="scenario.yaml", prefix="wind")


@pytest.mark.parametrize("block", [1, 7, 65])
def test_gusts_do_not_depend_on_how_many_are_made_at_once(block, monkeypatch):
    rngs = [np.random.default_rng(seed) for seed in (1, 2, 1, 2)]
    made = GustNoise(rngs[:2])
    expected = [made() for _ in range(150)]
    monkeypatch.setattr(wind_module, "_CHUNK", block)
    again = GustNoise(rngs[2:])
    np.testing.assert_array_equal([again() for _ in range(150)], expected)
