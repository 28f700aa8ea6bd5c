# SPDX-License-Identifier: BSD-3-Clause
"""A platform's policy between topics."""

from functools import partial

import numpy as np

from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.states import REF_FIXED
from iap_io.ros.conversions import BASE_LINK, frame
from iap_io.ros.node import EVERY, LATEST, SuiteNode
from iap_io.runs.topics import (
    ESTIMATED,
    GRIPPER_STATE,
    LATCH_STATE,
    MEASURED,
    PLANNED,
    WORLD_STATE,
)
from iap_io.runs.vehicle_meta import TRUTH
from iap_io.wire.joint_views import JointStateMessage
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.sample_views import LatchStateMessage, WrenchMessage
from iap_learning.learned_agents import flies_by_references, platform_policy
from iap_learning.nodes.gripper_output import GripperOutput
from iap_learning.nodes.policy_inputs import checked_phase, listen_to_sensor
from iap_learning.tasks.kinds.platform.platform_responder import Answer, PlatformResponder
from iap_learning.tasks.senses import Sense
from iap_msgs.msg import PlatformCommand, PlatformReference
from iap_simulation.scenario.scenario import Scenario


class PlatformTopics:
    """A platform's policy between topics.

    Its references are for the controller_node beside it, on `reference/policy`; or its commands for the aircraft, on
    `command`, where the task's action is of these.

    Args:
        node: whose topics they are.
        scenario: of one vehicle.

    Attributes:
        newest: stamp of the newest state [ns]; -1 before the first.

    Raises:
        BadInput: there are more vehicles, or the policy does not fit.
    """

    def __init__(self, node: SuiteNode, scenario: Scenario) -> None:
        self._node, make = node, platform_policy(scenario)  # which refuses several vehicles
        (vehicle,) = scenario.vehicles
        measured, goes_by = f"/{vehicle.name}/{MEASURED}", vehicle.control.state_source
        on_estimate = goes_by != TRUTH
        self._responder = PlatformResponder(make, on_estimate=on_estimate, measured=measured)
        count, bodies = vehicle.platform.count, 1 + len(vehicle.platform.joints)
        self._row, self.newest = np.zeros(REF_FIXED + count), -1
        self._joints = 0  # number of those that the policy asks for
        self._commands, self._references = CommandMessage.of(count), ReferenceMessage.of(count)
        plans = flies_by_references(scenario)
        kind, out = (PlatformReference, PLANNED) if plans else (PlatformCommand, "command")
        self._output = node.create_publisher(kind, node.absolute(f"{vehicle.name}/{out}"), EVERY)
        grips = self._responder.policy.closes is not None
        self._gripper = GripperOutput(node, vehicle.name) if grips else None
        inputs, topic = node.inputs, partial(self._absolute, vehicle.name)
        self._sources = [topic("state"), topic("reference")]  # as the responder numbers them
        inputs.listen_to_states(topic("state"), bodies, self._on_state, LATEST, rotors=4 * count)
        read = MessageReader(ReferenceMessage).read
        inputs.listen(ReferenceMessage.TYPE, topic("reference"), read, self._on_reference, LATEST)
        for each in self._responder.policy.inputs:
            listen_to_sensor(node, scenario, each.topic, self._on_reading)
        for sense in self._responder.policy.asks_for:
            self._listen_to_sense(sense, scenario)
        if on_estimate:
            self._sources.append(topic(ESTIMATED))
            inputs.listen_to_states(self._sources[-1], bodies, self._on_estimate, LATEST)

    def _absolute(self, vehicle: str, topic: str) -> str:
        return self._node.absolute(f"{vehicle}/{topic}")

    def _listen_to_sense(self, sense: Sense, scenario: Scenario) -> None:
        """Subscribe to what the policy asks for."""
        node, (vehicle,) = self._node, scenario.vehicles
        inputs, absolute = node.inputs, node.absolute
        if sense is Sense.WRENCH:
            read = MessageReader(WrenchMessage, ("", frame(vehicle.name, BASE_LINK))).read
            topic = self._absolute(vehicle.name, "wrench/raw")
            self._sources.append(topic)
            inputs.listen(WrenchMessage.TYPE, topic, read, self._on_wrench, LATEST)
        elif sense is Sense.MEASURED:
            topic = self._absolute(vehicle.name, MEASURED)
            inputs.listen_to_states(topic, 1, self._on_measured, LATEST)
        elif sense is Sense.JOINTS:
            assert vehicle.platform.arm is not None  # noqa: S101 - the policy has looked
            self._joints = len(vehicle.platform.arm.joints)
            self._sources.append(self._sources[0])  # states have them
        elif sense is Sense.GRIPPER:
            topic = self._absolute(vehicle.name, GRIPPER_STATE)
            read_gripper = MessageReader(JointStateMessage).read
            self._sources.append(topic)
            inputs.listen(JointStateMessage.TYPE, topic, read_gripper, self._on_gripper, LATEST)
        elif sense is Sense.OBJECTS:
            count, topic = len(scenario.world.objects), absolute(WORLD_STATE)
            self._sources.append(topic)
            inputs.listen_to_states(topic, count, self._on_objects, LATEST)
        else:
            read_latches = MessageReader(LatchStateMessage).read
            take = partial(self._on_latches, len(scenario.latches))
            self._sources.append(absolute(LATCH_STATE))
            inputs.listen(LatchStateMessage.TYPE, self._sources[-1], read_latches, take, LATEST)

    @property
    def stamp(self) -> int:
        """Stamp of the newest answer [ns]; -1 before the first."""
        return self._responder.stamp

    @property
    def awaited(self) -> list[str]:
        """Topics that the newest instant waits for."""
        if self.newest < 0:
            return self._sources[:1]
        readings = [self._node.absolute(each) for each in self._responder.awaited]
        return [self._sources[i] for i in self._responder.missing] + readings

    @property
    def values(self) -> dict[str, object]:
        """For diagnostics."""
        info = self._responder.policy.info
        return {"policy": info["name"], "answered": self._responder.answered}

    def _on_state(self, state: StateMessage) -> None:
        self.newest = state.stamp
        x, rpm = state.rows.copy(), state.rpm.copy()
        if self._joints:
            joints = np.stack(state.arm(self._joints))
            self._publish(self._responder.take_sense(Sense.JOINTS, state.stamp, joints))
        self._publish(self._responder.take_state(state.stamp, state.sequence, x, rpm))

    def _on_reference(self, message: ReferenceMessage) -> None:
        message.get_row(self._row)
        self._publish(self._responder.take_reference(message.stamp, self._row.copy()))

    def _on_wrench(self, message: WrenchMessage) -> None:
        wrench_P = message.wrench_P.copy()
        self._publish(self._responder.take_sense(Sense.WRENCH, message.stamp, wrench_P))

    def _on_gripper(self, state: JointStateMessage) -> None:
        readings = np.array([state.position[0], state.effort[0]])
        self._publish(self._responder.take_sense(Sense.GRIPPER, state.stamp, readings))

    def _on_objects(self, state: StateMessage) -> None:
        rows = state.rows.copy()
        self._publish(self._responder.take_sense(Sense.OBJECTS, state.stamp, rows))

    def _on_measured(self, state: StateMessage) -> None:
        self._publish(self._responder.take_measured(state.sequence, state.rows[0].copy()))

    def _on_estimate(self, state: StateMessage) -> None:
        rows = state.rows.copy()
        self._publish(self._responder.take_sense(Sense.ESTIMATE, state.stamp, rows))

    def _on_latches(self, count: int, latches: LatchStateMessage) -> None:
        """Take the phases of all latches.

        Raises:
            BadInput: there are others than in the scenario, or there is no such phase.
        """
        phases = latches.phases.astype(np.int64)
        if len(phases) != count:
            raise BadInput(f"phases: of {len(phases)} latches; the scenario has {count}")
        checked_phase(phases.max(initial=0))
        self._publish(self._responder.take_sense(Sense.PHASES, latches.stamp, phases))

    def _on_reading(self, reading: Reading) -> None:
        self._publish(self._responder.take_reading(reading))

    def _publish(self, answer: Answer | None) -> None:
        if answer is None:
            return
        responder, closes = self._responder, self._responder.policy.closes
        if self._gripper is not None and closes is not None:
            self._gripper.publish(responder.stamp, closes=closes)
        if responder.policy.gives_references:
            out = self._references
            out.put_row(answer.row, answer.level, answer.wrench_P)
        else:
            out = self._commands
            out.put(answer)
        out.put_head(responder.stamp, responder.sequence)
        self._output.publish(out.dump())
