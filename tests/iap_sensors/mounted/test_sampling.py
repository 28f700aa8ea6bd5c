# SPDX-License-Identifier: BSD-3-Clause
"""The rates that steps allow."""

import pytest

from iap_sensors.mounted.sampling import nearest_rate


@pytest.mark.parametrize(("wanted", "every"), [(1000.0, 1), (200.0, 5), (20.0, 50), (0.5, 2000)])
def test_a_rate_that_divides_is_kept(wanted, every):
    assert nearest_rate(wanted, 1000.0) == (wanted, every)


@pytest.mark.parametrize(
    ("wanted", "rate", "every"),
    [(30.0, 200.0 / 7.0, 7), (180.0, 200.0, 1), (149.0, 100.0, 2), (160.0, 200.0, 1)],
)
def test_a_rate_that_does_not_divide_becomes_the_nearest_that_does(wanted, rate, every):
    assert nearest_rate(wanted, 200.0) == (pytest.approx(rate), every)


def test_no_sensor_is_faster_than_the_steps():
    assert nearest_rate(5000.0, 1000.0) == (1000.0, 1)


@pytest.mark.parametrize("steps_hz", [200.0, 240.0, 1000.0])
def test_no_other_rate_that_divides_is_nearer(steps_hz):
    for wanted in (3.3, 7.0, 29.97, 47.0, 61.5, 99.0, 123.0, 199.0):
        rate, _ = nearest_rate(wanted, steps_hz)
        best = min(abs(steps_hz / n - wanted) for n in range(1, 1000))
        assert abs(rate - wanted) == pytest.approx(best)
