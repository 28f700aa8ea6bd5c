# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a rotorcraft's identification on signals whose truth is known."""

import re

import numpy as np
import pytest

from iap_description.earth import GRAVITY
from iap_description.math import so3
from iap_simulation.identification.rotorcraft.estimate import FLOOR, estimate, regression
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.identification.rotorcraft.input_lags import lagged, lagged_inputs
from iap_simulation.identification.rotorcraft.prediction import (
    MotionModel,
    predictions,
    setpoint_response,
    tilt_error,
)
from iap_simulation.identification.rotorcraft.rotation import _Fit, rotation
from iap_simulation.identification.rotorcraft.rotorcraft import drag
from iap_simulation.identification.rotorcraft.thrust import ThrustCurve, slow_times, thrust

DT = 0.005
ROWS = 8000
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
MIXER = np.array([[-1.0, 1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0], [-1.0, -1.0, 1.0, 1.0]])


def filtered_noise(rng, seconds, columns=1):
    """Noise of deviation 1 that stays alike for some seconds."""
    keep = np.exp(-DT / seconds)
    out = np.zeros((ROWS, columns))
    for k, step in enumerate(rng.normal(0.0, np.sqrt(1.0 - keep**2), (ROWS - 1, columns)), 1):
        out[k] = keep * out[k - 1] + step
    return out


def table(**changes):
    t = DT * np.arange(ROWS)
    still = np.zeros((ROWS, 3))
    fields = {
        "name": "made", "t": t, "q": np.tile(LEVEL, (ROWS, 1)), "w": still, "f": still + [0.0, 0.0, GRAVITY],
        "v": still, "p": still, "motors": np.full((ROWS, 4), 0.6), "torque": None, "thrust": None,
        "instruments": None, "input_rate": 200.0, "rate": 200.0, "exponent": 2.0, "q_setpoint": None,
    }  # fmt: skip
    return FlightTable(**{**fields, **changes})


def test_a_rotor_rises_and_falls_by_its_lags():
    u = np.concatenate([np.zeros(1), np.ones(100), np.zeros(100)])[:, None]
    n = lagged(u, DT, 0.04, 0.06)[:, 0]
    rise = 1.0 - np.exp(-DT * np.arange(100) / 0.04)
    np.testing.assert_allclose(n[1:101], rise, atol=1e-12)
    np.testing.assert_allclose(n[101:], n[101] * np.exp(-DT * np.arange(100) / 0.06), atol=1e-12)


def test_instruments_find_a_slope_that_feedback_against_gusts_hides():
    """A controller pushes against a gust, which flattens least squares; set-points do not know gusts."""
    rng = np.random.default_rng(0)
    asked, gust = filtered_noise(rng, 1.0)[:, 0], filtered_noise(rng, 1.0)[:, 0]
    u = asked - 0.3 * gust
    y = 3.0 * u + 2.0 * gust
    A = np.column_stack([u, np.ones(ROWS)])
    plain = regression(A, y, DT)
    by = regression(A, y, DT, np.column_stack([asked, np.ones(ROWS)]))
    gradient = np.array([1.0, 0.0])
    assert plain.values[0] < 2.7
    assert abs(by.values[0] - 3.0) < by.half_width(gradient) < 1.5


def test_intervals_of_residuals_that_stay_alike_have_the_truth_in_nine_of_ten():
    inside = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = filtered_noise(rng, 0.5)[:, 0]
        fit = regression(x[:, None], 2.0 * x + filtered_noise(rng, 0.5)[:, 0], DT)
        inside.append(abs(fit.values[0] - 2.0) <= fit.half_width(np.ones(1)))
    assert np.mean(inside) >= 0.8
    assert estimate(5.0, 1e-9, "", "").half_width == pytest.approx(FLOOR * 5.0)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_a_curve_goes_through_hover_with_its_slope(exponent):
    curve = ThrustCurve(0.4, exponent)
    at, step = np.array([0.4]), 1e-6
    assert curve.per_mass(at)[0] == pytest.approx(GRAVITY)
    slope = (curve.per_mass(at + step) - curve.per_mass(at - step))[0] / (2.0 * step)
    assert slope == pytest.approx(curve.slope, rel=1e-6)


