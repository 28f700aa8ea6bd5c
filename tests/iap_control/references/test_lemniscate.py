# SPDX-License-Identifier: BSD-3-Clause
"""Bernoulli's lemniscate: its equation, its ends and its derivatives."""

import numpy as np

from iap_control.references.poses_and_lines import Lemniscate

MOTION = Lemniscate(
    type="lemniscate",
    duration=100.0,
    period=100.0,
    amplitude=1.5,
    center=(0.2, -0.3, 1.0),
    yaw_deg=30.0,
)


def test_it_is_bernoullis() -> None:
    rows = MOTION.rows(np.linspace(0.0, 100.0, 1001))
    x, y = rows[:, 0] - 0.2, rows[:, 1] + 0.3
    np.testing.assert_allclose((x * x + y * y) ** 2, 1.5**2 * (x * x - y * y), atol=1e-12)
    np.testing.assert_allclose(rows[0, :3], [1.7, -0.3, 1.0])
    np.testing.assert_allclose(rows[-1, :3], rows[0, :3], atol=1e-12)


def test_velocity_and_acceleration_are_its_derivatives() -> None:
    h = 1e-3
    t = np.array([17.0, 25.0, 61.0])
    before, now, after = (MOTION.rows(t + d) for d in (-h, 0.0, h))
    np.testing.assert_allclose(now[:, 7:10], (after - before)[:, :3] / (2.0 * h), atol=1e-7)
    second = (after - 2.0 * now + before)[:, :3] / h**2
    np.testing.assert_allclose(now[:, 13:16], second, atol=1e-6)
