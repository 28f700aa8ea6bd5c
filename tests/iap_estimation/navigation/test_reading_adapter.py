# SPDX-License-Identifier: BSD-3-Clause
"""What sensors say, as estimators take it."""

import numpy as np
import pytest

from iap_description.sensors.readings import RangeReading, SensorSource
from iap_description.sensors.sensor_info import UwbInfo
from iap_description.vehicles.assembly import Assembly
from iap_estimation.navigation.reading_adapter import ReadingAdapter
from iap_estimation.navigation.sensor_set import SensorSet
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import sensor_infos

ANCHORS = ("a0", "a1", "a2")


@pytest.mark.parametrize(("said", "believed"), [(0.0, 1e-3), (1e-200, 1e-3), (0.2, 0.2)])
def test_a_range_is_never_believed_without_end(said, believed):
    scenario, _ = resolve("figure_eight", Options(sensors="stereo,uwb,imu"))
    vehicle = scenario.vehicles[0]
    infos = sensor_infos(scenario, vehicle.name)
    own = SensorSet.of(Assembly.of(vehicle.platform, vehicle.name), infos, 9.81)
    tag = next(each for each in infos if isinstance(each, UwbInfo))
    places = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [np.nan, np.nan, np.nan]])
    reading = RangeReading(
        SensorSource(tag.topic, tag.frame),
        0.1,
        ANCHORS,
        places,
        np.array([1.0, 2.0, 3.0]),
        np.full(3, said),
        np.array([True, True, True]),
    )
    aircraft, ranges = ReadingAdapter(own.carried, own.central)(reading)
    assert aircraft == 0
    np.testing.assert_array_equal(ranges.deviations, [believed, believed])
    np.testing.assert_array_equal(ranges.ranges, [1.0, 2.0])  # a tag that flies has no known place
