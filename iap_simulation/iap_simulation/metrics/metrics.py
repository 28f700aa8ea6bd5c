# SPDX-License-Identifier: BSD-3-Clause
"""metrics.json: what a run achieved, from its recording alone.

Errors count over the run's window. References are the commands as given: in a replay the recorded
command, at its own times, not the smoothed copy that was flown. A position RMSE is of the 3-D
error, a maximum of the absolute error per axis. An attitude error is the rotation vector
log(R_ref^T R); what a platform does not control is null (see
`iap_estimation.evaluation.trajectory_errors.controlled_error`). Thrusts and saturation count over the whole flight.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from iap_description import so3
from iap_description.arrays import Array, Booleans
from iap_description.states import Mode, P, Q
from iap_estimation.evaluation import trajectory_errors
from iap_estimation.navigation.data import CENTRE_NAME
from iap_io.runs.run_folder import RunData, VehicleRun
from iap_io.runs.run_meta import COMPLETED, DIVERGED, RunMeta, RunStats, Track, VehicleMeta
from iap_simulation.metrics.contact import contact_metrics

Metrics = dict[str, Any]
_AT_LIMIT = 1e-6  # share of a limit within which a command or a rotor is at it


def compute_metrics(run: RunData, stats: RunStats) -> Metrics:
    """All of metrics.json; of several vehicles the largest values, and each one's own.

    Args:
        run: the recording, read back.
        stats: what the loop measured of itself.
    """
    flown = [finite(vehicle) for vehicle in run.vehicles]
    diverged = any(
        len(f.columns.t) < len(v.columns.t) for f, v in zip(flown, run.vehicles, strict=True)
    )
    outcome = DIVERGED if diverged and stats.outcome == COMPLETED else stats.outcome
    each = {vehicle.meta.name: vehicle_metrics(vehicle, run.meta) for vehicle in flown}
    windows = [_window(vehicle) for vehicle in flown]
    metrics = {
        "scenario": run.meta.scenario,
        **{key: _joined(flown, key) for key in ("platform", "gains", "state_source")},
        "seed": run.meta.seed,
        "duration_s": stats.duration_s,
        "wall_s": stats.wall_s,
        "real_time_factor": stats.duration_s / stats.wall_s if stats.wall_s > 0.0 else None,
        "physics_hz": run.meta.physics_hz,
        "control_hz": run.meta.control_hz,
        "outcome": outcome,
        "window_s": [min(start for start, _ in windows), max(stop for _, stop in windows)],
        **_largest(list(each.values())),
        "control_step_us": stats.control_step_us,
    }
    if stats.images:
        metrics |= {"images": stats.images, "images_per_s": stats.images / stats.render_s}
    estimated = {v.meta.name: _estimation(v, stats.faults.get(v.meta.name, ())) for v in flown}
    if len(flown) == 1:
        metrics |= estimated[flown[0].meta.name]
    else:
        metrics["vehicles"] = {
            v.meta.name: {
                **{key: getattr(v.meta, key) for key in ("platform", "gains", "state_source")},
                "window_s": _window(v),
                **each[v.meta.name],
                **estimated[v.meta.name],
            }
            for v in flown
        }
    return _plain(metrics)


def _joined(flown: list[VehicleRun], key: str) -> str:
    """A name in all vehicles' descriptions, each different one once."""
    return ", ".join(dict.fromkeys(getattr(vehicle.meta, key) for vehicle in flown))


def finite(vehicle: VehicleRun) -> VehicleRun:
    """The vehicle's run up to its first state that is not a number."""
    c = vehicle.columns
    bad = np.flatnonzero(~np.isfinite(c.x).all(axis=(1, 2)))
    if not bad.size:
        return vehicle
    return replace(vehicle, columns=c.rows(slice(0, int(bad[0]))))


def _window(vehicle: VehicleRun) -> list[float]:
    """The vehicle's window, as far as it was flown."""
    start, stop = vehicle.meta.window_s
    t = vehicle.columns.t
    return [start, min(stop, float(t[-1])) if len(t) else start]


