# SPDX-License-Identifier: BSD-3-Clause
"""Figures of an arm's flight, as they stand in metrics.json.

Stability of the law along a flown path, aerial_manipulator section IV, and of what the paper leaves out.

With V = e^T e / 2 of the error e = r_d - r, eq. (25), the paper takes the commanded velocities for the real ones and
finds V' = -e^T K_2 tanh(K_2^-1 K_1 e) < 0, eq. (28). The plant has gains and lags: V rises wherever what they leave of
r_d' is larger than the correction. Near the path, with J, M and C held, error and velocities follow

    e' = -J v + ...        M v' + C v = J^+ K_1 e + ...

whose poles, and whose eigenvalues from one held command to the next, tell whether the loop is stable.
"""

from typing import Any

import numpy as np
from scipy.linalg import expm

from iap_description.arrays import Array
from iap_physics.identified.dynamics import SIZE, damping, inertia
from iap_physics.identified.plant_file import DynamicPlant
from iap_simulation.arm.flight import ArmFlight, ArmFlightLog

INSTANTS = 40  # of the path at which poles are computed


def stability(flight: ArmFlight, log: ArmFlightLog) -> dict[str, Any]:
    """The check of a flight, with plain numbers.

    Returns:
        `lyapunov_rate_max`: largest V' of (28); below zero by its derivation.
        `rising_share`: share of the time in which the real V rises, from `metrics.settle` on.
        `rising_error_max`: largest |e| at which it does so; beyond it the error shrinks.
        `singular_value_min`: smallest of J along the path.
        `pole_max_per_s`, `sampled_radius`: the slowest pole and the largest eigenvalue of held commands; None of a
            plant that is not of eq. (18).
    """
    errors = np.array([_error(flight, log, k) for k in range(len(log.t))])
    corrections = np.array([flight.law.correction(e) for e in errors])
    sizes = np.linalg.norm(errors, axis=1)[log.t >= flight.scenario.metrics.settle]
    rises, sizes = np.diff(sizes) > 0.0, sizes[:-1]
    spread = [_smallest(flight, log, k) for k in _instants(log)]
    return {
        "lyapunov_rate_max": float(-np.min(np.sum(errors * corrections, axis=1))),
        "rising_share": float(rises.mean()),
        "rising_error_max": float(sizes[rises].max(initial=0.0)),
        "singular_value_min": float(min(spread)),
        **_poles(flight, log),
    }


def _instants(log: ArmFlightLog) -> Array:
    return np.unique(np.linspace(0, len(log.t) - 1, INSTANTS).astype(int))


def _error(flight: ArmFlight, log: ArmFlightLog, k: int) -> Array:
    return flight.law.error(log.r_d[k], log.pose[k, :3], log.pose[k, 3], log.q[k])


def _smallest(flight: ArmFlight, log: ArmFlightLog, k: int) -> float:
    J = flight.law.jacobian(log.pose[k, 3], log.q[k])
    return float(np.linalg.svd(J, compute_uv=False)[-1])


def _poles(flight: ArmFlight, log: ArmFlightLog) -> dict[str, float | None]:
    """Slowest pole and largest eigenvalue along the path, without the directions in which the task is free."""
    if not isinstance(flight.plant_file, DynamicPlant):
        return {"pole_max_per_s": None, "sampled_radius": None}
    period = 1.0 / flight.scenario.rates.control_hz
    loops = [linear_loop(flight, log.pose[k, 3], log.q[k]) for k in _instants(log)]
    poles = [np.linalg.eigvals(free + sampled).real.max() for free, sampled in loops]
    radii = [np.abs(np.linalg.eigvals(sampled(*loop, period))).max() for loop in loops]
    return {"pole_max_per_s": float(max(poles)), "sampled_radius": float(max(radii))}


def linear_loop(flight: ArmFlight, yaw: float, q: Array) -> tuple[Array, Array]:
    """X' = A x + B x_held of x = (e, v), with the platform and the arm in a pose.

    Args:
        flight: of a dynamic plant.
        yaw: of the platform [rad].
        q: (3,) joint angles [rad].

    Returns:
        A and B, square.
    """
    assert isinstance(flight.plant_file, DynamicPlant)
    dynamics, J = flight.plant_file.dynamics(), flight.law.jacobian(yaw, q)
    rows = len(J)
    lag = np.linalg.inv(inertia(dynamics, q))
    C = damping(dynamics, q, np.zeros(SIZE))
    slope = np.diag(flight.scenario.control.slope[:rows])
    gain = flight.law.inverse(J) @ slope
    if flight.scenario.control.static_inverse:
        gain = C @ gain
    A, B = np.zeros((2, rows + SIZE, rows + SIZE))
    A[:rows, rows:], A[rows:, rows:] = -J, -lag @ C
    B[rows:, :rows] = lag @ gain
    return A, B


def sampled(A: Array, B: Array, period: float) -> Array:
    """State after a period [s] by the state at its beginning, whose command is held."""
    n = len(A)
    sampled = expm(period * np.block([[A, B], [np.zeros((n, 2 * n))]]))
    return np.asarray(sampled[:n, :n] + sampled[:n, n:])


def judged(flight: ArmFlight, log: ArmFlightLog, wall: float) -> dict[str, Any]:
    """metrics.json of a flight that took some time of the wall clock [s]."""
    settle, duration = flight.scenario.metrics.settle, float(log.t[-1])
    out = {
        "scenario": flight.scenario.scenario,
        "outcome": log.outcome,
        "duration_s": duration,
        "wall_s": wall,
        "real_time_factor": duration / wall,
        "window_s": [settle, duration],
        **errors(log, settle),
        "published_rmse_m": list(flight.scenario.metrics.published_rmse),
        "clipped_commands": _by_joint(flight, log.clipped),
        "joint_range_rad": _by_joint(flight, zip(log.q.min(0), log.q.max(0), strict=True)),
    }
    return out if log.failure else {**out, "stability": stability(flight, log)}


def errors(log: ArmFlightLog, settle: float) -> dict[str, Any]:
    """Errors of the end effector from a time on [s]; None where a flight ended before."""
    e = (log.r_d - log.r)[log.t >= settle]
    if not len(e):
        return dict.fromkeys(
            ("position_rmse_m", "position_rmse_xyz_m", "position_max_m", "heading_rmse_rad")
        )
    turn = (e[:, 3] + np.pi) % (2.0 * np.pi) - np.pi
    return {
        "position_rmse_m": _rms(np.linalg.norm(e[:, :3], axis=1)),
        "position_rmse_xyz_m": [_rms(axis) for axis in e[:, :3].T],
        "position_max_m": float(np.linalg.norm(e[:, :3], axis=1).max()),
        "heading_rmse_rad": _rms(turn),
    }


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _by_joint(flight: ArmFlight, values: Any) -> dict[str, Any]:  # noqa: ANN401 - numbers or pairs of them
    plain = (np.asarray(value).tolist() for value in values)
    return dict(zip((joint.name for joint in flight.arm.joints), plain, strict=True))
