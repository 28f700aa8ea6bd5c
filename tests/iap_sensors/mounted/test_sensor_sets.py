# SPDX-License-Identifier: BSD-3-Clause
"""Sets of sensors by name, several of them together, and what stands in their place."""

import pytest

from iap_description.errors import BadInput
from iap_sensors.mounted.sensor_presets import sensors_tree
from iap_simulation.scenario.resolving import Options, resolve


def test_two_sets_have_the_cameras_of_both_and_the_sensors_of_the_last_that_names_them():
    one, other, both = (sensors_tree(names, "test") for names in ("stereo", "uwb", "stereo, uwb"))
    assert set(both["cameras"]) == {*one["cameras"], *other["cameras"]} != set()
    assert both["uwb"] == other["uwb"] is not None


@pytest.mark.parametrize("cameras", ["5", "[left]", "front"])
def test_cameras_that_are_no_mapping_are_refused_by_their_key(cameras):
    with pytest.raises(BadInput, match="cameras"):
        resolve("hover", Options(assignments=(f"sensors={{cameras: {cameras}}}",)))
