# SPDX-License-Identifier: BSD-3-Clause
"""A pair's pilot between topics."""

from functools import partial

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.states import Command, Mode
from iap_io.ros.conversions import BASE_LINK, frame
from iap_io.ros.node import EVERY, LATEST, SuiteNode
from iap_io.runs.topics import LATCH_STATE
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, StateMessage
from iap_io.wire.sample_views import LatchStateMessage, WrenchMessage
from iap_learning.learned_agents import pair_pilot
from iap_learning.nodes.policy_inputs import checked_phase, listen_to_sensor, state_topic
from iap_learning.tasks.kinds.docking.policy_pair import PairInput, PairResponder
from iap_msgs.msg import PlatformCommand
from iap_physics.latching.latches import PHASES
from iap_simulation.docking.ports import pair_of
from iap_simulation.scenario.scenario import Scenario

WRENCHES = (PairInput.TARGET_WRENCH, PairInput.CHASER_WRENCH)
STATES = (PairInput.TARGET, PairInput.CHASER)


class PairTopics:
    """A pair's pilot between topics.

    Args:
        node: whose topics they are.
        scenario: that docks.

    Attributes:
        newest: stamp of the newest state [ns]; -1 before the first.

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
        self._sources = dict.fromkeys(PairInput, "")
        vehicles = [scenario.vehicles[i] for i in (target, chaser)]
        self._outputs = [
            node.create_publisher(PlatformCommand, node.absolute(f"{each.name}/command"), EVERY)
            for each in vehicles
        ]
        for i, vehicle in enumerate(vehicles):
            self._listen(i, vehicle.name, state_topic(vehicle))
        read, topic = MessageReader(LatchStateMessage).read, node.absolute(LATCH_STATE)
        self._sources[PairInput.PHASE] = topic
        node.inputs.listen(LatchStateMessage.TYPE, topic, read, self._on_latches, LATEST)
        for each in self.responder.pilot.inputs:
            listen_to_sensor(node, scenario, each.topic, self._on_reading)

    def _listen(self, i: int, vehicle: str, state: str) -> None:
        """Subscribe to what target (0) or chaser (1) measures."""
        node, take = self._node, partial(self._on_state, STATES[i])
        # What is measured is the central body alone.
        self._sources[STATES[i]] = node.absolute(f"{vehicle}/{state}")
        node.inputs.listen_to_states(self._sources[STATES[i]], 1, take, LATEST)
        read = MessageReader(WrenchMessage, ("", frame(vehicle, BASE_LINK))).read
        topic = self._sources[WRENCHES[i]] = node.absolute(f"{vehicle}/wrench/raw")
        take_wrench = partial(self._on_wrench, WRENCHES[i])
        node.inputs.listen(WrenchMessage.TYPE, topic, read, take_wrench, LATEST)

    @property
    def stamp(self) -> int:
        """Stamp of the newest answer [ns]; -1 before the first."""
        return self.responder.stamp

    @property
    def awaited(self) -> list[str]:
        """Topics that the newest instant waits for."""
        if self.newest < 0:
            return [self._sources[PairInput.TARGET]]
        readings = [self._node.absolute(each) for each in self.responder.awaited]
        return [self._sources[PairInput(i)] for i in self.responder.missing] + readings

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

    def _on_reading(self, reading: Reading) -> None:
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
