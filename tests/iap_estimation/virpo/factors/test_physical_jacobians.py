# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of the physical terms."""

import numpy as np
import pytest
from jacobians import along, assert_slopes, numeric
from rigid_motion import (
    CASES,
    ONLY,
    OPEN,
    PLATFORMS,
    STAR,
    TABLE_IX,
    Meeting,
    all_residuals,
    joints_of,
    normal_equations,
    shaken,
    told,
    whole,
)

from iap_estimation.virpo.factors.neighbours import (
    JOINT,
    RATE,
    columns_of,
    joint_indices,
    joint_jacobians,
)
from iap_estimation.virpo.factors.physical import physical_cost
from iap_estimation.virpo.factors.physical_jacobians import FLOOR, angular_velocity
from iap_estimation.virpo.factors.ranging import FRAME


@pytest.mark.parametrize("term", ONLY)
@pytest.mark.parametrize(("d", "own"), CASES)
def test_derivatives_of_every_term(d, own, term):
    meeting = Meeting(d, own)
    states, row, neighbours = (
        shaken(meeting.states()),
        meeting.rows()[3],
        meeting.neighbours(terms=ONLY[term]),
    )
    states.drift[:] += 0.1 * np.random.default_rng(1).normal(size=states.drift.shape)
    joints = joints_of(states, row, neighbours)
    G = told(joints, row, neighbours)[1]
    if not len(G):
        assert term == "velocity"  # of joints on a line
        return
    columns = columns_of(len(d) - 1)
    S, places = np.zeros((JOINT * len(d), columns)), np.zeros(columns, dtype=np.int64)
    joint_jacobians(states, row, joints, np.zeros((3, 13)), S)
    joint_indices(states, int(row[FRAME]), places)
    assert (np.diff(places) > 0).all()
    J = np.zeros((len(G), states.size))
    J[:, places] = G @ S
    assert_slopes(
        J, along(states, lambda there: all_residuals(there, row[None], neighbours), 1e-4)
    )


def test_derivatives_of_joints_along_every_part_of_a_step():
    meeting = Meeting(STAR)
    states, row = shaken(meeting.states(), 0.3), meeting.rows()[2]
    neighbours = meeting.neighbours()
    joints, S = joints_of(states, row, neighbours), np.zeros((18, columns_of(2)))
    joint_jacobians(states, row, joints, np.zeros((3, 13)), S)
    places = np.zeros(columns_of(2), dtype=np.int64)
    joint_indices(states, int(row[FRAME]), places)
    full = np.zeros((18, states.size))
    full[:, places] = S
    assert_slopes(full, along(states, lambda there: joints_of(there, row, neighbours).ravel()))


@pytest.mark.parametrize("d", PLATFORMS.values(), ids=PLATFORMS)
@pytest.mark.parametrize("width", [OPEN, 1.0])
def test_the_gradient_is_that_of_the_cost(d, width):
    meeting = Meeting(d)
    states, rows, neighbours = shaken(meeting.states()), meeting.rows(), meeting.neighbours()
    _, g, cost = normal_equations(states, rows, neighbours, width=width)
    assert cost == pytest.approx(physical_cost(states, rows, neighbours, width), rel=1e-12)
    slope = along(
        states, lambda there: np.array([physical_cost(there, rows, neighbours, width)]), 1e-5
    )
    assert np.abs(g - slope[0]).max() < 1e-6 * np.abs(g).max()


def test_the_matrix_is_that_of_the_derivatives():
    meeting = Meeting(STAR)
    states, rows, neighbours = shaken(meeting.states()), meeting.rows(), meeting.neighbours()
    H, g, cost = normal_equations(states, rows, neighbours)
    J = along(states, lambda there: all_residuals(there, rows, neighbours), 1e-4)
    r = all_residuals(states, rows, neighbours)
    assert np.abs(whole(H) - J.T @ J).max() < 1e-6 * np.abs(H).max()
    assert np.abs(g - J.T @ r).max() < 1e-6 * np.abs(g).max()
    assert cost == pytest.approx(0.5 * r @ r)
    assert not np.triu(H, 1).any()


@pytest.mark.parametrize("size", [0.0, 0.1 * FLOOR, FLOOR, 10 * FLOOR, 1.0])
def test_the_norm_of_an_angular_velocity_is_smooth_at_zero(size):
    meeting = Meeting(STAR)
    row, neighbours = meeting.rows()[0], meeting.neighbours(terms=ONLY["velocity"])
    joints = joints_of(meeting.states(), row, neighbours)
    w = size * np.array([0.6, 0.0, 0.8])
    joints[:, 3:] = [1.0, 2.0, 3.0] + np.cross(w, joints[:, :3])
    row[RATE] = size
    r, G = told(joints, row, neighbours)
    assert np.abs(r).max() < 1e-12
    slope = numeric(
        lambda step: told(joints + step.reshape(3, 6), row, neighbours)[0], 18, 0.02 * FLOOR
    )
    largest = 1.0 / 0.1 / 0.4  # of a velocity of 1 m/s on the shortest arm, in deviations
    assert np.abs(G - slope).max() < 1e-6 * largest
    assert np.abs(G[:, 3:6]).max() <= largest
    assert G.any() == (size > 0.0)


def test_far_from_rest_the_norm_is_the_plain_one():
    meeting = Meeting(STAR)
    row, states = meeting.rows()[0], shaken(meeting.states())
    joints, row[RATE] = joints_of(states, row, meeting.neighbours()), 2.0
    w = np.linalg.norm(angular_velocity(joints, row)[1])
    r = told(joints, row, meeting.neighbours(terms=ONLY["velocity"]))[0]
    assert r[0] == pytest.approx((w - 2.0) / TABLE_IX[1], abs=FLOOR**2 / w / TABLE_IX[1])
