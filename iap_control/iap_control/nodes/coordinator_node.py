# SPDX-License-Identifier: BSD-3-Clause
"""Coordinates modules that dock: what they tell in, their references, roles and joints out.

Runs in the simulation's namespace, and listens in those of the modules. It publishes ModuleReference on
`reference/coordinated` of each module, which controller_node tracks, and ModuleJoints on `joints`, which physics_node
carries out.
"""

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus

from iap_control.modules.coordination import CoordinatedModule, CoordinationSpec
from iap_control.modules.joint_states import joints_message
from iap_control.responders.coordinator_responder import CoordinatorResponder, ReportPart
from iap_description.errors import BadInput
from iap_description.signals import NO_WRENCH
from iap_description.states import REF_FIXED
from iap_io.ros.conversions import BASE_LINK, frame
from iap_io.ros.node import EVERY, LATEST, Diagnostics, SuiteNode
from iap_io.ros.process import program
from iap_io.runs.topics import COORDINATED, JOINT_WRENCHES
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.module_views import JointWrenchesMessage, ModuleReferenceMessage
from iap_io.wire.sample_views import WrenchMessage
from iap_io.wire.stamps import SECOND
from iap_msgs.msg import ModuleJoints, ModuleReference


class CoordinatorNode(SuiteNode):
    """The coordinator of modules between topics."""

    def __init__(self, namespace: str = "", parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__("coordinator_node", namespace=namespace, parameters=parameters)
        spec = self._declared_spec()
        self._responder, self._newest = CoordinatorResponder(spec), -1
        self._said = [0, 0]  # events and losses that the log has
        self._joints = joints_message(spec.modules, spec.names)
        self._joints_out = self.create_publisher(ModuleJoints, self.absolute("joints"), EVERY)
        self._reference = ModuleReferenceMessage.of(1)
        self._outputs = [
            self.create_publisher(ModuleReference, self.absolute(f"{name}/{COORDINATED}"), LATEST)
            for name in spec.names
        ]
        for i, vehicle in enumerate(spec.vehicles):
            self._listen(i, vehicle)
        if spec.modules.wrench_source == "joint":
            self._listen_to_joints(list(spec.modules.joints))
        self._diagnostics = Diagnostics(self, self._statuses)

    def _declared_spec(self) -> CoordinationSpec:
        self.refuse_scenario("coordination", "ros2 launch iap_bringup sim.launch.py")
        what = "Modules, joints and mission as YAML (see iap_control.modules.coordination)."
        text = self.parameter("coordination", "", what)
        if not text:
            raise BadInput("parameter coordination: missing, nothing to coordinate")
        return CoordinationSpec.read(text, source="parameter coordination")

    def _listen(self, i: int, module: CoordinatedModule) -> None:
        """Subscribe to what module i tells."""
        within = self.absolute(module.name)
        topic = f"{within}/{module.state_topic}"
        self.inputs.listen_to_states(topic, 1, partial(self._on_state, i), LATEST)
        read = MessageReader(ReferenceMessage).read
        take = partial(self._on_reference, i)
        self.inputs.listen(ReferenceMessage.TYPE, f"{within}/reference", read, take, LATEST)
        commands, heard = MessageReader(CommandMessage).read, partial(self._on_command, i)
        self.inputs.listen(CommandMessage.TYPE, f"{within}/command", commands, heard, LATEST)
        in_body = MessageReader(WrenchMessage, ("", frame(module.name, BASE_LINK))).read
        topic, felt = f"{within}/wrench/estimated", partial(self._on_wrench, i)
        self.inputs.listen(WrenchMessage.TYPE, topic, in_body, felt, LATEST)

    def _listen_to_joints(self, names: list[str]) -> None:
        """Subscribe to what joints measure."""
        kind, read = JointWrenchesMessage, MessageReader(JointWrenchesMessage).read
        take = partial(self._on_borne, names)
        self.inputs.listen(kind.TYPE, self.absolute(JOINT_WRENCHES), read, take, LATEST)

    def _on_borne(self, names: list[str], borne: JointWrenchesMessage) -> None:
        if self._responder.take_borne(borne.stamp, borne.borne(names)):
            self._answer()

    def _on_state(self, i: int, state: StateMessage) -> None:
        self._newest = state.stamp
        self._take(i, ReportPart.STATE, state.stamp, state.rows[0].copy())

    def _on_reference(self, i: int, reference: ReferenceMessage) -> None:
        row = np.zeros(REF_FIXED + 1)
        reference.get_row(row)
        self._take(i, ReportPart.REFERENCE, reference.stamp, (row, reference.level))

    def _on_command(self, i: int, command: CommandMessage) -> None:
        self._responder.hear(i, command.stamp)

    def _on_wrench(self, i: int, wrench: WrenchMessage) -> None:
        self._take(i, ReportPart.WRENCH, wrench.stamp, wrench.wrench_P.copy())

    def _take(self, i: int, part: ReportPart, stamp: int, value: object) -> None:
        if self._responder.take(i, part, stamp, value):
            self._answer()

    def _answer(self) -> None:
        self._publish()
        self._say()

    def _publish(self) -> None:
        """Publish the answer, joints first: time waits for both."""
        responder = self._responder
        head = responder.stamp, responder.sequence
        self._joints.put_head(*head)
        self._joints.put(responder.joint_states)
        self._joints_out.publish(self._joints.dump())
        wrenches_P, out = responder.coordinator.feed_forward.wrenches_P, self._reference
        out.put_head(*head)
        parts = (responder.rows, responder.levels, responder.roles, wrenches_P)
        for publisher, row, level, role, wrench_P in zip(self._outputs, *parts, strict=True):
            out.put_row(row, level, NO_WRENCH)
            out.put_role(role, wrench_P)
            publisher.publish(out.dump())

    def _say(self) -> None:
        """Log what has happened since the last answer."""
        coordinator, log = self._responder.coordinator, self.get_logger()
        events, losses = coordinator.events, coordinator.losses
        for event in events[min(self._said[0], len(events)) :]:
            log.info(f"t = {event.t:.3f} s: joint '{event.joint}': {event.state.value}")
        for loss in losses[min(self._said[1], len(losses)) :]:
            log.warning(f"t = {loss.t:.3f} s: {loss}")
        self._said = [len(events), len(losses)]

    def _statuses(self) -> list[DiagnosticStatus]:
        responder = self._responder
        coordinator = responder.coordinator
        values = {
            "t": max(responder.stamp, 0) / SECOND,
            "answered": responder.answered,
            "lost": ", ".join(each.module for each in coordinator.losses),
            "failure": coordinator.failure or "",
            **{name: machine.state.value for name, machine in coordinator.machines.items()},
        }
        waits = self._newest > responder.stamp
        doing = "waiting for its inputs" if waits else "coordinating"
        return [self.inputs.status(coordinator.failure or doing, values)]


main = program("coordinator_node", CoordinatorNode)

if __name__ == "__main__":
    sys.exit(main())
