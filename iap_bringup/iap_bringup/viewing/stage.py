# SPDX-License-Identifier: BSD-3-Clause
"""The stage of a viewer: a tree of named nodes with meshes, lines and arrows, drawn by somebody else."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.geometry.tessellation import MeshPart

Rgb = tuple[int, int, int]  # 0..255
Pixels = NDArray[np.uint8]


class Stage(Protocol):
    """Draws a tree of nodes; the names of a node's ancestors stand before its own, parted by ``/``."""

    def add_frame(self, name: str, axes: float = 0.0) -> None:
        """Add a node that others hang on.

        Args:
            name: of the node.
            axes: length of the axes that are drawn at it [m]; 0 draws none.
        """

    def add_part(self, name: str, part: MeshPart, texture: Pixels | None = None) -> None:
        """Add triangles.

        Args:
            name: of the node.
            part: in the node's frame.
            texture: (h, w, 3) the part's texture; None where it has none.
        """

    def add_lines(self, name: str, points: Array, color: Rgb, width: float) -> None:
        """Add line segments.

        Args:
            name: of the node.
            points: (n, 2, 3) their ends in the node's frame [m].
            color: of all.
            width: [m].
        """

    def add_arrow(self, name: str, color: Rgb) -> None:
        """Add an arrow of length 1 m along z of a node's frame, without any length until it is scaled."""

    def add_ball(self, name: str, radius: float, color: Rgb, opacity: float = 1.0) -> None:
        """Add a sphere around a node's origin, of a radius [m]."""

    def add_points(self, name: str, color: Rgb, size: float) -> None:
        """Add points of a size [m], none until they are scattered."""

    def scatter(self, name: str, points: Array) -> None:
        """Put a node's points (n, 3) in its frame [m] in place of those that were there."""

    def place(self, name: str, pose: Array) -> None:
        """Put a node at a pose (7,) in its parent's frame: position [m] and quaternion xyzw."""

    def stretch(self, name: str, factor: float | Array) -> None:
        """Scale what a node draws, by a factor or by one (3,) along each of its axes."""

    def show(self, name: str, *, visible: bool) -> None:
        """Show or hide a node and what hangs on it."""


class ErasableStage(Stage, Protocol):
    """A stage whose nodes can be removed while it is shown."""

    def remove(self, name: str) -> None:
        """Remove a node that nothing hangs on."""
