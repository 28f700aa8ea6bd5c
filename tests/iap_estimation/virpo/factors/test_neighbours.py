# SPDX-License-Identifier: BSD-3-Clause
"""Joints between keyframes: of an aircraft by its samples, of its neighbours by what they show, less their drift."""

import numpy as np
import pytest
from jacobians import along, assert_slopes
from rigid_motion import (
    ALL,
    ARM_B,
    BEGIN,
    LINE,
    SPAN,
    STAR,
    TWO,
    WALK,
    Meeting,
    all_residuals,
    joints_of,
    neighbour,
    normal_equations,
    shaken,
    whole,
)
from synthetic import GRAVITY

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import AIRCRAFT, DRIFT, retract
from iap_estimation.virpo.factors.neighbours import (
    EACH,
    FIRST,
    MEASURED,
    PLACE,
    VELOCITY,
    fill_waypoints,
    joint_of,
    measured_columns,
)
from iap_estimation.virpo.factors.physical import add_drift, add_drift_prior, drift_cost
from iap_estimation.virpo.factors.ranging import FRAME, SHARE


@pytest.mark.slow
@pytest.mark.parametrize("d", [STAR, LINE], ids=["star", "line"])
def test_a_drift_undoes_what_a_neighbour_is_off(d):
    meeting = Meeting(d)
    states, rows, off = meeting.states(), meeting.rows(), np.array([0.3, -0.2, 0.1, 0.4])
    neighbours = meeting.neighbours()
    back = so3.quaternion_exp(np.array([0.0, 0.0, -off[3]]))
    p = neighbour(rows, 1, slice(PLACE, PLACE + 3))
    v = neighbour(rows, 1, slice(VELOCITY, VELOCITY + 3))
    p[:] = p - off[:3]
    v[:] = so3.rotate(back, v)
    assert np.abs(all_residuals(states, rows, neighbours)).max() > 1.0
    states.drift[:, 1] = off
    assert np.abs(all_residuals(states, rows, neighbours)).max() < 1e-11


def test_a_drift_grows_evenly_from_one_keyframe_to_the_next():
    meeting = Meeting(STAR, per=4)
    states, rows = meeting.states(), meeting.rows()
    states.drift[1, 0, :3], states.drift[2, 0, :3] = [0.1, 0.2, 0.3], [0.5, 0.4, 0.3]
    for row in rows:
        k, s = int(row[FRAME]), row[SHARE]
        ends = states.drift[k : k + 2, 0, :3]
        place = row[FIRST + PLACE : FIRST + PLACE + 3] + (1 - s) * ends[0] + s * ends[1]
        assert np.allclose(joints_of(states, row, meeting.neighbours())[1, :3], place)


@pytest.mark.slow
def test_what_is_said_of_drifts_does_not_depend_on_where_the_origin_is():
    meeting, blocks = Meeting(STAR), []
    neighbours = meeting.neighbours()
    for origin in (np.zeros(3), np.array([50.0, -30.0, 5.0])):
        states, rows = shaken(meeting.states(), 0.01), meeting.rows()
        states.alignment[0, :3] -= origin
        for o in range(2):
            neighbour(rows, o, slice(PLACE, PLACE + 3))[:] -= origin
        H, _, _ = normal_equations(states, rows, neighbours)
        drifts = np.array([k * states.stride + AIRCRAFT + i for k in range(3) for i in range(8)])
        blocks.append(H[np.ix_(drifts, drifts)])
    assert np.abs(blocks[0] - blocks[1]).max() / np.abs(blocks).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("own", [0, 2])
def test_samples_lead_to_where_and_how_fast_the_joint_is(own):
    meeting = Meeting(STAR, own, per=4)
    states, rows = meeting.states(), meeting.rows()
    sampled = rows.copy()
    sampled[:, :MEASURED] = 0.0
    for k in range(2):
        begin = BEGIN + SPAN * k
        samples, part = meeting.flight.samples(own, begin, begin + SPAN), rows[:, FRAME] == k
        there = sampled[part]
        fill_waypoints(
            samples, states.x[k, 0, 10:], meeting.times(), np.array(ARM_B), GRAVITY, there
        )
        there[:, FRAME] = k
        sampled[part] = there
    for exact, row in zip(rows, sampled, strict=True):
        off = (
            joints_of(states, row, meeting.neighbours())[0]
            - joints_of(states, exact, meeting.neighbours())[0]
        )
        assert np.abs(off[:3]).max() < 1e-5
        assert np.abs(off[3:]).max() < 1e-3  # the angular velocity is a mean over 5 ms
    assert np.abs(all_residuals(states, sampled, meeting.neighbours())).max() < 0.05


def test_a_known_bias_is_taken_out_of_the_samples():
    meeting, bias = Meeting(STAR), np.array([0.1, -0.2, 0.3, 0.1, 0.2, -0.1])
    samples = meeting.flight.samples(0, BEGIN, BEGIN + SPAN)
    clean, biased = np.zeros((2, 2, MEASURED))
    fill_waypoints(samples, np.zeros(6), meeting.times(), np.array(ARM_B), GRAVITY, clean)
    samples[:, 1:] += bias
    fill_waypoints(samples, bias, meeting.times(), np.array(ARM_B), GRAVITY, biased)
    assert np.allclose(clean, biased, atol=1e-12)


def test_a_joint_moves_as_the_odometry_of_its_aircraft_says():
    meeting = Meeting(STAR)
    for a in range(3):
        shown = joint_of(meeting.shared(a, 2.05), np.array(ARM_B))
        assert np.allclose(shown, meeting.joint(a, 2.05), atol=1e-12)


def test_a_row_says_who_is_silent():
    row = measured_columns(None, [None, np.arange(6.0)])
    assert row.shape == (5 + 14,)
    assert not row[: 5 + EACH].any()
    assert np.array_equal(row[5 + EACH :], [1, 0, 1, 2, 3, 4, 5])


def test_the_walk_is_a_gradient_and_a_matrix_of_its_cost():
    states, spans = shaken(Meeting(STAR, frames=4).states(), 0.1), np.array([0.1, 0.2, 0.15])
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    cost = add_drift(states, spans, WALK, ALL, H, g)
    assert cost == pytest.approx(drift_cost(states, spans, WALK))
    slope = along(states, lambda there: np.array([drift_cost(there, spans, WALK)]))
    assert_slopes(g[None], slope)
    step = np.random.default_rng(2).normal(size=states.size)
    there = states.copy()
    retract(there, step)
    bent = cost + g @ step + 0.5 * step @ whole(H) @ step
    assert drift_cost(there, spans, WALK) == pytest.approx(bent)


def test_a_drift_spreads_as_it_is_said_to():
    """From its prior, with the root of the time, whatever the keyframes in between."""
    states, spans = Meeting(TWO, frames=3).states(), np.array([0.3, 0.7])
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    add_drift(states, spans, WALK, ALL, H, g)
    add_drift_prior(states, np.array([0.05, 0.1]), H)
    drifts = np.array([k * states.stride + AIRCRAFT + i for k in range(3) for i in range(DRIFT)])
    spread = np.diag(np.linalg.inv(whole(H)[np.ix_(drifts, drifts)])).reshape(3, DRIFT)
    for k, age in enumerate((0.0, 0.3, 1.0)):
        assert spread[k, :3] == pytest.approx(0.05**2 + 0.01**2 * age)
        assert spread[k, 3] == pytest.approx(0.1**2 + 0.04**2 * age)
