# SPDX-License-Identifier: BSD-3-Clause
"""Flies a scenario by a policy: one platform, or both vehicles of a docking, these also by the script.

ros2 run iap_learning policy_node --ros-args -p scenario:=docking -p policy:=docking_nominal
"""

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SEED
from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.states import REF_FIXED, Command, Mode
from iap_io.ros.conversions import BASE_LINK, frame
from iap_io.ros.node import EVERY, LATEST, Diagnostics, SuiteNode
from iap_io.ros.process import program
from iap_io.runs.topics import GRIPPER_STATE, LATCH_STATE, PLANNED, WORLD_STATE
from iap_io.wire.joint_views import JointStateMessage
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.sample_views import LatchStateMessage, WrenchMessage
from iap_io.wire.stamps import SECOND
from iap_learning.learned_agents import flies_by_references, pair_pilot, platform_policy
from iap_learning.nodes.gripper_output import GripperOutput
from iap_learning.nodes.policy_inputs import checked_phase, listen_to_images
from iap_learning.tasks.kinds.docking.policy_pair import PairInput, PairResponder
from iap_learning.tasks.kinds.platform.platform_responder import Answer, PlatformResponder
from iap_learning.tasks.senses import Sense
from iap_msgs.msg import PlatformCommand, PlatformReference
from iap_physics.latching.latches import PHASES
from iap_simulation.docking.ports import pair_of
from iap_simulation.scenario.resolving import Options, resolve
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
        self._joints = 0  # number of those that the policy asks for
        self._commands, self._references = CommandMessage.of(count), ReferenceMessage.of(count)
        plans = flies_by_references(scenario)
        kind, out = (PlatformReference, PLANNED) if plans else (PlatformCommand, "command")
        self._output = node.create_publisher(kind, node.absolute(f"{vehicle.name}/{out}"), EVERY)
        grips = self._responder.policy.closes is not None
        self._gripper = GripperOutput(node, vehicle.name) if grips else None
        inputs, topic = node.inputs, partial(self._absolute, vehicle.name)
        inputs.listen_to_states(topic("state"), bodies, self._on_state, LATEST, rotors=4 * count)
        read = MessageReader(ReferenceMessage).read
        inputs.listen(ReferenceMessage.TYPE, topic("reference"), read, self._on_reference, LATEST)
        if self._responder.policy.eye is not None:
            listen_to_images(node, scenario, self._responder.policy.eye.topic, self._on_image)
        for sense in self._responder.policy.asks_for:
            self._listen_to_sense(sense, scenario)

    def _absolute(self, vehicle: str, topic: str) -> str:
        return self._node.absolute(f"{vehicle}/{topic}")

    def _listen_to_sense(self, sense: Sense, scenario: Scenario) -> None:
        """Subscribe to what the policy asks for."""
        node, (vehicle,) = self._node, scenario.vehicles
        inputs, absolute = node.inputs, node.absolute
        if sense is Sense.WRENCH:
            read = MessageReader(WrenchMessage, ("", frame(vehicle.name, BASE_LINK))).read
            topic = self._absolute(vehicle.name, "wrench/raw")
            inputs.listen(WrenchMessage.TYPE, topic, read, self._on_wrench, LATEST)
        elif sense is Sense.JOINTS:
            assert vehicle.platform.arm is not None  # noqa: S101 - the policy has looked
            self._joints = len(vehicle.platform.arm.joints)
        elif sense is Sense.GRIPPER:
            topic = self._absolute(vehicle.name, GRIPPER_STATE)
            read_gripper = MessageReader(JointStateMessage).read
            inputs.listen(JointStateMessage.TYPE, topic, read_gripper, self._on_gripper, LATEST)
        elif sense is Sense.OBJECTS:
            count, topic = len(scenario.world.objects), absolute(WORLD_STATE)
            inputs.listen_to_states(topic, count, self._on_objects, LATEST)
        else:
            read_latches = MessageReader(LatchStateMessage).read
            take = partial(self._on_latches, len(scenario.latches))
            inputs.listen(
                LatchStateMessage.TYPE, absolute(LATCH_STATE), read_latches, take, LATEST
            )

    @property
    def stamp(self) -> int:
        """Stamp of the newest answer [ns]; -1 before the first."""
        return self._responder.stamp

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

    def _on_image(self, reading: Reading) -> None:
        self._publish(self._responder.take_reading(reading))

    def _publish(self, answer: Answer | None) -> None:
        if answer is None:
            return
        responder, closes = self._responder, self._responder.policy.closes
        if self._gripper is not None and closes is not None:
            self._gripper.publish(responder.stamp, closes=closes)
        if self._responder.policy.gives_references:
            out = self._references
            out.put_row(answer.row, answer.level, answer.wrench_P)
        else:
            out = self._commands
            out.put(answer)
        out.put_head(responder.stamp, responder.sequence)
        self._output.publish(out.dump())


WRENCHES = (PairInput.TARGET_WRENCH, PairInput.CHASER_WRENCH)
STATES = (PairInput.TARGET, PairInput.CHASER)


