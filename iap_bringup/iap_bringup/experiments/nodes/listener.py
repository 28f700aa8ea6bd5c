# SPDX-License-Identifier: BSD-3-Clause
"""Diagnostics of nodes in other processes, for measurements."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor

from iap_bringup.experiments.nodes.processes import Nodes
from iap_description.errors import BadInput
from iap_io.ros.domains import free_domain

DISCOVERY = ("ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE")
SPIN_TIMEOUT = 0.2  # longest wait for a message before conditions are checked again [s]


@contextmanager
def nodes_to_measure() -> Iterator[Nodes]:
    """Processes, none of them started yet, in a domain that rclpy of this process is in as well."""
    with tempfile.TemporaryDirectory() as folder, free_domain() as domain:
        nodes = Nodes(Path(folder), domain)
        os.environ.update({key: nodes.environment[key] for key in DISCOVERY})
        rclpy.init()
        try:
            yield nodes
        finally:
            rclpy.try_shutdown()


class Listener:
    """The newest values of every diagnostic status.

    Args:
        name: of its node.
        simulation: namespace of the simulation.

    Attributes:
        node: that subscribes.
        times: wall time of each status' newest values [s].
    """

    def __init__(self, name: str, simulation: str = "") -> None:
        self.node, self.simulation = rclpy.create_node(name), simulation
        self.times: dict[str, float] = {}
        self._values: dict[str, dict[str, str]] = {}
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        topic = f"{simulation}/diagnostics"
        self.node.create_subscription(DiagnosticArray, topic, self._on_diagnostics, 50)

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        for status in array.status:
            self._values[status.name] = {pair.key: pair.value for pair in status.values}
            self.times[status.name] = time.monotonic()

    def number(self, status: str, key: str) -> float:
        """A value; NaN before it came."""
        return float(self._values.get(status, {}).get(key, "nan"))

    def text(self, status: str, key: str) -> str:
        """A value as it was published; empty before it came."""
        return self._values.get(status, {}).get(key, "")

    def spin(self) -> None:
        """Receive messages for a short while."""
        self._executor.spin_once(timeout_sec=SPIN_TIMEOUT)

    def wait(self, holds: Callable[[], bool], what: str, patience: float) -> None:
        """Receive messages until something holds.

        Raises:
            BadInput: it does not for `patience` [s of wall time]; it says what that is.
        """
        until = time.monotonic() + patience
        while not holds():
            if time.monotonic() > until:
                raise BadInput(f"{what}: not within {patience:.0f} s")
            self.spin()
