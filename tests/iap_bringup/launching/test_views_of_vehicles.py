# SPDX-License-Identifier: BSD-3-Clause
"""Displays of a vehicle get its name, and panels of contact room above and below their curves."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from iap_bringup.launching.rviz_view import _is_own, _renamed, _within
from iap_bringup.plots.contact import _limits


def test_the_vehicle_is_renamed_in_keys_lists_topics_and_frames_and_nowhere_else():
    tree = {"iap": ["iap", "iap/base_link", {"Topic": "/iap/state"}, 3, "iapetus", None]}
    assert _renamed(tree, "m2") == {
        "m2": ["m2", "m2/base_link", {"Topic": "/m2/state"}, 3, "iapetus", None]
    }
    assert tree["iap"][0] == "iap"
    assert _is_own(tree) and _is_own(["iap/odom"]) and not _is_own({"a": ["map", 1.0]})


def test_topics_of_a_display_are_within_the_simulations_namespace():
    display = {
        "Topic": {"Value": "/iap/state", "Depth": 5},
        "Update Topic": {"Value": "/u"},
        "Name": "x",
    }
    assert _within("/sim_1", display) == {
        "Topic": {"Value": "/sim_1/iap/state", "Depth": 5},
        "Update Topic": {"Value": "/sim_1/u"},
        "Name": "x",
    }


def test_panels_have_eight_percent_of_room_a_fifth_of_the_tallest_and_a_least_height():
    curves = np.zeros((1, 3, 6))
    curves[0, :, 0] = 0.0, 10.0, 99.0  # of which the last tick is not shown
    curves[0, :, 3] = -1.0, 0.0, 0.0
    shown: Any = SimpleNamespace(shown=np.array([True, True, False]))
    found = _limits(curves, shown, (0.5, 4.0))
    np.testing.assert_allclose(found[0], [-0.8, 10.8])
    np.testing.assert_allclose(found[1], [-1.16, 1.16])  # 2 N high about zero
    np.testing.assert_allclose(found[3], [-0.5 - 0.58 * 4.0, -0.5 + 0.58 * 4.0])
