# SPDX-License-Identifier: BSD-3-Clause
"""Lines of where bodies have been, which grow while they are watched."""

from collections import deque

import numpy as np

from iap_bringup.viewing.scene import PATH_COLOR, add_path
from iap_bringup.viewing.stage import ErasableStage, Rgb
from iap_description.arrays import Array

TRACE_POINTS = 15  # of a way, that are added at once
MOST_NODES = 1200  # of a way, which is ten minutes of it at least
LONGEST_GAP = 1.0  # between two points that a line joins [s]


class Trace:
    """The line of where a vehicle has been; it begins anew where time does.

    Args:
        name: of its nodes.
        color: of the line.
    """

    def __init__(self, name: str, color: Rgb = PATH_COLOR) -> None:
        self._name, self._color, self._count, self._t = name, color, 0, -np.inf
        self._points: list[Array] = []
        self._nodes: deque[str] = deque()

    def extend(self, stage: ErasableStage, t: float, position: Array) -> None:
        """Add a position (3,) at a time [s]."""
        if t < self._t:
            self._points.clear()
            while self._nodes:
                stage.remove(self._nodes.popleft())
        elif t > self._t + LONGEST_GAP:
            self._points.clear()
        self._t = t
        self._points.append(position.copy())
        if len(self._points) > TRACE_POINTS:
            self._draw(stage)

    def _draw(self, stage: ErasableStage) -> None:
        """Draw the points as a node, and take away the oldest one of many."""
        self._count += 1
        self._nodes.append(f"{self._name}_{self._count}")
        add_path(stage, self._nodes[-1], np.array(self._points), self._color)
        del self._points[:-1]
        if len(self._nodes) > MOST_NODES:
            stage.remove(self._nodes.popleft())
