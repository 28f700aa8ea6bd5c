# SPDX-License-Identifier: BSD-3-Clause
"""The topics of who flies one platform: states, references and images in, references or commands out."""

from functools import partial

import numpy as np

from iap_description.sensors.readings import Reading
from iap_description.states import REF_FIXED
from iap_io.ros.node import LATEST, SuiteNode
from iap_io.ros.sensor_topics import RELIABLE
from iap_io.runs.topics import PLANNED
from iap_io.sensor_messages.sensor_reader import Decoder
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_learning.learned_agents import flies_by_references, platform_policy
from iap_learning.tasks.kinds.platform.platform_responder import Answer, PlatformResponder
from iap_msgs.msg import PlatformCommand, PlatformReference
from iap_simulation.scenario.rig_spec import sensor_infos
from iap_simulation.scenario.scenario import Scenario


class PlatformTopics:
    """A platform's policy between topics.

    Its references are for the controller_node beside it, on `reference/policy`; or its commands for the aircraft, on
    `command`, where the task's action is of these.

    Args:
        node: whose topics they are.
        scenario: of one vehicle.

    Attributes:
        newest: stamp of the newest state [ns].

    Raises:
        BadInput: there are more vehicles, or the policy does not fit.
    """

    def __init__(self, node: SuiteNode, scenario: Scenario) -> None:
        self._node, self._responder = node, PlatformResponder(platform_policy(scenario))
        (vehicle,) = scenario.vehicles
        count, bodies = vehicle.platform.count, 1 + len(vehicle.platform.joints)
        self._row, self.newest = np.zeros(REF_FIXED + count), -1
        self._commands, self._references = CommandMessage.of(count), ReferenceMessage.of(count)
        plans = flies_by_references(scenario)
        kind, out = (PlatformReference, PLANNED) if plans else (PlatformCommand, "command")
        self._output = node.create_publisher(kind, node.absolute(f"{vehicle.name}/{out}"), LATEST)
        inputs, own = node.inputs, partial(self._absolute, vehicle.name)
        inputs.listen_to_states(own("state"), bodies, self._on_state, LATEST, rotors=4 * count)
        read = MessageReader(ReferenceMessage).read
        inputs.listen(ReferenceMessage.TYPE, own("reference"), read, self._on_reference, LATEST)
        if self._responder.policy.eye is not None:
            self._listen_to_images(scenario, self._responder.policy.eye.topic)

    def _absolute(self, vehicle: str, topic: str) -> str:
        return self._node.absolute(f"{vehicle}/{topic}")

    def _listen_to_images(self, scenario: Scenario, camera: str) -> None:
        """Subscribe to the images of a camera as they are, not compressed."""
        decode = Decoder([each for each in sensor_infos(scenario) if each.topic == camera])
        take = self._on_image
        for topic, kind in decode.types.items():
            if not topic.endswith("/compressed"):
                read = partial(decode, topic)
                self._node.inputs.listen(kind, self._node.absolute(topic), read, take, RELIABLE)

    @property
    def stamp(self) -> int:
        """Of the newest answer [ns]; -1 before the first."""
        return self._responder.stamp

    @property
    def values(self) -> dict[str, object]:
        """For diagnostics."""
        info = self._responder.policy.info
        return {"policy": info["name"], "answered": self._responder.answered}

    def _on_state(self, state: StateMessage) -> None:
        self.newest = state.stamp
        x, rpm = state.rows.copy(), state.rpm.copy()
        self._publish(self._responder.take_state(state.stamp, state.sequence, x, rpm))

    def _on_reference(self, given: ReferenceMessage) -> None:
        given.get_row(self._row)
        self._publish(self._responder.take_reference(given.stamp, self._row.copy()))

    def _on_image(self, reading: Reading) -> None:
        self._publish(self._responder.take_reading(reading))

    def _publish(self, answer: Answer | None) -> None:
        if answer is None:
            return
        responder = self._responder
        if self._responder.policy.gives_references:
            out = self._references
            out.put_row(answer.row, answer.level, answer.wrench_P)
        else:
            out = self._commands
            out.put(answer)
        out.put_head(responder.stamp, responder.sequence)
        self._output.publish(out.dump())
