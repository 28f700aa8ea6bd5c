# SPDX-License-Identifier: BSD-3-Clause
"""What the joints of one rigid body say to an aircraft of its own states and of its neighbours' drift."""

import time

import numpy as np
import pytest
from rigid_motion import ARM_B, BEGIN, LINE, PLATFORMS, SPAN, SQUARE, STAR, TABLE_IX, TWO, Meeting
from slopes import along, assert_slopes, numeric
from synthetic import GRAVITY

from iap_description import so3
from iap_description.errors import BadInput
from iap_estimation.virpo.neighbours import (
    CENTRE,
    EACH,
    FIRST,
    JOINT,
    KNOWN,
    PLACE,
    RATE,
    TOLD,
    VELOCITY,
    columns_of,
    fill_waypoints,
    joint_of,
    joint_places,
    joint_slopes,
    joints_at,
    told_by,
)
from iap_estimation.virpo.normal import huber
from iap_estimation.virpo.physical import (
    add_drift,
    add_drift_prior,
    add_physical,
    drift_cost,
    physical_cost,
)
from iap_estimation.virpo.physical_slopes import (
    FLOOR,
    angular_velocity,
    most_residuals,
    residuals,
)
from iap_estimation.virpo.ranging import FRAME, SHARE
from iap_estimation.virpo.states import CRAFT, DRIFT, retract

ALL, OPEN = -1, np.inf
WALK = np.array([0.01, 0.04])
ONLY = {
    "position": (True, False, False),
    "velocity": (False, True, False),
    "attitude": (False, False, True),
}
CASES = [
    pytest.param(d, own, id=f"{name}-{own}") for name, d in PLATFORMS.items() for own in (0, 1)
]


def shaken(states, size=0.03, seed=0):
    """Not quite where they are."""
    out = states.copy()
    retract(out, size * np.random.default_rng(seed).normal(size=out.size))
    return out


def told(joints, row, neighbours):
    """Residuals of one instant and their derivatives by the joints."""
    n = most_residuals(len(joints) - 1)
    r, G = np.zeros(n), np.zeros((n, JOINT * len(joints)))
    n = residuals(joints, row, neighbours, r, G)
    return r[:n], G[:n]


def joints_of(states, row):
    joints = np.zeros((1 + states.drift.shape[1], JOINT))
    joints_at(states, row, joints)
    return joints


def all_residuals(states, rows, neighbours):
    return np.concatenate([told(joints_of(states, row), row, neighbours)[0] for row in rows])


def normal_equations(states, rows, neighbours, only=ALL, width=OPEN):
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    cost = add_physical(states, rows, neighbours, only, width, H, g)
    return H, g, cost


def whole(H):
    return H + np.tril(H, -1).T


def neighbour(rows, o, part=slice(0, EACH)):
    """Columns of a neighbour."""
    at = FIRST + EACH * o
    return rows[:, at : at + EACH][:, part]


# what a true motion leaves


@pytest.mark.parametrize(("d", "own"), CASES)
def test_a_rigid_motion_leaves_nothing(d, own):
    meeting = Meeting(d, own)
    r = all_residuals(meeting.states(), meeting.rows(), meeting.neighbours())
    assert len(r) == len(meeting.rows()) * len(told_terms(d))
    assert np.abs(r).max() < 1e-11


def told_terms(d):
    """The terms of one row, by name."""
    others = len(d) - 1
    is_line = np.linalg.matrix_rank(d - d[0], tol=1e-6) < 2
    attitudes = others if is_line else others * (others - 1) // 2
    return ["p"] * others + ["v"] * (not is_line) + ["q"] * attitudes


@pytest.mark.parametrize("d", [STAR, SQUARE], ids=["star", "square"])
def test_three_joints_tell_the_angular_velocity(d):
    meeting = Meeting(d)
    for row, now in zip(meeting.rows(), BEGIN + meeting.times(), strict=False):
        is_told, w, _ = angular_velocity(joints_of(meeting.states(), row), row)
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
        p = joints_of(states, row)[:, :3]
        if element == 2:
            normal = np.cross(p[1] - p[0], p[2] - p[0])
            seen = normal[2] / np.linalg.norm(normal)
        else:  # the one that is ahead less the one behind
            seen = (p[1] - p[0])[2] / np.linalg.norm(p[1] - p[0]) * (-1.0 if own == 0 else 1.0)
        assert seen == pytest.approx(cosine[2, element], abs=1e-12)
        shown = row.copy()
        shown[TOLD + 1 : TOLD + 4][element] += 0.02
        r = told(joints_of(states, shown), shown, meeting.neighbours(terms=ONLY["attitude"]))[0]
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


