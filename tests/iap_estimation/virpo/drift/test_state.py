# SPDX-License-Identifier: BSD-3-Clause
"""Covariance of the drift filter's states at the start, while time passes, and after a jump."""

import numpy as np
import pytest
from synthetic_fleet import TABLE_VI, fleet_of

from iap_description.math import so3
from iap_estimation.virpo.drift.spec import load_spec
from iap_estimation.virpo.drift.state import DriftState

SPEC, FLEET = load_spec(), fleet_of(3, TABLE_VI)
TILTED = so3.quaternion_exp(np.array([0.3, -0.2, 0.9]))
UP = so3.rotate(so3.conjugate(TILTED), np.array([0.0, 0.0, 1.0]))  # in the central body


def begun() -> DriftState:
    state = DriftState(FLEET, SPEC)
    for a in range(3):
        state.begin(a, np.array([1.0 + a, 2.0, 3.0]))
    state.begin_centre(TILTED, [0, 1, 2])
    return state


def deviations(state: DriftState, aircraft: int) -> np.ndarray:
    return np.sqrt(np.diag(state.P)[4 * aircraft : 4 * aircraft + 4])


def test_a_drift_begins_at_none_with_the_deviations_of_the_settings() -> None:
    state, start = begun(), SPEC.start
    np.testing.assert_allclose(state.x, [[1, 2, 3, 0], [2, 2, 3, 0], [3, 2, 3, 0]])
    np.testing.assert_array_equal(state.pivots, state.x[:, :3])
    for a in range(3):
        np.testing.assert_allclose(
            deviations(state, a), [start.position] * 3 + [np.radians(start.yaw_deg)]
        )
    assert state.of_centre == 12 and len(state.P) == 18
    off_diagonal = state.P[:12, :12] - np.diag(np.diag(state.P)[:12])
    assert not off_diagonal.any() and not state.P[:12, 12:].any()


def test_the_centres_tilt_and_heading_are_uncertain_about_axes_of_the_world() -> None:
    state, start = begun(), SPEC.start
    block = state.P[12:15, 12:15]
    across = np.cross(UP, [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    assert across @ block @ across == pytest.approx(np.radians(start.tilt_deg) ** 2)
    d = FLEET.d - FLEET.d.mean(axis=0)
    heading = np.radians(start.heading_deg) ** 2 + start.position**2 / np.linalg.norm(d) ** 2
    assert UP @ block @ UP == pytest.approx(heading)
    np.testing.assert_allclose(state.P[15:, 15:], start.gyro_bias**2 * np.eye(3))
    np.testing.assert_array_equal(state.centre, [*TILTED, 0.0, 0.0, 0.0])
    state.P[:] = 7.0
    state.begin(1, np.zeros(3))  # anew: independent of all others
    assert (
        not state.P[4:8, :4].any()
        and not state.P[8:, 4:8].any()
        and (state.P[:4, 8:] == 7.0).all()
    )


@pytest.mark.parametrize("is_blind", [False, True])
def test_a_drift_walks_with_the_root_of_time(is_blind: bool) -> None:
    state = begun()
    before = np.square(deviations(state, 1))
    p_odo = None if is_blind else state.pivots[1].copy()
    state.carry(1, p_odo, 2.5)
    walk = SPEC.blind_walk if is_blind else SPEC.walk
    grown = np.square(deviations(state, 1)) - before
    np.testing.assert_allclose(grown, 2.5 * np.square([walk.position] * 3 + [walk.yaw]), rtol=1e-6)
    np.testing.assert_allclose(deviations(state, 0), deviations(state, 2))


def test_the_doubts_of_an_odometry_count_where_they_are_larger_than_the_walk() -> None:
    state, walk = begun(), SPEC.walk
    before = np.square(deviations(state, 0))
    doubt = np.array([1e-12, 5.0, 1e-12, 0.5])
    state.carry(0, state.pivots[0].copy(), 1.0, doubt)
    grown = np.square(deviations(state, 0)) - before
    np.testing.assert_allclose(grown, [walk.position**2, 5.0, walk.position**2, 0.5], rtol=1e-6)


def test_the_way_of_an_odometry_is_turned_by_the_yaw_of_its_drift() -> None:
    state = begun()
    state.x[1, 3] = 0.5 * np.pi
    state.carry(1, state.pivots[1] + [2.0, 0.0, 1.0], 0.1)
    np.testing.assert_allclose(state.x[1], [2.0, 4.0, 4.0, 0.5 * np.pi], atol=1e-12)
    np.testing.assert_allclose(state.pivots[1], [4.0, 2.0, 4.0])
    yaw = np.radians(SPEC.start.yaw_deg)
    assert state.P[4, 7] == pytest.approx(-2.0 * yaw**2)  # 2 m north turn into the west


@pytest.mark.parametrize("with_heading", [False, True])
def test_a_jump_reopens_one_drift_alone_and_the_heading_where_it_may_be_wrong(
    with_heading: bool,
) -> None:
    state = begun()
    before = state.P.copy()
    state.reopen(1, with_heading=with_heading)
    change, yaw = state.P - before, np.radians(SPEC.reopen.yaw_deg)
    expected = np.zeros_like(change)
    expected[range(4, 8), range(4, 8)] = np.square([SPEC.reopen.position] * 3 + [yaw])
    if with_heading:
        expected[12:15, 12:15] = yaw**2 * np.outer(UP, UP)
    np.testing.assert_allclose(change, expected, atol=1e-9)
