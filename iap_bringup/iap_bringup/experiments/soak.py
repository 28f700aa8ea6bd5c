# SPDX-License-Identifier: BSD-3-Clause
"""Flies for long and prints what memory, open files and threads do meanwhile, and what judging the recording takes.

python -m iap_bringup.experiments.soak --duration 3600
python -m iap_bringup.experiments.soak --duration 3600 --nodes
"""

import argparse
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from iap_bringup.experiments.options import Report, Rows
from iap_bringup.terminal.tables import show_rows
from iap_description.errors import BadInput
from iap_simulation.run import record
from iap_simulation.scenario.scenario import Options, resolve

ROWS = 10  # of a table, at equal distances in flown time
SCENARIO = "hover"
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Footprint:
    """What a process holds."""

    memory_mb: float
    open_files: float
    threads: float

    @classmethod
    def of(cls, pid: int | str) -> "Footprint":
        """Of a process that runs."""
        place = Path("/proc") / str(pid)
        pages = int((place / "statm").read_text().split()[1])
        files, threads = (len(list((place / name).iterdir())) for name in ("fd", "task"))
        return cls(pages * PAGE / 1e6, files, threads)


def in_process(duration: float, report: Report) -> Rows:
    """Footprints of one process that flies, at ten times, and its largest memory with the recording judged."""
    rows: Rows = {}

    def note(t: float) -> None:
        report(f"{t:.0f} of {duration:.0f} s")
        if t >= (len(rows) + 1) * duration / (ROWS + 1):
            rows[f"{t:.0f} s"] = asdict(Footprint.of("self"))

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run"
        record(SCENARIO, folder=place, duration=duration, progress=note)
        size = sum(file.stat().st_size for file in (place / "bag").iterdir())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    rows["largest, judged"] = {"memory_mb": peak, "recording_mb": size / 1e6}
    return rows


def as_nodes(duration: float, report: Report) -> Rows:
    """Memory [MB] of all node processes that fly and record in lockstep, and the files and threads of all together.

    Raises:
        BadInput: no ROS 2, or the nodes are not built or do not start.
    """
    try:
        import rclpy

        from iap_bringup.experiments.nodes.listener import Listener, nodes_to_measure
        from iap_bringup.experiments.nodes.measure import START_TIMEOUT, wait_until
    except ImportError as error:
        raise BadInput(f"soak: ROS 2 is not in this environment ({error})") from error

    scenario, _ = resolve(SCENARIO, Options(duration=2.0 * duration))
    parameters = {"scenario": SCENARIO, "duration": 2.0 * duration}
    rows: Rows = {}
    with nodes_to_measure() as nodes, tempfile.TemporaryDirectory() as folder, nodes:
        listener = Listener(rclpy.create_node("soak"))
        out = {"out": str(Path(folder) / "run"), "plot": False}
        nodes.start("recorder", {**parameters, **out})
        nodes.start_flight(scenario, parameters, pace="lockstep")
        for i in range(1, ROWS + 1):
            t, _ = wait_until(listener, i * duration / ROWS, START_TIMEOUT)
            report(f"{t:.0f} of {duration:.0f} s")
            found = {key: Footprint.of(each.pid) for key, each in nodes.processes.items()}
            rows[f"{t:.0f} s"] = {
                **{key: each.memory_mb for key, each in found.items()},
                "open_files": sum(each.open_files for each in found.values()),
                "threads": sum(each.threads for each in found.values()),
            }
    return rows


def growth_row(rows: Rows) -> dict[str, str]:
    """What each column has grown by from the second row of footprints, when all is loaded, to the last one."""
    flown = [row for name, row in rows.items() if name.endswith(" s")]
    return {key: f"{100.0 * (flown[-1][key] / flown[1][key] - 1.0):+.2f} %" for key in flown[1]}


def show_soak(
    console: Console, measured: Callable[[float, Report], Rows], duration: float
) -> None:
    """Measure, and show the table."""
    with console.status("") as status:
        rows = measured(duration, status.update)
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
        show_soak(Console(), as_nodes if options.nodes else in_process, options.duration)
    except BadInput as error:
        sys.stderr.write(f"soak: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
