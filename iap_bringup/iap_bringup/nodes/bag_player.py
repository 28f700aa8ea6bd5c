# SPDX-License-Identifier: BSD-3-Clause
"""Plays the commands of a recorded flight into the running nodes: whatever `iap replay` reads, without rosbag2."""

import sys

from iap_control.nodes.reference_node import ReferenceNode
from iap_control.references.motions import Replay
from iap_description.errors import BadInput
from iap_io.ros.node import run
from iap_simulation.scenario.scenario import Scenario


class BagPlayer(ReferenceNode):
    """A reference_node that needs a bag."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("bag_player", namespace)

    def _check(self, scenario: Scenario, number: int) -> None:
        if not isinstance(scenario.vehicles[number].reference, Replay):
            raise BadInput("parameter bag: the bag or CSV file to play is missing")


def main() -> int:
    """Run the node."""
    return run("bag_player", lambda: [BagPlayer()])


if __name__ == "__main__":
    sys.exit(main())
