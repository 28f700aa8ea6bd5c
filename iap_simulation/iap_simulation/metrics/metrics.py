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
from typing import Any

import numpy as np

from iap_description.vehicles.faults import has_come
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import COMPLETED, DIVERGED, RunMeta, RunStats
from iap_io.runs.run_reader import VehicleTracks
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_simulation.metrics.vehicle import VehicleScores

Metrics = dict[str, Any]
NAMES = ("platform", "gains", "state_source")  # of a vehicle, in metrics.json


class Scores:
    """Judges a run whose rows come piece by piece.

    Args:
        run: the run.
        tracks: what each vehicle's flight is set against.
    """

    def __init__(self, run: RunMeta, tracks: Sequence[VehicleTracks]) -> None:
        self._run = run
        self._vehicles = [
            VehicleScores(meta, each, run) for meta, each in zip(run.vehicles, tracks, strict=True)
        ]

    def add(self, columns: Sequence[Columns]) -> None:
        """Take the next rows of every vehicle."""
        for vehicle, each in zip(self._vehicles, columns, strict=True):
            vehicle.add(each)

    def metrics(self, stats: RunStats) -> Metrics:
        """All of metrics.json; of several vehicles the largest values, and each one's own.

        Args:
            stats: what the loop measured of itself.
        """
        each = {vehicle.meta.name: vehicle.metrics() for vehicle in self._vehicles}
        metrics = self._of_run(stats, list(each.values()))
        if stats.compiled_fraction > 0.0:
            metrics["compiled_fraction"] = stats.compiled_fraction
        if stats.images:
            metrics |= {"images": stats.images, "images_per_s": stats.images / stats.render_s}
        if any(vehicle.meta.faults for vehicle in self._vehicles):
            metrics["faults"] = struck(self._run.vehicles, stats.duration_s)
        if stats.recordings:
            one = len(self._vehicles) == 1
            metrics["recording"] = (
                next(iter(stats.recordings.values())) if one else stats.recordings
            )
        if stats.landings:
            metrics["landing"] = _landing(stats.landings)
        metrics |= stats.tasks
        if stats.policy is not None:
            metrics["policy"] = stats.policy
        if stats.unfollowed:
            metrics["unfollowed"] = list(stats.unfollowed)
        return _plain(metrics | self._of_vehicles(stats, each))

    def _of_run(self, stats: RunStats, each: list[Metrics]) -> Metrics:
        """Keys that every run has; `each` are the vehicles' own metrics."""
        run, vehicles = self._run, self._vehicles
        diverged = any(vehicle.has_diverged for vehicle in vehicles)
        starts, stops = zip(*(vehicle.window for vehicle in vehicles), strict=True)
        return {
            "scenario": run.scenario,
            **{key: _joined(vehicles, key) for key in NAMES},
            "seed": run.seed,
            "duration_s": stats.duration_s,
            "wall_s": stats.wall_s,
            "real_time_factor": stats.duration_s / stats.wall_s if stats.wall_s > 0.0 else None,
            "physics_hz": run.physics_hz,
            "control_hz": run.control_hz,
            "outcome": DIVERGED if diverged and stats.outcome == COMPLETED else stats.outcome,
            "window_s": [min(starts), max(stops)],
            **_largest(each),
            "control_step_us": stats.control_step_us,
        }

    def _of_vehicles(self, stats: RunStats, each: dict[str, Metrics]) -> Metrics:
        """Estimates of the only vehicle, or each vehicle's own metrics with its estimates."""
        if len(self._vehicles) == 1:
            return _estimation(self._vehicles[0], stats)
        vehicles = {
            v.meta.name: {
                **{key: getattr(v.meta, key) for key in NAMES},
                "window_s": v.window,
                **each[v.meta.name],
                **_estimation(v, stats),
            }
            for v in self._vehicles
        }
        return {"vehicles": vehicles}


def _estimation(vehicle: "VehicleScores", stats: RunStats) -> Metrics:
    """Metrics of a vehicle's estimates, with what its estimator said of itself in flight."""
    name = vehicle.meta.name
    losses = stats.losses.get(name, ())
    return vehicle.estimation(stats.faults.get(name, ()), losses, stats.health.get(name))


def _landing(landings: dict[str, dict[str, Any]]) -> Metrics:
    """Key `landing`: the worst of all vehicles, and each one's own."""
    each = list(landings.values())
    worst = {
        key: max((one[key] for one in each if one[key] is not None), default=None)
        for key in ("touch_speed_mps", "force_n", "cut_height_m")
    }
    return {**worst, "stands": all(one["stands"] for one in each), "vehicles": landings}


def _joined(vehicles: Sequence["VehicleScores"], key: str) -> str:
    """A name in all vehicles' descriptions, each different one once."""
    return ", ".join(dict.fromkeys(getattr(vehicle.meta, key) for vehicle in vehicles))


def _largest(each: list[Metrics]) -> Metrics:
    """Key by key the largest value over the vehicles; null where none has one."""
    merged: Metrics = {}
    for key in each[0]:
        values = [metrics[key] for metrics in each if metrics.get(key) is not None]
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


def struck(vehicles: Sequence[VehicleMeta], t: float) -> list[dict[str, Any]]:
    """The faults that had struck by a time [s], in their order; with what the controller was told, if it was."""
    return sorted(
        (
            _entry(vehicle, i)
            for vehicle in vehicles
            for i, fault in enumerate(vehicle.faults)
            if has_come(fault.at, t)
        ),
        key=lambda entry: float(entry["t_s"]),
    )


def _entry(vehicle: VehicleMeta, number: int) -> dict[str, Any]:
    fault = vehicle.faults[number]
    known = bool(getattr(fault, "known", False))
    entry = {"t_s": fault.at, "vehicle": vehicle.name, "fault": str(fault), "known": known}
    loss = next((each for each in vehicle.losses if known and each.at == fault.at), None)
    if loss is not None:
        report = {"hover_load": loss.hover_load, "can_carry": loss.can_carry, "told": loss.text}
        entry |= report
    return entry
