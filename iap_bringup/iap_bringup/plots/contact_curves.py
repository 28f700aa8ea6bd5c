# SPDX-License-Identifier: BSD-3-Clause
"""Curves of a vehicle's contact wrench, and of how its command and its pose yield."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.math import so3
from iap_description.signals import ForceMode
from iap_description.states import Q
from iap_io.runs.columns import WrenchColumns
from iap_io.runs.run_folder import VehicleRun
from iap_io.runs.run_meta import RunMeta, WrenchTrack
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_simulation.metrics.contact import DESIRED, ESTIMATED, FILTERED, RAW, steady_ticks
from iap_simulation.metrics.errors import pose_errors

Ticks = Booleans
LEAD = 0.08  # time that is shown before anything happens, relative to the time after


@dataclass(frozen=True)
class ContactCurves:
    """Contact of one vehicle; wrenches (K, 6) [N, N m] of the environment on it, in P.

    Attributes:
        t: (K,) [s].
        start: from when on it is worth showing [s].
        first: of the first contact [s]; None without any.
        raw: mean contact wrench of each control period.
        filtered: the same, low-passed.
        estimated: the momentum observer's.
        measured: what was measured on a real aircraft, at its own times; None without.
        desired: the wrench that control shall reach; NaN where it is off or none is demanded.
        mode: the last wrench control that was on, `NONE` without any.
        is_on: (K,) where it was.
        by_wrench: (6,) the axes that it took from pose control.
        judged: (K,) the ticks whose errors count in metrics.json.
        deviation: (K, 6) pose less command as given, [m] and rotation vector [deg].
        yielded: (K, 6) command as revised by the admittance less as given; None where none acted.
        frame: in which the positions of these two are, "P" or "map".
        steady_s: the last seconds, over which steady figures are taken.
        integrals: (K, 2, 6) shares of the integrals of pose and wrench errors [N, N m].
    """

    t: Array
    start: float
    first: float | None
    raw: Array
    filtered: Array
    estimated: Array
    measured: WrenchTrack | None
    desired: Array
    mode: ForceMode
    is_on: Ticks
    by_wrench: Ticks
    judged: Ticks
    deviation: Array
    yielded: Array | None
    frame: str
    steady_s: float
    integrals: Array

    @classmethod
    def of(cls, vehicle_run: VehicleRun, columns: WrenchColumns, run: RunMeta) -> Self:
        """From a vehicle's recording, up to its last finite state."""
        c, vehicle = vehicle_run.columns, vehicle_run.meta
        touches = columns.wrenches[:, RAW, :3].any(axis=1)
        first = float(c.t[np.argmax(touches)]) if touches.any() else None
        is_on = columns.mode > ForceMode.NONE
        mode = ForceMode(int(columns.mode[is_on][-1])) if is_on.any() else ForceMode.NONE
        is_demanded = (columns.axes > 0) | (columns.wrenches[:, DESIRED] != 0.0)
        by_axis = (columns.axes[is_on] > 0) & (mode == ForceMode.SELECTIVE)
        end = min(vehicle.window_s[1], float(c.t[-1]))
        changed = bool(np.any(columns.tracked[:, :7] != c.reference[:, :7]))
        q_WP = None if mode == ForceMode.NONE else c.x[:, 0, Q]
        return cls(
            t=c.t,
            start=_start(c.t, touches | is_on) if vehicle_run.measured is None else float(c.t[0]),
            first=first,
            raw=columns.wrenches[:, RAW],
            filtered=columns.wrenches[:, FILTERED],
            estimated=columns.wrenches[:, ESTIMATED],
            measured=vehicle_run.measured,
            desired=np.where(is_on[:, None] & is_demanded, columns.wrenches[:, DESIRED], np.nan),
            mode=mode,
            is_on=is_on,
            by_wrench=np.asarray(by_axis.any(axis=0)),
            judged=(c.t <= end + 1e-9)
            & steady_ticks(c.t, is_on, math.inf if first is None else first, run.after_contact),
            deviation=_less(c.reference, c.x[:, 0, :7], vehicle, q_WP),
            yielded=_less(c.reference, columns.tracked[:, :7], vehicle, q_WP) if changed else None,
            frame="map" if q_WP is None else "P",
            steady_s=run.steady,
            integrals=columns.integrals,
        )

    @property
    def first_tick(self) -> int:
        """Row of the first contact, 0 without any."""
        return int(np.argmax(self.t >= (self.t[0] if self.first is None else self.first)))

    @property
    def shown(self) -> Ticks:
        """(K,) ticks that are worth showing."""
        return np.asarray(self.t >= self.start)

    @property
    def steady(self) -> Ticks:
        """(K,) ticks of the steady figures."""
        return np.asarray(self.t >= self.t[-1] - self.steady_s - 1e-9)

    def rmse(self, values: Array) -> Array:
        """(6,) over the judged ticks, NaN where there is nothing to judge."""
        scored = values[self.judged]
        if not len(scored):
            return np.full(6, np.nan)
        there = np.isfinite(scored)
        total = np.where(there, scored, 0.0) ** 2
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(total.sum(axis=0) / there.sum(axis=0)))


def _start(t: Array, happens: Ticks) -> float:
    if not happens.any():
        return float(t[0])
    first = float(t[np.argmax(happens)])
    return max(float(t[0]), first - LEAD * (float(t[-1]) - first))


def _less(
    reference: Array, poses: Array, vehicle: VehicleMeta, q_WP: Array | None = None
) -> Array:
    """Poses (K, 7) less the reference as given; positions in `map`, or in P by its attitude (K, 4)."""
    position, attitude, _ = pose_errors(reference[:, :7], poses, vehicle)
    if q_WP is not None:
        position = so3.rotate(so3.conjugate(q_WP), position)
    return np.hstack([position, np.rad2deg(attitude)])
