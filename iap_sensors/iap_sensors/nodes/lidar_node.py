# SPDX-License-Identifier: BSD-3-Clause
"""Casts the rays of all lidars of a rig, in the newest state, whose stamp the points get."""

import sys
from collections.abc import Mapping
from typing import Any

from iap_io.ros.node import run
from iap_sensors.nodes.mounted_sensor_node import MountedSensorNode


class LidarNode(MountedSensorNode):
    """All lidars between states and points."""

    def __init__(self, namespace: str = "", given: Mapping[str, Any] | None = None) -> None:
        super().__init__(
            "lidar_node", namespace, given, depth=1, serves=lambda key: key == "lidar"
        )


def main() -> int:
    """Run the node."""
    return run("lidar_node", lambda: [LidarNode()])


if __name__ == "__main__":
    sys.exit(main())
