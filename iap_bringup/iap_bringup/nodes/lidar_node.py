# SPDX-License-Identifier: BSD-3-Clause
"""Casts the rays of all lidars of a scenario, in the newest state, whose stamp the points get."""

import sys

from iap_bringup.nodes.ray_node import RayNode
from iap_bringup.sensing.senses import Senses
from iap_description.ros_node import run


class LidarNode(RayNode):
    """All lidars between states and points."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("lidar_node", namespace, depth=1)
        self.begin([each.lidars for each in Senses(self.scenario).vehicles], need_rays=True)


def main() -> int:
    """Run the node."""
    return run("lidar_node", lambda: [LidarNode()])


if __name__ == "__main__":
    sys.exit(main())