class PairTopics:
    """A pair's pilot between topics.

    Args:
        node: whose topics they are.
        scenario: that docks.

    Attributes:
        newest: stamp of the newest state [ns].

    Raises:
        BadInput: nothing docks, or the policy does not fit.
    """

    def __init__(self, node: SuiteNode, scenario: Scenario) -> None:
        self._node, self.responder = node, PairResponder(pair_pilot(scenario))
        (target, chaser), self._latch = pair_of(scenario)
        self._number = list(scenario.latches).index(self._latch)
        self.newest = -1
        self._command = Command.zeros(1, Mode.RATE_THRUST)
        self._out = CommandMessage.of(1)
        vehicles = [scenario.vehicles[i] for i in (target, chaser)]
        self._outputs = [
            node.create_publisher(PlatformCommand, node.absolute(f"{each.name}/command"), EVERY)
            for each in vehicles
        ]
        for i, vehicle in enumerate(vehicles):
            is_noisy = any(vehicle.state_noise.model_dump().values())
            self._listen(i, vehicle.name, "state/measured" if is_noisy else "state")
        read, topic = MessageReader(LatchStateMessage).read, node.absolute(LATCH_STATE)
        node.inputs.listen(LatchStateMessage.TYPE, topic, read, self._on_latches, LATEST)
        if self.responder.pilot.eye is not None:
            listen_to_images(node, scenario, self.responder.pilot.eye.topic, self._on_image)

    def _listen(self, i: int, vehicle: str, state: str) -> None:
        """Subscribe to what target (0) or chaser (1) measures."""
        node, take = self._node, partial(self._on_state, STATES[i])
        # What is measured is the central body alone.
        node.inputs.listen_to_states(node.absolute(f"{vehicle}/{state}"), 1, take, LATEST)
        read = MessageReader(WrenchMessage, ("", frame(vehicle, BASE_LINK))).read
        topic = node.absolute(f"{vehicle}/wrench/raw")
        take_wrench = partial(self._on_wrench, WRENCHES[i])
        node.inputs.listen(WrenchMessage.TYPE, topic, read, take_wrench, LATEST)

    @property
    def stamp(self) -> int:
        """Stamp of the newest answer [ns]; -1 before the first."""
        return self.responder.stamp

    @property
    def values(self) -> dict[str, object]:
        """For diagnostics."""
        info = self.responder.pilot.info
        return {"policy": info["name"], "answered": self.responder.answered}

    def _on_state(self, source: PairInput, state: StateMessage) -> None:
        self.newest = state.stamp
        self._take(source, state.stamp, state.sequence, state.rows[0].copy())

    def _on_wrench(self, source: PairInput, wrench: WrenchMessage) -> None:
        self._take(source, wrench.stamp, 0, wrench.wrench_P.copy())

    def _on_latches(self, latches: LatchStateMessage) -> None:
        """Take the phase of the pair's latch.

        Raises:
            BadInput: there are fewer latches than in the scenario, or there is no such phase.
        """
        if len(latches.phases) <= self._number:
            raise BadInput(f"phases: of {len(latches.phases)} latches; '{self._latch}' is missing")
        number = checked_phase(int(latches.phases[self._number]))
        self._take(PairInput.PHASE, latches.stamp, latches.sequence, PHASES[number])

    def _on_image(self, reading: Reading) -> None:
        self._publish(self.responder.take_reading(reading))

    def _take(self, source: PairInput, stamp: int, sequence: int, part: object) -> None:
        self._publish(self.responder.take(source, stamp, sequence, part))

    def _publish(self, answer: Array | None) -> None:
        if answer is None:
            return
        self._out.put_head(self.responder.stamp, self.responder.sequence)
        for publisher, row in zip(self._outputs, answer, strict=True):
            self._command.thrust[0], self._command.w_WB_B[0] = row[0], row[1:]
            self._out.put(self._command)
            publisher.publish(self._out.dump())


class PolicyNode(SuiteNode):
    """The node of a policy, in the simulation's namespace."""

    def __init__(self, namespace: str = "", parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__("policy_node", namespace=namespace, parameters=parameters)
        scenario = self._scenario()
        docks = scenario.docking is not None
        self._topics: PairTopics | PlatformTopics = (PairTopics if docks else PlatformTopics)(
            self, scenario
        )
        self._diagnostics = Diagnostics(self, self._statuses)

    def _scenario(self) -> Scenario:
        """The scenario that the parameters name."""
        name = self.parameter("scenario", "docking", "Name of a scenario, or path of a YAML file.")
        what = "Policy instead of the scenario's: a name, a file, or script."
        policy = self.parameter("policy", "", what)
        choices: dict[str, Any] = {
            key: self.parameter(key, "", f"{what} instead of the scenario's.") or None
            for key, what in (("platform", "Platform"), ("gains", "Gain preset"))
        }
        what = "KEY=VALUE for any key of the resolved configuration, as --set."
        sets = [each for each in self.parameter("assignments", [""], what) if each]
        sets += [f"policy={policy}"] if policy else []
        what = "Seed of all noise, such as a policy's own sensors have; -1: the scenario's."
        seed = self.parameter("seed", -1, what, limits=(-1, MAX_SEED))
        choices["seed"] = None if seed < 0 else seed
        return resolve(name, Options(**choices, assignments=tuple(sets)))[0]

    def _statuses(self) -> list[DiagnosticStatus]:
        topics = self._topics
        values = {"t": max(topics.stamp, 0) / SECOND, **topics.values}
        waits = topics.newest > topics.stamp
        return [self.inputs.status("waiting for its inputs" if waits else "flying", values)]


main = program("policy_node", PolicyNode)

if __name__ == "__main__":
    sys.exit(main())
