# SPDX-License-Identifier: BSD-3-Clause
"""Flies for long and prints what memory, open files and threads do meanwhile, and what judging the recording takes.

python -m iap_bringup.experiments.soak --duration 3600
python -m iap_bringup.experiments.soak --duration 3600 --nodes
"""

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from subprocess import Popen
from typing import Any

from rich.console import Console

from iap_bringup.experiments.footprint import Footprint
from iap_bringup.experiments.rows import Report, Rows
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import work_bar
from iap_bringup.terminal.tables import show_rows
from iap_description.errors import BadInput
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve

ROWS = 10  # of a table, at equal distances in flown time
SCENARIO = "hover"


def in_process(duration: float, report: Report) -> Rows:
    """Footprints of one process that flies, at ten times, and its largest memory with the recording judged."""
    rows: Rows = {}

    def note(t: float) -> None:
        report(f"{t:.0f} of {duration:.0f} s")
        if len(rows) < ROWS and t >= (len(rows) + 1) * duration / (ROWS + 1):
            rows[f"{t:.0f} s"] = asdict(Footprint.of("self"))

    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        record(SCENARIO, folder=run, duration=duration, progress=note)
        size = sum(file.stat().st_size for file in (run / "bag").iterdir())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    rows["largest, judged"] = {"memory_mb": peak, "recording_mb": size / 1e6}
    return rows


def as_nodes(duration: float, report: Report) -> Rows:
    """Memory [MB] of all node processes in lockstep, and the files and threads of all together, at ten times.

    Raises:
        BadInput: no ROS 2, or the nodes are not built or do not start.
    """
    try:
        from iap_bringup.experiments.nodes.listener import Listener, nodes_to_measure
        from iap_bringup.experiments.nodes.measure import START_TIMEOUT, wait_until
    except ImportError as error:
        raise BadInput(f"soak: ROS 2 is not in this environment ({error})") from error
    longer = 2.0 * duration  # so that nobody ends while it is looked at
    resolved, _ = resolve(SCENARIO, Options(duration=longer))
    parameters = {"scenario": SCENARIO, "duration": longer}
    rows: Rows = {}
    with nodes_to_measure() as nodes, tempfile.TemporaryDirectory() as folder, nodes:
        listener = Listener("soak")
        out = {"out": str(Path(folder) / "run"), "plot": False}
        nodes.start("recorder", {**parameters, **out})
        nodes.start_flight(resolved, parameters, pace="lockstep")
        for i in range(1, ROWS + 1):
            t, _ = wait_until(listener, i * duration / ROWS, START_TIMEOUT)
            report(f"{t:.0f} of {duration:.0f} s")
            rows[f"{t:.0f} s"] = _footprint_row(nodes.processes)
    return rows


def _footprint_row(processes: Mapping[str, Popen[Any]]) -> dict[str, float]:
    """Memory [MB] of each process, and the files and threads of all together."""
    footprints = {key: Footprint.of(each.pid) for key, each in processes.items()}
    return {
        **{key: each.memory_mb for key, each in footprints.items()},
        "open_files": sum(each.open_files for each in footprints.values()),
        "threads": sum(each.threads for each in footprints.values()),
    }


def growth_row(rows: Rows) -> dict[str, str]:
    """Growth of each column from the second row of footprints, when all is loaded, to the last one."""
    timed = [row for name, row in rows.items() if name.endswith(" s")]
    return {key: f"{100.0 * (timed[-1][key] / timed[1][key] - 1.0):+.2f} %" for key in timed[1]}


def show_soak(
    console: Console, measured: Callable[[float, Report], Rows], duration: float
) -> None:
    """Measure, and show the table."""
    with work_bar(console) as report:
        rows = measured(duration, report)
    where = "one process" if measured is in_process else "nodes in lockstep"
    show_rows(console, f"{SCENARIO}, {where}", {**rows, "grown by": growth_row(rows)})


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m iap_bringup.experiments.soak", description=__doc__
    )
    parser.add_argument("--duration", type=float, default=3600.0, help="simulated time [s]")
    parser.add_argument("--nodes", action="store_true", help="ROS nodes in lockstep")
    options = parser.parse_args(arguments)
    try:
        show_soak(make_console(), as_nodes if options.nodes else in_process, options.duration)
    except BadInput as error:
        sys.stderr.write(f"soak: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
