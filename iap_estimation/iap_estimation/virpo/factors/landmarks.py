# SPDX-License-Identifier: BSD-3-Clause
"""The landmarks of a window: which track saw which, from where, and how their depths begin.

A landmark belongs to the first keyframe that saw it, its host. A track that goes on after its landmark
has left the window begins a new one, so that no view counts twice.
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import sub
from iap_estimation.virpo.factors.camera import StereoRig, scaled_point

Ints = Integers

LEFT, RIGHT = 1, 2  # bits of what saw a landmark
# Bounds of the inverse depth [1/m]; noise puts far points beyond infinity.
FARTHEST, CLOSEST = -0.05, 2.0


class Landmarks(NamedTuple):
    """A table of landmarks.

    Attributes:
        track: (M,) the front end's id of each.
        aircraft: (M,) whose it is.
        host: (M,) its first keyframe in the window; -1 where the row is free.
        known: (M,) 1 where its depth has begun.
        place: (M, 3) bearing (a, b) and inverse depth [1/m] in the host's left camera.
        views: (M, F, 4) normalised coordinates seen by left and right camera in each keyframe.
        sides: (M, F) bits LEFT and RIGHT.
    """

    track: Ints
    aircraft: Ints
    host: Ints
    known: NDArray[np.uint8]
    place: Array
    views: Array
    sides: NDArray[np.uint8]

    @classmethod
    def empty(cls, rows: int, frames: int) -> Self:
        """Room for so many."""
        return cls(
            np.full(rows, -1),
            np.zeros(rows, dtype=np.int64),
            np.full(rows, -1),
            np.zeros(rows, dtype=np.uint8),
            np.zeros((rows, 3)),
            np.zeros((rows, frames, 4)),
            np.zeros((rows, frames), dtype=np.uint8),
        )


@njit(cache=True)
def add_tracks(
    table: Landmarks, aircraft: int, frame: int, ids: Ints, views: Array, has_right: Ints
) -> int:
    """Enter what one aircraft sees in a keyframe; returns how many of the tracks were known before.

    Args:
        table: changed in place; the tracks beyond its free rows are left out.
        aircraft: whose tracks they are.
        frame: index of the keyframe in the window.
        ids: (n,) of the tracks.
        views: (n, 4) normalised coordinates, left and right.
        has_right: (n,) whether the right camera sees it.
    """
    row_of = dict()
    for m in range(len(table.host)):
        if table.host[m] >= 0 and table.aircraft[m] == aircraft:
            row_of[table.track[m]] = m
    known, free = 0, 0
    for n in range(len(ids)):
        m = -1
        if ids[n] in row_of:
            m = row_of[ids[n]]
            known += 1
        else:
            while free < len(table.host) and table.host[free] >= 0:
                free += 1
            if free == len(table.host):
                continue
            m = free
            _begin(table, m, aircraft, frame, ids[n], views[n])
        table.views[m, frame] = views[n]
        table.sides[m, frame] = LEFT | RIGHT if has_right[n] else LEFT
    return known


@njit(cache=True)
def _begin(table: Landmarks, m: int, aircraft: int, frame: int, track: int, view: Array) -> None:
    """Begin a landmark in a free row."""
    table.track[m] = track
    table.aircraft[m] = aircraft
    table.host[m] = frame
    table.known[m] = 0
    table.sides[m] = 0
    table.place[m, 0] = view[0]
    table.place[m, 1] = view[1]
    table.place[m, 2] = 0.0


@njit(cache=True)
def _free(table: Landmarks, m: int) -> None:
    """Forget a landmark."""
    table.host[m] = -1
    table.track[m] = -1


@njit(cache=True)
def _drop_view(table: Landmarks, m: int, frame: int) -> None:
    """Forget a landmark's view of a keyframe; later ones move up."""
    for j in range(frame, table.views.shape[1] - 1):
        table.views[m, j] = table.views[m, j + 1]
        table.sides[m, j] = table.sides[m, j + 1]
    table.sides[m, -1] = 0


@njit(cache=True)
def begin_depths(
    x: Array, table: Landmarks, rig: StereoRig, aircraft: int, tolerance: float
) -> None:
    """Give landmarks without depth one by linear least squares over all their views, where these determine it.

    Args:
        x: (F, A, 16) states.
        table: changed in place.
        rig: this aircraft's cameras.
        aircraft: its index.
        tolerance: largest standard deviation of the inverse depth to begin with [1/m].
    """
    for m in range(len(table.host)):
        if table.host[m] < 0 or table.known[m] or table.aircraft[m] != aircraft:
            continue
        information, total = 0.0, 0.0
        for j in range(table.host[m], x.shape[0]):
            for side in range(2):
                if not table.sides[m, j] & (LEFT if side == 0 else RIGHT):
                    continue
                table.place[m, 2] = 0.0
                i = table.host[m]
                far = scaled_point(x[i, aircraft], x[j, aircraft], table.place[m], rig, side)
                table.place[m, 2] = 1.0
                one = scaled_point(x[i, aircraft], x[j, aircraft], table.place[m], rig, side)
                way = sub(one, far)
                for c in range(2):
                    observed = table.views[m, j, 2 * side + c]
                    slope = (way[c] - observed * way[2]) / far[2]
                    information += slope * slope
                    total += slope * (observed - far[c] / far[2])
        if information > (rig.deviation / tolerance) ** 2:
            table.place[m, 2] = min(max(total / information, FARTHEST), CLOSEST)
            table.known[m] = 1


