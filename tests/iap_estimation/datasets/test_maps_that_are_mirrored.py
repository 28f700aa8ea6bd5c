# SPDX-License-Identifier: BSD-3-Clause
"""A map of anchors that is mirrored or turned fits all ranges; the motion that an inertial unit feels tells it."""

from types import SimpleNamespace

import numpy as np
import pytest
from range_bag import ANCHORS, pose, samples

from iap_description.errors import BadInput
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.datasets.range_motion import check_motion
from iap_estimation.virpo.messages import ImuSample, Ranges

PLACES = np.array(list(ANCHORS.values())) * [1.0, -1.0, -1.0]
DURATION = 40.0  # [s]


def walk(places: np.ndarray, size: float = 1.0, detours: float = 0.0) -> DataSample:
    """The walk by ranges to true anchors, beside a map of other places; with a size of 0 it stands."""
    t, rng = np.arange(0.0, DURATION, 1.0 / 16.0), np.random.default_rng(4)
    start = pose(np.zeros(1))[0]
    tag = start + size * (pose(t)[0] - start)
    ways = np.linalg.norm(tag[:, None] - PLACES, axis=2) + 0.06 * rng.normal(size=(len(t), 5))
    ways += (rng.random(ways.shape) < detours) * rng.uniform(0.5, 2.0, ways.shape)
    stamps = np.arange(0.0, DURATION, 1.0 / 84.0)
    inertial = (
        samples(stamps) if size else np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 9.81], (len(stamps), 1))
    )
    tag_of = SimpleNamespace(source="tag", aircraft=(SimpleNamespace(p_BA_B=np.zeros(3)),))
    numbers, sigma = np.arange(len(places)), np.full(len(places), 0.1)
    return DataSample(
        tag_of,  # type: ignore[arg-type]
        [
            ImuSample(float(one), row[:3], row[3:])
            for one, row in zip(stamps, inertial, strict=True)
        ],
        rounds=[Ranges(float(x), numbers, places, d, sigma) for x, d in zip(t, ways, strict=True)],
    )


@pytest.mark.parametrize("turn", [(1.0, 1.0), pytest.param((-1.0, -1.0), marks=pytest.mark.slow)])
@pytest.mark.parametrize("detours", [0.0, 0.1])
def test_a_map_that_is_right_but_for_a_heading_is_taken(
    turn: tuple[float, float], detours: float
) -> None:
    text = check_motion(walk(PLACES * [*turn, 1.0], detours=detours))
    assert text is not None and text.startswith("they move as the inertial unit feels it")


@pytest.mark.parametrize(
    ("places", "text"),
    [
        (PLACES * [-1, 1, 1], "mirrored: one of x and y has the wrong sign"),
        (PLACES * [1, -1, 1], "mirrored: one of x and y has the wrong sign"),
        (PLACES[:, [1, 0, 2]], "mirrored: .* or both are exchanged"),
        (PLACES * [1, 1, -1], "mirrored: z has the wrong sign"),
        (PLACES * [1, -1, -1], "upside down: set key 'up' to the other"),
        (PLACES[:, [2, 1, 0]], "mirrored and on its side: its x axis is vertical"),
        (PLACES[:, [2, 1, 0]] * [-1, 1, 1], "on its side: its -x axis is vertical"),
        (PLACES[:, [2, 1, 0]] * [1, -1, 1], "on its side: its x axis is vertical"),
    ],
)
def test_a_map_that_is_mirrored_or_lies_on_its_side_is_refused(
    places: np.ndarray, text: str
) -> None:
    with pytest.raises(BadInput, match=f"^tag: ranges fit the motion .* {text}"):
        check_motion(walk(places))


def test_of_a_tag_that_stands_nothing_is_known() -> None:
    text = "they move too little or too straight to say whether the anchors' map is mirrored"
    assert check_motion(walk(PLACES, size=0.0)) == text
    assert check_motion(walk(PLACES * [-1, 1, 1], size=0.0)) == text


def test_anchors_in_a_plane_do_not_tell_their_sides_apart() -> None:
    """Ranges meet on either side of them, so that heights say nothing of the map."""
    flat = PLACES * [1.0, 1.0, 0.0] + [0.0, 0.0, 2.5]
    assert "wrong sign" not in str(check_motion(walk(flat * [1, 1, -1])))