def vehicle_metrics(vehicle: VehicleRun, run: RunMeta) -> Metrics:
    """The keys that each vehicle has of its own; NaN where there is nothing to count."""
    window = _window(vehicle)
    t, reference, poses = tracked(vehicle)
    chosen = _inside(t, window)
    position, attitude, axis = pose_errors(reference[chosen], poses[chosen], vehicle.meta)
    c, record = vehicle.columns, vehicle.columns.wrench_record
    ticks = _inside(c.t, window)
    velocity = c.x[ticks, 0, 7:10] - c.reference[ticks, 7:10]
    return {
        "position_rmse_m": _vector_rmse(position),
        "position_max_m": _over(trajectory_errors.maximum, position),
        "velocity_rmse_mps": _vector_rmse(velocity),
        "attitude_rmse_deg": np.rad2deg(_over(trajectory_errors.rmse, attitude)),
        "attitude_max_deg": np.rad2deg(_over(trajectory_errors.maximum, attitude)),
        "axis_rmse_deg": math.nan if axis is None else math.degrees(_vector_rmse(axis)),
        "thrust_max_n": float(thrusts(vehicle).max(initial=0.0)),
        "saturated_fraction": float(saturated(vehicle).mean()) if len(c.t) else math.nan,
        **_actual(vehicle, window),
        **({} if record is None else contact_metrics(c, record, vehicle.meta, run)),
    }


def tracked(vehicle: VehicleRun) -> tuple[Array, Array, Array]:
    """Times (K,), and the commanded and the flown poses (K, 7) at these times."""
    if vehicle.given is not None:
        return against(vehicle, vehicle.given)
    c = vehicle.columns
    return c.t, c.reference[:, :7], c.x[:, 0, :7]


def against(vehicle: VehicleRun, track: Track) -> tuple[Array, Array, Array]:
    """Times (M,) of a track within the flight, its poses, and the flown poses (M, 7) there."""
    c = vehicle.columns
    if not len(c.t):
        return np.zeros(0), np.zeros((0, 7)), np.zeros((0, 7))
    chosen = _inside(track.t, [float(c.t[0]), float(c.t[-1])])
    t = track.t[chosen]
    return t, track.poses[chosen], trajectory_errors.poses_at(t, c.t, c.x[:, 0, :7])


def pose_errors(
    reference: Array, poses: Array, vehicle: VehicleMeta
) -> tuple[Array, Array, Array | None]:
    """Errors of poses (K, 7) against a reference (K, 7).

    Returns:
        Position errors (K, 3) [m], attitude errors (K, 3) [rad] and, for an under-actuated
        platform, the errors (K, 3) [rad] of its axis.
    """
    R_ref = so3.matrix_from_quaternion(so3.normalized(reference[:, 3:]))
    R = so3.matrix_from_quaternion(so3.normalized(poses[:, 3:]))
    attitude = trajectory_errors.controlled_error(R_ref, R, vehicle.controlled)
    axis = (
        None
        if vehicle.free_axis is None
        else trajectory_errors.axis_error(R_ref, R, vehicle.free_axis)
    )
    return poses[:, :3] - reference[:, :3], attitude, axis


def thrusts(vehicle: VehicleRun) -> Array:
    """Thrust (K, N) [N] that each aircraft's rotors produce."""
    per_square = np.array([each.thrust_coefficient for each in vehicle.meta.limits])
    return per_square * np.square(vehicle.columns.rpm).sum(axis=-1)


def saturated(vehicle: VehicleRun) -> Booleans:
    """Ticks (K,) in which an aircraft's thrust command or one of its rotors is at a limit."""
    c, limits = vehicle.columns, vehicle.meta.limits
    speeds = np.array([each.rpm for each in limits]).T[..., None]  # (2, N, 1)
    rotor = _at_limit(c.rpm, *speeds).any(axis=(1, 2))
    by_thrust = (c.mode == Mode.ATTITUDE_THRUST) | (c.mode == Mode.RATE_THRUST)
    return rotor | (
        by_thrust
        & _at_limit(c.aircraft[..., 0], *np.array([each.thrust for each in limits]).T).any(axis=1)
    )


