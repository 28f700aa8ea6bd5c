# SPDX-License-Identifier: BSD-3-Clause
"""Figures of `iap experiment localization_nodes`: the share of a recording that is followed, and the centre's place."""

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from iap_bringup.experiments.nodes.measure_localization import measure_methods

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]


def test_a_recording_is_followed_in_real_time():
    for _ in range(5):  # a busy machine does not have the time at every moment
        said = []
        found = measure_methods(("joint",), 1.5, said.append)["joint"]
        assert said == ["0 of 1: the flight", "0 of 1: joint"]
        assert found["pairs_played"] == 3 * 31
        few = 0.1 * found["pairs_played"]  # which a busy machine follows in real time too
        if found["pairs_followed"] > few and found["center_updates"] >= 5:
            break
    assert found["pairs_followed"] > few
    assert found["pairs_in_windows"] > few
    assert found["center_updates"] >= 5
    assert found["center_rmse_m"] < 0.03
    assert found["faults"] == 0
    assert found["cores_used"] > 0.05
