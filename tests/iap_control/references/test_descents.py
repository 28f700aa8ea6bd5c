# SPDX-License-Identifier: BSD-3-Clause
"""Ways down to the ground: their speeds, heights and times."""

import numpy as np
import pytest

from iap_control.references.landing import Descent, descent, landing, touch_factor
from iap_description.states import REF_FIXED, REF_P, REF_V

DT, STANDING, LIGHT = 0.01, 0.3, 5.0


def at_rest(z, v=(0.0, 0.0, 0.0)):
    row = np.zeros(REF_FIXED)
    row[REF_P], row[6], row[REF_V] = (1.0, 2.0, z), 1.0, v
    return row


def test_a_platform_above_six_kilograms_touches_the_slower_the_heavier_it_is():
    assert [touch_factor(mass) for mass in (1.0, 6.0, 6.3, 12.0)] == pytest.approx(
        [1.0, 1.0, 6.0 / 6.3, 0.5]
    )


@pytest.mark.parametrize(("mass", "touch"), [(LIGHT, 0.07), (12.0, 0.035)])
def test_a_descent_falls_at_half_a_metre_per_second_to_a_flare_of_ten_centimetres(mass, touch):
    fall, flare, stop, stand = descent(at_rest(3.0), STANDING, mass, DT)
    assert fall.count * DT == pytest.approx((3.0 - 0.4) / 0.5)
    np.testing.assert_allclose(flare.row(0)[REF_P], (1.0, 2.0, STANDING + 0.1), atol=1e-12)
    np.testing.assert_allclose(flare.row(0)[REF_V], (0.0, 0.0, -touch))
    assert stop.count * DT == pytest.approx(1.0) and stand.count * DT == pytest.approx(1.0)
    np.testing.assert_allclose(stand.row(50)[REF_P], (1.0, 2.0, STANDING - 0.24), atol=touch * DT)
    assert not stand.row(50)[REF_V].any()


def test_a_descent_from_low_above_the_ground_begins_with_a_flare_of_a_second():
    fall, flare, *_ = descent(at_rest(STANDING + 0.05), STANDING, LIGHT, DT)
    assert fall.count * DT == pytest.approx(1.0)
    assert flare.row(0)[REF_P.stop - 1] == pytest.approx(STANDING + 0.05 - 0.5 * 0.07)


def test_a_landing_comes_to_rest_half_a_second_of_the_last_motion_ahead_within_two_seconds():
    stop, *_ = landing(at_rest(3.0, v=(0.4, 0.0, -0.2)), STANDING, LIGHT, DT)
    assert stop.count * DT == pytest.approx(2.0)
    np.testing.assert_allclose(stop.row(stop.count - 1)[REF_P], (1.2, 2.0, 2.9), atol=1e-3)


def test_one_that_does_not_know_where_it_is_goes_down_at_constant_speed_from_where_it_believes():
    x = np.array([1.0, 2.0, 5.0, 0.0, 0.0, 0.0, 1.0, *np.ones(6)])
    way = Descent(10.0, x, np.array([0.1, 0.2]), 0.5)
    for t, z in ((10.0, 5.0), (13.0, 3.5)):
        row = way(t).row
        np.testing.assert_allclose(row[REF_P], (1.0, 2.0, z))
        np.testing.assert_allclose(row[REF_V], (0.0, 0.0, -0.5))
        np.testing.assert_allclose(row[REF_FIXED:], (0.1, 0.2))


@pytest.mark.parametrize("z", [3.0, STANDING + 0.05])
def test_parts_of_a_descent_join_without_a_jump(z):
    rows = np.vstack(
        [part.rows(0, part.count) for part in descent(at_rest(z), STANDING, LIGHT, DT)]
    )
    middle = 0.5 * (rows[1:, REF_V] + rows[:-1, REF_V])
    np.testing.assert_allclose(np.diff(rows[:, REF_P], axis=0) / DT, middle, atol=2e-3)


def test_a_descent_from_below_the_ground_sinks_for_one_period():
    _, flare, *_ = descent(at_rest(STANDING - 0.3), STANDING, LIGHT, DT)
    assert flare.count == 1 + 1