# drifts


@pytest.mark.parametrize("d", [STAR, LINE], ids=["star", "line"])
def test_a_drift_undoes_what_a_neighbour_is_off(d):
    meeting = Meeting(d)
    states, rows = meeting.states(), meeting.rows()
    off = np.array([0.3, -0.2, 0.1, 0.4])
    back = so3.quaternion_exp(np.array([0.0, 0.0, -off[3]]))
    neighbour(rows, 1, slice(PLACE, PLACE + 3))[:] -= off[:3]
    v = neighbour(rows, 1, slice(VELOCITY, VELOCITY + 3))
    v[:] = so3.rotate(back, v)
    assert np.abs(all_residuals(states, rows, meeting.neighbours())).max() > 1.0
    states.drift[:, 1] = off
    assert np.abs(all_residuals(states, rows, meeting.neighbours())).max() < 1e-11


def test_a_drift_grows_evenly_from_one_keyframe_to_the_next():
    meeting = Meeting(STAR, per=4)
    states, rows = meeting.states(), meeting.rows()
    states.drift[1, 0, :3], states.drift[2, 0, :3] = [0.1, 0.2, 0.3], [0.5, 0.4, 0.3]
    for row in rows:
        k, s = int(row[FRAME]), row[SHARE]
        ends = states.drift[k : k + 2, 0, :3]
        place = row[FIRST + PLACE : FIRST + PLACE + 3] + (1 - s) * ends[0] + s * ends[1]
        assert np.allclose(joints_of(states, row)[1, :3], place)


def test_what_is_said_of_drifts_does_not_depend_on_where_the_origin_is():
    """With the yaw about the origin instead, it would."""
    near, far = (Meeting(STAR, alignment=np.array([0.0, 0.0, 0.0, psi])) for psi in (0.0, 0.0))
    states, rows = near.states(), near.rows()
    there, moved = far.states(), far.rows()
    there.alignment[0, :3] += [50.0, -30.0, 5.0]
    for o in range(2):
        neighbour(moved, o, slice(PLACE, PLACE + 3))[:] += [50.0, -30.0, 5.0]
    mine, theirs = (
        normal_equations(shaken(x, 0.01), y, near.neighbours())[0]
        for x, y in ((states, rows), (there, moved))
    )
    drifts = np.array([k * states.stride + CRAFT + i for k in range(3) for i in range(2 * DRIFT)])
    block = np.ix_(drifts, drifts)
    assert np.abs(mine[block] - theirs[block]).max() < 1e-9 * np.abs(mine).max()


# derivatives


@pytest.mark.parametrize("term", ONLY)
@pytest.mark.parametrize(("d", "own"), CASES)
def test_derivatives_of_every_term(d, own, term):
    meeting = Meeting(d, own)
    states, row, neighbours = (
        shaken(meeting.states()),
        meeting.rows()[3],
        meeting.neighbours(terms=ONLY[term]),
    )
    states.drift += 0.1 * np.random.default_rng(1).normal(size=states.drift.shape)
    joints = joints_of(states, row)
    G = told(joints, row, neighbours)[1]
    if not len(G):
        assert term == "velocity"  # of joints on a line
        return
    columns = columns_of(len(d) - 1)
    S, places = np.zeros((JOINT * len(d), columns)), np.zeros(columns, dtype=np.int64)
    joint_slopes(states, row, joints, np.zeros((3, 13)), S)
    joint_places(states, int(row[FRAME]), places)
    assert (np.diff(places) > 0).all()
    J = np.zeros((len(G), states.size))
    J[:, places] = G @ S
    assert_slopes(
        J, along(states, lambda there: all_residuals(there, row[None], neighbours), 1e-4)
    )


def test_derivatives_of_joints_along_every_part_of_a_step():
    meeting = Meeting(STAR)
    states, row = shaken(meeting.states(), 0.3), meeting.rows()[2]
    joints, S = joints_of(states, row), np.zeros((18, columns_of(2)))
    joint_slopes(states, row, joints, np.zeros((3, 13)), S)
    places = np.zeros(columns_of(2), dtype=np.int64)
    joint_places(states, int(row[FRAME]), places)
    full = np.zeros((18, states.size))
    full[:, places] = S
    assert_slopes(full, along(states, lambda there: joints_of(there, row).ravel()))


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
    joints = joints_of(meeting.states(), row)
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
    joints, row[RATE] = joints_of(states, row), 2.0
    w = np.linalg.norm(angular_velocity(joints, row)[1])
    r = told(joints, row, meeting.neighbours(terms=ONLY["velocity"]))[0]
    assert r[0] == pytest.approx((w - 2.0) / TABLE_IX[1], abs=FLOOR**2 / w / TABLE_IX[1])


