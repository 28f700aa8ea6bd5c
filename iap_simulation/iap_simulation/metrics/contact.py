# SPDX-License-Identifier: BSD-3-Clause
"""The keys of metrics.json on contact, from a recording alone.

Forces are the filtered true ones, in P, even where control uses an estimate. Figures count from
`after_contact` seconds behind the first contact (and, under wrench control, while it is on), steady
ones over the last `steady` seconds.
"""

import math
from typing import Any

import numpy as np

from iap_description import so3
from iap_description.arrays import Array, Booleans
from iap_description.signals import ForceMode
from iap_estimation.evaluation import trajectory_errors
from iap_io.runs.columns import Columns, WrenchColumns
from iap_io.runs.run_meta import Bore, RunMeta, VehicleMeta

Ticks = Booleans
Metrics = dict[str, Any]
MIN_INTEGRAL_GROWTH = 1e-4  # growth of an integral that is none [N/s, N m/s]
DEPTH = ("depth_m", "bore_offset_m")
SETTLED = ("settled_pitch_deg", "pitch_command_std_deg", "lever_torque_rmse_nm")
RAW, FILTERED, ESTIMATED, DESIRED = range(4)  # rows of the recorded wrenches


def contact_metrics(
    c: Columns, record: WrenchColumns, vehicle: VehicleMeta, run: RunMeta
) -> Metrics:
    """Contact of one vehicle, up to its last finite state, and how its control answered."""
    touches = np.linalg.norm(record.wrenches[:, RAW, :3], axis=1) > 0.0
    force = np.linalg.norm(record.wrenches[:, FILTERED, :3], axis=1)
    end = min(vehicle.window_s[1], float(c.t[-1])) if len(c.t) else 0.0
    flown = c.t <= end + 1e-9
    first = float(c.t[np.argmax(touches)]) if touches.any() else math.inf
    pushing = record.mode > 0
    asked = flown & (pushing if pushing.any() else np.ones_like(pushing))
    judged = flown & judged_ticks(c.t, pushing, first, run.after_contact)
    steady = flown & (c.t >= end - run.steady - 1e-9)
    return {
        "first_contact_s": first if touches.any() else None,
        **_wrench_errors(record, judged),
        **_held_errors(c, record, judged),
        "force_max_n": float(force[flown].max(initial=0.0)),
        "force_steady_n": _mean(force[steady]),
        "force_band_fraction": _within(record, judged, run.force_band),
        "contact_fraction": _mean(touches[asked & (c.t >= first)]),
        "contact_losses": int((np.diff(touches[judged].astype(int)) < 0).sum()),
        "approach_speed_max_mps": _approach_speed(c, record, flown),
        **_integrals(c.t, record, flown, run.steady),
        **_tool(c, record, vehicle, steady, run.bore),
    }


def judged_ticks(t: Array, pushing: Ticks, first: float, after: float) -> Ticks:
    """The ticks that count: `after` the first contact [s] and, where a wrench is controlled, under it."""
    asked = pushing if pushing.any() else np.ones(len(t), np.bool_)
    return np.asarray(asked & (t >= first + after - 1e-9))


def _wrench_errors(record: WrenchColumns, judged: Ticks) -> Metrics:
    """Errors per axis of the wrench against its reference; null where there is none."""
    errors = (record.wrenches[:, FILTERED] - record.wrenches[:, DESIRED])[judged]
    wanted = (record.axes[judged] > 0) | (record.wrenches[judged, DESIRED] != 0.0)
    rmse = np.full(6, math.nan)
    if len(errors) and record.mode.any():
        rmse = np.where(wanted.any(axis=0), trajectory_errors.rmse(errors), math.nan)
    return {"force_rmse_n": rmse[:3], "torque_rmse_nm": rmse[3:]}


def _within(record: WrenchColumns, judged: Ticks, band: float) -> float | None:
    """Share of the time for which the force on every wrench axis is within a band [N] around what is desired."""
    errors = np.abs(record.wrenches[judged, FILTERED, :3] - record.wrenches[judged, DESIRED, :3])
    wanted = record.axes[judged, :3] > 0
    inside = np.asarray((errors * wanted <= band).all(axis=1), dtype=float)
    return _mean(inside) if wanted.any() else None


def _held_errors(c: Columns, record: WrenchColumns, judged: Ticks) -> Metrics:
    """Largest RMSE over the axes in P whose pose is controlled while a wrench is."""
    if not (record.mode[judged] > 0).any():
        return {"held_position_rmse_m": None, "held_attitude_rmse_deg": None}
    reference, pose = c.reference[judged], c.x[judged, 0, :7]
    to_P = so3.conjugate(pose[:, 3:])
    position = so3.rotate(to_P, pose[:, :3] - reference[:, :3])
    attitude = so3.quaternion_log(so3.multiply(so3.conjugate(reference[:, 3:7]), pose[:, 3:]))
    errors = trajectory_errors.rmse(np.hstack([position, np.rad2deg(attitude)]))
    held = np.where(record.axes[judged][-1] > 0, math.nan, errors)
    return {
        "held_position_rmse_m": _largest(held[:3]),
        "held_attitude_rmse_deg": _largest(held[3:]),
    }


def _approach_speed(c: Columns, record: WrenchColumns, flown: Ticks) -> float | None:
    """Largest speed along the force-controlled axes while wrench control is on [m/s]."""
    pushing = flown & (record.mode > 0)
    if not pushing.any():
        return None
    velocity_P = so3.rotate(so3.conjugate(c.x[pushing, 0, 3:7]), c.x[pushing, 0, 7:10])
    return float(np.linalg.norm(velocity_P * (record.axes[pushing, :3] > 0), axis=1).max())


def _integrals(t: Array, record: WrenchColumns, flown: Ticks, steady: float) -> Metrics:
    """Shares of the integrals of pose and wrench errors in the wrench at the end [N, N m], per axis.

    Where both control an axis, what is left of their growth over the last `steady` seconds, relative to the larger
    one: zero where they have settled on a compromise and cancel each other; null where neither grows.
    """
    if not record.mode.any():
        return dict.fromkeys(("pose_integral", "wrench_integral", "integral_imbalance"))
    shares, since = record.integrals[flown], int(np.searchsorted(t[flown], t[flown][-1] - steady))
    pose, wrench = shares[-1] - shares[since]
    largest = np.maximum(np.abs(pose), np.abs(wrench))
    both = (record.mode[flown][-1] == ForceMode.PAPER) & (largest > MIN_INTEGRAL_GROWTH * steady)
    imbalance = np.where(
        both, np.abs(pose + wrench) / np.maximum(largest, MIN_INTEGRAL_GROWTH), math.nan
    )
    return {
        "pose_integral": shares[-1, 0],
        "wrench_integral": shares[-1, 1],
        "integral_imbalance": imbalance,
    }


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


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def _largest(values: Array) -> float | None:
    return float(np.nanmax(values)) if np.isfinite(values).any() else None
