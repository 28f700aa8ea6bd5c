# SPDX-License-Identifier: BSD-3-Clause
"""Casts the rays of all lidars of a scenario, in the newest state, whose stamp the points get."""

import sys

from iap_io.ros.node import run
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_sensors.nodes.ray_base import RayNode


class LidarNode(RayNode):
    """All lidars between states and points."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("lidar_node", namespace, depth=1)
        self.begin([each.lidars for each in SensorSuite(self.scenario).vehicles], need_rays=True)


def main() -> int:
    """Run the node."""
    return run("lidar_node", lambda: [LidarNode()])


if __name__ == "__main__":
    sys.exit(main())
