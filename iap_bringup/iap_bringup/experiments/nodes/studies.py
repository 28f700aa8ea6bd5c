# SPDX-License-Identifier: BSD-3-Clause
"""The studies of ``iap experiment`` that need ROS 2: each starts nodes, measures something and shows a table."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from iap_bringup.experiments.rows import show_bars
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import counted, work_bar
from iap_bringup.terminal.tables import show_columns
from iap_description.errors import BadInput

PACES = ("realtime", "lockstep")  # of flights as nodes


@contextmanager
def _of_ros(study: str) -> Iterator[None]:
    """Imports of a study that needs ROS 2."""
    try:
        yield
    except ImportError as error:
        raise BadInput(
            f"experiment {study}: ROS 2 is not in this environment ({error})"
        ) from error


def nodes(console: Console) -> None:
    """The ROS nodes as processes over 60 s: real time, lockstep, two simulations in one domain; and three modules."""
    with _of_ros("nodes"):
        from iap_bringup.experiments.nodes.measure import measure, measure_together
    flight = ("three_star_spiral", "pybullet")
    modules = ("module_assembly", "pybullet")
    with work_bar(make_console(stderr=True), "three_star_spiral") as report:
        results = {pace: measure(*flight, pace, 60.0) for pace in counted(report, PACES)}
        report("two at once")
        results |= measure_together(*flight, "realtime", 60.0, ("/sim_1", "/sim_2"))
    show_columns(console, "three_star_spiral, every node a process of its own", results)
    with work_bar(make_console(stderr=True), "module_assembly") as report:
        joined = {pace: measure(*modules, pace, 60.0) for pace in counted(report, PACES)}
        report("all nodes in one process")
        joined["realtime, one process"] = measure(*modules, "realtime", 60.0, together=True)
    show_columns(console, "module_assembly, every node a process of its own, or all one", joined)


def node_bars(console: Console, *, json: bool = False) -> None:
    """Platforms that follow, as nodes, a stream of poses with gaps, bursts and losses; depth images that arrive."""
    with _of_ros("node_bars"):
        from iap_bringup.experiments.nodes.node_bars import node_bars as measured
    with work_bar(make_console(stderr=True)) as report:
        bars = measured(report)
    show_bars(console, bars, as_json=json)


def remote_cameras(console: Console, *, json: bool = False) -> None:
    """Three aircraft as nodes, camera_node behind a link of 20 ms that loses 1 %, beside one machine (as root)."""
    with _of_ros("remote_cameras"):
        from iap_bringup.experiments.nodes.remote_cameras import compare_remote_cameras
    compare_remote_cameras(console, json=json)


def localization_nodes(console: Console) -> None:
    """The ROS nodes that localise as separate processes, a recording of 30 s being played to them in real time."""
    with _of_ros("localization_nodes"):
        from iap_bringup.experiments.nodes.measure_localization import measure_methods
    with work_bar(console) as report:
        results = measure_methods(("virpo", "joint"), 30.0, report)
    show_columns(console, "three aircraft, six images at 20 Hz, from a recording", results)
