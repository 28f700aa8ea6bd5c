# SPDX-License-Identifier: BSD-3-Clause
"""Integrals of errors: within their limits, idle where more would be asked of what was short, each by itself."""

import numpy as np
import pytest

from iap_control.laws.tracking import advanced, advanced6
from iap_control.laws.under_actuation import Pid5, _advanced5

DT = 0.1


@pytest.mark.parametrize(
    ("integral", "e", "kI", "short", "far", "after"),
    [
        (1.0, 2.0, 0.5, 0.0, False, 1.2),
        (5.9, 2.0, 0.5, 0.0, False, 6.0),  # 3 N over 0.5
        (-5.9, -2.0, 0.5, 0.0, False, -6.0),
        (1.0, 2.0, 0.0, 0.0, False, 1.0),  # no gain
        (1.0, 2.0, 0.5, -1.0, False, 1.0),  # more of what was short
        (1.0, 2.0, 0.5, 1.0, False, 1.2),
        (1.0, -2.0, 0.5, 1.0, False, 0.8),  # less of it
        (1.0, 2.0, 0.5, 0.0, True, 1.0),  # beyond reach
        (1.0, -2.0, 0.5, 0.0, True, 0.8),
    ],
)
def test_an_integral_grows_by_its_error_unless_that_asks_for_more_than_there_is(
    integral, e, kI, short, far, after
):
    assert advanced(integral, e, kI, 3.0, DT, short, far) == pytest.approx(after)


@pytest.mark.parametrize("count", [5, 6])
def test_each_of_several_integrals_goes_its_own_way(count):
    rng = np.random.default_rng(count)
    integral, e, kI, limit, short = (tuple(rng.uniform(0.5, 2.0, count)) for _ in range(5))
    if count == 6:
        found = advanced6(integral, e, kI, limit, DT, short, False)
    else:
        none = (0.0,) * 5
        found = _advanced5(
            integral, e, Pid5(none, kI, none, limit, True, (1.0, 1.0)), DT, short, False
        )
    alone = [
        advanced(*each, DT, s, False)
        for *each, s in zip(integral, e, kI, limit, short, strict=True)
    ]
    np.testing.assert_allclose(found, alone)
