# SPDX-License-Identifier: BSD-3-Clause
"""A training: the stages of an experiment one after the other, in a folder with checkpoints to go on from.

experiment.yaml  policy.npz  checkpoint.npz  progress.csv  tensorboard/
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_io.runs.run_folder import CHECKPOINT
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.training import aggregation, cloning, online, policy_network
from iap_learning.training.checkpoints import (
    Checkpoint,
    TrainingProgress,
    load,
    restored,
    save,
)
from iap_learning.training.cloning import recorded
from iap_learning.training.dagger import Dagger
from iap_learning.training.experiment import FILE, Experiment, read_experiment, write_experiment
from iap_learning.training.judging import Best, Judge, write_policy
from iap_learning.training.log import Row, TrainingLog, Watcher
from iap_learning.training.moments import Moments, Scaling, no_moments, scaling
from iap_learning.training.offline import NetworkShape
from iap_learning.training.policy_network import PolicyNetwork, memory_size
from iap_learning.training.seeds import draw_seeds

POLICY = "policy.npz"
Legs = Callable[[Any, int], Iterator[tuple[Any, int]]]


class TrainingResult(NamedTuple):
    """Results of a training.

    Attributes:
        folder: of it.
        best: of the policy that was kept.
        rows: of its table.
    """

    folder: Path
    best: Best | None
    rows: Sequence[Row]


def begin(experiment: Experiment, folder: Path, watch: Watcher | None = None) -> TrainingResult:
    """Train from nothing in an empty folder.

    Raises:
        BadInput: the task cannot be flown, or a reward is not finite.
    """
    write_experiment(folder, experiment)
    return Training(experiment, folder, None, watch).run()


def go_on(folder: Path, watch: Watcher | None = None) -> TrainingResult:
    """Go on from the last checkpoint of a training; the result is that of one which was never interrupted.

    Raises:
        BadInput: there is no checkpoint, it is cut short, or belongs to another experiment.
    """
    experiment, checkpoint = read_experiment(folder), load(folder / CHECKPOINT)
    if checkpoint.progress.experiment != digest(experiment):
        raise BadInput(f"{folder / FILE}: is not the experiment of {CHECKPOINT} beside it")
    return Training(experiment, folder, checkpoint, watch).run()


def digest(experiment: Experiment) -> str:
    """SHA-256 of an experiment, in hexadecimal."""
    text = json.dumps(experiment.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Training:
    """A training in its folder.

    Args:
        experiment: what is trained.
        folder: that takes all files.
        checkpoint: to go on from; None begins.
        watch: is told of every row of the table.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: Path,
        checkpoint: Checkpoint | None,
        watch: Watcher | None,
    ) -> None:
        self._experiment, self._folder, self._checkpoint = experiment, folder, checkpoint
        self._episodes: AnyEpisodes = make_episodes(
            experiment.task,
            experiment.worlds,
            settings=experiment.settings,
            scenario=experiment.scenario,
            threads=experiment.threads,
        )
        reached = TrainingProgress() if checkpoint is None else checkpoint.progress
        self._stage, self._done = reached.stage, reached.done
        best = None if reached.best is None else Best(*reached.best)
        self._data = reached.data
        seeds = draw_seeds(experiment.seed, "judged", experiment.worlds)
        self._blocks = experiment.networks.blocks
        self._judge = Judge(self._episodes, seeds, self._keep, best, self._blocks)
        self._log = TrainingLog(folder, watch, reached.rows)

    def run(self) -> TrainingResult:
        """Train until the end."""
        experiment = self._experiment
        with self._log:
            actor, moments = self._offline() if experiment.offline else self._nothing()
            if experiment.dagger is not None:
                actor, moments = self._imitate(experiment.dagger, actor, moments)
            if experiment.online is not None:
                self._online(actor, moments)
        return TrainingResult(self._folder, self._judge.best, self._log.rows)

    def _shape(self, stage: str) -> NetworkShape:
        """Networks of random weights for a stage."""
        sizes = self._experiment.networks
        rng = stream(self._experiment.seed, f"train/weights/{stage}")
        return NetworkShape(
            rng, self._episodes.observed, self._episodes.size, sizes.actor, sizes.critic
        )

    def _nothing(self) -> tuple[PolicyNetwork, Moments]:
        """A policy of random weights that has seen nothing."""
        network = policy_network.begin(self._blocks, self._shape("actor"))
        return network, no_moments(self._episodes.observed)

    def _offline(self) -> tuple[PolicyNetwork, Moments]:
        """The policy that recorded steps have taught, and the moments of their observations."""
        experiment = self._experiment
        if experiment.offline is None or self._stage in (aggregation.STAGE, online.STAGE):
            return self._nothing()  # whose numbers the checkpoint replaces
        asked = experiment.offline.data
        seeds = draw_seeds(experiment.seed, "recorded", asked.episodes)
        data = recorded(asked, self._episodes, seeds)
        self._data = data.digest
        shape = self._shape(cloning.STAGE)
        stage = cloning.OfflineStage(experiment, experiment.offline, shape, data.steps, self._log)
        state = self._followed(cloning.STAGE, stage.legs, stage.begin())
        actor = PolicyNetwork(stage.actor(state))
        if self._judge.best is None:
            scales = scaling(stage.moments, experiment.normalisation.least)
            row = {"data_success": data.success, **self._judge(actor, scales, 0)}
            self._log.add(cloning.STAGE, stage.updates, row)
            self._save(cloning.STAGE, stage.rounds, state)
        return actor, stage.moments

    def _imitate(
        self, dagger: Dagger, actor: PolicyNetwork, moments: Moments
    ) -> tuple[PolicyNetwork, Moments]:
        """The policy that imitates an expert in its own flights, and the moments of its observations."""
        if self._stage == online.STAGE:
            return actor, moments
        stage = aggregation.DaggerStage(
            self._experiment, dagger, self._episodes, self._judge, self._log, self._folder
        )
        state = self._followed(aggregation.STAGE, stage.legs, stage.begin(actor))
        return state.learner.network, state.moments

    def _online(self, actor: PolicyNetwork, moments: Moments) -> None:
        experiment = self._experiment
        assert experiment.online is not None
        stage = online.OnlineStage(
            experiment, experiment.online, self._episodes, self._judge, self._log
        )
        shape = self._shape("critic")
        observed = shape.observed + memory_size(self._blocks)
        critic = shape._replace(observed=observed).critic(acts=False)
        state = online.begin(experiment.online, actor, critic, moments)
        self._followed(online.STAGE, stage.legs, state)

    def _followed(self, name: str, legs: Legs, state: Any) -> Any:  # noqa: ANN401 - of the stage
        """The last state of a stage, of which a checkpoint is written after every leg."""
        first = 0
        if self._stage == name and self._checkpoint is not None:
            state, first = restored(self._checkpoint, state), self._done
        else:
            self._save(name, 0, state)
        last = state
        for last, done in legs(state, first):
            self._save(name, done, last)
        return last

    def _save(self, stage: str, done: int, state: Any) -> None:  # noqa: ANN401
        progress = TrainingProgress(
            experiment=digest(self._experiment),
            stage=stage,
            done=done,
            best=self._judge.best,
            data=self._data,
            rows=len(self._log.rows),
        )
        self._log.write()  # before it is counted
        save(self._folder / CHECKPOINT, progress, state)

    def _keep(self, actor: PolicyNetwork, scales: Scaling, best: Best) -> None:
        """Write a policy."""
        training = {
            "seed": self._experiment.seed,
            "experiment": digest(self._experiment),
            "steps": best.steps,
            "judged_success": best.success,
            "judged_return": best.returns,
        }
        path, settings = self._folder / POLICY, self._experiment.settings
        parts = (self._episodes, actor, scales, training)
        write_policy(path, *parts, settings=settings, data=self._data, blocks=self._blocks)
