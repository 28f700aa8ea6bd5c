# SPDX-License-Identifier: BSD-3-Clause
"""The observer of a module whose rotors tilt, against the motion of a rigid body that is integrated finely."""

import math

import numpy as np
import pytest

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.wrench.module_observer import ModuleObserver, VectoredThrust, follow_vectored

MASS, GRAVITY, DT, FINE = 4.6, 9.81, 0.005, 50
INERTIA = np.diag([0.093, 0.143, 0.199])
GAIN = (3.0, 3.0, 3.0, 2.5, 2.5, 2.5)
LAGS, TILT_LAG, TILT_RATE = (0.05, 0.06), 0.05, 3.0


def wrench_map() -> Array:
    """(6, 8) of four rotors at (+-0.134, +-0.134, -0.012) with arms outwards."""
    columns = []
    for x, y, spin in ((1, 1, -1), (-1, 1, 1), (-1, -1, -1), (1, -1, 1)):
        place = np.array([0.134 * x, 0.134 * y, -0.012])
        for axis in (np.array([0.0, 0.0, 1.0]), np.array([y, -x, 0.0]) / math.sqrt(2.0)):
            columns.append([*axis, *(np.cross(place, axis) - 0.0165 * spin * axis)])
    return np.array(columns).T


class Body:
    """A rigid body under rotors that lag and tilt, by small steps."""

    def __init__(self) -> None:
        self.x = np.zeros(13)
        self.x[6] = 1.0
        self.speed, self.tilt = np.full(4, math.sqrt(MASS * GRAVITY / 4)), np.zeros(4)
        self.map = wrench_map()

    def advance(self, thrust: Array, tilt: Array, force_W: Array, torque_P: Array) -> None:
        """One control period."""
        h = DT / FINE
        for _ in range(FINE):
            goal = np.sqrt(thrust)
            lag = np.where(self.speed < goal, *LAGS)
            self.speed += -np.expm1(-h / lag) * (goal - self.speed)
            step = -np.expm1(-h / TILT_LAG) * (tilt - self.tilt)
            self.tilt += np.clip(step, -h * TILT_RATE, h * TILT_RATE)
            T = self.speed**2
            given = self.map @ np.stack([T * np.cos(self.tilt), T * np.sin(self.tilt)], 1).ravel()
            self._move(given, force_W, torque_P, h)

    def _move(self, given: Array, force_W: Array, torque_P: Array, h: float) -> None:
        x, q = self.x, self.x[3:7]
        a = (so3.rotate(q, given[:3]) + force_W) / MASS - [0.0, 0.0, GRAVITY]
        w = so3.rotate(so3.conjugate(q), x[10:13])
        dw = np.linalg.solve(INERTIA, given[3:] + torque_P - np.cross(w, INERTIA @ w))
        x[7:10] += a * h
        x[:3] += x[7:10] * h
        x[3:7] = so3.normalized(so3.multiply(q, so3.quaternion_exp((w + dw * h) * h)))
        x[10:13] = so3.rotate(x[3:7], w + dw * h)


def model() -> VectoredThrust:
    return VectoredThrust.of(
        wrench_map(), lags=LAGS, tilt_lag=TILT_LAG, tilt_rate=TILT_RATE, dt=DT
    )


def observer() -> ModuleObserver:
    return ModuleObserver(MASS, INERTIA, model(), gravity=GRAVITY, gain=GAIN, dt=DT)


def flown(seconds: float, force_W: Array, torque_P: Array) -> tuple[Array, Array, Array]:
    """Times, estimates (T, 6) and attitudes (T, 4) under thrusts and tilts that move all the time."""
    body, watching = Body(), observer()
    rows, attitudes = [], []
    thrust, tilt = np.full(4, MASS * GRAVITY / 4), np.zeros(4)
    watching(body.x, thrust, tilt)
    for k in range(round(seconds / DT)):
        phase = 6.0 * k * DT + np.arange(4)
        body.advance(thrust, tilt, force_W, torque_P)
        rows.append(watching(body.x, thrust, tilt).copy())
        attitudes.append(body.x[3:7].copy())
        thrust = MASS * GRAVITY / 4 + 1.5 * np.sin(phase)
        tilt = 0.3 * np.cos(phase)
    return DT * np.arange(1, len(rows) + 1), np.array(rows), np.array(attitudes)


@pytest.mark.slow
def test_the_residual_follows_a_force_behind_a_first_order_lag() -> None:
    """r = W_ext (1 - exp(-K_I t)), with thrusts, tilts and attitude moving."""
    force = np.array([3.0, -2.0, 1.0])
    t, found, q = flown(2.0, force, np.zeros(3))
    expected = so3.rotate(so3.conjugate(q), -np.expm1(-3.0 * t)[:, None] * force)
    assert np.abs(found[:, :3] - expected).max() < 0.05
    assert np.abs(found[:, 3:]).max() < 0.02


def test_the_residual_follows_a_torque() -> None:
    torque = np.array([0.0, 0.0, 0.02])
    t, found, _ = flown(1.0, np.zeros(3), torque)
    expected = -np.expm1(-2.5 * t[:, None]) * torque
    assert np.abs(found[:, 3:] - expected).max() < 0.01


@pytest.mark.slow
def test_without_tilt_a_force_would_be_seen_that_is_none() -> None:
    """The tilt is what matters: 0.3 rad of it are 3.3 N a rotor."""
    body, blind = Body(), observer()
    thrust, tilt = np.full(4, MASS * GRAVITY / 4), 0.3 * np.array([1.0, 1.0, -1.0, -1.0])
    seeing = observer()
    for _ in range(200):
        blind(body.x, thrust, np.zeros(4))
        seeing(body.x, thrust, tilt)
        body.advance(thrust, tilt, np.zeros(3), np.zeros(3))
    assert np.linalg.norm(seeing(body.x, thrust, tilt)[:3]) < 0.2
    assert np.linalg.norm(blind(body.x, thrust, np.zeros(4))[:3]) > 3.0


def test_nothing_is_reported_after_a_reset() -> None:
    watching = observer()
    x = np.zeros(13)
    x[6] = 1.0
    thrust = np.full(4, MASS * GRAVITY / 4)
    x[7] = 1.0
    watching(x, thrust, np.zeros(4))
    watching(np.zeros(13) + np.eye(13)[6], thrust, np.zeros(4))
    watching.reset()
    assert not watching(x, thrust, np.zeros(4)).any()


def test_a_rotor_turns_no_faster_than_its_servo() -> None:
    speed, tilt, out = np.full(4, 3.0), np.zeros(4), np.zeros(6)
    for _ in range(20):
        follow_vectored(np.full(4, 9.0), np.full(4, 1.5), model(), speed, tilt, out)
    assert tilt[0] == pytest.approx(20 * DT * TILT_RATE)
    np.testing.assert_allclose(speed, 3.0)
