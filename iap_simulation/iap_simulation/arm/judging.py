# SPDX-License-Identifier: BSD-3-Clause
"""Figures of an arm's flight, as they stand in metrics.json."""

from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_simulation.arm.flight import ArmFlight, ArmFlightLog
from iap_simulation.arm.stability import stability


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
