# SPDX-License-Identifier: BSD-3-Clause
"""Events of a recording in the order of their times, and none that lead an estimator astray at the end."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.datasets.inertial_checks import force_size
from iap_estimation.navigation import streams
from iap_estimation.navigation.measurements import Tally
from iap_estimation.navigation.streams import in_order, while_sighted
from iap_estimation.virpo.algebra.normal_equations import accumulate_row, add_block, half_square


class Sample(SimpleNamespace):
    """An inertial sample."""


class Picture(SimpleNamespace):
    """Images."""


class Tag(SimpleNamespace):
    """Ranges."""


@pytest.fixture(autouse=True)
def kinds(monkeypatch):
    for name, kind in (("ImuSample", Sample), ("Images", Picture), ("Ranges", Tag)):
        monkeypatch.setattr(streams, name, kind)


def events(*pairs: tuple[Any, float]) -> list[tuple[int, Any]]:
    return [(0, kind(t=t)) for kind, t in pairs]


def test_events_are_sorted_within_the_horizon_inertial_samples_first_and_images_last() -> None:
    made = events((Picture, 1.0), (Tag, 1.0), (Sample, 1.0), (Sample, 0.9), (Sample, 1.2))
    found = [(type(each), each.t) for _, each in in_order(made, 0.25)]
    assert found == [(Sample, 0.9), (Sample, 1.0), (Tag, 1.0), (Picture, 1.0), (Sample, 1.2)]


def test_what_comes_later_than_the_horizon_is_passed_on_when_it_comes() -> None:
    made = events((Sample, 1.0), (Sample, 1.3), (Sample, 0.5), (Sample, 1.31))
    assert [each.t for _, each in in_order(made, 0.25)] == [1.0, 0.5, 1.3, 1.31]


def test_no_more_than_a_second_of_inertial_samples_follow_the_last_image_or_range() -> None:
    tally = Tally()
    tail = [(Sample, t) for t in (2.5, 3.0, 3.01, 4.0)]
    made = events((Sample, 0.0), (Picture, 1.0), (Tag, 2.0), *tail)
    assert [each.t for _, each in while_sighted(made, tally)] == [0.0, 1.0, 2.0, 2.5, 3.0]
    assert tally.blind == pytest.approx(2.0)


def test_a_pause_of_images_loses_nothing_where_they_come_again() -> None:
    tally = Tally()
    made = events((Picture, 1.0), (Sample, 3.0), (Sample, 4.0), (Picture, 5.0), (Sample, 5.5))
    assert [each.t for _, each in while_sighted(made, tally)] == [1.0, 3.0, 4.0, 5.0, 5.5]
    assert tally.blind == 0.0
    none = events((Sample, 1.0), (Sample, 9.0))  # of sensors that never see
    assert len(list(while_sighted(none, tally))) == 2


def force(share: float) -> str | None:
    sample: Any = SimpleNamespace(
        f_B=np.array([[0.0, 0.0, 9.81 * share]] * 3),
        dataset=SimpleNamespace(gravity=9.81, source="walk.bag"),
    )
    return force_size(sample)


def test_the_median_force_is_about_gravity_or_the_unit_is_asked_for() -> None:
    for share in (0.62, 1.0, 1.58):
        assert force(share) == f"specific force {9.81 * share:.2f} m/s^2 in the median"
    with pytest.raises(BadInput, match=r"which is gravity in .*g.*: --accel-scale 9\.8"):
        force(1.0 / 9.81)
    for share in (0.58, 1.62, 40.0):
        with pytest.raises(BadInput, match=r"is not gravity's \(9\.81\): --accel-scale FACTOR"):
            force(share)


def test_normal_equations_are_sums_of_outer_products_below_the_diagonal() -> None:
    block, slope = np.zeros((2, 2)), np.zeros(2)
    accumulate_row(block, slope, np.array([2.0, 3.0]), 5.0)
    accumulate_row(block, slope, np.array([1.0, 0.0]), -1.0)
    np.testing.assert_array_equal(block, [[5.0, 6.0], [6.0, 9.0]])
    np.testing.assert_array_equal(slope, [9.0, 15.0])
    H, g = np.ones((4, 4)), np.ones(4)
    add_block(H, g, np.array([1, 3]), block, slope)
    expected = np.ones((4, 4))
    expected[1, 1], expected[3, 1], expected[3, 3] = 6.0, 7.0, 10.0
    np.testing.assert_array_equal(H, expected)
    np.testing.assert_array_equal(g, [1.0, 10.0, 1.0, 16.0])
    assert half_square(np.array([3.0, -4.0])) == 12.5
