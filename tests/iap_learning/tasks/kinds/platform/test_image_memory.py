# SPDX-License-Identifier: BSD-3-Clause
"""Images of earlier steps: those that were observed then, the first one before it, in worlds and in single flights."""

from pathlib import Path

import numpy as np
import pytest
from linear_policies import linear_policy

from iap_description.errors import BadInput
from iap_learning.tasks.kinds.platform.image_memory import ImageMemory
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_simulation.simulation.simulation import Simulation

AGES = (0, 2, 3)
SEED = 7


def test_an_image_is_the_one_of_so_many_steps_ago_and_the_first_before_the_start() -> None:
    images = ImageMemory(2, AGES, 1)
    images.begin(np.arange(2), np.array([[1.0], [10.0]], np.float32))
    np.testing.assert_array_equal(images(), [[1.0, 1.0, 1.0], [10.0, 10.0, 10.0]])
    for step in (2.0, 3.0, 4.0):
        images.add(np.array([[step], [10.0 * step]], np.float32))
    np.testing.assert_array_equal(images(), [[4.0, 2.0, 1.0], [40.0, 20.0, 10.0]])
    images.begin(np.array([1]), np.array([[7.0]], np.float32))
    np.testing.assert_array_equal(images(np.array([1])), [[7.0, 7.0, 7.0]])
    np.testing.assert_array_equal(images(np.array([0])), [[4.0, 2.0, 1.0]])
    assert images(np.arange(0)).shape == (0, len(AGES))


def test_worlds_observe_what_they_observed_some_steps_ago() -> None:
    episodes = make_episodes("navigate", 2, settings={"image_ages": list(AGES)})
    size = episodes.camera.size
    newest = [episodes.reset()[:, -3 * size :]]
    for _ in range(4):
        newest.append(episodes.step(np.full((2, 4), 0.3)).observation[:, -3 * size :])
    for step, images in enumerate(newest):
        for column, age in enumerate(AGES):
            then = newest[max(step - age, 0)][:, :size]
            np.testing.assert_array_equal(images[:, column * size : (column + 1) * size], then)
    assert not np.array_equal(newest[-1][:, :size], newest[-1][:, size : 2 * size])
    again = episodes.reset(np.array([1]))[:, -3 * size :]
    np.testing.assert_array_equal(again[:, :size], again[:, 2 * size :])
    np.testing.assert_array_equal(episodes.observe()[0, -3 * size :], newest[-1][0])


def test_a_single_flight_sees_the_same_bit_for_bit(tmp_path: Path) -> None:
    """A policy of random weights acts on all images, so a difference of one of them would move the vehicle."""
    keys = {"image_ages": list(AGES)}
    episodes = make_episodes("navigate", 2, settings=keys)
    policy = linear_policy(episodes, gains={}, settings=keys, drawn=0.1)
    policy.save(tmp_path / "stacked.npz")
    seen = episodes.reset(seeds=[SEED - 1, SEED])
    settings = {"policy": str(tmp_path / "stacked.npz")}
    with Simulation.of("navigate", settings=settings, engine="closed_form", seed=SEED) as flight:
        for _ in range(20):
            seen = episodes.step(policy(seen)).observation
            for _ in range(10):
                flight.step()
            np.testing.assert_array_equal(flight.state, episodes.worlds.state[1])


@pytest.mark.parametrize("ages", [[1, 2], [0, 2, 2], [0, 3, 1], [], [0, 1001], [0, -1]])
def test_ages_ascend_from_the_present_image(ages: list[int]) -> None:
    with pytest.raises(BadInput, match="'image_ages"):
        make_task("navigate", {"image_ages": ages})


def test_ages_need_images() -> None:
    with pytest.raises(
        BadInput, match="key 'image_ages': there are no images without key 'depth'"
    ):
        make_task("hold", {"image_ages": [0, 1]})
