# SPDX-License-Identifier: BSD-3-Clause
"""Constraints of the joints of one rigid body on an aircraft, and directions that they leave free."""

import numpy as np
import pytest
from rigid_motion import (
    ALL,
    BEGIN,
    CASES,
    LINE,
    ONLY,
    PLATFORMS,
    SQUARE,
    STAR,
    TABLE_IX,
    WALK,
    Meeting,
    all_residuals,
    joints_of,
    neighbour,
    normal_equations,
    shaken,
    told_terms,
)

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.virpo.algebra.normal_equations import huber
from iap_estimation.virpo.algebra.states import AIRCRAFT, DRIFT
from iap_estimation.virpo.factors.neighbours import (
    CENTRE,
    EACH,
    FIRST,
    KNOWN,
    MEASURED,
    PLACE,
    RATE,
    columns_of,
)
from iap_estimation.virpo.factors.physical import add_drift, drift_cost, physical_cost
from iap_estimation.virpo.factors.physical_jacobians import angular_velocity, most_residuals
from iap_estimation.virpo.window.terms import PhysicalTerms


@pytest.mark.parametrize(("d", "own"), CASES)
def test_a_rigid_motion_leaves_nothing(d, own):
    meeting = Meeting(d, own)
    r = all_residuals(meeting.states(), meeting.rows(), meeting.neighbours())
    assert len(r) == len(meeting.rows()) * len(told_terms(d))
    assert np.abs(r).max() < 1e-11


@pytest.mark.parametrize("d", [STAR, SQUARE], ids=["star", "square"])
def test_three_joints_tell_the_angular_velocity(d):
    meeting = Meeting(d)
    for row, now in zip(meeting.rows(), BEGIN + meeting.times(), strict=False):
        is_told, w, _ = angular_velocity(
            joints_of(meeting.states(), row, meeting.neighbours()), row
        )
        assert is_told
        assert np.linalg.norm(meeting.spin(now)) > 0.05
        assert np.allclose(w, meeting.spin(now), atol=1e-12)


def test_least_squares_are_the_published_closed_form():
    """Also for velocities of no rigid body. Its sign is the other one, which the norm of (13) does not see."""
    meeting, rng = Meeting(STAR), np.random.default_rng(3)
    row, joints = meeting.rows()[0], rng.normal(size=(3, 6))
    (p2, p3), (v2, v3) = (joints[1:, part] - joints[0, part] for part in (np.s_[:3], np.s_[3:]))
    normal = np.cross(p2, p3)
    r3 = np.linalg.norm(normal)
    e3, r22, r23, r33 = normal / r3, p2 @ p2, p2 @ p3, p3 @ p3
    along_2 = (r23 * e3 @ v2 - r22 * e3 @ v3) / r3
    along_3 = (r33 * e3 @ v2 - r23 * e3 @ v3) / r3
    published = along_2 * p2 + np.cross(v2, p2) + along_3 * p3 + np.cross(v3, p3)
    assert np.allclose(angular_velocity(joints, row)[1], -published / (r22 + r33), rtol=1e-12)


def test_a_level_star_and_a_line_along_x_are_compared_with_the_published_cosines():
    for d, element, own in ((STAR, 2, 0), (LINE, 0, 0), (LINE, 0, 2)):
        meeting = Meeting(d, own)
        row, states = meeting.rows()[0], meeting.states()
        cosine = so3.matrix_from_quaternion(
            meeting.flight.truth(-1, BEGIN + meeting.times()[0]).q_WB
        )
        p = joints_of(states, row, meeting.neighbours())[:, :3]
        if element == 2:
            normal = np.cross(p[1] - p[0], p[2] - p[0])
            seen = normal[2] / np.linalg.norm(normal)
        else:  # the one that is ahead less the one behind
            seen = (p[1] - p[0])[2] / np.linalg.norm(p[1] - p[0]) * (-1.0 if own == 0 else 1.0)
        assert seen == pytest.approx(cosine[2, element], abs=1e-12)
        shown = row.copy()
        shown[MEASURED + 1 : MEASURED + 4][element] += 0.02
        r = all_residuals(states, shown[None], meeting.neighbours(terms=ONLY["attitude"]))
        assert abs(r[0]) == pytest.approx(0.02 / TABLE_IX[2])


def test_residuals_count_in_deviations():
    meeting, states = Meeting(LINE), Meeting(LINE).states()
    rows, near = meeting.rows(), meeting.neighbours()
    longer = near._replace(d_B0=near.d_B0 * 1.1)
    r = all_residuals(states, rows[:1], longer._replace(terms=np.array(ONLY["position"])))
    assert r == pytest.approx([-0.1 / 0.04, -0.2 / 0.04])
    star = Meeting(STAR)
    faster = star.rows()[:1]
    faster[0, RATE] += 0.5
    r = all_residuals(star.states(), faster, star.neighbours(terms=ONLY["velocity"]))
    assert r == pytest.approx([-0.5 / 0.1], rel=1e-2)


@pytest.mark.parametrize("d", PLATFORMS.values(), ids=PLATFORMS)
def test_terms_are_switched_one_by_one(d):
    meeting = Meeting(d)
    states, rows = shaken(meeting.states()), meeting.rows()
    everything = all_residuals(states, rows[:1], meeting.neighbours())
    names = np.array(told_terms(d))
    for letter, terms in zip("pvq", ONLY.values(), strict=True):
        some = all_residuals(states, rows[:1], meeting.neighbours(terms=terms))
        assert np.array_equal(some, everything[names == letter])
    nothing = meeting.neighbours(terms=(False, False, False))
    H, g, cost = normal_equations(states, rows, nothing)
    assert cost == 0.0
    assert not H.any()
    assert not g.any()


