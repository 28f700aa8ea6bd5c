# SPDX-License-Identifier: BSD-3-Clause
"""The studies of ``iap experiment``: each measures something and shows a table."""

from collections.abc import Callable

from rich.console import Console

from iap_bringup import report
from iap_description.errors import BadInput


def free_flight(console: Console) -> None:
    """PyBullet against the closed form of free flight, over three step sizes."""
    from iap_physics.convergence import free_flight_convergence  # compiles what no flight needs

    report.show_convergence(console, free_flight_convergence())


def nodes(console: Console) -> None:
    """The ROS nodes as separate processes over 60 s: their rate in real time, their speed in lockstep."""
    try:
        from iap_bringup.nodes.measure import measure
    except ImportError as error:
        raise BadInput(f"experiment nodes: ROS 2 is not in this environment ({error})") from error
    results = {
        pace: measure("three_star_spiral", "pybullet", pace, 60.0)
        for pace in ("realtime", "lockstep")
    }
    report.show_columns(console, "three_star_spiral, every node a process of its own", results)


EXPERIMENTS: dict[str, Callable[[Console], None]] = {"free_flight": free_flight, "nodes": nodes}
