# SPDX-License-Identifier: BSD-3-Clause
"""Measures the ranges of all UWB tags of a rig, and shows its anchors."""

import sys
from collections.abc import Mapping
from typing import Any

from visualization_msgs.msg import Marker, MarkerArray

from iap_io.ros.conversions import anchor_messages
from iap_io.ros.node import LATCHED
from iap_io.ros.process import program
from iap_sensors.nodes.sensor_node import MountedSensorNode

ANCHORS = "anchors"


class UwbNode(MountedSensorNode):
    """All tags between states and ranges."""

    NAME, KEYS = "uwb_node", ("uwb",)

    def __init__(self, namespace: str = "", parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__(namespace, parameters)
        self._anchors = self.create_publisher(MarkerArray, self.absolute(ANCHORS), LATCHED)
        self._anchors.publish(MarkerArray(markers=self._markers()))

    def _markers(self) -> list[Marker]:
        specs = [vehicle.sensors.uwb for vehicle in self.rig.vehicles]
        positions = {a.id: a.position for spec in specs if spec is not None for a in spec.anchors}
        markers: list[Marker] = []
        for name, position in positions.items():
            markers += anchor_messages("anchors", len(markers), name, position)
        return markers


main = program("uwb_node", UwbNode)

if __name__ == "__main__":
    sys.exit(main())
