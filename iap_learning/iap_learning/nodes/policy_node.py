# SPDX-License-Identifier: BSD-3-Clause
"""Flies a scenario by a policy: one platform, or both vehicles of a docking, these also by the script.

ros2 run iap_learning policy_node --ros-args -p scenario:=docking -p policy:=docking_nominal
"""

import sys
import time
from collections.abc import Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus

from iap_description.config.bounds import MAX_SEED
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, Diagnostics, SuiteNode
from iap_io.ros.process import program
from iap_io.wire.stamps import SECOND
from iap_learning.nodes.pair_topics import PairTopics
from iap_learning.nodes.platform_topics import PlatformTopics
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario


class PolicyNode(SuiteNode):
    """The node of a policy, in the simulation's namespace."""

    def __init__(self, namespace: str = "", parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__("policy_node", namespace=namespace, parameters=parameters)
        scenario = self._scenario()
        docks = scenario.docking is not None
        self._topics: PairTopics | PlatformTopics = (PairTopics if docks else PlatformTopics)(
            self, scenario
        )
        self._progress, self._late = (-1, time.monotonic()), ""  # newest answer and when [s]
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
        waits = topics.newest > topics.stamp or topics.newest < 0
        doing = "waiting for its inputs" if waits else "flying"
        return [self.inputs.status(doing, values, self._missing() if waits else "")]

    def _missing(self) -> str:
        """Topics that have been waited for too long, which the log says once."""
        topics, now = self._topics, time.monotonic()
        if topics.stamp != self._progress[0]:
            self._progress = (topics.stamp, now)
        if now - self._progress[1] <= DIAGNOSTIC_TIMEOUT or not topics.awaited:
            return ""
        late = f"waiting for {', '.join(topics.awaited)}"
        if late != self._late:
            self.get_logger().warning(late)
        self._late = late
        return late


main = program("policy_node", PolicyNode)

if __name__ == "__main__":
    sys.exit(main())
