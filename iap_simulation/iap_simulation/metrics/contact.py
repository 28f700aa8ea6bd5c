# SPDX-License-Identifier: BSD-3-Clause
"""The keys of metrics.json on contact, from a recording alone.

Forces are the filtered true ones, in P, even where control uses an estimate. Figures count from
`after_contact` seconds behind the first contact (and, under wrench control, while it is on), steady
ones over the last `steady` seconds.
"""

import math
from typing import Any

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.math import so3
from iap_description.signals import ForceMode
from iap_description.states import P, Q
from iap_description.vehicles.serial_chain import tip_pose
from iap_estimation.evaluation import trajectory_errors
from iap_io.runs.columns import Columns, WrenchColumns, joined
from iap_io.runs.run_meta import Bore, RunMeta
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_simulation.metrics.errors import TOLERANCE, ErrorSums, Mean

Ticks = Booleans
Metrics = dict[str, Any]
MIN_INTEGRAL_GROWTH = 1e-4  # growth of an integral that is none [N/s, N m/s]
INTEGRALS = ("pose_integral", "wrench_integral", "integral_imbalance")
DEPTH = ("depth_m", "bore_offset_m")
SETTLED = ("settled_pitch_deg", "pitch_command_std_deg", "lever_torque_rmse_nm")
RAW, FILTERED, ESTIMATED, DESIRED = range(4)  # rows of the recorded wrenches


class ContactScores:
    """Contact of one vehicle whose rows come piece by piece, and how its control answered.

    Args:
        vehicle: the vehicle.
        run: the run that it belongs to.
    """

    def __init__(self, vehicle: VehicleMeta, run: RunMeta) -> None:
        self._vehicle, self._run = vehicle, run
        self._first = math.inf  # contact [s]
        self._newest = 0.0  # time [s]
        self._pushes = False  # whether a wrench has been controlled
        self._steady_scores = _SteadyScores(run.force_band, vehicle)
        self._force = 0.0
        self._speed: float | None = None
        self._recent: list[Columns] = []  # of the flight within its window

    def add(self, c: Columns, record: WrenchColumns) -> None:
        """Take the next rows, up to the last finite state; at least one."""
        touches = np.linalg.norm(record.wrenches[:, RAW, :3], axis=1) > 0.0
        if touches.any():
            self._first = min(self._first, float(c.t[np.argmax(touches)]))
        in_window = c.t <= self._vehicle.window_s[1] + TOLERANCE
        force = np.linalg.norm(record.wrenches[:, FILTERED, :3], axis=1)
        self._force = max(self._force, float(force[in_window].max(initial=0.0)))
        self._newest = float(c.t[-1])
        self._take_steady(c, record, touches, in_window)
        self._keep(c.rows(slice(int(in_window.sum()))))

    def _take_steady(
        self, c: Columns, record: WrenchColumns, touches: Ticks, in_window: Ticks
    ) -> None:
        pushing = record.mode > 0
        if pushing.any() and not self._pushes:  # then nothing else is asked for, also before
            self._pushes = True
            self._steady_scores = _SteadyScores(self._run.force_band, self._vehicle)
        asked = in_window & (pushing if self._pushes else np.ones_like(pushing))
        self._steady_scores.contact.add(touches[asked & (c.t >= self._first)])
        late = c.t >= self._first + self._run.after_contact - TOLERANCE
        self._steady_scores.add(c, record, touches, asked & late)
        if (in_window & pushing).any():
            speed = _approach_speed(c, record, in_window & pushing)
            self._speed = max(speed, self._speed or 0.0)

    def _keep(self, c: Columns) -> None:
        """Keep what may be steady."""
        if not len(c.t):
            return
        since = float(c.t[-1]) - self._run.steady - TOLERANCE
        self._recent = [each for each in self._recent if each.t[-1] >= since]
        self._recent.append(c.rows(slice(int(np.searchsorted(c.t, since)), None)).copy())

    def metrics(self) -> Metrics:
        """The keys of contact."""
        scores = self._steady_scores
        return {
            "first_contact_s": self._first if self._first < math.inf else None,
            **scores.wrench_errors(),
            **scores.held_errors(),
            "force_max_n": self._force,
            **self._steady(),
            "force_band_fraction": scores.band_fraction,
            "contact_fraction": scores.contact.value,
            "contact_losses": scores.losses,
            "approach_speed_max_mps": self._speed,
        }

    def _steady(self) -> Metrics:
        """Metrics over the last `steady` seconds."""
        nothing = dict.fromkeys(("force_steady_n", *INTEGRALS, *DEPTH, *SETTLED))
        c = joined(self._recent) if self._recent else None
        if c is None or c.wrench_record is None:
            return nothing
        record, end = c.wrench_record, min(self._vehicle.window_s[1], self._newest)
        steady = c.t >= end - self._run.steady - TOLERANCE
        force = np.linalg.norm(record.wrenches[steady, FILTERED, :3], axis=1)
        return {
            **nothing,
            "force_steady_n": float(force.mean()) if len(force) else None,
            **(_integrals(c.t, record, self._run.steady) if self._pushes else {}),
            **_tool(c, record, self._vehicle, steady, self._run.bore),
        }