def test_who_is_not_known_says_nothing():
    meeting = Meeting(STAR)
    states, rows = shaken(meeting.states()), meeting.rows()
    everything = all_residuals(states, rows[:1], meeting.neighbours())
    neighbour(rows, 0, KNOWN)[:] = 0.0
    neighbour(rows, 0, slice(PLACE, EACH))[:] = np.nan
    assert np.array_equal(all_residuals(states, rows[:1], meeting.neighbours()), everything[1:2])
    H, g, _ = normal_equations(states, rows, meeting.neighbours())
    gone = np.array([k * states.stride + AIRCRAFT + i for k in range(3) for i in range(DRIFT)])
    assert np.isfinite(H).all()
    assert not g[gone].any()
    assert not H[gone].any()


def test_a_silent_centre_leaves_the_distances():
    meeting = Meeting(STAR)
    states, rows = shaken(meeting.states()), meeting.rows()
    everything = all_residuals(states, rows[:1], meeting.neighbours())
    rows[:, CENTRE] = 0.0
    assert np.array_equal(all_residuals(states, rows[:1], meeting.neighbours()), everything[:2])


def test_two_of_a_square_that_are_on_a_line_with_their_joint_tell_no_rate():
    crossing = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])
    meeting = Meeting(crossing)
    states, rows = meeting.states(), meeting.rows()
    assert len(all_residuals(states, rows[:1], meeting.neighbours())) == 3 + 1 + 2
    neighbour(rows, 2, KNOWN)[:] = 0.0
    assert len(all_residuals(states, rows[:1], meeting.neighbours())) == 2


def test_joints_estimated_on_a_line_leave_the_numbers_finite():
    meeting = Meeting(STAR)
    states, rows = meeting.states(), meeting.rows()
    for o in range(2):
        for row in rows:
            own = joints_of(states, row, meeting.neighbours())[0]
            row[FIRST + EACH * o + PLACE :][:3] = own[:3] + [0.5 + o, 0.0, 0.0]
    H, g, cost = normal_equations(states, rows, meeting.neighbours())
    assert np.isfinite([cost, *g, *H.ravel()]).all()


def test_two_joints_at_one_place_are_refused():
    with pytest.raises(BadInput, match="the joint of aircraft 1 .* one place"):
        Meeting(STAR[[0, 1, 1]], own=1).neighbours()


def test_numbers_of_everything():
    assert [most_residuals(n) for n in (1, 2, 3, 4)] == [3, 5, 7, 11]
    assert [columns_of(n) for n in (0, 1, 2)] == [16, 24, 32]
    for d in PLATFORMS.values():
        neighbours = Meeting(d).neighbours()
        assert neighbours.width == MEASURED + 5 + 7 * (len(d) - 1)
        assert neighbours.is_line == (np.linalg.matrix_rank(d - d[0], tol=1e-6) < 2)
    assert np.allclose(Meeting(STAR).neighbours().normals[0, 1], [0, 0, 1])
    assert np.allclose(Meeting(STAR[[0, 2, 1]]).neighbours().normals[0, 1], [0, 0, -1])


def test_what_follows_each_keyframe_is_all_there_is():
    meeting = Meeting(STAR, frames=4)
    states, rows, neighbours = shaken(meeting.states()), meeting.rows(), meeting.neighbours()
    spans, parts = np.array([0.1, 0.2, 0.15]), [0.0, 0.0, 0.0]
    for only in (0, 1, 2):
        H, g, cost = normal_equations(states, rows, neighbours, only, 1.0)
        cost += add_drift(states, spans, WALK, only, H, g)
        beyond = slice((only + 2) * states.stride, 4 * states.stride)
        assert not g[: only * states.stride].any()
        assert not g[beyond].any()
        parts = [total + part for total, part in zip(parts, (H, g, cost), strict=True)]
    H, g, cost = normal_equations(states, rows, neighbours, width=1.0)
    cost += add_drift(states, spans, WALK, ALL, H, g)
    for total, part in zip(parts, (H, g, cost), strict=True):
        assert np.allclose(total, part, rtol=1e-9, atol=1e-9)


def test_terms_of_a_window_have_one_cost_however_it_is_asked_for():
    """That of the rows and that of the drifts."""
    meeting = Meeting(STAR, frames=4)
    states, terms = shaken(meeting.states()), PhysicalTerms.__new__(PhysicalTerms)
    rows, neighbours, spans = meeting.rows(), meeting.neighbours(), np.array([0.1, 0.2, 0.15])
    terms._rows, terms._neighbours, terms._width = rows, neighbours, 1.0
    terms._spans, terms._walk = spans, WALK
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    drifts = drift_cost(states, spans, WALK)
    assert drifts > 1e-3
    expected = physical_cost(states, rows, neighbours, 1.0) + drifts
    assert terms.add(states, ALL, H, g) == pytest.approx(expected) == terms.cost(states)


def test_a_kernel_is_on_each_number():
    meeting = Meeting(STAR)
    states, rows, neighbours = shaken(meeting.states(), 0.1), meeting.rows(), meeting.neighbours()
    r = all_residuals(states, rows, neighbours)
    assert np.abs(r).max() > 1.0
    cost = sum(huber(np.array([one]), 1.0)[1] for one in r)
    assert physical_cost(states, rows, neighbours, 1.0) == pytest.approx(cost)
