# SPDX-License-Identifier: BSD-3-Clause
"""Obstacles of a task: how far they are, what is seen of them, and what becomes of who meets them."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import P
from iap_learning.evaluation.baselines import score
from iap_learning.tasks.depth_camera import DepthCamera
from iap_learning.tasks.depth_numbers import DepthImage
from iap_learning.tasks.kinds.platform.clearance import Clearance
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_simulation.tasks.outcomes import COLLIDED

FRONT = 4.0  # where a wall across the way begins, along x [m]
ACROSS = {
    "preset": "walls",
    "seed": 0,
    "count": 1,
    "area": [[FRONT + 0.1, 0.0], [FRONT + 0.1, 0.0]],
    "free": [],
    "size": [[0.2, 6.0, 4.0], [0.2, 6.0, 4.0]],
    "yaw_deg": [0.0, 0.0],
}
WALLED = {"world.objects": {"across": ACROSS}, "draw.position": 0.0, "draw.attitude_deg": 0.0}


def ahead(episodes):
    """Actions that fly on along x at 1 m/s."""
    wanted = np.zeros((episodes.count, episodes.size))
    low, high = (np.array(each) for each in (episodes.task.action.low, episodes.task.action.high))
    wanted[:] = (np.array([1.0, 0.0, 0.0, 0.0]) - 0.5 * (low + high)) / (0.5 * (high - low))
    return wanted


def test_a_task_minds_obstacles_for_its_clearance_or_for_a_term_of_it():
    task = PlatformTask.of("hold")
    assert not task.minds_obstacles
    assert task.model_copy(update={"clearance": 0.3}).minds_obstacles
    assert task.model_copy(update={"fails_beyond": {"clearance": 9.0}}).minds_obstacles


def test_a_wall_is_as_far_as_it_is_and_ends_who_comes_too_close():
    """The distance of a wall across the way is its front's x less one's own; the episode ends within it."""
    episodes = PlatformEpisodes(PlatformTask.of("navigate"), 2, scenario=WALLED)
    before = np.inf
    while not episodes.outcome.any():
        step = episodes.step(ahead(episodes))
        measured = episodes._clearance()
        np.testing.assert_allclose(measured, FRONT - episodes.worlds.state[:, 0, 0], atol=1e-12)
        assert (measured >= 0.35).all() or step.terminated.all()
        assert measured[0] < before + 0.02
        before = measured[0]
    assert episodes.outcome.tolist() == [COLLIDED, COLLIDED]
    assert not step.success.any()
    assert step.reward.tolist() == [episodes.task.reward.failure] * 2


def test_an_image_is_the_depth_along_the_view():
    """A wall across the view fills the image with its distance from the camera; beside it nothing is measured."""
    episodes = PlatformEpisodes(PlatformTask.of("navigate"), 2, scenario=WALLED)
    clean = {
        "width": 32,
        "height": 24,
        "baseline": 0.0,
        "disparity_noise_deg": 0.0,
        "dropout": 0.0,
    }
    sight = DepthCamera(DepthImage(preset="d455", settings=clean), episodes.worlds)
    assert sight.shape == (24, 32)
    image = sight().reshape(2, 24, 32)
    camera = episodes.worlds.state[:, 0, 0] + 0.198  # of left_camera on an F450
    np.testing.assert_allclose(image[:, 11:13, 14:18], (FRONT - camera[0]) / 6.0, atol=1e-3)
    assert image.max() == 1.0


def test_blocks_of_pixels_are_as_near_as_the_nearest_of_them():
    """A block has the least depth of its pixels; by `inverse` its number is that depth's reciprocal."""
    episodes = PlatformEpisodes(PlatformTask.of("navigate"), 2)
    size = {"width": 8, "height": 6}
    fine, coarse, inverse = (
        DepthCamera(DepthImage(preset="d455", settings=size, **more), episodes.worlds)
        for more in ({}, {"blocks": (3, 2)}, {"blocks": (3, 2), "inverse": 0.5})
    )
    assert coarse.shape == inverse.shape == (2, 4)
    nearest = fine().reshape(2, 2, 3, 4, 2).min(axis=(2, 4)).reshape(2, 8)
    np.testing.assert_array_equal(coarse(), nearest)
    measured = nearest < 1.0
    assert measured.any()
    np.testing.assert_allclose(inverse()[measured], 0.5 / (6.0 * nearest[measured]), rtol=1e-5)
    assert not inverse()[~measured].any()
    for sight in (coarse, inverse):
        depths = np.where(measured, 6.0 * nearest, np.inf)
        np.testing.assert_allclose(sight.depths(sight()), depths, rtol=1e-5)