class _SteadyScores:
    """Figures of the ticks that count.

    Args:
        band: of force around what is desired [N].
        vehicle: the vehicle.

    Attributes:
        contact: share of the time in contact since the first.
        losses: how often contact was lost.
    """

    def __init__(self, band: float, vehicle: VehicleMeta) -> None:
        self._band, self._vehicle = band, vehicle
        self._tip = ErrorSums(3)
        self.contact, self.losses = Mean(), 0
        self._touched = False  # at the last tick
        self._wrench, self._wanted = ErrorSums(6), np.zeros(6, np.bool_)
        self._within, self._is_controlled = Mean(), False
        self._held, self._axes = ErrorSums(6), np.zeros(6, np.uint8)

    def add(self, c: Columns, record: WrenchColumns, touches: Ticks, selected: Ticks) -> None:
        """Take the selected ones of the next rows."""
        if not selected.any():
            return
        touched = np.append(self._touched, touches[selected]).astype(int)
        self.losses += int((np.diff(touched) < 0).sum())
        self._touched = bool(touched[-1])
        axes, desired = record.axes[selected], record.wrenches[selected, DESIRED]
        errors = record.wrenches[selected, FILTERED] - desired
        self._wrench.add(errors)
        self._wanted |= ((axes > 0) | (desired != 0.0)).any(axis=0)
        controlled = axes[:, :3] > 0
        self._within.add((np.abs(errors[:, :3]) * controlled <= self._band).all(axis=1))
        self._is_controlled |= bool(controlled.any())
        if record.mode[selected].any():
            self._held.add(_pose_errors_P(c.reference[selected], c.x[selected, 0, :7]))
            self._axes = axes[-1]
            errors_P = tip_errors_P(self._vehicle, c)
            if errors_P is not None:
                self._tip.add(errors_P[selected])

    def wrench_errors(self) -> Metrics:
        """Errors per axis of the wrench against its reference; null where there is none."""
        is_pushed = self._held.count > 0
        rmse = np.where(self._wanted & is_pushed, self._wrench.rmse, math.nan)
        return {"force_rmse_n": rmse[:3], "torque_rmse_nm": rmse[3:]}

    @property
    def band_fraction(self) -> float | None:
        """Share of the time for which the force on every wrench axis is within the band."""
        return self._within.value if self._is_controlled else None

    def held_errors(self) -> Metrics:
        """Largest RMSE over the axes in P whose pose is controlled while a wrench is, and the tip's along them."""
        if not self._held.count:
            keys = ("held_position_rmse_m", "held_attitude_rmse_deg", "tip_path_rmse_m")
            return dict.fromkeys(keys)
        across = np.where(self._axes[:3] > 0, 0.0, self._tip.rmse) if self._tip.count else None
        rmse = np.where(self._axes > 0, math.nan, self._held.rmse)
        return {
            "held_position_rmse_m": _largest(rmse[:3]),
            "held_attitude_rmse_deg": _largest(rmse[3:]),
            "tip_path_rmse_m": None if across is None else float(np.linalg.norm(across)),
        }


def steady_ticks(t: Array, pushing: Ticks, first: float, after: float) -> Ticks:
    """The ticks that count: `after` the first contact [s] and, where a wrench is controlled, under it."""
    asked = pushing if pushing.any() else np.ones(len(t), np.bool_)
    return np.asarray(asked & (t >= first + after - TOLERANCE))


def _pose_errors_P(reference: Array, pose: Array) -> Array:
    """Errors (K, 6) of poses in P: position [m], attitude [deg]."""
    to_P = so3.conjugate(pose[:, 3:])
    position = so3.rotate(to_P, pose[:, :3] - reference[:, :3])
    attitude = so3.quaternion_log(so3.multiply(so3.conjugate(reference[:, 3:7]), pose[:, 3:]))
    return np.hstack([position, np.rad2deg(attitude)])


