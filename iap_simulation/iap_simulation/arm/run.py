# SPDX-License-Identifier: BSD-3-Clause
"""One run of an arm's scenario: fly, judge, keep in a run folder."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_io.runs.run_folder import write_config, write_file, write_metrics
from iap_io.trajectories.tum import tum_text
from iap_simulation.arm.flight import ArmFlight, ArmFlightLog
from iap_simulation.arm.judging import judged
from iap_simulation.arm.log_file import write_flight_log
from iap_simulation.arm.scenario import ArmScenario, resolve_arm

COMPARED = ("outcome", "position_rmse_m", "position_rmse_xyz_m", "position_max_m", "stability")


@dataclass(frozen=True)
class ArmResult:
    """Outcome of a run.

    Attributes:
        metrics: metrics.json.
        failure: the sentence for the user when the flight did not complete, else "".
    """

    metrics: dict[str, Any]
    failure: str


def execute_arm(scenario: ArmScenario, tree: dict[str, Any], folder: Path, name: str) -> ArmResult:
    """Fly into an empty run folder, and what the key `compare` names beside it.

    Args:
        scenario: resolved.
        tree: its plain tree, which the folder keeps.
        folder: where everything goes.
        name: of the scenario, or its file, from which others are resolved.

    Raises:
        BadInput: a start beyond limits, no such plant or arm, or a wrong key in `compare`.
        RecordingFailed: the disk is full or cannot be written.
    """
    log, metrics = fly_judged(ArmFlight(scenario))
    metrics["compare"] = {
        other: _compared(name, scenario, assignments)
        for other, assignments in scenario.compare.items()
    }
    write_config(folder, tree)
    write_flight_log(folder, log)
    _write_trajectories(folder, log)
    write_metrics(folder, metrics)
    return ArmResult(metrics, log.failure)


def fly_judged(flight: ArmFlight) -> tuple[ArmFlightLog, dict[str, Any]]:
    """A flight and its figures."""
    flight.warm_up()
    began = time.perf_counter()
    log = flight.fly()
    return log, judged(flight, log, time.perf_counter() - began)


def _compared(name: str, scenario: ArmScenario, assignments: tuple[str, ...]) -> dict[str, Any]:
    """Figures of a flight with other keys."""
    other, _ = resolve_arm(name, assignments, seed=scenario.seed, duration=scenario.duration)
    metrics = fly_judged(ArmFlight(other))[1]
    return {key: metrics[key] for key in COMPARED if key in metrics}


def _write_trajectories(folder: Path, log: ArmFlightLog) -> None:
    """Platform, end effector and reference in the TUM format, the latter two level with their headings."""
    for name, pose in (("platform", log.pose), ("tip", log.r), ("reference_tip", log.r_d)):
        q_W = so3.quaternion_exp(np.column_stack([0.0 * pose[:, :2], pose[:, 3]]))
        text = tum_text(log.t, np.column_stack([pose[:, :3], q_W]))
        write_file(folder / f"trajectory_{name}.tum", text.encode())


def rmse(metrics: dict[str, Any]) -> Array:
    """Position RMSE x, y, z and of the distance [m]; NaN where a flight ended before."""
    xyz = metrics["position_rmse_xyz_m"]
    return np.full(4, np.nan) if xyz is None else np.array([*xyz, metrics["position_rmse_m"]])