def test_thrust_by_the_balance_of_a_tilted_flight():
    """A vehicle that leans by 20 degrees needs more thrust than one that hovers level: the balance knows its tilt."""
    lean = so3.quaternion_exp(np.array([np.deg2rad(20.0), 0.0, 0.0]))
    n = np.full((ROWS, 4), np.sqrt(GRAVITY / np.cos(np.deg2rad(20.0)) / 22.5))
    found = thrust(table(q=np.tile(lean, (ROWS, 1)), motors=n, f=None), n)
    assert found.estimates["full thrust per mass"].value == pytest.approx(22.5, rel=1e-6)
    assert found.estimates["hover command"].value == pytest.approx(
        np.sqrt(GRAVITY / 22.5), rel=1e-6
    )
    assert found.refusals == {"thrust slope": "no accelerometer"}


def test_motors_that_are_at_their_end_tell_nothing():
    n = np.full((ROWS, 4), 0.66)
    n[: ROWS // 5, 0] = 1.0
    found = thrust(table(motors=n), n)
    assert not found.estimates
    assert found.refusals["full thrust per mass"] == "a motor is at its end for 20 % of the time"


def excited(noise=0.0, size=0.05):
    """A vehicle whose four motors turn it about all axes, by lags of 30 and 50 ms."""
    rng = np.random.default_rng(1)
    u = 0.6 + size * filtered_noise(rng, 0.05, 3) @ MIXER
    gains = np.array([70.0, 50.0, 4.0])[:, None] * MIXER
    share = np.square(lagged(u, DT, 0.03, 0.05))
    alpha = (share - share.mean(axis=0)) @ gains.T
    w = np.concatenate([np.zeros((1, 3)), np.cumsum(0.5 * (alpha[1:] + alpha[:-1]) * DT, axis=0)])
    return table(motors=u, w=w + noise * rng.normal(size=w.shape))


def test_gains_and_lags_of_an_excited_vehicle():
    found = rotation(excited(), np.square)
    for name, true in {
        "roll": 70.0,
        "pitch": 50.0,
        "yaw": 4.0,
        "lag up": 0.03,
        "lag down": 0.05,
    }.items():
        assert found.estimates[name].value == pytest.approx(true, rel=0.02), name
    assert (np.sign(found.gains) == MIXER).all()
    assert (0.99 < found.shares).all() and (found.shares <= 1.0).all()
    assert found.is_by_motors and not found.refusals


def test_a_gentle_flight_on_a_noisy_gyroscope_is_refused_with_its_reason():
    found = rotation(excited(noise=0.05, size=1e-4), np.square)
    assert {"roll", "pitch", "yaw"} <= set(found.refusals)
    explained = re.fullmatch(r"inputs explain (\d+) % of .* alone", found.refusals["roll"])
    assert int(explained[1]) == round(100.0 * max(found.shares[0], 0.0)) < 30
    assert (np.abs(found.shares) < 0.3).all()
    assert found.refusals["lag up"] == "no excitation about roll and pitch"


def test_slow_motors_do_not_tell_lags():
    slow = excited()
    found = rotation(table(motors=slow.motors, w=slow.w, input_rate=10.0), np.square)
    assert found.refusals["lag up"] == "inputs at 10 Hz, 100 Hz are needed"


def test_drag_of_a_fast_flight_and_none_of_a_slow_one():
    t = DT * np.arange(ROWS)
    v = np.column_stack([4.0 * np.sin(0.5 * t), 0.5 * np.sin(0.5 * t), np.zeros(ROWS)])
    f = -0.3 * v + [0.05, 0.0, GRAVITY]
    found = drag(table(v=v, f=f))
    assert found.estimates["drag x"].value == pytest.approx(0.3, rel=1e-3)
    assert found.refusals["drag y"].startswith("at most 0.5 m/s")


def gusty_drag(reach, strength=1.5, drag_rate=0.3, seed=3):
    """A vehicle that is asked for swings of a speed, and that gusts take with them at half their speed."""
    rng, t = np.random.default_rng(seed), DT * np.arange(ROWS)
    asked, gust = reach * np.sin(0.7 * t), strength * filtered_noise(rng, 2.0)[:, 0]
    v = np.column_stack([asked + 0.5 * gust, 0.0 * t, 0.0 * t])
    f = np.column_stack([-drag_rate * (v[:, 0] - gust), 0.0 * t, np.full(ROWS, GRAVITY)])
    pasts = [reach * np.sin(0.7 * (t - d)) for d in (0.0, 0.2, 0.4)]
    columns = np.column_stack([*pasts, np.ones(ROWS)])
    level = np.stack([columns, columns], axis=1)
    return drag(table(v=v, f=f, level_instruments=level)), drag(table(v=v, f=f))


def test_set_points_find_the_drag_that_gusts_hide_from_least_squares():
    """Least squares are off by -cov(v, w) / var(v): gusts that take a vehicle with them look like less drag."""
    found, plain = gusty_drag(4.0)
    slow = 0.5 * 1.5**2 / (0.5 * 4.0**2 + 0.25 * 1.5**2)
    assert plain.estimates["drag x"].value == pytest.approx(0.3 * (1.0 - slow), rel=0.06)
    each = found.estimates["drag x"]
    assert abs(each.value - 0.3) < each.half_width < 0.06
    assert abs(each.value - 0.3) < 0.5 * abs(plain.estimates["drag x"].value - 0.3)
    assert each.method == "accelerometer, set-points as instruments"
    assert plain.estimates["drag x"].method.endswith("calm air assumed")


def test_drag_of_a_vehicle_that_gusts_alone_have_moved_is_refused_by_instruments():
    found, plain = gusty_drag(0.02, strength=4.0)
    assert plain.refusals["drag x"].startswith("-0.30 1/s, which is none")
    assert "hide it" in found.refusals["drag x"] or "which is none" in found.refusals["drag x"]


def test_a_prediction_by_the_true_model_is_exact_and_beats_what_stays():
    t = DT * np.arange(ROWS)
    alpha = np.column_stack([20.0 * np.cos(4.0 * t), 0.0 * t, 0.0 * t])
    w = np.column_stack([5.0 * np.sin(4.0 * t), 0.0 * t, 0.0 * t])
    q = so3.quaternion_exp(np.column_stack([-1.25 * np.cos(4.0 * t), 0.0 * t, 0.0 * t]))
    forces = np.column_stack([0.0 * t, 0.0 * t, np.full(ROWS, GRAVITY)])
    a = so3.rotate(q, forces) - [0.0, 0.0, GRAVITY]
    v = np.concatenate([np.zeros((1, 3)), np.cumsum(a[:-1] * DT, axis=0)])
    motion = MotionModel(alpha, np.zeros(3), np.full(ROWS, GRAVITY), np.zeros(3), np.zeros(2))
    for each in predictions(table(q=q, w=w, v=v), motion):
        model, stays, held = each.attitude_deg
        assert model < 0.1 < min(stays, held)
        assert each.velocity[0] < 0.02 * each.velocity[1]  # the steps of its integration


@pytest.mark.parametrize(("rows", "horizons"), [(582, 4), (581, 3)])
def test_a_horizon_needs_eight_windows(rows, horizons):
    still = table()
    parts = {name: getattr(still, name)[:rows] for name in ("t", "q", "w", "v")}
    thrust = np.full(rows, GRAVITY)
    motion = MotionModel(np.zeros((rows, 3)), np.zeros(3), thrust, np.zeros(3), np.zeros(2))
    found = predictions(table(**parts), motion)
    assert [each.windows for each in found][3:] == [8][: horizons - 3]


def test_set_points_are_replayed_by_their_delay_and_lag():
    t = DT * np.arange(ROWS)
    tilt = 0.2 * np.sign(np.sin(0.8 * t))
    asked = so3.quaternion_exp(np.column_stack([tilt, 0.0 * t, 0.0 * t]))
    late = np.interp(t - 0.1, t, tilt)
    followed = so3.quaternion_exp(
        np.column_stack([lagged(late[:, None], DT, 0.15, 0.15)[:, 0], 0.0 * t, 0.0 * t])
    )
    flight = table(q=followed, q_setpoint=asked)
    response = setpoint_response(flight)
    assert (response.delay, response.lag) == (pytest.approx(0.1), 0.15)
    error = tilt_error(flight, response)
    assert error.response < 0.05 * error.tilt
    assert tilt_error(table(), None) is None


@pytest.mark.parametrize(("rate", "lags"), [(99.0, (0.1, 0.1, 0.0)), (100.0, (0.1, 0.2, 0.3))])
def test_lags_up_and_down_are_told_apart_by_inputs_at_100_hz(rate, lags):
    fit = _Fit(table(input_rate=rate), lambda u: u)
    assert fit._times(np.array([0.1, 0.2, 0.3])) == lags


def test_slow_lags_without_an_accelerometer_are_the_least_and_no_delay():
    assert slow_times(table(f=None), np.zeros((ROWS, 4))) == (0.005, 0.005, 0.0)


@pytest.mark.parametrize("true", [(0.06, 0.06, 0.02), (0.12, 0.12, 0.0)])
def test_slow_lags_are_those_with_which_inputs_explain_the_force(true):
    u = 0.5 + 0.1 * filtered_noise(np.random.default_rng(3), 0.3, 1)
    made = table()
    push = lagged_inputs(made, u, true).mean(axis=1)
    f = np.zeros((ROWS, 3))
    f[:, 2] = 20.0 * push
    assert slow_times(table(f=f), u) == true
