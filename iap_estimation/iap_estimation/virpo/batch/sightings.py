# SPDX-License-Identifier: BSD-3-Clause
"""The landmarks of a whole recording: one for each track, with the keyframes that see it and where it is.

Depths begin, and wild views are forgotten, by the rules of the window (`iap_estimation.virpo.factors.landmarks`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_estimation.virpo.batch.keyframes import Keyframe
from iap_estimation.virpo.factors.camera import StereoRig
from iap_estimation.virpo.factors.landmarks import LEFT, RIGHT, Landmarks, begin_depths, cull
from iap_estimation.virpo.window.visual_terms import FIRST_DEVIATION

FARTHEST = (
    200.0  # distance at which a landmark begins that seems to be farther, or beyond infinity [m]
)


@dataclass
class Sighting:
    """One track.

    Attributes:
        frames: (n,) keyframes that see it.
        views: (n, 4) normalised coordinates in the left and the right camera.
        sides: (n,) bits LEFT and RIGHT of the views that count.
        has_right: (n,) whether the right camera sees it.
        p_W: (3,) where it is [m]; None while nothing says so.
    """

    frames: Integers
    views: Array
    has_right: Array
    p_W: Array | None = None

    def __post_init__(self) -> None:
        self.sides = np.where(self.has_right, LEFT | RIGHT, LEFT).astype(np.uint8)

    @property
    def place(self) -> Array:
        """Position of one that counts, (3,) [m]."""
        assert self.p_W is not None  # noqa: S101 - see `counts`
        return self.p_W

    def counted(self) -> Iterator[tuple[int, int, Array]]:
        """Keyframe, camera (0 left, 1 right) and coordinates (2,) of every view that counts."""
        for frame, view, sides in zip(self.frames.tolist(), self.views, self.sides, strict=True):
            for side, bit in enumerate((LEFT, RIGHT)):
                if sides & bit:
                    yield frame, side, view[2 * side : 2 * side + 2]

    def begin(self, x: Array, rig: StereoRig) -> None:
        """Lay it where its views meet for states (K, 16), if they say where."""
        table = self._table()
        begin_depths(self._states(x), table, rig, 0, FIRST_DEVIATION)
        if table.known[0]:
            a, b, rho = table.place[0]
            R_WB, p_WB = self._pose(x, 0)
            ray = rig.R_BC[0] @ [a, b, 1.0]
            self.p_W = p_WB + R_WB @ (rig.p_BC_B[0] + ray / max(rho, 1.0 / FARTHEST))

    def cull(self, x: Array, rig: StereoRig, limit: float) -> None:
        """Let only the views count that are within a limit (normalised) of where it is; none, where too few are."""
        if self.p_W is None:
            return
        table, (R_WB, p_WB) = self._table(), self._pose(x, 0)
        s = rig.R_BC[0].T @ (R_WB.T @ (self.p_W - p_WB) - rig.p_BC_B[0])
        table.place[0], table.known[0] = [s[0] / s[2], s[1] / s[2], 1.0 / s[2]], 1
        cull(self._states(x), table, rig, 0, limit)
        self.sides = table.sides[0] if table.host[0] == 0 else np.zeros_like(self.sides)

    @property
    def counts(self) -> bool:
        """True if its place is known and at least two keyframes see it."""
        return self.p_W is not None and int(np.count_nonzero(self.sides)) > 1

    def _states(self, x: Array) -> Array:
        return np.ascontiguousarray(x[self.frames, None])

    def _pose(self, x: Array, i: int) -> tuple[Array, Array]:
        row = x[self.frames[i]]
        return so3.matrix_from_quaternion(row[3:7]), row[:3]

    def _table(self) -> Landmarks:
        """A table of this landmark alone, all of its views in it."""
        table = Landmarks.empty(1, len(self.frames))
        table.host[0], table.track[0] = 0, 0
        table.place[0, :2] = self.views[0, :2]
        table.views[0] = self.views
        table.sides[0] = np.where(self.has_right, LEFT | RIGHT, LEFT)
        return table


def sightings_of(keyframes: Sequence[Keyframe], longest: int) -> list[Sighting]:
    """All tracks that at least two keyframes see, cut where they last for more keyframes than the longest may."""
    rows: dict[int, list[tuple[int, Array, bool]]] = {}
    for k, keyframe in enumerate(keyframes):
        one = keyframe.tracks
        if one is not None:
            views = np.where(np.isnan(one.views), 0.0, one.views)
            for track, view, right in zip(one.ids.tolist(), views, one.has_right, strict=True):
                rows.setdefault(track, []).append((k, view, bool(right)))
    parts = (each[i : i + longest] for each in rows.values() for i in range(0, len(each), longest))
    return [_sighting(part) for part in parts if len(part) > 1]


def _sighting(rows: Sequence[tuple[int, Array, bool]]) -> Sighting:
    frames, views, has_right = zip(*rows, strict=True)
    return Sighting(np.array(frames), np.array(views), np.array(has_right))
