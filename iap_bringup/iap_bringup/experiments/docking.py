# SPDX-License-Identifier: BSD-3-Clause
"""The hard docking by the script and by the policy that ships: delays drawn, each delay alone, and in the engines."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from iap_bringup.experiments.rows import Bar, Rows
from iap_learning.evaluation.batched import fly_batched
from iap_learning.evaluation.engines import fly_in_engine
from iap_learning.evaluation.flyers import SCRIPT, EvaluatedAgent, baseline, of_policy
from iap_learning.evaluation.results import Results
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.task import Task
from iap_physics.engines.make import is_installed

TASK = "docking_hard"
FIRST = 1  # seed of the first start
DELAYS_MS = (0, 20, 40, 60, 80)
LONGEST_DELAY_MS = 60  # that is drawn
TOUCHING = ("pybullet", "mujoco")  # engines with contact
DRAWN = "delays drawn"  # name of a row
LEAST_SUCCESS = {"script": 97.0, "policy": 98.1}  # with drawn delays [%]
LEAST_SUCCESS_LATE = 95.0  # with each delay that is drawn [%]
LATEST_LOCK = {"script": 3.0, "policy": 2.3}  # in the mean [s]
LATEST_CALM = 1.5  # after the lock, in the mean [s]
LARGEST_FORCE, LARGEST_ABOVE = 33.0, 1.0  # of 95 % of flights [N]; share above 60 N [%]
ENGINE_SUCCESS, ENGINE_FORCE = 3.0, 10.0  # by which engines may differ [%], [N]


class Sizes(NamedTuple):
    """Numbers of starts.

    Attributes:
        drawn: with delays that are drawn.
        each: with each delay.
        engine: in each engine.
    """

    drawn: int = 1000
    each: int = 256
    engine: int = 100


QUICK = Sizes(64, 32, 4)


def docking_rows(sizes: Sizes, tell: Callable[[str], None]) -> Rows:
    """Rows of both, by what they are.

    Args:
        sizes: numbers of starts.
        tell: is told what is flown.
    """
    rows = {}
    agents = (baseline(SCRIPT), of_policy(Policy.load(TASK)))
    cases = [(who, *flight) for who in agents for flight in _flights(sizes)]
    for number, (who, name, fly) in enumerate(cases):
        title = f"{'script' if who.name == SCRIPT else 'policy'}, {name}"
        tell(f"{number} of {len(cases)}: {title}")
        rows[title] = row_of(fly(who))
    return rows


def docking_bars(rows: Rows) -> Iterator[Bar]:
    """Bars of the rows of `docking_rows`: success, time, calm and force, and the engines beside batched contact."""
    for who in LEAST_SUCCESS:
        drawn = {
            key: np.inf if value is None else value
            for key, value in rows[f"{who}, {DRAWN}"].items()
        }
        yield Bar(f"{who}: success, %", drawn["success_%"], LEAST_SUCCESS[who], at_least=True)
        late = [rows[f"{who}, {ms} ms"]["success_%"] for ms in DELAYS_MS if ms <= LONGEST_DELAY_MS]
        yield Bar(
            f"{who}: success by each delay, least, %", min(late), LEAST_SUCCESS_LATE, at_least=True
        )
        yield Bar(f"{who}: time to the lock, mean, s", drawn["lock_s"], LATEST_LOCK[who])
        yield Bar(f"{who}: calm after the lock, mean, s", drawn["then_calm_s"], LATEST_CALM)
        yield Bar(f"{who}: largest force of 95 %, N", drawn["force_95_%_n"], LARGEST_FORCE)
        yield Bar(f"{who}: flights above 60 N, %", drawn["above_60_n_%"], LARGEST_ABOVE)
        for engine in TOUCHING:
            if (row := rows.get(f"{who}, {engine}")) is None:
                continue
            for what, key, limit in (
                ("success, %", "success_%", ENGINE_SUCCESS),
                ("force of 95 %, N", "force_95_%_n", ENGINE_FORCE),
            ):
                off = abs(row[key] - drawn[key]) if row[key] is not None else np.inf
                yield Bar(f"{who}, {engine}: {what}, beside batched contact", off, limit)


def _flights(sizes: Sizes) -> Iterator[tuple[str, Callable[[EvaluatedAgent], Results]]]:
    """Names of rows, and what flies an agent for each."""
    yield DRAWN, lambda who: fly_batched(make_task(TASK), who, _seeds(sizes.drawn))
    for ms in DELAYS_MS:
        yield f"{ms} ms", partial(_fly_late, 1e-3 * ms, _seeds(sizes.each))
    for engine in filter(is_installed, TOUCHING):
        yield engine, partial(_fly_in_engine, engine, _seeds(sizes.engine))


def _fly_late(delay: float, seeds: Sequence[int], who: EvaluatedAgent) -> Results:
    return fly_batched(late_by(delay), who, seeds)


def _fly_in_engine(engine: str, seeds: Sequence[int], who: EvaluatedAgent) -> Results:
    return fly_in_engine(make_task(TASK), who, engine, seeds)


def _seeds(count: int) -> Sequence[int]:
    return range(FIRST, FIRST + count)


def late_by(delay: float) -> Task:
    """The task with one delay [s] of all commands in place of those that are drawn."""
    late = {f"vehicles.{i}.model_error.delay": delay for i in range(2)}
    return make_task(TASK, {"settings": {"draw.delay": 0.0, **late}})


def row_of(results: Results) -> dict[str, Any]:
    """Figures of dockings; times are of successes."""
    figures, force = results.figures, results.measures["force_peak"]
    calm = (results.measures["calm_from"] - results.measures["time"])[results.success]
    return {
        "starts": figures["episodes"],
        "success_%": 100.0 * results.success.mean(),
        "at_least_%": 100.0 * float(figures["success_low"] or 0.0),
        "lock_s": figures["time_mean"],
        "lock_95_%_s": figures["time_95"],
        "then_calm_s": float(np.mean(calm)) if len(calm) else None,
        "force_95_%_n": figures["force_peak_95"],
        "force_max_n": float(force.max()),
        "above_60_n_%": 100.0 * float(np.mean(force > 60.0)),
    }
