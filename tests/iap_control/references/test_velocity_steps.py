# SPDX-License-Identifier: BSD-3-Clause
"""Steps of velocity: places and headings are the sums of what is commanded, and every second step comes back."""

import numpy as np
import pytest

from iap_control.references.timeline import Leads, flight_timeline
from iap_control.references.velocity_steps import VelocitySteps
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W, Level

KEYS = {
    "type": "velocity_steps",
    "duration": 60.0,
    "position": [1.0, 2.0, 3.0],
    "yaw_deg": 40.0,
    "pause": 1.0,
    "speeds": [1.0, 0.8, 0.5],
    "yaw_rate": 0.6,
    "holds": [2.0, 4.0],
    "ease": 0.5,
    "seed": 3,
}
DT = 1e-3


def steps(**changes):
    return validate(VelocitySteps, {**KEYS, **changes}, source="test")


def yaws(rows):
    return np.unwrap(so3.euler_from_matrix(so3.matrix_from_quaternion(rows[:, REF_Q]))[:, 2])


@pytest.mark.parametrize("yaw_rate", [0.6, 1e-4])
def test_places_and_headings_are_integrals_of_velocities(yaw_rate):
    t = np.arange(0.0, 60.0, DT)
    rows = steps(yaw_rate=yaw_rate).rows(t)
    middle = 0.5 * (rows[1:] + rows[:-1])
    np.testing.assert_allclose(np.diff(rows[:, REF_P], axis=0) / DT, middle[:, REF_V], atol=2e-6)
    np.testing.assert_allclose(np.diff(yaws(rows)) / DT, middle[:, REF_W.stop - 1], atol=2e-6)
    assert np.abs(np.diff(rows[:, REF_V], axis=0)).max() < 0.01  # no jump
    assert not rows[:, REF_A].any()
    assert not rows[:, REF_ALPHA].any()


def test_every_pair_ends_where_it_began_and_speeds_keep_to_their_bounds():
    motion = steps()
    rows = motion.rows(np.arange(0.0, 60.0, DT))
    moving = np.abs(rows[:, REF_V]).max(axis=1) > 1e-4
    ends = np.flatnonzero(moving[:-1] & ~moving[1:])
    assert len(ends) >= 14
    np.testing.assert_allclose(
        rows[ends[1::2], REF_P], np.tile([1.0, 2.0, 3.0], (len(ends[1::2]), 1)), atol=1e-6
    )
    np.testing.assert_allclose(yaws(rows)[ends[1::2]], np.deg2rad(40.0), atol=1e-6)
    yaw = yaws(rows)
    forwards = rows[:, REF_V.start] * np.cos(yaw) + rows[:, REF_V.start + 1] * np.sin(yaw)
    assert 0.5 < np.abs(forwards).max() <= 1.0 + 1e-12
    assert np.abs(rows[:, REF_V.stop - 1]).max() <= 0.5
    assert np.abs(rows[:, REF_W]).max() <= 0.6


def test_a_seed_is_a_motion():
    t = np.arange(0.0, 60.0, 0.1)
    assert (steps().rows(t) == steps().rows(t)).all()
    assert np.abs(steps(seed=4).rows(t) - steps().rows(t)).max() > 0.1
    alone = np.vstack([steps().rows(each) for each in np.split(t, 20)])
    np.testing.assert_allclose(alone, steps().rows(t), rtol=0.0, atol=1e-15)


def test_velocities_are_what_is_tracked_of_it():
    line = flight_timeline(steps(), Leads(0.0, None, 1.6), 0.005)
    assert {line.level(k) for k in range(0, line.count, 100)} == {Level.VELOCITY}
    line = flight_timeline(steps(), Leads(2.0, None, 1.6), 0.005)
    assert line.level(0) == Level.POSE
    stop = line.count + 3  # past the end its last part is held
    np.testing.assert_array_equal(line.levels(2, stop), [line.level(k) for k in range(2, stop)])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"holds": [4.0, 2.0]}, "key 'holds': 4.0 is longer than 2.0"),
        ({"ease": 1.5}, "key 'holds.0': 2.0 is less than twice ease"),
        ({"seed": -1}, "key 'seed'"),
        ({"speeds": [1.0, -1.0, 0.5]}, "key 'speeds.1'"),
    ],
)
def test_impossible_steps_are_refused_by_key(changes, why):
    with pytest.raises(BadInput, match=why):
        steps(**changes)


def test_the_shortest_step_may_be_all_eases():
    assert steps(ease=1.0).holds == (2.0, 4.0)
    assert steps(holds=[3.0, 3.0]).holds == (3.0, 3.0)
