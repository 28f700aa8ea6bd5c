# SPDX-License-Identifier: BSD-3-Clause
"""Which sensors a vehicle must have to fly on an estimate."""

from typing import Literal

from iap_io.runs.run_meta import TRUTH
from iap_sensors.mounted.sensor_presets import Sensors

StateSource = Literal["truth", "vio", "vio_uwb", "virpo", "joint", "drift_filter"]
GREY = {"mono8", "rgb8"}


def missing_sensors(source: StateSource, sensors: Sensors, *, is_joined: bool) -> list[str]:
    """What a vehicle lacks to take its state from a method, as the keys and sets of `sensors` are named.

    Args:
        source: of the state; the truth needs nothing.
        sensors: of the vehicle.
        is_joined: whether its aircraft are joined to a central body, whose tilt must be known.
    """
    if source == TRUTH:
        return []
    cameras = sensors.cameras
    has_pair = any(
        each.right_of in cameras
        and GREY & set(each.outputs)
        and GREY & set(cameras[each.right_of].outputs)
        for each in cameras.values()
        if each.right_of is not None
    )
    needs = {
        "imu": sensors.imu is not None,
        "attitude": sensors.attitude is not None or not is_joined,
        "stereo": has_pair,
        "uwb": source == "vio" or (sensors.uwb is not None and bool(sensors.uwb.anchors)),
    }
    return [name for name, is_there in needs.items() if not is_there]
