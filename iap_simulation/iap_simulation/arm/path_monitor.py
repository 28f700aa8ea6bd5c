# SPDX-License-Identifier: BSD-3-Clause
"""Follows an end effector on an identified plant: errors from its path, stability of the law, trajectories."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from iap_control.arm.tip_velocities import TipVelocities
from iap_control.laws.end_effector import task_pose
from iap_description.arrays import Array
from iap_description.math import so3
from iap_io.runs.run_folder import write_file
from iap_io.trajectories.tum import tum_text
from iap_physics.plant.plant import Plant
from iap_simulation.arm.stability import PathLoop, stability
from iap_simulation.flights.state_log import StateLog
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.tasks.monitor import TaskMonitor
from iap_simulation.vehicles.vehicle import Vehicle

SLACK = 1e-9  # of the window's end [s]


class PathMonitor(TaskMonitor[Plant]):
    """Compares the end effector with its path at every physics step; the flight ends with its references.

    Args:
        scenario: of the flight.
        vehicle: that has the arm.
        motion: of it.
        log: of the plant's states.
    """

    key, missed = "arm", "not_reached"

    def __init__(
        self, scenario: Scenario, vehicle: Vehicle, motion: TipVelocities, log: StateLog
    ) -> None:
        self._scenario, self._vehicle, self._motion, self._log = scenario, vehicle, motion, log
        self._loop = PathLoop.of(scenario, motion)
        self._window = scenario.metrics.window or vehicle.timeline.window

    @classmethod
    def of(cls, scenario: Scenario, vehicles: Sequence[Vehicle], plant: Plant) -> Self | None:
        """The monitor of a flight whose end effector follows a path by velocities; None of others."""
        motion, log = scenario.vehicles[0].arm.motion, plant.part(StateLog)
        if log is None or not isinstance(motion, TipVelocities):
            return None
        return cls(scenario, vehicles[0], motion, log)

    @property
    def failure(self) -> None:
        """None: the path has no task in which it could fail."""
        return None

    @property
    def success(self) -> str:
        """Nothing but that the path was flown."""
        return ""

    def observe(self, plant: Plant) -> None:
        """Nothing: the log has every state."""

    @property
    def _tips(self) -> tuple[Array, Array]:
        """Places of the end effector as flown and as commanded: positions [m] and headings [rad], (K, 4) each."""
        chain, log = self._loop.arm.chain(), self._log
        poses = zip(log.pose, log.q, strict=True)
        r = np.array([task_pose(chain, pose[:3], pose[3], q) for pose, q in poses])
        return r, self._motion.path.at(log.t - self._vehicle.timeline.lead)[0]

    def metrics(self, plant: Plant) -> dict[str, Any]:
        """Key `arm` of metrics.json."""
        t, q, control, motors = self._log.t, self._log.q, self._vehicle.arm, plant.arm(0)
        assert control is not None and motors is not None  # noqa: S101 - the plant moves an arm
        start, end = self._window
        r, r_d = self._tips
        counts = control.clipped + motors.clipped
        out = {
            "window_s": [start, min(end, float(t[-1]))],
            **errors((r_d - r)[(t >= start) & (t <= end + SLACK)]),
            "published_rmse_m": list(self._scenario.metrics.published_rmse),
            "clipped_commands": self._by_joint(counts),
            "joint_range_rad": self._by_joint(zip(q.min(0), q.max(0), strict=True)),
        }
        if len(t) <= self._vehicle.timeline.last * plant.substeps:  # it ended before its time
            return out
        return out | {"stability": stability(self._loop, self._log, r_d, start)}

    def _by_joint(self, values: Iterable[Any]) -> dict[str, Any]:
        plain = (np.asarray(value).tolist() for value in values)
        return dict(zip((joint.name for joint in self._loop.arm.joints), plain, strict=True))

    def write(self, folder: Path) -> None:
        """Write the end effector and its reference at every physics step in the TUM format, level with their headings.

        Raises:
            RecordingFailed: the disk is full or cannot be written.
        """
        for name, pose in zip(("tip", "reference_tip"), self._tips, strict=True):
            q_W = so3.quaternion_exp(np.column_stack([0.0 * pose[:, :2], pose[:, 3]]))
            text = tum_text(self._log.t, np.column_stack([pose[:, :3], q_W]))
            write_file(folder / f"trajectory_{name}.tum", text.encode())


def errors(e: Array) -> dict[str, Any]:
    """Figures of errors (K, 4) of an end effector [m], [rad]; None where there are none."""
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
