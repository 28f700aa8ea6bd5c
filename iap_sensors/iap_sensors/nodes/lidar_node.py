# SPDX-License-Identifier: BSD-3-Clause
"""Casts the rays of all lidars and depth cameras of a rig, in the newest state, whose stamp the readings get."""

import sys

from iap_io.ros.process import program
from iap_sensors.nodes.sensor_node import MountedSensorNode


class LidarNode(MountedSensorNode):
    """All lidars and depth cameras between states and readings."""

    NAME, KEYS, DEPTH = "lidar_node", ("lidar", "depth_camera"), 1


main = program("lidar_node", LidarNode)

if __name__ == "__main__":
    sys.exit(main())
