# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a localisation: metrics.json, trajectories in the TUM format, plots."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from iap_estimation.datasets.evaluation import Judged, figures, judged
from iap_estimation.evaluation.constant_velocity import constant_velocity
from iap_estimation.navigation.data import SENSOR_GAP, Truth
from iap_estimation.navigation.pipeline import BLIND, COMPLETED, Results
from iap_estimation.navigation.range_start import FIRST_ROUNDS, meeting_point
from iap_estimation.navigation.trajectory import Trajectory
from iap_io.runs.run_folder import write_file, write_metrics
from iap_io.trajectories.tum import tum_text

ALIGNED, TURNED = "ate_yaw_rmse_m", "ate_se3_rmse_m"  # the latter where the truth is turned
COLUMNS = (  # key of metrics.json, title, digits
    ("ate_rmse_m", "ATE, m", 3),
    ("ate_horizontal_rmse_m", "horiz.", 3),
    ("ate_vertical_rmse_m", "vert.", 3),
    (ALIGNED, "align.", 3),
    ("drift_percent", "drift %", 2),
    ("attitude_rmse_deg", "att. deg", 2),
    ("nees_position", "NEES", 2),
)
# In place of methods, what these have to be better than: that nothing moves, and that a tag goes on as it went.
STILL, CONSTANT_VELOCITY = "(still)", "(constant v)"
MILLISECONDS = 1e3


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Results beside the truth.

    Attributes:
        results: of all methods.
        judged: by body and method, where there is an estimate and a truth.
        metrics: what metrics.json holds.
    """

    results: Results
    judged: dict[str, dict[str, Judged]]
    metrics: dict[str, Any]


def evaluate(results: Results) -> Evaluation:
    """Judge all trajectories."""
    beside: dict[str, dict[str, Judged]] = {}
    estimation: dict[str, dict[str, Any]] = {}
    notes: list[str] = []
    for number, (body, truth) in enumerate(results.dataset.bodies.items()):
        beside[body], estimation[body] = {}, {}
        for name, ran in results.methods.items():
            trajectory = ran.trajectories.get(body)
            one = None if trajectory is None or truth is None else judged(trajectory, truth)
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
    return Evaluation(results, beside, _heading(results, notes) | {"estimation": estimation})


def _unjudged(body: str, method: str, trajectory: Trajectory, one: Judged | None) -> list[str]:
    """What is to be said of estimates at times at which nothing is known to be true."""
    if one is None:
        return [f"{body}, {method}: the truth and the estimates have no time in common: no errors"]
    first, last = trajectory.t[[0, -1]]
    if one.t[0] - first < SENSOR_GAP and last - one.t[-1] < SENSOR_GAP:
        return []
    return [
        f"{body}, {method}: judged from {one.t[0]:.1f} s to {one.t[-1]:.1f} s, where the truth is known;"
        f" the estimates are of {first:.1f} s to {last:.1f} s"
    ]


def _heading(results: Results, notes: Sequence[str]) -> dict[str, Any]:
    """Figures of all bodies together."""
    failed = [f"{n} {ran.outcome}" for n, ran in results.methods.items() if ran.has_failed]
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


def _of_method(results: Results, name: str) -> dict[str, Any]:
    ran = results.methods[name]
    faults = [{"t_s": fault.t, "reason": fault.reason} for fault in ran.faults]
    left_out = [{"t_s": t, "aircraft": name, "anchor": anchor} for t, name, anchor in ran.left_out]
    line = {
        "outcome": ran.outcome,
        "keyframes": ran.keyframes,
        "faults": faults,
        "anchors_left_out": left_out,
    }
    return line | _speed(results, name)


def _speed(results: Results, name: str) -> dict[str, float | None]:
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


def show_results(console: Console, evaluation: Evaluation, folder: Path) -> None:
    """The table of errors, how fast it went, and where everything is."""
    metrics = evaluation.metrics
    table = Table(box=SIMPLE_HEAD)
    for title in ("body", "method"):
        table.add_column(title, no_wrap=True)
    for _, title, _ in COLUMNS:
        table.add_column(title, justify="right")
    for body, methods in metrics["estimation"].items():
        for name, record in methods.items():
            cells = (_cell(_shown(record, key), digits) for key, _, digits in COLUMNS)
            table.add_row(body, name, *cells)
        for row in _baselines(methods, begins_true=metrics["begins_at_truth"]):
            table.add_row(body, *row)
    console.print(table)
    for name, record in metrics["methods"].items():
        line = f"{record['outcome']}"
        if record["keyframe_ms"] is not None:
            factor = record["real_time_factor"]
            line += f"; {record['keyframe_ms']:.1f} ms a keyframe, {factor:.1f} x real time"
        console.print(escape(f"{name}: {line}"), soft_wrap=True)
    frontend = metrics["frontend"]
    if frontend["pairs"]:
        console.print(
            f"{metrics['duration_s']:.1f} s of data, {frontend['pairs']} stereo pairs,"
            f" {frontend['pair_ms']:.1f} ms and {frontend['tracks']:.0f} tracks each"
        )
        console.print(f"front end {frontend['preset']}: {frontend['reason']}", soft_wrap=True)
    for note in metrics["notes"]:
        console.print(escape(note), soft_wrap=True)
    console.print(f"folder: {folder}", soft_wrap=True)


def _constant_velocity(results: Results, aircraft: int, truth: Truth) -> float | None:
    """RMSE [m] of places from ranges alone, as the method's, its tag taken for the truth's point; None without any."""
    rounds = results.rounds.get(aircraft, [])
    if not rounds:
        return None
    start = meeting_point(rounds[:FIRST_ROUNDS], results.dataset.source)
    t, p = constant_velocity(rounds, start)
    K = len(t)
    poses = np.hstack([p, np.tile([0.0, 0.0, 0.0, 1.0], (K, 1))])
    empty = np.zeros((K, 6))
    one = judged(Trajectory(t, poses, empty[:, :3], empty, np.tile(np.eye(15), (K, 1, 1))), truth)
    found = {} if one is None else figures(one, begins_true=results.begins_true)
    return found.get("ate_rmse_m") if results.begins_true else _shown(found, ALIGNED)


def _baselines(methods: dict[str, Any], *, begins_true: bool) -> list[list[str]]:
    """Rows of what methods have to be better than, in the column of the errors that mean anything."""
    at = "ate_rmse_m" if begins_true else ALIGNED
    rows = []
    for title, key in ((STILL, "still_rmse_m"), (CONSTANT_VELOCITY, "constant_velocity_rmse_m")):
        known = [record[key] for record in methods.values() if key in record]
        if known:
            cells = [
                _cell(known[0] if name == at else None, digits) for name, _, digits in COLUMNS
            ]
            rows.append([title, *cells])
    return rows


def _shown(record: dict[str, Any], key: str) -> float | None:
    """A figure for the table; of a turned truth, errors of trajectories that are aligned with all of it."""
    value: float | None = record.get(key)
    return record.get(TURNED) if value is None and key == ALIGNED else value


def _cell(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
