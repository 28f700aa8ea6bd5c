# SPDX-License-Identifier: BSD-3-Clause
"""Flies the vehicles of a docking by a policy, or by the script: what they measure in, their commands out.

ros2 run iap_learning policy_node --ros-args -p scenario:=docking -p policy:=docking_nominal
"""

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus

from iap_description.errors import BadInput
from iap_description.states import Command, Mode
from iap_io.ros.conversions import BASE_LINK, frame
from iap_io.ros.node import LATEST, Diagnostics, SuiteNode, run
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import SECOND, CommandMessage, StateMessage
from iap_io.wire.sample_views import LatchStateMessage, WrenchMessage
from iap_learning.policies.pair_responder import PairResponder, Source
from iap_learning.policies.pilot import pair_pilot
from iap_msgs.msg import PlatformCommand
from iap_physics.latches import Phase
from iap_simulation.docking.pair_pilot import pair_of
from iap_simulation.docking.pilot import is_held
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario

PHASES = tuple(Phase)  # by their numbers in messages
WRENCHES = (Source.TARGET_WRENCH, Source.CHASER_WRENCH)
STATES = (Source.TARGET, Source.CHASER)


class PolicyNode(SuiteNode):
    """A pair's pilot between topics, in the simulation's namespace."""

    def __init__(self, namespace: str = "", given: Mapping[str, Any] | None = None) -> None:
        super().__init__("policy_node", namespace=namespace, given=given)
        scenario = self._scenario()
        self._responder = PairResponder(pair_pilot(scenario))
        (target, chaser), self._latch = pair_of(scenario)
        self._number = list(scenario.latches).index(self._latch)
        self._newest = -1
        self._command = Command.zeros(1, Mode.RATE_THRUST)
        self._out = CommandMessage.of(1)
        vehicles = [scenario.vehicles[i] for i in (target, chaser)]
        self._outputs = [
            self.create_publisher(PlatformCommand, self.absolute(f"{each.name}/command"), LATEST)
            for each in vehicles
        ]
        for i, vehicle in enumerate(vehicles):
            is_noisy = any(vehicle.state_noise.model_dump().values())
            self._listen(i, vehicle.name, "state/measured" if is_noisy else "state")
        read, topic = MessageReader(LatchStateMessage).read, self.absolute("latches")
        self.inputs.listen(LatchStateMessage.TYPE, topic, read, self._on_latches, LATEST)
        self._diagnostics = Diagnostics(self, self._statuses)

    def _scenario(self) -> Scenario:
        """The scenario that the parameters name."""
        name = self.parameter("scenario", "docking", "Name of a scenario, or path of a YAML file.")
        what = "Policy instead of the scenario's: a name, a file, or script."
        policy = self.parameter("policy", "", what)
        choices = {
            key: self.parameter(key, "", f"{what} instead of the scenario's.") or None
            for key, what in (("platform", "Platform"), ("gains", "Gain preset"))
        }
        what = "KEY=VALUE for any key of the resolved configuration, as --set."
        sets = [each for each in self.parameter("assignments", [""], what) if each]
        sets += [f"policy={policy}"] if policy else []
        return resolve(name, Options(**choices, assignments=tuple(sets)))[0]

    def _listen(self, i: int, vehicle: str, state: str) -> None:
        """Subscribe to what target (0) or chaser (1) measures."""
        take = partial(self._on_state, STATES[i])
        # What is measured is the central body alone.
        self.inputs.listen_to_states(self.absolute(f"{vehicle}/{state}"), 1, take, LATEST)
        read = MessageReader(WrenchMessage, ("", frame(vehicle, BASE_LINK))).read
        topic = self.absolute(f"{vehicle}/wrench/raw")
        take_wrench = partial(self._on_wrench, WRENCHES[i])
        self.inputs.listen(WrenchMessage.TYPE, topic, read, take_wrench, LATEST)

    def _on_state(self, source: Source, state: StateMessage) -> None:
        self._newest = state.stamp
        self._take(source, state.stamp, state.sequence, state.rows[0].copy())

    def _on_wrench(self, source: Source, wrench: WrenchMessage) -> None:
        self._take(source, wrench.stamp, 0, wrench.wrench_P.copy())

    def _on_latches(self, latches: LatchStateMessage) -> None:
        """Take the phase of the pair's latch.

        Raises:
            BadInput: there are fewer latches than in the scenario, or there is no such phase.
        """
        if len(latches.phases) <= self._number:
            raise BadInput(f"phases: of {len(latches.phases)} latches; '{self._latch}' is missing")
        number = int(latches.phases[self._number])
        if number >= len(PHASES):
            raise BadInput(f"phases: {number} is none of 0 to {len(PHASES) - 1}")
        held = is_held(PHASES[number])
        self._take(Source.LATCHED, latches.stamp, latches.sequence, held)

    def _take(self, source: Source, stamp: int, sequence: int, part: object) -> None:
        answer = self._responder.take(source, stamp, sequence, part)
        if answer is None:
            return
        self._out.put_head(self._responder.stamp, self._responder.sequence)
        for publisher, row in zip(self._outputs, answer, strict=True):
            self._command.thrust[0], self._command.w_WB_B[0] = row[0], row[1:]
            self._out.put(self._command)
            publisher.publish(self._out.dump())

    def _statuses(self) -> list[DiagnosticStatus]:
        responder = self._responder
        values = {
            "t": max(responder.stamp, 0) / SECOND,
            "policy": responder.pilot.info["name"],
            "answered": responder.answered,
        }
        waits = self._newest > responder.stamp
        return [self.inputs.status("waiting for its inputs" if waits else "flying", values)]


def main() -> int:
    """Run the node."""
    return run("policy_node", lambda: [PolicyNode()])


if __name__ == "__main__":
    sys.exit(main())
