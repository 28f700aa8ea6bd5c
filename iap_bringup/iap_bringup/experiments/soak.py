# SPDX-License-Identifier: BSD-3-Clause
"""Flies for long and prints what memory, open files and threads do meanwhile, and what judging the recording takes.

python -m iap_bringup.experiments.soak --duration 3600
python -m iap_bringup.experiments.soak --duration 3600 --nodes
"""

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from iap_bringup.experiments.footprint import Footprint
from iap_bringup.experiments.rows import Report, Rows
from iap_bringup.terminal.tables import show_rows
from iap_description.errors import BadInput
from iap_simulation.runs.run import record

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
    """Footprints of the nodes in lockstep, see `iap_bringup.experiments.nodes.measure_soak`.

    Raises:
        BadInput: no ROS 2, or the nodes are not built or do not start.
    """
    try:
        from iap_bringup.experiments.nodes.measure_soak import footprints
    except ImportError as error:
        raise BadInput(f"soak: ROS 2 is not in this environment ({error})") from error
    return footprints(SCENARIO, duration, ROWS, report)


def growth_row(rows: Rows) -> dict[str, str]:
    """Growth of each column from the second row of footprints, when all is loaded, to the last one."""
    timed = [row for name, row in rows.items() if name.endswith(" s")]
    return {key: f"{100.0 * (timed[-1][key] / timed[1][key] - 1.0):+.2f} %" for key in timed[1]}


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