def test_points_of_an_image_lie_on_what_is_seen():
    """Along its way from the camera a number's depth leads to the wall across the view."""
    episodes = PlatformEpisodes(PlatformTask.of("navigate"), 1, scenario=WALLED)
    sight = episodes.camera
    numbers = episodes.observe()[:, episodes.observer.size :]
    rows = sight.depths(numbers)[0].reshape(sight.shape)[2, 7:9]
    ways = sight.view.ways_B.reshape(*sight.shape, 3)[2, 7:9]
    points = episodes.worlds.state[0, 0, P] + sight.view.p_BS_B + rows[:, None] * ways
    np.testing.assert_allclose(points[:, 0], FRONT, atol=0.05)
    assert points[0, 1] > 0.0 > points[1, 1] - 0.2  # from the left to the right


def test_an_image_of_some_worlds_is_theirs_among_all():
    """Worlds are seen alike in any company, errors included."""
    episodes = PlatformEpisodes(PlatformTask.of("navigate"), 4)
    whole = episodes.observe()
    np.testing.assert_array_equal(episodes.observe(np.array([3, 1])), whole[[3, 1]])
    pixels = whole[:, episodes.observer.size :]
    assert pixels.min() == 0.0  # where nothing is measured
    assert 0.1 < pixels.max() < 1.0
    assert len(np.unique(pixels.mean(axis=1))) == 4


def test_every_episode_has_obstacles_of_its_own_which_its_seed_brings_back():
    """Clearance and image belong to the seed."""
    task = PlatformTask.of("navigate")
    episodes = PlatformEpisodes(task, 3)
    first, far = episodes.reset(seeds=[1, 2, 3]), Clearance(episodes.worlds)
    at_first = far()
    second = episodes.reset(np.array([1]))
    assert not np.array_equal(second, first[1:2])
    assert far()[1] != at_first[1]
    assert far()[[0, 2]].tolist() == at_first[[0, 2]].tolist()
    np.testing.assert_array_equal(episodes.reset(seeds=[1, 2, 3]), first)
    assert far().tolist() == at_first.tolist()


@pytest.mark.slow
def test_the_straight_way_is_seldom_free():
    """A policy that does not look collides in most fields, and not in all: looking is what is to be learned."""

    def straight(episodes):
        goals, at = episodes._goals()
        away = goals[at][:, P] - episodes.worlds.state[:, 0, P]
        speed = 1.5 * away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1.0)
        low, high = (
            np.array(each) for each in (episodes.task.action.low, episodes.task.action.high)
        )
        wanted = np.column_stack([speed, np.zeros(len(speed))])
        return (wanted - 0.5 * (low + high)) / (0.5 * (high - low))

    success = score(PlatformEpisodes(PlatformTask.of("navigate"), 64), straight).success.mean()
    assert 0.05 < success < 0.4


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"depth": {"preset": "eyes", "settings": {}}}, "no ray sensor 'eyes'"),
        ({"depth": {"preset": "d455", "settings": {"wide": 3}}}, "wide"),
        (
            {"depth": {"preset": "d455", "settings": {"width": 8, "height": 6}, "blocks": [4, 2]}},
            "key 'depth.blocks': 6 rows and 8 columns are no multiples of 4 and 2",
        ),
        ({"clearance": -1.0}, "key 'clearance'"),
    ],
)
def test_what_cannot_be_is_refused(settings, reason):
    """By its key."""
    with pytest.raises(BadInput, match=reason):
        PlatformEpisodes(PlatformTask.of("navigate", settings), 1)
