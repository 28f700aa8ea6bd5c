# SPDX-License-Identifier: BSD-3-Clause
"""Questions about scenarios, logs, indices and messages that are answered by each of their parts."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_estimation.datasets.bag_clocks import _is_unset
from iap_estimation.datasets.bag_topics import TopicNames, _fits
from iap_estimation.frontend import patches
from iap_physics.engines.engine import _rises
from iap_sensors.mounted.kinds import KINDS, is_kind
from iap_simulation.identification.log_files import _is_above_header
from iap_simulation.scenario.modules import is_coordinated
from iap_simulation.scenario.randomization import _draws_motions


@pytest.mark.parametrize("key", ["motion_speed", "motion_turn_deg", "motion_shift"])
def test_motions_are_drawn_by_any_of_three_keys(key):
    keys = dict.fromkeys(("motion_speed", "motion_turn_deg", "motion_shift"), 0.0)
    none: Any = SimpleNamespace(**keys)
    one: Any = SimpleNamespace(**{**keys, key: 0.1})
    assert not _draws_motions(none) and _draws_motions(one)


def test_a_scenario_is_coordinated_that_has_modules_with_joints():
    for modules, is_one in (
        (None, False),
        (SimpleNamespace(joints={}), False),
        (SimpleNamespace(joints={"j": 1}), True),
    ):
        scenario: Any = SimpleNamespace(modules=modules)
        assert is_coordinated(scenario) == is_one


def test_a_sensor_is_of_a_kind_that_is_known_or_somebodys_own():
    known = next(iter(KINDS))
    assert is_kind(known) and is_kind("my.module:Sensor")
    assert not is_kind("unknown") and not is_kind(3) and not is_kind(None)


@pytest.mark.parametrize(
    ("indices", "rises"),
    [
        ([0, 1, 4], True),
        ([4], True),
        ([0, 5], False),
        ([-1, 2], False),
        ([2, 1], False),
        ([1, 1], False),
        ([], False),
    ],
)
def test_indices_of_worlds_rise_below_their_number(indices, rises):
    assert _rises(np.array(indices, np.int64), 5) == rises


def test_a_line_above_the_names_has_one_cell_or_is_excels():
    assert _is_above_header((1, "a comment")) and _is_above_header((1, "sep=,"))
    assert not _is_above_header((1, "t,x"))


@pytest.mark.parametrize(
    ("stamps", "is_unset"),
    [
        ([0, 5, 6, 7], False),  # simulated time may begin at 0
        ([5, 5, 5], True),
        ([0, 0, 0], True),
        ([1, 2, 0, 3], True),
        ([1], False),
    ],
)
def test_stamps_are_unset_that_are_zero_or_all_the_same(stamps, is_unset):
    assert _is_unset(np.array(stamps)) == is_unset


def test_a_pair_of_topics_fits_the_names_that_are_said():
    pair = ("/l", "/r")
    for left, right, fits in ((None, None, True), ("/l", None, True), (None, "/r", True), ("/l", "/r", True),
                              ("/x", "/r", False), ("/l", "/x", False), (None, "/l", False)):  # fmt: skip
        assert _fits(pair, TopicNames(left, right, None)) == fits


@pytest.mark.parametrize(
    ("u", "v", "fits"),
    [
        (4.0, 4.0, True), (3.9, 4.0, False), (4.0, 3.9, False), (14.9, 4.0, True), (15.0, 4.0, False),
        (4.0, 4.9, True), (4.0, 5.0, False),
    ],
)  # fmt: skip
def test_a_patch_is_inside_with_a_pixel_around_it(u, v, fits):
    image = np.zeros((10, 20), np.uint8)
    assert patches._fits(image, u, v, 3.0, 3.0) == fits