# what there is and what there is not


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
    gone = np.array([k * states.stride + CRAFT + i for k in range(3) for i in range(DRIFT)])
    assert np.isfinite(H).all()
    assert not g[gone].any()
    assert not H[gone].any()


def test_a_silent_centre_leaves_the_distances():
    meeting = Meeting(STAR)
    states, rows = shaken(meeting.states()), meeting.rows()
    everything = all_residuals(states, rows[:1], meeting.neighbours())
    rows[:, CENTRE] = 0.0
    assert np.array_equal(all_residuals(states, rows[:1], meeting.neighbours()), everything[:2])


def test_two_of_a_square_that_are_on_a_line_with_the_own_joint_tell_no_rate():
    crossing = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])
    meeting = Meeting(crossing)
    states, rows = meeting.states(), meeting.rows()
    assert len(all_residuals(states, rows[:1], meeting.neighbours())) == 3 + 1 + 2
    neighbour(rows, 2, KNOWN)[:] = 0.0
    assert len(all_residuals(states, rows[:1], meeting.neighbours())) == 2


def test_joints_that_are_believed_on_a_line_leave_the_numbers_finite():
    meeting = Meeting(STAR)
    states, rows = meeting.states(), meeting.rows()
    for o in range(2):
        for row in rows:
            own = joints_of(states, row)[0]
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
        assert neighbours.width == TOLD + 5 + 7 * (len(d) - 1)
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


def test_a_kernel_is_on_each_number():
    meeting = Meeting(STAR)
    states, rows, neighbours = shaken(meeting.states(), 0.1), meeting.rows(), meeting.neighbours()
    r = all_residuals(states, rows, neighbours)
    assert np.abs(r).max() > 1.0
    cost = sum(huber(np.array([one]), 1.0)[1] for one in r)
    assert physical_cost(states, rows, neighbours, 1.0) == pytest.approx(cost)


# rows


@pytest.mark.parametrize("own", [0, 2])
def test_samples_lead_to_where_and_how_fast_the_joint_is(own):
    meeting = Meeting(STAR, own, per=4)
    states, rows = meeting.states(), meeting.rows()
    sampled = rows.copy()
    sampled[:, :TOLD] = 0.0
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
        off = joints_of(states, row)[0] - joints_of(states, exact)[0]
        assert np.abs(off[:3]).max() < 1e-5
        assert np.abs(off[3:]).max() < 1e-3  # the angular velocity is a mean over 5 ms
    assert np.abs(all_residuals(states, sampled, meeting.neighbours())).max() < 0.05


def test_a_told_bias_is_taken_out_of_the_samples():
    meeting, bias = Meeting(STAR), np.array([0.1, -0.2, 0.3, 0.1, 0.2, -0.1])
    samples = meeting.flight.samples(0, BEGIN, BEGIN + SPAN)
    clean, biased = np.zeros((2, 2, TOLD))
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
    row = told_by(None, [None, np.arange(6.0)])
    assert row.shape == (5 + 14,)
    assert not row[: 5 + EACH].any()
    assert np.array_equal(row[5 + EACH :], [1, 0, 1, 2, 3, 4, 5])


# the walk of the drifts


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
    drifts = np.array([k * states.stride + CRAFT + i for k in range(3) for i in range(DRIFT)])
    spread = np.diag(np.linalg.inv(whole(H)[np.ix_(drifts, drifts)])).reshape(3, DRIFT)
    for k, age in enumerate((0.0, 0.3, 1.0)):
        assert spread[k, :3] == pytest.approx(0.05**2 + 0.01**2 * age)
        assert spread[k, 3] == pytest.approx(0.1**2 + 0.04**2 * age)


def test_a_whole_window_takes_less_than_a_millisecond():
    meeting = Meeting(STAR, frames=11, per=4)
    states, rows, neighbours = shaken(meeting.states()), meeting.rows(), meeting.neighbours()
    assert len(rows) == 40
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    spent = []
    for _ in range(30):
        begin = time.perf_counter()
        add_physical(states, rows, neighbours, ALL, 2.0, H, g)
        add_drift(states, np.full(10, SPAN), WALK, ALL, H, g)
        physical_cost(states, rows, neighbours, 2.0)
        spent.append(time.perf_counter() - begin)
    assert min(spent) < 1e-3