def _at_limit(values: Array, low: Array, high: Array) -> Booleans:
    return (values <= low + _AT_LIMIT * high) | (values >= high - _AT_LIMIT * high)


def _actual(vehicle: VehicleRun, window: list[float]) -> Metrics:
    """Simulated against recorded real poses; null without a recording."""
    nothing: Metrics = {"actual_position_rmse_m": None, "actual_attitude_rmse_deg": None}
    if vehicle.actual is None:
        return nothing
    t, real, poses = against(vehicle, vehicle.actual)
    chosen = _inside(t, window)
    position, attitude, _ = pose_errors(real[chosen], poses[chosen], vehicle.meta)
    rmse_deg = np.rad2deg(_over(trajectory_errors.rmse, attitude))
    return {"actual_position_rmse_m": _vector_rmse(position), "actual_attitude_rmse_deg": rmse_deg}


def _estimation(vehicle: VehicleRun, faults: Sequence[tuple[float, str]]) -> Metrics:
    """Keys `estimation` and `methods`, errors over the whole flight without alignment; nothing for the truth."""
    meta, c = vehicle.meta, vehicle.columns
    if c.estimated is None:
        return {}
    names = (CENTRE_NAME if j not in meta.aircraft else name for j, name in enumerate(meta.bodies))
    estimation = {
        name: {meta.state_source: _estimate_errors(c.estimated[:, j], c.x[:, j])}
        for j, name in enumerate(names)
    }
    reasons = [{"t_s": t, "reason": reason} for t, reason in faults]
    return {"estimation": estimation, "methods": {meta.state_source: {"faults": reasons}}}


def _estimate_errors(estimates: Array, x: Array) -> Metrics:
    known = np.isfinite(estimates).all(axis=1)
    estimates, x = estimates[known], x[known]
    if not len(x):
        none = ("ate_rmse_m", "ate_max_m", "drift_percent", "attitude_rmse_deg")
        return dict.fromkeys(none)
    errors = estimates[:, P] - x[:, P]
    sizes = np.linalg.norm(errors, axis=1)
    path = float(np.linalg.norm(np.diff(x[:, P], axis=0), axis=1).sum())
    turns = so3.quaternion_log(so3.multiply(so3.conjugate(x[:, Q]), estimates[:, Q]))
    return {
        "ate_rmse_m": trajectory_errors.rmse_of_vectors(errors),
        "ate_max_m": float(sizes.max()),
        "drift_percent": 100.0 * float(sizes[-1]) / path if path > 0.0 else None,
        "attitude_rmse_deg": float(np.rad2deg(trajectory_errors.rmse_of_vectors(turns))),
    }


def _inside(t: Array, window: list[float]) -> Booleans:
    return (t >= window[0] - 1e-9) & (t <= window[1] + 1e-9)


def _over(summary: Any, errors: Array) -> Array:  # noqa: ANN401 - a function of evaluation
    return summary(errors) if len(errors) else np.full(errors.shape[1], math.nan)


def _vector_rmse(errors: Array) -> float:
    return trajectory_errors.rmse_of_vectors(errors) if len(errors) else math.nan


def _largest(each: list[Metrics]) -> Metrics:
    """Key by key the largest value over the vehicles; null where none has one."""
    merged: Metrics = {}
    for key in each[0]:
        values = [metrics[key] for metrics in each if metrics[key] is not None]
        merged[key] = (
            np.fmax.reduce([np.asarray(value, float) for value in values]) if values else None
        )
    return merged


def _plain(value: Any) -> Any:  # noqa: ANN401 - a JSON tree
    """The tree in JSON's own types; a number that is none becomes null."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value
