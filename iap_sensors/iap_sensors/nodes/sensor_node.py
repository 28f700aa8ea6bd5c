# SPDX-License-Identifier: BSD-3-Clause
"""Samples all sensors of a rig whose kinds have no node of their own."""

import sys
from collections.abc import Mapping
from typing import Any

from iap_io.ros.node import run
from iap_sensors.nodes.mounted_sensor_node import MountedSensorNode

OWN_NODES = ("uwb", "lidar")
DEPTH = 400  # states that may wait: no sample is left out


class OtherSensorNode(MountedSensorNode):
    """All sensors of other kinds between states and readings."""

    def __init__(self, namespace: str = "", given: Mapping[str, Any] | None = None) -> None:
        super().__init__(
            "sensor_node", namespace, given, depth=DEPTH, serves=lambda key: key not in OWN_NODES
        )


def main() -> int:
    """Run the node."""
    return run("sensor_node", lambda: [OtherSensorNode()])


if __name__ == "__main__":
    sys.exit(main())
