# SPDX-License-Identifier: BSD-3-Clause
"""Gains of a preset and of a file of one's own, and headings of aircraft in each mode."""

import numpy as np
import pytest

from iap_control.gains import Gains, gains_tree
from iap_control.headings import Headings
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, Level, resting_state

MOUNTS = np.array([0.0, 2.0, -2.0])


def test_gains_of_a_file_replace_some_of_the_default(tmp_path):
    default = gains_tree("default")
    path = tmp_path / "mine.yaml"
    path.write_text("rate_filter: 0.125\nwrench: {blend_time: 0.75}\n")
    mine = gains_tree(str(path))
    assert mine["rate_filter"] == 0.125 and mine["wrench"]["blend_time"] == 0.75
    assert mine["kP"] == default["kP"] and mine["wrench"]["paper"] == default["wrench"]["paper"]
    assert default["rate_filter"] != 0.125
    path.write_text("rate_filtre: 0.1\n")
    with pytest.raises(BadInput, match="mine.yaml: .*rate_filtre"):
        gains_tree(str(path))
    with pytest.raises(BadInput, match="nowhere"):
        gains_tree("nowhere")
    assert gains_tree("paper") != default and gains_tree("paper")["kP"]


@pytest.mark.parametrize(("limit", "fits"), [(1.5, True), (1.51, False)])
def test_an_admittance_stays_away_from_half_turns(limit, fits):
    tree = gains_tree("default")
    tree["admittance"] = {**tree["admittance"], "limit": [0.3, limit]}
    if fits:
        assert validate(Gains, tree, source="test").admittance.limit == (0.3, 1.5)
    else:
        with pytest.raises(BadInput, match="key 'limit': at most 1.5 rad, is 1.51"):
            validate(Gains, tree, source="test")


def turned(yaw):
    return so3.quaternion_exp(np.array([0.0, 0.0, yaw]))


def given(yaw=0.5, level=Level.POSE, headings=(7.0, 8.0, 9.0)):
    row = np.zeros(REF_FIXED + 3)
    row[3:7], row[REF_FIXED:] = turned(yaw), headings
    return Reference(row, level)


def flown(yaw=0.2):
    return resting_state(np.zeros(3), turned(yaw))


def test_headings_follow_the_yaw_of_the_reference_or_without_a_pose_of_the_platform():
    headings = Headings(MOUNTS, "follow")
    np.testing.assert_allclose(headings(flown(), given()), MOUNTS + 0.5)
    np.testing.assert_allclose(headings(flown(), given(0.7)), MOUNTS + 0.7)
    np.testing.assert_allclose(headings(flown(), given(level=Level.VELOCITY)), MOUNTS + 0.2)


def test_headings_that_are_held_are_the_first_until_a_reset():
    headings = Headings(MOUNTS, "hold")
    np.testing.assert_allclose(headings(flown(), given()), MOUNTS + 0.5)
    np.testing.assert_allclose(headings(flown(), given(0.7)), MOUNTS + 0.5)
    headings.reset()
    np.testing.assert_allclose(headings(flown(), given(0.7)), MOUNTS + 0.7)


def test_headings_may_be_given_by_the_reference():
    headings = Headings(MOUNTS, "reference")
    for level in (Level.POSE, Level.VELOCITY):
        assert headings(flown(), given(level=level)).tolist() == [7.0, 8.0, 9.0]
