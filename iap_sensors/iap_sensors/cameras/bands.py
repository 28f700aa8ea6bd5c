# SPDX-License-Identifier: BSD-3-Clause
r"""Pieces of an image that are drawn one by one: instants of an exposure, and bands of rows of a rolling shutter.

Row v of h is exposed around t_v = t + (v - (h - 1) / 2) t_line. A band is drawn from the camera's place at the middle
of its rows' times. Within it each row is turned to its own attitude by the angular velocity omega,
:math:`R = \exp([\omega]_\times (t_v - t_{band}))`. What is left over is the camera's displacement within half a band:
of points at a depth Z at most :math:`v f t_{line} h / (2 B Z)` pixels with B bands.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Singles
from iap_description.math import so3
from iap_description.process.extras import cv2
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.view import MARGIN, PinholeView, instants, place_at

STEP = 16  # by which sizes of bands grow, so that few sizes of targets are kept [pixels]


@dataclass(frozen=True, eq=False)
class ImageBand:
    """A part of an image that is drawn at once.

    Attributes:
        view: what is drawn.
        place: p_WC_W (3,) [m] and q_WC (4,) to draw from.
        dt: of its instant after the shot's stamp [s].
        rows: of the camera that it fills.
        maps: where their pixels are in the view, columns and rows; None: where they are in the view of the whole shot.
    """

    view: PinholeView
    place: tuple[Array, Array]
    dt: float
    rows: slice
    maps: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None

    def bent(self, image: Singles) -> Singles:
        """The camera's rows of an image of the view."""
        assert self.maps is not None  # noqa: S101 - of a band
        return np.asarray(cv2.remap(image, *self.maps, cv2.INTER_LINEAR), np.float32)


def pieces(shot: Shot, view: PinholeView) -> Iterator[ImageBand]:
    """Bands of a shot that are drawn, of its view; all bands of one instant of the exposure follow each other."""
    exposure = shot.exposure
    whole = slice(0, shot.model.height)
    if exposure.line_time == 0.0:
        for dt in instants(exposure):
            yield ImageBand(view, place_at(shot, dt), dt, whole)
        return
    edges = np.linspace(0, shot.model.height, min(exposure.bands, shot.model.height) + 1)
    starts = np.round(edges).astype(int).tolist()
    times = exposure.row_times(shot.model.height)
    w_C = so3.rotate(so3.conjugate(shot.q_WC), np.asarray(shot.w_WC_W, float))
    bands = []
    for first, end in zip(starts[:-1], starts[1:], strict=True):
        middle = float(times[first:end].mean())
        turns = so3.matrix_from_quaternion(
            so3.quaternion_exp((times[first:end, None] - middle) * w_C)
        )
        bands.append((slice(first, end), middle, _band(shot, view, slice(first, end), turns)))
    for dt in instants(exposure):
        for rows, middle, (part, maps) in bands:
            yield ImageBand(part, place_at(shot, middle + dt), middle + dt, rows, maps)


def _band(
    shot: Shot, view: PinholeView, rows: slice, turns: Array
) -> tuple[PinholeView, tuple[Singles, Singles]]:
    """The view of a band of rows whose attitudes differ by turns (rows, 3, 3), and where its pixels are in it."""
    shape = rows.stop - rows.start, shot.model.width
    columns, lines = np.empty(shape, np.float32), np.empty(shape, np.float32)
    if view.maps is None:
        columns[:] = np.arange(shape[1])
        lines[:] = np.arange(rows.start, rows.stop)[:, None]
    else:
        columns[:], lines[:] = (each[rows] for each in view.maps)
    _turn(columns, lines, view.K, np.ascontiguousarray(turns))
    left, upper = (int(np.floor(each.min())) - MARGIN for each in (columns, lines))
    right, lower = (int(np.ceil(each.max())) + MARGIN + 1 for each in (columns, lines))
    columns -= np.float32(left)
    lines -= np.float32(upper)
    K = view.K.copy()
    K[:2, 2] -= left, upper
    width, height = (-(-each // STEP) * STEP for each in (right - left, lower - upper))
    return PinholeView(width, height, K, view.corner), (columns, lines)


@njit(cache=True)
def _turn(columns: Singles, rows: Singles, K: Array, turns: Array) -> None:
    """Move pixels (h, w) of a pinhole to where it sees them when each row's camera is turned (h, 3, 3)."""
    fx, fy, cx, cy = K[0, 0], K[1, 1], K[0, 2], K[1, 2]
    for i in range(columns.shape[0]):
        R = turns[i]
        for j in range(columns.shape[1]):
            x, y = (columns[i, j] - cx) / fx, (rows[i, j] - cy) / fy
            z = R[2, 0] * x + R[2, 1] * y + R[2, 2]
            columns[i, j] = (R[0, 0] * x + R[0, 1] * y + R[0, 2]) / z * fx + cx
            rows[i, j] = (R[1, 0] * x + R[1, 1] * y + R[1, 2]) / z * fy + cy
