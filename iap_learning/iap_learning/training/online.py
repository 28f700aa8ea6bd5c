# SPDX-License-Identifier: BSD-3-Clause
"""The stage online: a policy learns from its own episodes, and the best one so far is kept.

An iteration flies all worlds for `horizon` steps and learns from them. After some iterations, a leg, the policy is
judged, a checkpoint written, and all worlds begin anew with seeds of the next leg: the checkpoint needs no states of
worlds, and what follows it is the same, bit for bit, whether training was interrupted or not. Whatever is drawn comes
from a stream of its own for each iteration.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans
from iap_description.config.bounds import check_size
from iap_description.math.random_streams import stream
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.tasks.task import TASKS
from iap_learning.training.curriculum import scenario_at
from iap_learning.training.experience import Collector, EndedEpisodes, Experience
from iap_learning.training.experiment import Experiment, Online
from iap_learning.training.judging import Judge
from iap_learning.training.log import TrainingLog
from iap_learning.training.moments import Moments, Scaling, scaling, updated
from iap_learning.training.networks import Floats, Network, forward
from iap_learning.training.policy_network import PolicyNetwork, memory_size
from iap_learning.training.ppo import (
    PPO,
    Batch,
    Learner,
    improved,
    make_batch,
    make_epoch,
    make_learner,
)
from iap_learning.training.seeds import draw_seeds

STAGE = "online"
STEP_NUMBERS = 60  # in memory for each step of an iteration, besides its observations


@njit(cache=True)
def advantages(
    rewards: Array, values: Array, following: Array, over: Booleans, gamma: float, lam: float
) -> Array:
    r"""Advantages (T, B) of T steps of B worlds (Schulman et al., ICLR 2016, arXiv:1506.02438, eq. 16).

    .. math::
        \delta_t = r_t + \gamma V(s_{t+1}) - V(s_t), \qquad
        \hat A_t = \delta_t + \gamma\lambda\,\hat A_{t+1}

    where the sum ends with the episode.

    Args:
        rewards: (T, B).
        values: (T, B) of the observations before each step.
        following: (T, B) of those after it, of the old episode; 0 where it has terminated.
        over: (T, B) whether the episode ended with the step, terminated or truncated.
        gamma: discount of a step.
        lam: of the average over numbers of steps.
    """
    out = np.empty(rewards.shape)
    for b in range(rewards.shape[1]):
        later = 0.0
        for t in range(len(rewards) - 1, -1, -1):
            delta = rewards[t, b] + gamma * following[t, b] - values[t, b]
            later = delta if over[t, b] else delta + gamma * lam * later
            out[t, b] = later
    return out


class State(NamedTuple):
    """All that the stage goes on from, between two legs.

    Attributes:
        learner: networks, deviations, and their optimisers' memory.
        moments: of observations.
        level: () of the curriculum; 1 without one.
    """

    learner: Learner
    moments: Moments
    level: Array


def begin(online: Online, actor: PolicyNetwork, critic: Network, moments: Moments) -> State:
    """The stage at its beginning, with a policy that may have been trained before."""
    size = len(actor.layers[-1].biases)
    level = np.array(1.0 if online.curriculum is None else 0.0)
    return State(make_learner(online.ppo, actor, critic, size), moments, level)


class OnlineStage:
    """The stage online of an experiment.

    Args:
        experiment: whose stage it is.
        online: its numbers.
        episodes: the worlds.
        judge: of policies.
        log: of all iterations.
    """

    def __init__(
        self,
        experiment: Experiment,
        online: Online,
        episodes: AnyEpisodes,
        judge: Judge,
        log: TrainingLog,
    ) -> None:
        self._experiment, self._online, self._ppo = experiment, online, online.ppo
        self._judge, self._log = judge, log
        self._source, self._whole = str(TASKS.file_or_path(experiment.task)), episodes
        self._blocks = experiment.networks.blocks
        self._collector, self._level = Collector(episodes, self._source, self._blocks), 1.0
        self._ended: list[EndedEpisodes] = []  # in the present leg
        self._epoch = make_epoch(online.ppo, self._blocks)
        self.steps_each = online.ppo.horizon * episodes.count
        numbers = STEP_NUMBERS + 2 * episodes.observed + 2 * memory_size(self._blocks)
        check_size("online.ppo.horizon", self.steps_each, numbers)
        self.iterations = -(-online.steps // self.steps_each)

    def legs(self, state: State, done: int) -> Iterator[tuple[State, int]]:
        """Go on after `done` iterations; yields the state and the iterations so far after every leg."""
        while done < self.iterations:
            self._take_level(float(state.level))
            self._collector.restart(self._seeds(done))
            end = min(done + self._online.together, self.iterations)
            while done < end:
                state = self._iterated(state, done, is_last=done + 1 == end)
                done += 1
            state = self._risen(state)
            yield state, done

    def _take_level(self, level: float) -> None:
        """Fly the worlds of a level from here on."""
        if level == self._level:
            return
        experiment, episodes = self._experiment, self._whole
        if level < 1.0:
            episodes = make_episodes(
                experiment.task,
                experiment.worlds,
                settings=experiment.settings,
                scenario=scenario_at(self._online.curriculum, experiment.scenario, level),
                threads=experiment.threads,
            )
        self._collector = Collector(episodes, self._source, self._blocks)
        self._level = level

    def _risen(self, state: State) -> State:
        """The state with the level of the next leg."""
        curriculum, ended = self._online.curriculum, EndedEpisodes.of(self._ended)
        self._ended = []
        if curriculum is None:
            return state
        return state._replace(level=np.array(curriculum.risen(float(state.level), ended)))

    def _iterated(self, state: State, number: int, *, is_last: bool) -> State:
        """The state after an iteration."""
        rng = stream(self._experiment.seed, f"train/iteration/{number}")
        scaler = scaling(state.moments, self._experiment.normalisation.least)
        learner = state.learner
        actor = learner.actor
        experience = self._collector.collect(
            actor.network, actor.log_sigma, scaler, self._ppo.horizon, rng
        )
        self._ended.append(experience.ended)
        rates = self.rates(number)
        batch = batch_of(experience, learner, scaler, self._ppo, self._experiment.reward)
        learner, report = improved(self._ppo, self._epoch, learner, batch, rates, rng)
        moments, steps = state.moments, (number + 1) * self.steps_each
        if number * self.steps_each < self._experiment.normalisation.until:
            moments = updated(moments, experience.observations)
        report |= summary(experience.ended) | {
            "level": float(state.level),
            "sigma": float(np.exp(learner.actor.log_sigma).mean()),
            "actor_rate": rates[0],
        }
        if is_last:
            scaler = scaling(moments, self._experiment.normalisation.least)
            report |= self._judge(learner.actor.network, scaler, steps)
        self._log.add(STAGE, steps, report)
        return State(learner, moments, state.level)

    def _seeds(self, done: int) -> np.ndarray:
        return draw_seeds(self._experiment.seed, f"leg/{done}", self._experiment.worlds)

    def rates(self, number: int) -> tuple[float, float]:
        """Rates of actor and critic in an iteration; they fall evenly, and the critic learns first."""
        ppo = self._ppo
        share = 1.0 - (1.0 - ppo.last_rate) * number / self.iterations
        actor = 0.0 if number < ppo.critic_first else share * ppo.actor_rate
        return actor, share * ppo.critic_rate


def batch_of(
    experience: Experience, learner: Learner, scaler: Scaling, ppo: PPO, reward: float
) -> Batch:
    """Data that is learnt from an experience: its steps with their advantages and returns."""
    observations = scaler(experience.observations)
    values = _values(learner.critic, observations, experience.memories)
    following = scaler(experience.following)
    following = _values(learner.critic, following, experience.memories_after)
    following[experience.terminated] = 0.0
    over = experience.terminated | experience.truncated
    gains = advantages(experience.rewards * reward, values, following, over, ppo.gamma, ppo.lam)
    network, sigma = learner.actor
    parts = (experience.memories, experience.starts)
    if network.blocks:  # a world's steps follow one another
        steps = (observations, experience.actions, experience.means, gains, gains + values, *parts)
        return make_batch(sigma, *(np.swapaxes(each, 0, 1) for each in steps))
    rows = observations.reshape(-1, observations.shape[-1])
    actions = experience.actions.reshape(-1, experience.actions.shape[-1])
    means = forward(network.layers, rows)
    none = (np.zeros((len(rows), 0), np.float32), experience.starts.ravel())
    return make_batch(sigma, rows, actions, means, gains.ravel(), (gains + values).ravel(), *none)


def _values(critic: Network, observations: Floats, memories: Floats) -> np.ndarray:
    """Values (T, B) of observations (T, B, n) and memories (T, B, k)."""
    inputs = np.concatenate([observations, memories], axis=-1) if memories.size else observations
    rows = inputs.reshape(-1, inputs.shape[-1])
    return forward(critic, rows)[:, 0].reshape(observations.shape[:-1]).astype(np.float64)


def summary(ended: EndedEpisodes) -> dict[str, float]:
    """Means over episodes that are over; nothing where there are none."""
    if not len(ended.success):
        return {}
    return {
        "success": float(ended.success.mean()),
        "return": float(ended.returns.mean()),
        "seconds": float(ended.seconds.mean()),
    }