def _approach_speed(c: Columns, record: WrenchColumns, pushing: Ticks) -> float:
    """Largest speed along the force-controlled axes [m/s]."""
    velocity_P = so3.rotate(so3.conjugate(c.x[pushing, 0, 3:7]), c.x[pushing, 0, 7:10])
    return float(np.linalg.norm(velocity_P * (record.axes[pushing, :3] > 0), axis=1).max())


def _integrals(t: Array, record: WrenchColumns, steady: float) -> Metrics:
    """Shares of the integrals of pose and wrench errors in the wrench at the end [N, N m], per axis.

    Where both control an axis, what is left of their growth over the last `steady` seconds, relative to the larger
    one: zero where they have settled on a compromise and cancel each other; null where neither grows.
    """
    shares, since = record.integrals, int(np.searchsorted(t, t[-1] - steady))
    pose, wrench = shares[-1] - shares[since]
    largest = np.maximum(np.abs(pose), np.abs(wrench))
    both = (record.mode[-1] == ForceMode.PAPER) & (largest > MIN_INTEGRAL_GROWTH * steady)
    imbalance = np.where(
        both, np.abs(pose + wrench) / np.maximum(largest, MIN_INTEGRAL_GROWTH), math.nan
    )
    return dict(zip(INTEGRALS, (shares[-1, 0], shares[-1, 1], imbalance), strict=True))


def _tool(
    c: Columns, record: WrenchColumns, vehicle: VehicleMeta, steady: Ticks, bore: Bore | None
) -> Metrics:
    """Depth of the tool, and the settled command."""
    if vehicle.tool_tip_P is None or not steady.any():
        return dict.fromkeys((*DEPTH, *SETTLED))
    tip_P, axis_P = np.array(vehicle.tool_tip_P), np.array(vehicle.tool_axis_P)
    below = -np.rad2deg(np.arcsin(so3.rotate(record.tracked[steady, 3:7], axis_P)[:, 2]))
    wrench = record.wrenches[steady, FILTERED]
    lever = wrench[:, 3:] - np.cross(tip_P, wrench[:, :3])
    return {
        **_insertion(c.x[steady, 0], tip_P, axis_P, bore),
        "settled_pitch_deg": float(below.mean()),
        "pitch_command_std_deg": float(below.std()),
        "lever_torque_rmse_nm": trajectory_errors.rmse_of_vectors(lever),
    }


def _insertion(x: Array, tip_P: Array, axis_P: Array, bore: Bore | None) -> Metrics:
    """Depth of the tip past the bore's start, and how far the rod's axis is off the bore's at its ends."""
    if bore is None:
        return dict.fromkeys(DEPTH)
    start, along = np.array(bore.start), np.array(bore.axis)
    tip = x[:, :3] + so3.rotate(x[:, 3:7], tip_P) - start
    axis = so3.rotate(x[:, 3:7], axis_P)
    offsets = []
    for depth in (0.0, bore.length):
        reach = (depth - tip @ along) / (axis @ along)
        point = tip + reach[:, None] * axis
        offsets.append(np.linalg.norm(point - depth * along, axis=1).max())
    return {"depth_m": float((tip @ along).mean()), "bore_offset_m": np.array(offsets)}


def _largest(values: Array) -> float | None:
    return float(np.nanmax(values)) if np.isfinite(values).any() else None


def tip_errors_P(vehicle: VehicleMeta, c: Columns) -> Array | None:
    """Errors (K, 3) of the tip in P [m]; None of a vehicle with neither tool nor arm.

    The tip of a tool on the central body counts, else that of the arm, which should be where the commanded joints have
    it on a platform at its reference.
    """
    pose = c.x[:, 0, :7]
    if vehicle.tool_tip_P is not None:
        told_P = here_P = np.array(vehicle.tool_tip_P)
    elif vehicle.arm_chain is not None and c.arm is not None:
        chain, level = vehicle.arm_chain.chain, (np.zeros(3), np.eye(3))
        here_P = np.array([tip_pose(chain, *level, q)[0] for q in c.arm.q])
        told_P = np.array([tip_pose(chain, *level, q)[0] for q in c.arm.target[:, 0]])
    else:
        return None
    there = c.reference[:, P] + so3.rotate(c.reference[:, Q], told_P)
    here = pose[:, P] + so3.rotate(pose[:, Q], here_P)
    return np.asarray(so3.rotate(so3.conjugate(pose[:, Q]), here - there))
