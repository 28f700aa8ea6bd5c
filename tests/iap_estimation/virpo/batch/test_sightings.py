# SPDX-License-Identifier: BSD-3-Clause
"""Landmarks of a whole recording: where they begin, and which of their views count."""

import numpy as np
import pytest

from iap_estimation.virpo.batch.sightings import Sighting
from iap_estimation.virpo.factors.camera import StereoRig
from iap_estimation.virpo.factors.landmarks import LEFT, RIGHT

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
RIG = StereoRig.of(
    np.array([LEVEL, LEVEL]), np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]]), focal=100.0, pixels=0.5
)


def keyframes(count=3):
    """Cameras that look along z, each a metre to the right of the one before."""
    x = np.zeros((count + 1, 16))
    x[:, 0], x[:, 6] = np.arange(count + 1.0), 1.0
    return x


def sighting(point, frames=(1, 2, 3), right=(True, True, True)):
    views = []
    for k in frames:
        s = np.array(point) - [float(k), 0.0, 0.0]
        views.append([s[0] / s[2], s[1] / s[2], (s[0] - 0.2) / s[2], s[1] / s[2]])
    return Sighting(np.array(frames), np.array(views), np.array(right))


def test_a_track_begins_where_its_views_meet_and_far_ones_at_200_m():
    made = sighting((2.0, 0.5, 4.0))
    assert not made.counts
    made.begin(keyframes(), RIG)
    np.testing.assert_allclose(made.place, [2.0, 0.5, 4.0], rtol=1e-9)
    assert made.counts
    far = sighting((2.0, 0.5, 4e6))
    far.begin(keyframes(), RIG)
    assert far.place[2] == pytest.approx(200.0)
    blind = sighting((2.0, 0.5, 4.0), frames=(1,), right=(False,))
    blind.begin(keyframes(), RIG)
    assert blind.p_W is None
    blind.cull(keyframes(), RIG, 0.1)
    assert blind.sides.tolist() == [LEFT]


def test_views_that_are_off_do_not_count_any_more():
    made = sighting((2.0, 0.5, 4.0))
    made.p_W = np.array([2.0, 0.5, 4.0])
    made.views[1, 2] += 0.02
    made.cull(keyframes(), RIG, 0.021)
    assert made.sides.tolist() == [LEFT | RIGHT] * 3
    made.cull(keyframes(), RIG, 0.019)
    assert made.sides.tolist() == [LEFT | RIGHT, LEFT, LEFT | RIGHT]
    assert [(k, side) for k, side, _ in made.counted()] == [(1, 0), (1, 1), (2, 0), (3, 0), (3, 1)]
    made.views[0, 0] += 0.02
    made.cull(keyframes(), RIG, 0.019)
    assert made.sides.tolist() == [0, 0, 0] and not made.counts
