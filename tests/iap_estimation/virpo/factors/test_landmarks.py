# SPDX-License-Identifier: BSD-3-Clause
"""Landmarks of a window: which it keeps, their first depths, and their fate when keyframes go."""

import numpy as np
import pytest
from dense_vision import ahead, any_rig, look
from synthetic import Flight

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import States
from iap_estimation.virpo.factors.camera import scaled_point
from iap_estimation.virpo.factors.landmarks import (
    LEFT,
    RIGHT,
    Landmarks,
    add_tracks,
    begin_depths,
    cull,
    drop_first_frame,
    drop_frame,
)
from iap_estimation.virpo.factors.vision import vision_cost

TELLING = 0.1  # deviation of an inverse depth to begin with [1/m]


def seen_from(states: States, eyes, place: np.ndarray, host: int, j: int) -> np.ndarray:
    """Exact view (4,) of a landmark from keyframe j."""
    both = (
        scaled_point(states.x[host, 0], states.x[j, 0], place, eyes, side) for side in range(2)
    )
    return np.concatenate([[s[0] / s[2], s[1] / s[2]] for s in both])


def exact(frames: int = 4, each: int = 12) -> tuple[States, Landmarks, object, np.ndarray]:
    """Exact views of landmarks, and where these are."""
    states, eyes = ahead(frames), any_rig()
    table = look(states, [eyes], each, pixels=0.0)
    true = table.place.copy()
    rng = np.random.default_rng(9)
    for m in range(each):
        true[m] = *rng.uniform(-0.4, 0.4, 2), 1.0 / rng.uniform(2.0, 8.0)
        for j in range(table.host[m], frames):
            table.views[m, j] = seen_from(states, eyes, true[m], table.host[m], j)
        table.place[m] = *true[m, :2], 0.0
        table.known[m] = 0
    return states, table, eyes, true


def test_depths_of_exact_views_are_exact():
    states, table, eyes, true = exact()
    begin_depths(states.x, table, eyes, 0, TELLING)
    assert table.known[:12].all()
    assert np.allclose(table.place[:12], true[:12], atol=1e-12)


def test_depths_wait_until_views_tell_them():
    states, table, eyes, _ = exact()
    table.sides[:] &= LEFT
    states.x[:] = states.x[0]
    begin_depths(states.x, table, eyes, 0, TELLING)
    assert not table.known.any()


def test_depths_of_noisy_views_are_as_good_as_said():
    """Of landmarks seen only by one pair the error of the inverse depth is what baseline and pixels make it."""
    flight = Flight.of(0.0, points=400)
    eyes, rng = flight.fleet.aircraft[0].rig, np.random.default_rng(2)
    views, right = flight.views(0, 0.0)
    ids = np.flatnonzero(right)
    table = Landmarks.empty(len(ids), 1)
    noisy = views[ids] + eyes.deviation * rng.normal(size=(len(ids), 4))
    add_tracks(table, 0, 0, ids, noisy, np.ones(len(ids), dtype=np.int64))
    begin_depths(flight.state(0, 0.0)[None, None], table, eyes, 0, TELLING)
    now = flight.truth(0, 0.0)
    to_point = flight.points[ids] - now.p_WB_W
    camera = np.array([0.198, 0.06, 0.0])
    depth = (so3.rotate(so3.conjugate(now.q_WB), to_point) - camera)[:, 0]
    # the bearing is that of the first view, whose noise the difference has too
    expected = np.sqrt(2.0) * eyes.deviation / 0.12
    kept = table.known.astype(bool)
    assert kept.mean() > 0.9
    off = table.place[kept, 2] - 1.0 / depth[kept]
    assert np.sqrt(np.mean(off**2)) == pytest.approx(expected, rel=0.25)


def test_tracks_go_on_and_new_ones_take_free_rows():
    table = Landmarks.empty(3, 2)
    ids, views = np.array([7, 8]), np.arange(8.0).reshape(2, 4)
    assert add_tracks(table, 0, 0, ids, views, np.array([1, 0])) == 0
    assert add_tracks(table, 0, 1, np.array([8, 9, 10]), np.ones((3, 4)), np.array([1, 1, 1])) == 1
    assert table.track.tolist() == [7, 8, 9]  # the fourth finds no room
    assert table.host.tolist() == [0, 0, 1]
    assert table.sides.tolist() == [[LEFT | RIGHT, 0], [LEFT, LEFT | RIGHT], [0, LEFT | RIGHT]]
    assert np.array_equal(table.views[1, 0], views[1])


def test_one_aircraft_s_tracks_are_not_another_s():
    table = Landmarks.empty(4, 2)
    for aircraft in (0, 1):
        known = add_tracks(table, aircraft, 0, np.array([7]), np.ones((1, 4)), np.array([1]))
        assert known == 0
    assert table.aircraft[:2].tolist() == [0, 1]


def test_without_the_first_keyframe_its_landmarks_go():
    states, table, eyes, true = exact()
    hosts, views, seen = table.host.copy(), table.views.copy(), table.sides.copy()
    drop_first_frame(table)
    stay = hosts > 0
    assert np.array_equal(table.host[stay], hosts[stay] - 1)
    assert (table.host[~stay] == -1).all()
    assert np.array_equal(table.views[stay, :-1], views[stay, 1:])
    assert (
        np.array_equal(table.sides[stay, :-1], seen[stay, 1:]) and not table.sides[stay, -1].any()
    )


@pytest.mark.parametrize("frame", [0, 1, 2])
def test_without_a_keyframe_landmarks_are_where_they_were(frame):
    """Exact views still fit, though the landmarks of that keyframe are now told from another."""
    states, table, eyes, _ = exact()
    begin_depths(states.x, table, eyes, 0, TELLING)
    hosted = table.host == frame
    followed = hosted & (table.sides[:, frame + 1 :] > 0).any(axis=1)
    drop_frame(states.x, table, eyes, 0, frame)
    left = states.without(frame)
    assert hosted.any() and (table.host[followed] >= frame).all()
    assert (table.host[hosted & ~followed] == -1).all()
    assert all(table.sides[m, table.host[m]] & LEFT for m in np.flatnonzero(table.host >= 0))
    assert vision_cost(left.x, table, eyes, 0, 2.0) < 1e-15


def test_views_that_do_not_fit_are_forgotten():
    states, table, eyes, true = exact()
    begin_depths(states.x, table, eyes, 0, TELLING)
    m = int(np.flatnonzero((table.sides[:12, 3] == 3) & (table.host[:12] < 2))[0])
    table.views[m, 3, 0] += 0.1
    before = table.sides.copy()
    assert cull(states.x, table, eyes, 0, 0.02) == 1
    before[m, 3] = 0
    assert np.array_equal(table.sides[:12], before[:12])
    assert table.host[m] >= 0


def test_a_landmark_whose_first_view_does_not_fit_goes_as_a_whole():
    states, table, eyes, true = exact()
    begin_depths(states.x, table, eyes, 0, TELLING)
    table.views[5, table.host[5], 1] += 0.1
    cull(states.x, table, eyes, 0, 0.02)
    assert table.host[5] == -1
    assert add_tracks(table, 0, 3, np.array([5]), np.ones((1, 4)), np.array([1])) == 0
