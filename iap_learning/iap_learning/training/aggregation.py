# SPDX-License-Identifier: BSD-3-Clause
"""The stage of DAgger: rounds of flights, of which each is learned from with all before.

The flights of every round are a file beside the checkpoint until the stage is over. So a training that goes on after
one is the same, bit for bit, as one that was never interrupted.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_io.runs.run_folder import write_file
from iap_learning.datasets.rollouts import EpisodeAgent, Rollout, collect
from iap_learning.policies.array_file import array_file_bytes, read_array_file
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.kinds.registry import agent_of
from iap_learning.training.dagger import (
    Dagger,
    DaggerState,
    Demonstration,
    DemonstrationBatch,
    begin,
    make_update,
)
from iap_learning.training.experiment import Experiment
from iap_learning.training.judging import Judge
from iap_learning.training.libraries import jax
from iap_learning.training.log import TrainingLog
from iap_learning.training.moments import Moments, Scaling, no_moments, scaling, updated
from iap_learning.training.policy_network import NetworkFlight, PolicyNetwork
from iap_learning.training.seeds import draw_seeds
from iap_simulation.batch.batch_support import check_fits

STAGE = "dagger"
PARTS = 4  # of the longest episode; batches have one of as many lengths


class State(NamedTuple):
    """All that the stage goes on from, between two rounds, beside its flights.

    Attributes:
        learner: the policy that learns.
        moments: of the observations of the first round.
    """

    learner: DaggerState
    moments: Moments


class Flights:
    """The flights of all rounds, in memory and in files.

    Args:
        folder: of the files, which the first round makes.

    Attributes:
        episodes: of the rounds so far.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self.episodes = folder, list[Demonstration]()

    def add(self, number: int, episodes: list[Demonstration]) -> None:
        """Add the flights of a round, and write them.

        Raises:
            RecordingFailed: the disk is full or cannot be written.
        """
        lengths = np.array([len(each.actions) for each in episodes])
        arrays = {
            "lengths": lengths,
            "observations": np.concatenate([each.observations for each in episodes]),
            "actions": np.concatenate([each.actions for each in episodes]),
        }
        self._folder.mkdir(exist_ok=True)
        write_file(self._file(number), array_file_bytes("{}", arrays))
        self.episodes += episodes

    def read(self, rounds: int) -> None:
        """Read the flights of the first rounds.

        Raises:
            BadInput: a file is missing or damaged.
        """
        for number in range(rounds):
            file = self._file(number)
            _, arrays = read_array_file(file, "flights of a training")
            try:
                ends = np.cumsum(arrays["lengths"])[:-1]
                parts = (np.split(arrays[key], ends) for key in ("observations", "actions"))
                self.episodes += [Demonstration(*pair) for pair in zip(*parts, strict=True)]
            except (KeyError, ValueError, TypeError, IndexError) as error:
                raise BadInput(f"{file}: has not the arrays of flights: {error}") from error

    def remove(self) -> None:
        """Remove the files."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _file(self, number: int) -> Path:
        return self._folder / f"round_{number:04d}.npz"


class DaggerStage:
    """The stage of an experiment.

    Args:
        experiment: whose stage it is.
        dagger: its numbers.
        episodes: the worlds.
        judge: of policies.
        log: of all rounds.
        folder: of the training.

    Raises:
        BadInput: there is no such expert for this task, or the flights need more memory than there is.
    """

    def __init__(
        self,
        experiment: Experiment,
        dagger: Dagger,
        episodes: AnyEpisodes,
        judge: Judge,
        log: TrainingLog,
        folder: Path,
    ) -> None:
        self._experiment, self._dagger, self._episodes = experiment, dagger, episodes
        self._judge, self._log = judge, log
        self._blocks = experiment.networks.blocks
        self._expert = agent_of(dagger.expert, episodes)
        is_same = dagger.first == dagger.expert  # and is asked once in every step
        self._first = self._expert if is_same else agent_of(dagger.first, episodes)
        self._update = make_update(dagger, self._blocks)
        self._flights = Flights(folder / STAGE)
        count = dagger.first_episodes + (dagger.rounds - 1) * dagger.episodes
        each = episodes.limit * (2 * episodes.observed + 4 * episodes.size)  # bytes
        check_fits(count * each, f"key 'dagger.rounds': flights of {count} episodes")

    def begin(self, network: PolicyNetwork) -> State:
        """The stage at its beginning."""
        return State(begin(self._dagger, network), no_moments(self._episodes.observed))

    def legs(self, state: State, done: int) -> Iterator[tuple[State, int]]:
        """Go on after `done` rounds; yields the state and the rounds so far after every one."""
        if done < self._dagger.rounds:
            self._flights.read(done)
        while done < self._dagger.rounds:
            state = self._learned(state, done)
            done += 1
            yield state, done
        self._flights.remove()

    def _learned(self, state: State, number: int) -> State:
        """The state after a round."""
        experiment, dagger = self._experiment, self._dagger
        flown, report = self._fly(state, number)
        self._flights.add(number, flown)
        learner, moments = state
        if number == 0:
            observations = np.concatenate([each.observations for each in flown])
            moments = updated(moments, observations)
        scaler = scaling(moments, experiment.normalisation.least)
        learner, error, rate = self._updated(learner, scaler, number)
        report |= {"error": error, "actor_rate": rate}
        if (number + 1) % dagger.together == 0 or number + 1 == dagger.rounds:
            steps = sum(len(each.actions) for each in self._flights.episodes)
            report |= self._judge(learner.network, scaler, steps)
        self._log.add(STAGE, dagger.updates_until(number + 1), report)
        return State(learner, moments)

    def _fly(self, state: State, number: int) -> tuple[list[Demonstration], dict[str, float]]:
        """Flights of a round, and their report."""
        dagger, episodes = self._dagger, self._episodes
        count = dagger.first_episodes if number == 0 else dagger.episodes
        seeds = draw_seeds(self._experiment.seed, f"{STAGE}/{number}", count)
        flyer: EpisodeAgent = self._first
        if number > 0:
            scaler = scaling(state.moments, self._experiment.normalisation.least)
            network = state.learner.network
            flyer = NetworkFlight(self._blocks, network, scaler, episodes.count)
        rollouts = collect(episodes, flyer, seeds.tolist(), expert=self._expert)
        return [_demonstration(each) for each in rollouts], {
            "success": float(np.mean([each.success for each in rollouts])),
            "return": float(np.mean([each.rewards.sum() for each in rollouts])),
            "seconds": float(np.mean([len(each.actions) for each in rollouts]) * episodes.dt),
        }

    def _updated(
        self, learner: DaggerState, scaler: Scaling, number: int
    ) -> tuple[DaggerState, float, float]:
        """The learner after a round's updates, their mean error, and the last rate."""
        dagger, flights = self._dagger, self._flights.episodes
        rng = stream(self._experiment.seed, f"train/{STAGE}/{number}")
        part, errors, rate = -(-self._episodes.limit // PARTS), list[float](), dagger.rate
        for k in range(dagger.updates_until(number), dagger.updates_until(number + 1)):
            chosen = [flights[i] for i in rng.integers(len(flights), size=dagger.batch)]
            batch = DemonstrationBatch.of(chosen, scaler, part)
            rate = dagger.rate * (1.0 - (1.0 - dagger.last_rate) * k / dagger.all_updates)
            learner, error = self._update(learner, batch, np.float32(rate))
            errors.append(float(error))
        return jax.device_get(learner), float(np.mean(errors)), rate


def _demonstration(rollout: Rollout) -> Demonstration:
    """The expert's actions in an episode.

    Raises:
        BadInput: one of its numbers is not finite.
    """
    actions = rollout.expert_actions
    assert actions is not None
    observations = rollout.observations[:-1]
    if not (np.isfinite(actions).all() and np.isfinite(observations).all()):
        raise BadInput(f"dagger: episode of seed {rollout.seed}: not all numbers are finite")
    return Demonstration(observations.astype(np.float16), actions)
