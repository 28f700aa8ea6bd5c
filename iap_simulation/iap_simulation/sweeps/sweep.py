# SPDX-License-Identifier: BSD-3-Clause
"""A whole sweep: what is not done yet is flown, then all of it becomes one table."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from iap_io.runs.run_meta import COMPLETED
from iap_simulation.sweeps.flying import Chunk, RecordedChunks, Row, fly, most_runs
from iap_simulation.sweeps.process_pool import WorkPool
from iap_simulation.sweeps.statistics import wilson_interval
from iap_simulation.sweeps.study import Study, SweepPoint, seeds_fingerprint, tree_fingerprint
from iap_simulation.sweeps.sweep_folder import SweepFolder

Progress = Callable[[int], None]


@dataclass(frozen=True)
class SweepResult:
    """Outcome of a sweep.

    Attributes:
        summary: what ``--json`` prints.
        rows: one for each run, as the table has them.
    """

    summary: dict[str, Any]
    rows: list[dict[str, Any]]


def sweep(
    study: Study,
    points: Sequence[SweepPoint],
    folder: SweepFolder,
    pool: WorkPool,
    progress: Progress = lambda _: None,
) -> SweepResult:
    """Fly what a folder does not have yet, and write its table; the summary is left to `SweepFolder.write_summary`.

    Args:
        study: what is flown.
        points: its combinations.
        folder: of this study.
        pool: who does the work.
        progress: is told first how many runs are there already, then each time how many more are done.
    """
    began = time.monotonic()
    work = RecordedChunks(folder.runs).fly if study.records else fly
    chunks = [list(chunks_of(study, point)) for point in points]
    waiting = [each for of_point in chunks for each in of_point if not folder.has(each.name)]
    progress(study.runs - sum(len(chunk.seeds) for chunk in waiting))
    with closing(pool.map(work, waiting)) as finished:
        for chunk, rows in finished:
            folder.add(chunk.name, rows)
            progress(len(chunk.seeds))
    rows = [
        {**point.varied, **row}
        for point, of_point in zip(points, chunks, strict=True)
        for chunk in of_point
        for row in folder.rows(chunk.name, chunk.seeds)
    ]
    table = folder.write_table(rows)
    summary = {
        **_counts(rows),
        "retried": pool.retried,
        "wall_s": time.monotonic() - began,
        "table": str(table),
    }
    return SweepResult(summary, rows)


def chunks_of(study: Study, point: SweepPoint) -> Iterator[Chunk]:
    """The work of a combination, some runs at a time, and one where recordings are kept."""
    most, of_tree = 1 if study.records else most_runs(point.tree), tree_fingerprint(point.tree)
    for first in range(0, study.seeds, most):
        count = min(most, study.seeds - first)
        seeds = tuple(range(study.first_seed + first, study.first_seed + first + count))
        yield Chunk(seeds_fingerprint(of_tree, seeds), point.tree, seeds)


def _counts(rows: Sequence[Row]) -> dict[str, Any]:
    outcomes = Counter(row["outcome"] for row in rows)
    completed = outcomes[COMPLETED]
    low, high = wilson_interval(completed, len(rows))
    return {
        "runs": len(rows),
        "failed": len(rows) - completed,
        "outcomes": dict(sorted(outcomes.items())),
        "success_rate": completed / len(rows),
        "success_low": low,
        "success_high": high,
    }
