# SPDX-License-Identifier: BSD-3-Clause
"""Vibration of inertial units, and what a calibration at rest leaves of their biases."""

import numpy as np
import pytest

from iap_description.arrays import Array
from iap_sensors.inertial.imu import PRESETS, Imu, ImuSpec, Vibration, Vibrations

LINES = {"gyro": 0.02, "accel": 1.0, "frequency": 35.0, "spread": 0.15, "lines": 4}
STILL = np.zeros((4000, 3))


def said(**changes: object) -> tuple[Array, Array]:
    """Angular velocities and specific forces (S, 3) of a unit in which nothing moves."""
    spec = ImuSpec(**{**PRESETS.tree("px4"), **changes})
    samples = Imu(spec, 200.0, np.random.default_rng(5))(STILL, STILL)
    return samples.w_S, samples.f_S


def test_vibration_has_its_power_in_lines_about_its_frequency() -> None:
    calm, shaken = said(), said(vibration=LINES)
    f = np.fft.rfftfreq(len(STILL), 1.0 / 200.0)
    for before, after, size in zip(calm, shaken, (0.02, 1.0), strict=True):
        added = after - before
        np.testing.assert_allclose(added.std(axis=0), size, rtol=0.1)
        power = np.abs(np.fft.rfft(added[:, 0])) ** 2
        within = np.abs(f - 35.0) < 0.16 * 35.0
        assert power[within].sum() > 0.98 * power[1:].sum()


def test_seeds_shake_at_frequencies_of_their_own_and_samples_do_not_depend_on_how_many_come_at_once() -> (
    None
):
    spec = ImuSpec(**{**PRESETS.tree("px4"), "vibration": LINES})
    whole = Imu(spec, 200.0, np.random.default_rng(5))(STILL[:100], STILL[:100])
    unit = Imu(spec, 200.0, np.random.default_rng(5))
    parts = [unit(STILL[:k], STILL[:k]) for k in (1, 30, 69)]
    np.testing.assert_array_equal(np.vstack([each.w_S for each in parts]), whole.w_S)
    other = Imu(spec, 200.0, np.random.default_rng(6))(STILL[:100], STILL[:100])
    assert np.abs(other.f_S - whole.f_S).max() > 1.0


def test_a_calibration_at_rest_leaves_a_share_of_the_first_biases() -> None:
    spec = PRESETS.tree("px4")
    whole, left = (
        Imu(ImuSpec(**{**spec, "calibration": share}), 200.0, np.random.default_rng(5))
        for share in (1.0, 0.05)
    )
    (a, b) = (each(STILL[:1], STILL[:1]) for each in (whole, left))
    step = 6.0e-3 * np.sqrt(1.0 / 200.0)  # of the accelerometer's walk
    np.testing.assert_allclose(b.accel_bias, 0.05 * a.accel_bias, atol=5.0 * step)
    assert np.abs(a.accel_bias).max() == pytest.approx(0.196, rel=2.0)
    assert np.abs(b.gyro_bias).max() < 0.1 * np.abs(a.gyro_bias).max()


def test_lines_have_their_size_and_frequency_and_go_on_from_call_to_call() -> None:
    """A line of f turns by 2 pi f dt a sample, so that v[k + 1] + v[k - 1] = 2 cos(2 pi f dt) v[k]."""
    spec = Vibration(frequency=50.0, spread=0.0, lines=1, gyro=0.02, accel=3.0)
    whole, parts = Vibrations(spec, 1e-3, 2), Vibrations(spec, 1e-3, 2)
    for each in (whole, parts):
        each.reset(1, np.random.default_rng(8))
    v = whole(1, 400)  # 20 periods
    np.testing.assert_allclose(np.sqrt((v**2).mean(axis=0)), np.repeat([0.02, 3.0], 3), rtol=1e-9)
    doubled = 2.0 * np.cos(0.1 * np.pi) * v[1:-1]
    np.testing.assert_allclose(v[2:] + v[:-2], doubled, atol=1e-9)
    np.testing.assert_array_equal(np.vstack([parts(1, 150), parts(1, 250)]), v)
    parts.reset(1, np.random.default_rng(8))
    np.testing.assert_array_equal(parts(1, 400), v)
    wide = Vibration(frequency=50.0, spread=0.2, lines=64, gyro=0.02, accel=3.0)
    spread = Vibrations(wide, 1e-3, 1)
    spread.reset(0, np.random.default_rng(9))
    v = spread(0, 20_000)
    np.testing.assert_allclose(np.sqrt((v**2).mean(axis=0)), np.repeat([0.02, 3.0], 3), rtol=0.05)
    power = np.abs(np.fft.rfft(v * np.hanning(len(v))[:, None], axis=0)) ** 2
    f = np.fft.rfftfreq(len(v), 1e-3)
    assert (power[(f < 39.8) | (f > 60.2)].sum(axis=0) < 1e-3 * power.sum(axis=0)).all()
    assert (power[(f < 43.0)].sum(axis=0) > 0.05 * power.sum(axis=0)).all()
    assert (power[(f > 57.0)].sum(axis=0) > 0.05 * power.sum(axis=0)).all()
