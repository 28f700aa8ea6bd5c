# SPDX-License-Identifier: BSD-3-Clause
"""Measures the nodes as separate processes: real-time factor, late and lost commands, hops, processor time.

python -m iap_bringup.experiments.nodes.measure --pace realtime --duration 60
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from iap_bringup.experiments.footprint import processor_time
from iap_bringup.experiments.nodes.listener import Listener, nodes_to_measure
from iap_description.errors import BadInput
from iap_physics.nodes.physics_node import PACES
from iap_simulation.scenario.resolving import Options, resolve

START_TIMEOUT = 240.0  # of the nodes [s]
SETTLED = 2.0  # simulation time from which on it counts [s]
SIMULATION = "physics_node: simulation"
HOPS = 3  # state to reference_node, reference to controller_node, command to physics_node


def wait_until(listener: Listener, t: float, patience: float) -> tuple[float, float]:
    """Wait until the simulation is past time `t` [s]; returns its time and the wall's then.

    Raises:
        BadInput: it made no progress for `patience` [s of wall time].
    """
    last, since = -1.0, time.monotonic()
    while time.monotonic() - since < patience:
        listener.spin()
        now = listener.number(SIMULATION, "t")
        if now > t:
            return now, listener.times[SIMULATION]
        if now > last:
            last, since = now, time.monotonic()
    raise BadInput(f"the simulation stands at t = {max(last, 0.0):.3f} s")


def measure(
    scenario: str, engine: str, pace: str, duration: float, *, together: bool = False
) -> dict[str, Any]:
    """Fly a scenario with separate processes and measure over `duration` [s of simulation time].

    Args:
        scenario: its name.
        engine: that flies it.
        pace: of time.
        duration: that is measured.
        together: whether one process has all nodes.

    Raises:
        BadInput: unknown scenario, or the nodes are not built or do not start.
    """
    return measure_together(scenario, engine, pace, duration, ("",), together=together)[""]


def measure_together(
    scenario: str,
    engine: str,
    pace: str,
    duration: float,
    simulations: Sequence[str],
    *,
    together: bool = False,
) -> dict[str, dict[str, Any]]:
    """The same of several simulations at once in one domain, by their namespaces.

    Raises:
        BadInput: as `measure`.
    """
    assignments = [f"engine.name={engine}"]
    resolved, _ = resolve(scenario, Options(assignments=tuple(assignments)))
    names = [vehicle.name for vehicle in resolved.vehicles]
    parameters = {"scenario": scenario, "assignments": assignments}
    with nodes_to_measure() as nodes:
        listeners = [Listener(f"measure_{i}", each) for i, each in enumerate(simulations)]
        with nodes, ThreadPoolExecutor(len(simulations)) as threads:
            for each in simulations:
                start = nodes.start_container if together else nodes.start_flight
                start(resolved, parameters, simulation=each, pace=pace)
            pids = {key: process.pid for key, process in nodes.processes.items()}
            watch = partial(_watch, names=names, duration=duration, dt=resolved.dt, pids=pids)
            return dict(zip(simulations, threads.map(watch, listeners), strict=True))


def _watch(
    listener: Listener, names: list[str], duration: float, dt: float, pids: dict[str, int]
) -> dict[str, Any]:
    began, wall = wait_until(listener, SETTLED, START_TIMEOUT)
    before, used = _counts(listener, names), _processor_times(pids, listener.simulation)
    ended, later = wait_until(listener, began + duration, START_TIMEOUT)
    counts = {key: n - before[key] for key, n in _counts(listener, names).items()}
    periods = (ended - began) / dt
    now = _processor_times(pids, listener.simulation)
    cpu_us = {node: 1e6 * (now[node] - used[node]) / periods for node in now}
    answer_us = 1e3 * listener.number(SIMULATION, "answer_ms")
    controller = f"{listener.simulation}/{names[0]}/controller_node"
    control_us = listener.number(controller, "control_step_us")
    return {
        "duration_s": ended - began,
        "real_time_factor": (ended - began) / (later - wall),
        "control_rate_hz": periods / (later - wall),
        **counts,
        "late_percent": 100.0 * counts["late"] / max(1, counts["taken"] + counts["late"]),
        "missed_deadlines": listener.number(SIMULATION, "missed_deadlines"),
        "answer_us": answer_us,
        "answer_us_p99": 1e3 * listener.number(SIMULATION, "answer_ms_p99"),
        "control_step_us": control_us,
        "physics_step_us": listener.number(SIMULATION, "step_us"),
        "hop_us": (answer_us - control_us) / HOPS,
        **{f"cpu_us_{node}": value for node, value in cpu_us.items()},
        "cpu_us": sum(cpu_us.values()),
        "cores_at_rate": 1e-6 * sum(cpu_us.values()) / dt,
    }


def _processor_times(pids: dict[str, int], simulation: str) -> dict[str, float]:
    """Processor time so far of a simulation's processes by their nodes' names, all vehicles together [s]."""
    times: dict[str, float] = {}
    within = f"{simulation}/".lstrip("/").replace("/", ".")
    for key, pid in pids.items():
        if key.startswith(within):
            node = key.rpartition(".")[2].removesuffix("_node")
            times[node] = times.get(node, 0.0) + processor_time(pid)
    return times


def _counts(listener: Listener, names: list[str]) -> dict[str, float]:
    """Commands to all vehicles so far, by what came of them."""
    keys = ("taken", "late", "lost", "rejected", "holds")
    return {key: sum(listener.number(f"physics_node: {n}", key) for n in names) for key in keys}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print one line for every number."""
    parser = argparse.ArgumentParser(
        prog="python -m iap_bringup.experiments.nodes.measure", description=__doc__
    )
    parser.add_argument("--scenario", default="three_star_spiral", help="default: %(default)s")
    parser.add_argument("--engine", default="pybullet", choices=("pybullet", "closed_form"))
    parser.add_argument("--pace", default="realtime", choices=PACES, help="default: %(default)s")
    parser.add_argument("--duration", type=float, default=60.0, help="simulated time [s]")
    parser.add_argument("--together", action="store_true", help="all nodes in one process")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    options = parser.parse_args(arguments)
    try:
        flight = (options.scenario, options.engine, options.pace, options.duration)
        result = measure(*flight, together=options.together)
    except BadInput as error:
        sys.stderr.write(f"measure: {error}\n")
        return 2
    lines = [f"{key:26} {value:10.4g}" for key, value in result.items()]
    sys.stdout.write((json.dumps(result) if options.json else "\n".join(lines)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