@njit(cache=True)
def mean_shift(table: Landmarks, i: int, j: int) -> tuple[float, int]:
    """Mean distance between the left camera's views of a track in two keyframes, and of how many tracks it is."""
    total, count = 0.0, 0
    for m in range(len(table.host)):
        if table.host[m] >= 0 and table.sides[m, i] & LEFT and table.sides[m, j] & LEFT:
            du = table.views[m, j, 0] - table.views[m, i, 0]
            dv = table.views[m, j, 1] - table.views[m, i, 1]
            total += math.sqrt(du * du + dv * dv)
            count += 1
    return total / max(count, 1), count


@njit(cache=True)
def drop_first_frame(table: Landmarks) -> None:
    """Shift the table by one keyframe; landmarks of the first go, and their tracks begin anew."""
    for m in range(len(table.host)):
        if table.host[m] == 0:
            _free(table, m)
        elif table.host[m] > 0:
            table.host[m] -= 1
            _drop_view(table, m, 0)


@njit(cache=True)
def drop_frame(x: Array, table: Landmarks, rig: StereoRig, aircraft: int, frame: int) -> None:
    """Forget the views of a keyframe before the last; landmarks that it hosted move to their next view."""
    for m in range(len(table.host)):
        if table.host[m] < 0 or table.aircraft[m] != aircraft:
            continue
        if table.host[m] == frame:
            _move_host(x, table, rig, m)
        table.sides[m, frame] = 0
        _drop_view(table, m, frame)
        if table.host[m] > frame:
            table.host[m] -= 1


@njit(cache=True)
def _move_host(x: Array, table: Landmarks, rig: StereoRig, m: int) -> None:
    """Re-express a landmark in the next keyframe that sees it; free its row if there is none."""
    i, a = table.host[m], table.aircraft[m]
    for j in range(i + 1, x.shape[0]):
        if table.sides[m, j]:
            s = scaled_point(x[i, a], x[j, a], table.place[m], rig, 0)
            table.host[m] = j
            if s[2] > 0.0:
                table.place[m, 0] = s[0] / s[2]
                table.place[m, 1] = s[1] / s[2]
                table.place[m, 2] = min(max(table.place[m, 2] / s[2], FARTHEST), CLOSEST)
            else:
                table.known[m] = 0
            if table.known[m] == 0:
                table.place[m, 0] = table.views[m, j, 0]
                table.place[m, 1] = table.views[m, j, 1]
            return
    _free(table, m)


@njit(cache=True)
def cull(x: Array, table: Landmarks, rig: StereoRig, aircraft: int, limit: float) -> int:
    """Forget views farther from their landmark than `limit` (normalised); returns how many.

    Where the left camera's is, the right one's goes too. A landmark whose first view is off, or that
    less than two cameras are left of, goes as a whole.
    """
    count = 0
    for m in range(len(table.host)):
        if table.host[m] < 0 or table.known[m] == 0 or table.aircraft[m] != aircraft:
            continue
        left = 0
        for j in range(table.host[m], x.shape[0]):
            if _is_off(x, table, rig, m, j, 0, limit):
                count += 1
                table.sides[m, j] = 0
            elif table.sides[m, j] & RIGHT and _is_off(x, table, rig, m, j, 1, limit):
                count += 1
                table.sides[m, j] = LEFT
            left += table.sides[m, j] - table.sides[m, j] // 2
        if table.sides[m, table.host[m]] == 0 or left < 2:
            _free(table, m)
    return count


@njit(cache=True)
def _is_off(
    x: Array, table: Landmarks, rig: StereoRig, m: int, j: int, side: int, limit: float
) -> bool:
    """True if a camera that saw a landmark should have seen it elsewhere."""
    if table.sides[m, j] == 0:
        return False
    i, a = table.host[m], table.aircraft[m]
    s = scaled_point(x[i, a], x[j, a], table.place[m], rig, side)
    du = s[0] / s[2] - table.views[m, j, 2 * side]
    dv = s[1] / s[2] - table.views[m, j, 2 * side + 1]
    return s[2] <= 0.0 or not du * du + dv * dv <= limit * limit
