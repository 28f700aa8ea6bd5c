# SPDX-License-Identifier: BSD-3-Clause
"""Recorded wrenches as they are handed on."""

import numpy as np

from iap_io.trajectories.pose_reading import WrenchSummary
from iap_io.trajectories.wrenches import RecordedWrench


def test_a_recorded_wrench_lasts_from_its_first_to_its_last_sample() -> None:
    about = WrenchSummary("/wrench", "geometry_msgs/WrenchStamped", "base_link", "body", "enu")
    t = np.array([0.0, 0.25, 0.75, 2.0])
    wrench = RecordedWrench(
        t, np.zeros((4, 6)), "body", "a.bag: topic /wrench", "bag", 5, None, about, ()
    )
    assert wrench.duration == 2.0
