# SPDX-License-Identifier: BSD-3-Clause
"""A trajectory of points in time (MultiDOFJointTrajectory) is followed from the present on."""

from types import SimpleNamespace as Fields

import numpy as np
import pytest

from iap_control.references.maneuvers import Maneuvers
from iap_control.references.player import Player
from iap_control.references.timeline import Leads
from iap_control.references.waypoints import read_trajectory
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_FIXED, REF_P, REF_Q, REF_V, REF_W

DT = 0.005
MANEUVERS = Maneuvers(Leads(0.0, 0.25, 5.9), DT, np.zeros(3))
RADIUS, RATE = 1.5, 0.8  # of a circle [m], [rad/s]


def vector(values):
    return Fields(**dict(zip("xyzw", map(float, values), strict=False)))


def point(t, p, q=(0.0, 0.0, 0.0, 1.0), v=None, w=None):
    """A point [s], [m], with velocities where given; `w` in the axes of the trajectory's frame."""
    seconds = int(t)
    twists = [] if v is None else [Fields(linear=vector(v), angular=vector(w))]
    return Fields(
        transforms=[Fields(translation=vector(p), rotation=vector(q))],
        velocities=twists,
        accelerations=[],
        time_from_start=Fields(sec=seconds, nanosec=round(1e9 * (t - seconds))),
    )


def trajectory(*points, frame="map"):
    return Fields(header=Fields(frame_id=frame), points=points)


def row(p=(0.0, 0.0, 1.0), v=(0.0, 0.0, 0.0)):
    out = np.zeros(REF_FIXED)
    out[REF_P], out[REF_V], out[REF_Q] = p, v, (0.0, 0.0, 0.0, 1.0)
    return out


def circle(t):
    """Place, velocity and heading on a circle that is flown nose first."""
    at = RATE * t
    p = np.array([RADIUS * np.sin(at), RADIUS * (1.0 - np.cos(at)), 1.0])
    v = RADIUS * RATE * np.array([np.cos(at), np.sin(at), 0.0])
    return p, v, so3.quaternion_exp(np.array([0.0, 0.0, at]))


def rows_of(now, *points):
    line = MANEUVERS.follow(now, read_trajectory(trajectory(*points)))
    return line.rows(0, line.count)


def test_dense_points_with_velocities_are_flown_as_they_are():
    """A circle of radius r at rate w: acceleration r w^2 to its centre, and a body rate w."""
    times = np.arange(0.0, 6.0, 0.02)
    points = []
    for t in times:
        p, v, q = circle(t)
        points.append(point(t, p, q, v, (0.0, 0.0, RATE)))
    rows = rows_of(row(v=(RADIUS * RATE, 0.0, 0.0)), *points)
    inner = slice(
        100, len(rows) - 200
    )  # beside the ends, where the circle begins and stops at once
    ideal = [circle((k + 1) * DT) for k in range(len(rows))]
    np.testing.assert_allclose(rows[inner, REF_P], [x[0] for x in ideal][inner], atol=2e-3)
    np.testing.assert_allclose(rows[inner, REF_V], [x[1] for x in ideal][inner], atol=5e-3)
    size = np.linalg.norm(rows[inner, REF_A], axis=1)
    np.testing.assert_allclose(size, RADIUS * RATE**2, rtol=0.05)
    np.testing.assert_allclose(
        rows[inner, REF_W], np.tile((0.0, 0.0, RATE), (len(size), 1)), atol=0.02
    )


def test_sparse_points_are_passed_in_time_from_the_present_motion_on_and_the_last_is_held():
    goals = {2.0: (1.0, 0.0, 1.0), 4.0: (1.0, 1.0, 1.5), 6.0: (0.0, 1.0, 1.0)}
    points = [point(t, p) for t, p in goals.items()]
    now = row(v=(0.2, 0.0, 0.0))
    rows = rows_of(now, *points)
    assert len(rows) * DT == pytest.approx(6.0)
    np.testing.assert_allclose(rows[0, REF_P], now[REF_P] + DT * now[REF_V], atol=0.02)
    for t, p in goals.items():
        np.testing.assert_allclose(rows[round(t / DT) - 1, REF_P], p, atol=0.02)


def test_a_point_that_is_due_at_once_is_one_row():
    assert len(rows_of(row(), point(0.0, (2.0, 0.0, 1.0)))) == 1


def test_a_trajectory_takes_over_from_the_reference_without_a_leap():
    first = row((0.0, 0.0, 1.0))
    hover = MANEUVERS.go_to(first, first[REF_P], 0.0, 0.0, relative=False)
    player = Player(hover, first[:13])
    x = np.zeros(13)
    x[:3], x[6] = first[REF_P], 1.0
    player.reference(0.0, x)
    points = read_trajectory(trajectory(point(0.0, (2.0, 0.0, 1.0))))
    player.begin(lambda now: MANEUVERS.follow(now, points), blends=True)
    player.reference(0.0, x)  # the same state again, as physics sends it when an answer stays away
    path = np.array([player.reference(k * DT, x)[0][REF_P].copy() for k in range(1, 1500)])
    assert (
        np.linalg.norm(np.diff(np.vstack([first[REF_P], path]), axis=0), axis=1).max() < 2.0 * DT
    )
    np.testing.assert_allclose(path[-1], (2.0, 0.0, 1.0), atol=1e-9)


@pytest.mark.parametrize(
    ("message", "what"),
    [
        (trajectory(), "0 points"),
        (trajectory(point(1.0, (0, 0, 1)), frame="odom"), "header.frame_id is 'odom'"),
        (trajectory(point(1.0, (0, 0, 1)), point(1.0, (1, 0, 1))), "time_from_start"),
        (trajectory(point(1.0, (np.nan, 0, 1))), "point 0"),
        (trajectory(point(1.0, (0, 0, 1), (0, 0, 0, 0))), "point 0"),
        (trajectory(point(1.0, (0, 0, -1))), "below 0.25 m"),
        (trajectory(*(point(0.1 * k, (3.0 * (k % 2), 0, 1)) for k in range(1, 40))), "more time"),
    ],
)
def test_what_cannot_be_flown_is_refused_with_its_place(message, what):
    with pytest.raises(BadInput, match=what):
        MANEUVERS.follow(row(), read_trajectory(message))
