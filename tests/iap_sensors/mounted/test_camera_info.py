# SPDX-License-Identifier: BSD-3-Clause
"""What recordings say of their cameras."""

import pytest

from iap_sensors.mounted.cameras import mounted_cameras_of
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec


@pytest.mark.parametrize(("sensors", "is_clean"), [("stereo", True), ("stereo_wide", False)])
def test_cameras_say_whether_their_images_are_clean(sensors: str, is_clean: bool) -> None:
    scenario, _ = resolve("hover", Options(sensors=sensors))
    cameras = mounted_cameras_of(rig_spec(scenario))
    assert {each.info.is_clean for each in cameras} == {is_clean}
