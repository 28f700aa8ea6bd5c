# SPDX-License-Identifier: BSD-3-Clause
"""Vibration of inertial units, and what a calibration at rest leaves of their biases."""

import numpy as np
import pytest

from iap_description.arrays import Array
from iap_sensors.inertial.imu import PRESETS, Imu, ImuSpec

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
