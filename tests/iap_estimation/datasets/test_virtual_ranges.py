# SPDX-License-Identifier: BSD-3-Clause
"""Ranges that are made from the truth of a recording: distances of the tag, with noise, in order of time."""

from dataclasses import replace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.datasets.dataset import FROM_CAMERAS, SensorDataset
from iap_estimation.datasets.virtual_ranges import with_virtual_ranges
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.fleet_data import MEMS, AircraftData
from iap_estimation.navigation.measurements import Tally
from iap_estimation.virpo.messages import ImuSample, Ranges

ANCHORS = np.array([[4.0, 0.0, 0.5], [-4.0, 3.0, 2.0], [0.0, 0.0, 9.0]])
FILE = """
anchors: {a: [4.0, 0.0, 0.5], b: [-4.0, 3.0, 2.0], high: [0.0, 0.0, 9.0]}
rate: 20.0
deviation: 0.05
antenna: [0.0, 0.2, 0.0]
range_max: 8.0
"""


def recording(truth):
    """Samples at 200 Hz over 10 s, without anything else."""

    def events():
        for k in range(2000):
            yield 0, ImuSample(k / 200.0, np.zeros(3), np.zeros(3))

    one = AircraftData("drone", None, np.array(MEMS), truth=truth)
    return SensorDataset("somewhere", "drone", (one,), 0, events, Tally(), (), FROM_CAMERAS)


def circle(gap=None):
    """A truth that goes round once in 10 s and turns as it goes, with a hole [s]."""
    t = np.arange(0.0, 10.001, 0.01)
    if gap is not None:
        t = t[(t < gap[0]) | (t > gap[1])]
    yaw = 2.0 * np.pi * t / 10.0
    zero = np.zeros_like(t)
    poses = np.stack(
        [np.cos(yaw), np.sin(yaw), 1.0 + zero, zero, zero, np.sin(0.5 * yaw), np.cos(0.5 * yaw)],
        -1,
    )
    return Truth(t, poses)


@pytest.fixture
def choice(tmp_path):
    (tmp_path / "anchors.yaml").write_text(FILE)
    return f"virtual:{tmp_path / 'anchors.yaml'}"


def test_ranges_are_distances_of_the_tag_with_the_noise_asked_for(choice):
    dataset = with_virtual_ranges(recording(circle()), choice)
    events = [event for _, event in dataset.events()]
    rounds = [event for event in events if isinstance(event, Ranges)]
    assert len(rounds) == 200  # one more would follow the last sample
    assert sum(isinstance(event, ImuSample) for event in events) == 2000
    assert all(one.t <= two.t for one, two in zip(events, events[1:], strict=False))
    off = []
    for each in rounds:
        assert each.anchors.tolist() == [0, 1]  # the third one is 8 m above and out of reach
        yaw = 2.0 * np.pi * each.t / 10.0
        # the antenna is 0.2 m to the left of where it heads
        tag = np.array([np.cos(yaw) - 0.2 * np.sin(yaw), np.sin(yaw) + 0.2 * np.cos(yaw), 1.0])
        off.extend(each.ranges - np.linalg.norm(ANCHORS[:2] - tag, axis=1))
    assert abs(np.mean(off)) < 0.01
    assert np.std(off) == pytest.approx(0.05, rel=0.12)
    again = [event.ranges for _, event in dataset.events() if isinstance(event, Ranges)]
    np.testing.assert_array_equal(again, [each.ranges for each in rounds])
    assert dataset.anchor_name(2) == "high" and "3 virtual anchors" in dataset.notes[-1]


def test_no_range_is_made_where_the_truth_has_a_hole(choice):
    dataset = with_virtual_ranges(recording(circle(gap=(3.0, 6.0))), choice)
    times = [event.t for _, event in dataset.events() if isinstance(event, Ranges)]
    assert min(times) < 0.1 and max(times) > 9.9
    assert not any(3.01 < t < 5.99 for t in times)


def test_what_cannot_have_ranges_is_refused(choice, tmp_path):
    with pytest.raises(BadInput, match=r"--ranges uwb: expected virtual:FILE"):
        with_virtual_ranges(recording(circle()), "uwb")
    with pytest.raises(BadInput, match=r"truth of drone of somewhere is not known"):
        with_virtual_ranges(recording(None), choice)
    with pytest.raises(BadInput, match=r"has ranges of its own"):
        with_virtual_ranges(replace(recording(circle()), has_ranges=True), choice)
    place = np.hstack([circle().poses[:, :3], np.full((1001, 4), np.nan)])
    with pytest.raises(BadInput, match=r"'antenna'.*no attitude"):
        with_virtual_ranges(recording(replace(circle(), poses=place)), choice)
    (tmp_path / "none.yaml").write_text("anchors: {}\n")
    with pytest.raises(BadInput, match="anchors"):
        with_virtual_ranges(recording(circle()), f"virtual:{tmp_path / 'none.yaml'}")
