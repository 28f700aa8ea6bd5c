# SPDX-License-Identifier: BSD-3-Clause
"""People of their proportions, who walk within their area at their speed and come back."""

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.world.object_motions import Walk
from iap_description.world.world import World

WALK = {"type": "walk", "area": [6.0, 4.0], "speed": 1.3}


def walk(**keys):
    return Walk.model_validate({**WALK, **keys})


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_walk_keeps_to_its_area_at_its_speed_and_closes(seed):
    to = walk(seed=seed)
    knots, period = to.path()
    assert knots.shape == (21, 4) and knots[-1, 0] == period
    times = np.linspace(0.0, 2.0 * period, 4001)
    states = np.array([to.at(t) for t in times.tolist()])
    assert np.all(np.abs(states[:, 0]) <= [3.0, 2.0, 0.0])
    np.testing.assert_allclose(np.linalg.norm(states[:, 1], axis=-1), 1.3)
    np.testing.assert_allclose(states[:2000, 0], states[2000:4000, 0], atol=1e-9)
    np.testing.assert_allclose(states[[0, -1], 0], 0.0, atol=1e-9)
    steps = np.linalg.norm(np.diff(states[:, 0], axis=0), axis=-1)
    assert steps.max() <= 1.3 * (times[1] - times[0]) + 1e-9  # nowhere a jump


def test_a_seed_draws_the_places_which_fill_the_area():
    assert np.array_equal(walk(seed=4).path()[0], walk(seed=4).path()[0])
    assert not np.array_equal(walk(seed=4).path()[0], walk(seed=5).path()[0])
    places = walk(legs=1000).path()[0][1:-1, 1:3]
    np.testing.assert_allclose(places.mean(axis=0), 0.0, atol=0.2)
    np.testing.assert_allclose(
        places.std(axis=0), np.array(WALK["area"]) / np.sqrt(12.0), rtol=0.05
    )


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"area": [0.0, 1.0]}, "area.0'"),
        ({"legs": 1}, "legs'"),
        ({"speed": 0.0}, "speed'"),
        ({"points": []}, "points'"),
    ],
)
def test_faults_of_walks_are_named(keys, words):
    person = {"type": "person", "motion": {**WALK, **keys}}
    with pytest.raises(BadInput) as error:
        validate(World, {"objects": {"passer": person}}, source="mine.yaml")
    assert words in str(error.value)


@pytest.mark.parametrize("height", [1.2, 1.75, 2.0])
def test_a_person_stands_on_the_feet_and_is_as_high_as_said(height):
    world = World.model_validate({"objects": {"passer": {"type": "person", "height": height}}})
    low, high = [], []
    for piece in world.objects["passer"].pieces():
        half = (
            0.5
            * {
                "box": (piece.size or (0, 0, 0))[2],
                "cylinder": piece.length or 0.0,
                "sphere": 2 * (piece.radius or 0.0),
            }[piece.shape]
        )
        low.append(piece.position[2] - half)
        high.append(piece.position[2] + half)
    assert min(low) == pytest.approx(0.0) and max(high) == pytest.approx(height)
    assert sorted(low)[1:3] == pytest.approx([0.0, 0.53 * height])  # two legs, then the trunk
