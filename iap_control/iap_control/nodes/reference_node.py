# SPDX-License-Identifier: BSD-3-Clause
"""Publishes the references of a scenario's vehicle: for every state one, with the state's stamp."""

import sys

import numpy as np

from iap_bringup.nodes.scenario_parameters import resolved_scenario, vehicle_of_namespace
from iap_control.references.player import Player
from iap_description.errors import BadInput
from iap_io.ros.node import LATEST, SuiteNode, run
from iap_io.wire.message_views import SECOND, MessageReader, ReferenceMessage, StateMessage
from iap_msgs.msg import PlatformReference, PlatformState
from iap_simulation.run import Flight
from iap_simulation.scenario.scenario import Scenario

NO_WRENCH = np.zeros(6)


class ReferenceNode(SuiteNode):
    """Plays a timeline: that of the scenario, or of the recorded command where `bag` is given."""

    def __init__(self, name: str = "reference_node", namespace: str = "iap") -> None:
        super().__init__(name, namespace=namespace)
        scenario, _ = resolved_scenario(self)
        number = vehicle_of_namespace(self, scenario)
        self._check(scenario, number)
        pilot = Flight.of(scenario).pilots[number]
        self._player = Player(pilot.timeline, pilot.start[0])
        self._inlet, self._out = (
            MessageReader(StateMessage),
            ReferenceMessage.of(pilot.model.count),
        )
        self._references = self.create_publisher(PlatformReference, "reference", LATEST)
        self.create_subscription(PlatformState, "state", self._on_state, LATEST, raw=True)
        self._is_over = False
        self.get_logger().info(f"{scenario.scenario}: {pilot.timeline.duration:.1f} s")

    def _check(self, scenario: Scenario, number: int) -> None:
        """What else must hold of the scenario."""

    def _on_state(self, data: bytes) -> None:
        try:
            state = self._inlet.read(data)
        except BadInput as error:
            self.get_logger().warning(str(error), throttle_duration_sec=2.0)
            return
        t = state.stamp / SECOND
        row, level = self._player.reference(t, state.rows[0])
        self._out.put_head(state.stamp, state.sequence)
        self._out.put_row(row, level, NO_WRENCH)
        self._references.publish(self._out.dump())
        self._tell_end(t)

    def _tell_end(self, t: float) -> None:
        is_over = self._player.is_over(t)
        if is_over and not self._is_over:
            self.get_logger().info("the reference has ended; its last pose is held")
        self._is_over = is_over


def main() -> int:
    """Run the node."""
    return run("reference_node", lambda: [ReferenceNode()])


if __name__ == "__main__":
    sys.exit(main())
