# SPDX-License-Identifier: BSD-3-Clause
"""Episodes of many worlds side by side, one of each seed: short ones do not count more often."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from iap_description.arrays import Array
from iap_learning.evaluation.flyers import EvaluatedAgent
from iap_learning.evaluation.results import UNITS, Results
from iap_learning.tasks.episodes import AnyEpisodes, step_until_over
from iap_learning.tasks.kind import ERROR_TIME
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.tasks.task import Task
from iap_simulation.tasks.outcomes import OUTCOMES

AT_ONCE = 256  # worlds
Progress = Callable[[int], None]


def fly_batched(
    task: Task,
    flyer: EvaluatedAgent,
    seeds: Sequence[int],
    *,
    threads: int = 1,
    progress: Progress = lambda _: None,
) -> Results:
    """Fly an episode of each seed.

    Args:
        task: what is to be done.
        flyer: who flies.
        seeds: of the episodes.
        threads: that share the worlds; no result depends on how many.
        progress: is told how many are over.

    Raises:
        BadInput: they cannot be flown, or the flyer is not made for them.
    """
    parts = []
    for first in range(0, len(seeds), AT_ONCE):
        batch = seeds[first : first + AT_ONCE]
        episodes = make_episodes(task, len(batch), threads=threads)
        parts.append(fly_each(episodes, flyer, batch, partial(_add, progress, first)))
    return Results.joined(parts)


def _add(progress: Progress, before: int, done: int) -> None:
    progress(before + done)


def fly_each(
    episodes: AnyEpisodes,
    flyer: EvaluatedAgent,
    seeds: Sequence[int],
    progress: Progress = lambda _: None,
) -> Results:
    """Fly an episode of every world, each with its seed."""
    start = episodes.reset(seeds=seeds)
    success, ended = np.zeros(len(seeds), bool), EpisodeEnds(episodes)
    outcome = np.zeros(len(seeds), dtype=np.int64)
    done = 0
    for step, over in step_until_over(episodes, start, flyer.acting(episodes)):
        ended.note(over)
        success[over], outcome[over] = step.success[over], episodes.outcome[over]
        done += int(over.sum())
        progress(done)
    words = [OUTCOMES[number] for number in outcome.tolist()]
    return Results(np.array(seeds, dtype=np.int64), success, words, ended.measures)


class EpisodeEnds:
    """Results of episodes at their ends.

    Args:
        episodes: that are flown, at their start.

    Attributes:
        measures: (B,) by their names, see `iap_learning.evaluation.results.UNITS`.
    """

    def __init__(self, episodes: AnyEpisodes) -> None:
        self._episodes, count = episodes, episodes.count
        self._distances: list[Array] = []
        self._last = max(1, round(ERROR_TIME / episodes.dt))
        names = [name for name in self._known() if name in UNITS]
        self.measures = {name: np.full(count, np.nan) for name in names}

    def _known(self) -> dict[str, Array]:
        """Results at this instant."""
        episodes = self._episodes
        seconds = np.multiply(episodes.steps, episodes.dt, dtype=np.float64)
        known = {"time": seconds, **episodes.report()}
        if "distance" in known:
            last = [known["distance"], *self._distances]
            # Added up in the same order however many worlds there are.
            known["error"] = np.asarray(sum(last)) / len(last)
        return known

    def note(self, over: np.ndarray) -> None:
        """Take the end of a step, in which some episodes (B,) have ended."""
        known = self._known()
        for name, values in self.measures.items():
            values[over] = known[name][over]
        if "distance" in known:
            self._distances = [known["distance"], *self._distances][: self._last - 1]
