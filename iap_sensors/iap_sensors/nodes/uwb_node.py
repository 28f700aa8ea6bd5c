# SPDX-License-Identifier: BSD-3-Clause
"""Measures the ranges of all UWB tags of a scenario, and shows its anchors."""

import sys

from rclpy.publisher import Publisher
from visualization_msgs.msg import Marker, MarkerArray

from iap_io.ros.conversions import anchor_messages
from iap_io.ros.node import LATCHED, run
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_sensors.nodes.ray_base import RayNode

ANCHORS = "/anchors"
DEPTH = 400  # states that may wait: a tag leaves no round out


class UwbNode(RayNode):
    """All tags between states and ranges."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("uwb_node", namespace, depth=DEPTH)
        specs = [vehicle.sensors.uwb for vehicle in self.scenario.vehicles]
        self._anchors = self._show_anchors([spec for spec in specs if spec is not None])
        need_rays = any(spec is not None and spec.obstruction is not None for spec in specs)
        self.begin([each.uwb for each in SensorSuite(self.scenario).vehicles], need_rays=need_rays)

    def _show_anchors(self, specs: list) -> Publisher:
        places = {each.id: each.position for spec in specs for each in spec.anchors}
        markers: list[Marker] = []
        for name, position in places.items():
            markers += anchor_messages("anchors", len(markers), name, position)
        publisher = self.create_publisher(MarkerArray, ANCHORS, LATCHED)
        publisher.publish(MarkerArray(markers=markers))
        return publisher


def main() -> int:
    """Run the node."""
    return run("uwb_node", lambda: [UwbNode()])


if __name__ == "__main__":
    sys.exit(main())
