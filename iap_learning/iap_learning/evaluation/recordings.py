# SPDX-License-Identifier: BSD-3-Clause
"""Run folders of failures: the first of each cause is flown again, alone, and recorded as ``./iap run`` does."""

from pathlib import Path
from typing import Any, NamedTuple

from iap_description.errors import FlightFailed
from iap_learning.evaluation.engines import run_settings, single_run_of
from iap_learning.evaluation.flyers import EvaluatedAgent
from iap_learning.evaluation.results import Results
from iap_learning.tasks.task import Task
from iap_simulation.runs.run import record

FOLDER = "failures"


class Recording(NamedTuple):
    """A failure that was flown again.

    Attributes:
        folder: of the run; None where the flight ended before anything was recorded.
        engine: that flew it.
        outcome: of the run, which may differ from the episode's where another engine flew that.
    """

    folder: Path | None
    engine: str
    outcome: str


def record_failures(
    results: Results, task: Task, flyer: EvaluatedAgent, engine: str, folder: Path
) -> dict[str, Recording]:
    """Record the first failure of each cause, by causes.

    Args:
        results: of the evaluation.
        task: that was judged.
        flyer: who flies single runs.
        engine: that flies them.
        folder: in which the run folders are made.

    Raises:
        BadInput: the flyer flies no single run, or the task has none.
    """
    single_run, settings = single_run_of(task), run_settings(task, flyer)
    duration = single_run.duration(task)
    options: dict[str, Any] = {"platform": task.platform_name}
    options |= {} if duration is None else {"duration": duration}
    out = {}
    for cause, seed in results.first_failures.items():
        place = folder / FOLDER / cause
        try:
            run = record(
                task.scenario, folder=place, settings=settings, seed=seed, engine=engine, **options
            )
        except FlightFailed as failure:
            out[cause] = Recording(None, engine, failure.outcome)
            continue
        out[cause] = Recording(run.folder, engine, str(run.metrics["outcome"]))
    return out


def recording_engine(task: Task, engine: str) -> str:
    """The engine of single runs that stand for episodes: the same, or for those of many worlds the closest one."""
    if engine != "batched":
        return engine
    return single_run_of(task).engine
