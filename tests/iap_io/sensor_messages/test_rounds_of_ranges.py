# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of ranges come back as they were said, whatever number of anchors there are."""

import numpy as np
import pytest

from iap_description.sensors.readings import RangeReading, SensorSource
from iap_description.sensors.sensor_info import UwbInfo
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.sensor_messages.sensor_reader import Decoder

FIELDS = {"parent": "iap/drone_1", "p_BS_B": (0.0, 0.0, 0.0), "q_BS": (0.0, 0.0, 0.0, 1.0)}
TAG = UwbInfo.model_construct(
    **FIELDS, topic="/iap/drone_1/uwb", frame="iap/drone_1_uwb", rate=20.0
)


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_a_round_comes_back(count):
    ids = tuple(f"anchor_{i}" for i in range(count))
    places, ranges = np.arange(3.0 * count).reshape(-1, 3), 1.0 + np.arange(count)
    said = RangeReading(
        SensorSource(TAG.topic, TAG.frame), 0.5, ids, places, ranges, ranges / 10, ranges > 0.0
    )
    ((topic, parts),) = encoder(TAG)(said)
    back = Decoder([TAG])(topic, b"".join(parts))
    assert back.ids == ids
    for name in ("p_W", "ranges", "deviations", "valid"):
        np.testing.assert_array_equal(getattr(back, name), getattr(said, name))
