# SPDX-License-Identifier: BSD-3-Clause
"""Measures the nodes that localise as separate processes, while a recording is played to them in real time."""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosbags.rosbag2 import Reader
from rosgraph_msgs.msg import Clock

from iap_bringup.experiments.footprint import Footprint, processor_time
from iap_bringup.experiments.nodes.listener import Listener, nodes_to_measure
from iap_bringup.experiments.nodes.measure import START_TIMEOUT
from iap_bringup.experiments.nodes.processes import Nodes
from iap_bringup.launching.node_parameters import FRONTEND, JOINT, VIRPO
from iap_bringup.terminal.progress import counted
from iap_description.arrays import Array
from iap_estimation.evaluation.trajectory_errors import poses_at
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import BAG
from iap_io.wire.stamps import SECOND
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve

KEPT = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
WAIT = 5.0  # before the recording is played, for its topics to be found [s of wall time]
REST = 3.0  # after it, for the last messages of all [s of wall time]


class LocalizationListener(Listener):
    """The clock of a recording, and the central body's estimated places.

    Attributes:
        clock: stamps and wall times [s].
        centre: stamps, places (3) and by how much the clock was ahead of them [s].
    """

    def __init__(self, vehicle: str) -> None:
        super().__init__("measure_localization")
        self.clock: list[tuple[float, float]] = []
        self.centre: list[tuple[float, ...]] = []
        self.node.create_subscription(Clock, "/clock", self._on_clock, 10)
        topic = f"/{vehicle}/virpo/odometry"
        self.node.create_subscription(Odometry, topic, self._on_centre, KEPT)

    def _on_clock(self, message: Clock) -> None:
        self.clock.append((_seconds(message.clock), time.monotonic()))

    def _on_centre(self, message: Odometry) -> None:
        t, p = _seconds(message.header.stamp), message.pose.pose.position
        behind = self.clock[-1][0] - t if self.clock else np.nan
        self.centre.append((t, p.x, p.y, p.z, behind))


def measure_methods(
    methods: Sequence[str], duration: float, report: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Record a flight of some time [s], and play it to the nodes of each method.

    Raises:
        BadInput: the nodes are not built or do not start.
    """
    options = {"sensors": "stereo", "scene": "textured_walls", "duration": duration}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "flight"
        report(f"0 of {len(methods)}: the flight")
        record("figure_eight", folder=run, **options)
        return {method: measure_localization(run, method) for method in counted(report, methods)}


def measure_localization(run: Path, method: str) -> dict[str, Any]:
    """Play a recording in real time to the nodes of a method, one process each.

    Raises:
        BadInput: no such method for nodes, or they are not built or do not start.
    """
    scenario, _ = resolve(str(run / "config.yaml"), Options())
    vehicle = scenario.vehicles[0]
    with nodes_to_measure() as nodes:
        listener = LocalizationListener(vehicle.name)
        with nodes:
            keys = nodes.start_localization(scenario, vehicle, method)
            names = [f"/{key.replace('.', '/')}" for key in keys]
            listener.wait(lambda: set(names) <= set(listener.times), "diagnostics", START_TIMEOUT)
            used = _play(listener, nodes, run)
        return {**_kept_up(listener, names, run), **used}


def _play(listener: LocalizationListener, nodes: Nodes, run: Path) -> dict[str, float]:
    """Play it; what all other processes used meanwhile."""
    pids = [process.pid for process in nodes.processes.values()]
    player = nodes.start("sensor_player", {"run": str(run), "wait": WAIT})
    listener.wait(lambda: bool(listener.clock), "the recording's clock", START_TIMEOUT)
    before, began, resident = _cpu(pids), time.monotonic(), _resident(pids)
    while nodes.processes[player].poll() is None:
        listener.spin()
    spent = (_cpu(pids) - before) / (time.monotonic() - began)
    until = time.monotonic() + REST
    while time.monotonic() < until:
        listener.spin()
    grown = _resident(pids) - resident
    return {"cores_used": spent, "memory_mb": resident + grown, "memory_growth_mb": grown}


def _kept_up(listener: LocalizationListener, names: Sequence[str], run: Path) -> dict[str, float]:
    """Pace of real time, and errors of the estimates."""
    (first, began), (last, ended) = listener.clock[0], listener.clock[-1]
    frontends = [name for name in names if name.endswith(FRONTEND)]
    windows = [name for name in names if name.endswith((VIRPO, JOINT))]
    centre = np.array(listener.centre).reshape(-1, 5)
    behind = 1e3 * centre[:, 4]
    return {
        "real_time_factor": (last - first) / (ended - began),
        "pairs_played": _pairs(run),
        "pairs_followed": _sum(listener, frontends, "pairs"),
        "pairs_in_windows": _sum(listener, windows, "frames"),
        "updates": _sum(listener, windows, "keyframes"),
        "late": _sum(listener, windows, "late"),
        "faults": _sum(listener, windows, "faults"),
        "pair_ms": max(listener.number(name, "pair_ms") for name in frontends),
        "update_ms": max(listener.number(name, "keyframe_ms") for name in windows),
        "behind_ms": float(np.median(behind)) if len(centre) else np.nan,
        "behind_ms_p99": float(np.percentile(behind, 99)) if len(centre) else np.nan,
        "center_updates": len(centre),
        "center_rmse_m": _error(centre, run),
    }


def _pairs(run: Path) -> int:
    """Stereo pairs in a recording."""
    with Reader(run / BAG) as bag:
        counts = [c.msgcount for c in bag.connections if c.topic.endswith("left/image_raw")]
    return sum(counts)


def _error(centre: Array, run: Path) -> float:
    """RMSE of the central body's place [m]."""
    true = load_run(run).vehicles[0].columns
    off = centre[:, 1:4] - poses_at(centre[:, 0], true.t, true.x[:, 0, :7])[:, :3]
    return float(np.sqrt(np.mean(np.sum(off**2, axis=1)))) if len(centre) else np.nan


def _sum(listener: LocalizationListener, names: Sequence[str], key: str) -> float:
    return sum(listener.number(name, key) for name in names)


def _seconds(stamp: Time) -> float:
    return stamp.sec + stamp.nanosec / SECOND


def _cpu(pids: Sequence[int]) -> float:
    """Processor time of processes so far [s]."""
    return sum(processor_time(pid) for pid in pids)


def _resident(pids: Sequence[int]) -> float:
    """Memory of processes [MB]."""
    return sum(Footprint.of(pid).memory_mb for pid in pids)
