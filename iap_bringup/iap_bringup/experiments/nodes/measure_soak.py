# SPDX-License-Identifier: BSD-3-Clause
"""Memory, open files and threads of the nodes of a flight in lockstep, every node a process of its own."""

import tempfile
from pathlib import Path

import rclpy

from iap_bringup.experiments.footprint import Footprint
from iap_bringup.experiments.nodes.listener import Listener, nodes_to_measure
from iap_bringup.experiments.nodes.measure import START_TIMEOUT, wait_until
from iap_bringup.experiments.rows import Report, Rows
from iap_simulation.scenario.resolving import Options, resolve


def footprints(scenario: str, duration: float, count: int, report: Report) -> Rows:
    """Memory [MB] of all node processes, and the files and threads of all together.

    Args:
        scenario: a name.
        duration: of the flight [s].
        count: of rows, at equal distances in flown time.
        report: called with what is being done.

    Raises:
        BadInput: unknown scenario, or the nodes are not built or do not start.
    """
    longer = 2.0 * duration  # so that nobody ends while it is looked at
    resolved, _ = resolve(scenario, Options(duration=longer))
    parameters = {"scenario": scenario, "duration": longer}
    rows: Rows = {}
    with nodes_to_measure() as nodes, tempfile.TemporaryDirectory() as folder, nodes:
        listener = Listener(rclpy.create_node("soak"))
        out = {"out": str(Path(folder) / "run"), "plot": False}
        nodes.start("recorder", {**parameters, **out})
        nodes.start_flight(resolved, parameters, pace="lockstep")
        for i in range(1, count + 1):
            t, _ = wait_until(listener, i * duration / count, START_TIMEOUT)
            report(f"{t:.0f} of {duration:.0f} s")
            footprints = {key: Footprint.of(each.pid) for key, each in nodes.processes.items()}
            rows[f"{t:.0f} s"] = {
                **{key: each.memory_mb for key, each in footprints.items()},
                "open_files": sum(each.open_files for each in footprints.values()),
                "threads": sum(each.threads for each in footprints.values()),
            }
    return rows
