# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a localisation: metrics.json, trajectories in the TUM format, plots."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from iap_description.math import so3
from iap_estimation.datasets.loss_checks import doubts, range_errors
from iap_estimation.datasets.method_results import BLIND, COMPLETED, LocalizationResults
from iap_estimation.datasets.range_start import FIRST_ROUNDS, meeting_point
from iap_estimation.evaluation.comparison import TrajectoryComparison, compare, figures
from iap_estimation.evaluation.constant_velocity import constant_velocity
from iap_estimation.evaluation.estimated_trajectory import EstimatedTrajectory
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.measurements import SENSOR_GAP
from iap_io.runs.run_folder import write_file, write_metrics
from iap_io.trajectories.tum import tum_text

ALIGNED, TURNED = "ate_yaw_rmse_m", "ate_se3_rmse_m"  # the latter where the truth is turned
MILLISECONDS = 1e3
NORMAL = 1.4826  # deviation of normal errors over their median size


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Results beside the truth.

    Attributes:
        results: of all methods.
        comparisons: by body and method, where there is an estimate and a truth.
        metrics: what metrics.json holds.
    """

    results: LocalizationResults
    comparisons: dict[str, dict[str, TrajectoryComparison]]
    metrics: dict[str, Any]


def evaluate(results: LocalizationResults, understood: dict[str, Any] | None = None) -> Evaluation:
    """Judge all trajectories.

    Args:
        results: of all methods.
        understood: what was understood of the data set, to be kept beside; see `DatasetSummary`.
    """
    beside: dict[str, dict[str, TrajectoryComparison]] = {}
    estimation: dict[str, dict[str, Any]] = {}
    notes: list[str] = []
    for number, (body, truth) in enumerate(results.dataset.bodies.items()):
        beside[body], estimation[body] = {}, {}
        for name, ran in results.methods.items():
            trajectory = ran.trajectories.get(body)
            one = None if trajectory is None or truth is None else compare(trajectory, truth)
            record: dict[str, Any] = {
                "outcome": ran.outcome,
                "ate_rmse_m": None,
                "ate_max_m": None,
            }
            record["drift_percent"] = None
            if trajectory is not None and truth is not None:
                notes += _unjudged(body, name, trajectory, one)
            if one is not None:
                beside[body][name] = one
                record |= figures(one, begins_true=results.begins_true)
                if truth is not None and name in BLIND:
                    record["constant_velocity_rmse_m"] = _constant_velocity(results, number, truth)
            elif trajectory is None and not ran.has_failed:
                record["outcome"] = f"not estimated by {name}"
            estimation[body][name] = record | _speed(results, name)
    heading = _heading(results, [*notes, *doubts(results)]) | {"understood": understood or {}}
    return Evaluation(results, beside, heading | {"estimation": estimation})


def _unjudged(
    body: str, method: str, trajectory: EstimatedTrajectory, one: TrajectoryComparison | None
) -> list[str]:
    """Notes on estimates at times at which no truth is known."""
    if one is None:
        return [f"{body}, {method}: the truth and the estimates have no time in common: no errors"]
    first, last = trajectory.t[[0, -1]]
    if one.t[0] - first < SENSOR_GAP and last - one.t[-1] < SENSOR_GAP:
        return []
    return [
        f"{body}, {method}: judged from {one.t[0]:.1f} s to {one.t[-1]:.1f} s, where the truth is known;"
        f" the estimates are of {first:.1f} s to {last:.1f} s"
    ]


def _heading(results: LocalizationResults, notes: Sequence[str]) -> dict[str, Any]:
    """Figures of all bodies together."""
    failed = [
        f"{n} {ran.outcome}" for n, ran in results.methods.items() if ran.has_failed or ran.is_lost
    ]
    dataset, stats = results.dataset, results.frontend
    pairs = len(stats.seconds)
    return {
        "source": dataset.source,
        "outcome": "; ".join(failed) or COMPLETED,
        "duration_s": results.duration,
        "begins_at_truth": results.begins_true,
        "notes": [*dataset.notes, *dataset.tally.sentences(), *notes],
        "unpaired_images": dataset.tally.unpaired,
        "gaps": len(dataset.tally.gaps),
        "frontend": {
            "preset": dataset.frontend.preset,
            "reason": dataset.frontend.reason,
            "pairs": pairs,
            "pair_ms": MILLISECONDS * float(np.mean(stats.seconds)) if pairs else None,
            "tracks": float(np.mean(stats.tracks)) if pairs else None,
            "stereo_tracks": float(np.mean(stats.stereo)) if pairs else None,
        },
        "methods": {name: _of_method(results, name) for name in results.methods},
    }


def _of_method(results: LocalizationResults, name: str) -> dict[str, Any]:
    ran = results.methods[name]
    faults = [{"t_s": fault.t, "reason": fault.reason} for fault in ran.faults]
    left_out = [{"t_s": t, "aircraft": name, "anchor": anchor} for t, name, anchor in ran.left_out]
    line = {
        "outcome": ran.outcome,
        "keyframes": ran.keyframes,
        "faults": faults,
        "anchors_left_out": left_out,
    }
    if name in BLIND:
        line["ranges_off_m"] = _range_errors(results, name)
    return line | _speed(results, name)


def _range_errors(results: LocalizationResults, method: str) -> dict[str, dict[str, float]]:
    """Of each anchor what its ranges are too long in the median, and their robust deviation from that [m]."""
    table = {}
    for name, off in range_errors(results, method).items():
        median = float(np.median(off))
        spread = NORMAL * float(np.median(np.abs(off - median)))
        table[name] = {"median_m": median, "deviation_m": spread, "count": len(off)}
    return table


def _speed(results: LocalizationResults, name: str) -> dict[str, float | None]:
    if results.methods[name].has_failed:
        return {"keyframe_ms": None, "real_time_factor": None}
    return {
        "keyframe_ms": results.keyframe_ms(name),
        "real_time_factor": results.real_time_factor(name),
    }


def write_results(folder: Path, evaluation: Evaluation) -> None:
    """Write metrics.json and ``trajectory_BODY_METHOD.tum``, with ``truth_BODY.tum`` beside; stamps are the data's.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    results = evaluation.results
    offset = results.dataset.start_ns * 1e-9
    for body, truth in results.dataset.bodies.items():
        for name, ran in results.methods.items():
            if body in ran.trajectories:
                one = ran.trajectories[body]
                text = tum_text(one.t + offset, one.poses)
                write_file(folder / f"trajectory_{body}_{name}.tum", text.encode())
        if truth is not None and truth.has_attitude:
            text = tum_text(truth.t + offset, truth.poses)
            write_file(folder / f"truth_{body}.tum", text.encode())
    write_metrics(folder, evaluation.metrics)


def _constant_velocity(results: LocalizationResults, aircraft: int, truth: Truth) -> float | None:
    """RMSE [m] of places from ranges alone, as the method's, its tag taken for the truth's point; None without any."""
    rounds = results.rounds.get(aircraft, [])
    if not rounds:
        return None
    start = meeting_point(rounds[:FIRST_ROUNDS], results.dataset.source)
    t, p = constant_velocity(rounds, start)
    K = len(t)
    poses = np.hstack([p, np.tile(so3.IDENTITY, (K, 1))])
    empty = np.zeros((K, 6))
    one = compare(
        EstimatedTrajectory(t, poses, empty[:, :3], empty, np.tile(np.eye(15), (K, 1, 1))), truth
    )
    values = {} if one is None else figures(one, begins_true=results.begins_true)
    return values.get("ate_rmse_m") if results.begins_true else tabulated(values, ALIGNED)


def tabulated(record: dict[str, Any], key: str) -> float | None:
    """A figure for the table; of a turned truth, errors of trajectories that are aligned with all of it."""
    value: float | None = record.get(key)
    return record.get(TURNED) if value is None and key == ALIGNED else value
