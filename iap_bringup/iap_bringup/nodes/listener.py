# SPDX-License-Identifier: BSD-3-Clause
"""Hears what nodes in other processes tell of themselves, for measurements."""

import time
from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from iap_description.errors import BadInput

TURN = 0.2  # longest wait for a message before conditions are looked at again [s]


class Listener:
    """The newest values of every diagnostic status.

    Args:
        node: that listens.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self._values: dict[str, dict[str, str]] = {}
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 50)

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        for status in array.status:
            self._values[status.name] = {pair.key: pair.value for pair in status.values}
            self.heard(status.name)

    def heard(self, name: str) -> None:
        """A status came."""

    def number(self, status: str, key: str) -> float:
        """A value; NaN before it came."""
        return float(self._values.get(status, {}).get(key, "nan"))

    def knows(self, status: str) -> bool:
        """Whether a status ever came."""
        return status in self._values

    def spin(self) -> None:
        """Take what comes, for a short while."""
        self._executor.spin_once(timeout_sec=TURN)

    def wait(self, holds: Callable[[], bool], what: str, patience: float) -> None:
        """Take what comes until something holds.

        Raises:
            BadInput: it does not for `patience` [s of wall time]; it says what that is.
        """
        until = time.monotonic() + patience
        while not holds():
            if time.monotonic() > until:
                raise BadInput(f"{what}: not within {patience:.0f} s")
            self.spin()
