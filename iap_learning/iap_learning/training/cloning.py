# SPDX-License-Identifier: BSD-3-Clause
"""The stage offline: a policy learns from recorded steps, in rounds of compiled updates.

Episodes are flown anew by an expert, or read from a data set.

Whatever is drawn comes from a stream of its own for each round, so that a training that goes on after one is the same,
bit for bit, as one that was never interrupted.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_learning.datasets.rollouts import Rollout, collect
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.kinds.registry import agent_of
from iap_learning.training import bc, iql, td3bc
from iap_learning.training.experiment import Data, Experiment, Offline
from iap_learning.training.libraries import jax
from iap_learning.training.log import TrainingLog
from iap_learning.training.moments import Moments, no_moments, scaling, updated
from iap_learning.training.networks import Network
from iap_learning.training.offline import NetworkShape, make_updates
from iap_learning.training.transitions import Transitions


class RecordedSteps(NamedTuple):
    """Recorded steps.

    Attributes:
        steps: of all episodes that are kept.
        success: share of successes in all episodes.
        digest: SHA-256 of the steps' numbers, in hexadecimal.
    """

    steps: Transitions
    success: float
    digest: str


def recorded(data: Data, episodes: AnyEpisodes, seeds: np.ndarray) -> RecordedSteps:
    """Let an expert fly, or read a data set.

    Args:
        data: what is learned from.
        episodes: that are flown.
        seeds: of as many episodes as there are to be.

    Raises:
        BadInput: there is no such expert or data set for this task, or nothing is kept.
    """
    rollouts: Sequence[Rollout]
    if data.folder is None:
        rollouts = collect(episodes, agent_of(data.policy, episodes), seeds.tolist())
        source = f"data of '{data.policy}'"
    else:
        rollouts, source = _read(Path(data.folder), episodes), data.folder
    success = float(np.mean([each.success for each in rollouts]))
    kept = [each for each in rollouts if each.success or data.keep == "all"]
    if not kept:
        raise BadInput(f"{source}: no episode is a success, and offline.data.keep wants these")
    steps = transitions(kept, source)
    digest = hashlib.sha256(b"".join(part.tobytes() for part in steps))
    return RecordedSteps(steps, success, digest.hexdigest())


def _read(folder: Path, episodes: AnyEpisodes) -> Sequence[Rollout]:
    from iap_learning.datasets.files import read_dataset  # which needs Minari and gymnasium

    rollouts = read_dataset(folder, episodes.task).rollouts
    if not rollouts:
        raise BadInput(f"{folder}: the data set has no episodes")
    sizes = rollouts[0].observations.shape[1], rollouts[0].actions.shape[1]
    if sizes != (episodes.observed, episodes.size):
        raise BadInput(
            f"{folder}: has {sizes[0]} observed numbers and {sizes[1]} of actions; task"
            f" '{episodes.task.name}' has {episodes.observed} and {episodes.size}"
        )
    return rollouts


def transitions(rollouts: Sequence[Rollout], source: str) -> Transitions:
    """The steps of episodes, one after the other.

    Raises:
        BadInput: a number is not finite.
    """
    return Transitions.of(
        np.concatenate([each.observations[:-1] for each in rollouts]),
        np.concatenate([each.actions for each in rollouts]),
        np.concatenate([each.rewards for each in rollouts]),
        np.concatenate([each.observations[1:] for each in rollouts]),
        np.concatenate([each.terminations for each in rollouts]),
        source=source,
    )


STAGE = "offline"
METHODS: dict[str, ModuleType] = {"bc": bc, "td3bc": td3bc, "iql": iql}
State = Any  # of the method


class OfflineStage:
    """The stage offline of an experiment.

    Args:
        experiment: whose stage it is.
        offline: its numbers.
        shape: of networks.
        steps: recorded ones.
        log: of all rounds.

    Attributes:
        moments: of the recorded observations.
        updates: in all.
        rounds: of updates in all.
    """

    def __init__(
        self,
        experiment: Experiment,
        offline: Offline,
        shape: NetworkShape,
        steps: Transitions,
        log: TrainingLog,
    ) -> None:
        self._experiment, self._offline, self._shape, self._log = experiment, offline, shape, log
        self._method = METHODS[offline.method]
        self._settings = getattr(offline, offline.method)
        self.moments: Moments = updated(
            no_moments(steps.observations.shape[1]), steps.observations
        )
        scales = scaling(self.moments, experiment.normalisation.least)
        self._steps = jax.device_put(steps.scaled(scales, experiment.reward))
        self._updates = make_updates(self._method.make_update(self._settings))
        self.updates: int = self._settings.updates
        self.rounds = -(-self.updates // offline.together)

    def begin(self) -> State:
        """The method's networks at their beginning."""
        return self._method.begin(self._settings, self._shape)

    def legs(self, state: State, done: int) -> Iterator[tuple[State, int]]:
        """Go on after `done` rounds; yields the state and the rounds so far after every one."""
        while done < self.rounds:
            state = self._updated(state, done)
            done += 1
            yield state, done

    def _updated(self, state: State, number: int) -> State:
        """The state after a round."""
        rng = stream(self._experiment.seed, f"train/{self._offline.method}/{number}")
        first = number * self._offline.together
        count = min(self._offline.together, self.updates - first)
        shape = (count, self._settings.batch)
        rows = rng.integers(len(self._steps.rewards), size=shape, dtype=np.int32)
        key = jax.random.PRNGKey(int(rng.integers(2**31)))
        state, report = self._updates(state, self._steps, rows, key)
        self._log.add(STAGE, first + count, {name: float(each) for name, each in report.items()})
        return jax.device_get(state)

    @staticmethod
    def actor(state: State) -> Network:
        """The policy of a state."""
        actor: Network = state.nets.actor if hasattr(state, "nets") else state.actor
        return actor
