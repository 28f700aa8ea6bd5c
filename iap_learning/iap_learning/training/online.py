# SPDX-License-Identifier: BSD-3-Clause
"""The stage online: a policy learns from its own episodes, and the best one so far is kept.

An iteration flies all worlds for `horizon` steps and learns from them. After some iterations, a leg, the policy is
judged, a checkpoint written, and all worlds begin anew with seeds of the next leg: the checkpoint needs no states of
worlds, and what follows it is the same, bit for bit, whether training was interrupted or not. Whatever is drawn comes
from a stream of its own for each iteration.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans
from iap_description.math.random_streams import stream
from iap_learning.policies.layout import Header
from iap_learning.policies.policy import Policy
from iap_learning.tasks.episodes import AnyEpisodes
from iap_learning.tasks.seeds import BITS
from iap_learning.tasks.task import TASKS
from iap_learning.training.experience import Collector, EndedEpisodes, Experience, fly_once
from iap_learning.training.experiment import Experiment, Online
from iap_learning.training.log import TrainingLog
from iap_learning.training.moments import Moments, Scaling, scaling, updated
from iap_learning.training.networks import Floats, Network, forward
from iap_learning.training.ppo import (
    PPO,
    Batch,
    Learner,
    improved,
    make_batch,
    make_epoch,
    make_learner,
)

Keep = Callable[[Network, Scaling, "Best"], None]


class Best(NamedTuple):
    """Results of a policy in an episode of each world; better ones are greater.

    Attributes:
        success: share.
        returns: mean sum of rewards, which decides between equal shares.
        steps: online, after which it was.
    """

    success: float
    returns: float
    steps: int


def write_policy(
    path: Path,
    episodes: AnyEpisodes,
    actor: Network,
    scaler: Scaling,
    training: dict[str, Any],
    *,
    settings: Mapping[str, Any],
    data: str | None,
) -> None:
    """Write a policy's file.

    Args:
        path: of it.
        episodes: that it was trained in.
        actor: its network.
        scaler: how it sees observations.
        training: what is to be noted of the training.
        settings: of the task's keys, with which it was made.
        data: SHA-256 of the data set it learned from; None without one.
    """
    weights = [np.asarray(layer.weights) for layer in actor]
    biases = [np.asarray(layer.biases) for layer in actor]
    header = Header.for_episodes(episodes, training, settings=settings, data=data)
    Policy(header, scaler.mean, scaler.deviation, weights, biases).save(path)


class Judge:
    """Flies policies in the same episodes, and keeps the best.

    Args:
        episodes: the worlds.
        seeds: (B,) of the episodes.
        keep: is given every policy that is better than those before.
        best: of those before; None where there are none.

    Attributes:
        best: so far.
    """

    def __init__(
        self, episodes: AnyEpisodes, seeds: np.ndarray, keep: Keep, best: Best | None
    ) -> None:
        self._episodes, self._seeds, self._keep, self.best = episodes, seeds, keep, best

    def __call__(self, actor: Network, scaling: Scaling, steps: int) -> dict[str, float]:
        """Judge a policy; returns what is to be reported."""
        flown = fly_once(self._episodes, actor, scaling, self._seeds)
        found = Best(float(flown.success.mean()), float(flown.returns.mean()), steps)
        if self.best is None or found[:2] > self.best[:2]:
            self.best = found
            self._keep(actor, scaling, found)
        return {
            "judged_success": found.success,
            "judged_return": found.returns,
            "judged_seconds": float(flown.seconds.mean()),
        }


STAGE = "online"


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
    found = np.empty(rewards.shape)
    for b in range(rewards.shape[1]):
        later = 0.0
        for t in range(len(rewards) - 1, -1, -1):
            delta = rewards[t, b] + gamma * following[t, b] - values[t, b]
            later = delta if over[t, b] else delta + gamma * lam * later
            found[t, b] = later
    return found


class State(NamedTuple):
    """All that the stage goes on from, between two legs.

    Attributes:
        learner: networks, deviations, and their optimisers' memory.
        moments: of observations.
    """

    learner: Learner
    moments: Moments


def begin(online: Online, actor: Network, critic: Network, moments: Moments) -> State:
    """The stage at its beginning, with a policy that may have been trained before."""
    size = len(actor[-1].biases)
    return State(make_learner(online.ppo, actor, critic, size), moments)


def draw_seeds(experiment: Experiment, name: str, count: int) -> np.ndarray:
    """Seeds (count,) of episodes, by the name of what they are for."""
    return stream(experiment.seed, f"train/seeds/{name}").integers(2**BITS, size=count)


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
        self._collector = Collector(episodes, str(TASKS.file_or_path(experiment.task)))
        self._epoch = make_epoch(online.ppo)
        self.steps_each = online.ppo.horizon * episodes.count
        self.iterations = -(-online.steps // self.steps_each)

    def legs(self, state: State, done: int) -> Iterator[tuple[State, int]]:
        """Go on after `done` iterations; yields the state and the iterations so far after every leg."""
        while done < self.iterations:
            self._collector.restart(self._seeds(done))
            end = min(done + self._online.together, self.iterations)
            while done < end:
                state = self._iterated(state, done, is_last=done + 1 == end)
                done += 1
            yield state, done

    def _iterated(self, state: State, number: int, *, is_last: bool) -> State:
        """The state after an iteration."""
        rng = stream(self._experiment.seed, f"train/iteration/{number}")
        scaler = scaling(state.moments, self._experiment.normalisation.least)
        learner = state.learner
        actor = learner.actor
        experience = self._collector.collect(
            actor.network, actor.log_sigma, scaler, self._ppo.horizon, rng
        )
        rates = self.rates(number)
        batch = batch_of(experience, learner, scaler, self._ppo, self._experiment.reward)
        learner, report = improved(self._ppo, self._epoch, learner, batch, rates, rng)
        moments, steps = state.moments, (number + 1) * self.steps_each
        if number * self.steps_each < self._experiment.normalisation.until:
            moments = updated(moments, experience.observations)
        report |= summary(experience.ended) | {
            "sigma": float(np.exp(learner.actor.log_sigma).mean()),
            "actor_rate": rates[0],
        }
        if is_last:
            scaler = scaling(moments, self._experiment.normalisation.least)
            report |= self._judge(learner.actor.network, scaler, steps)
        self._log.add(STAGE, steps, report)
        return State(learner, moments)

    def _seeds(self, done: int) -> np.ndarray:
        return draw_seeds(self._experiment, f"leg/{done}", self._experiment.worlds)

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
    values = _values(learner.critic, observations)
    following = _values(learner.critic, scaler(experience.following))
    following[experience.terminated] = 0.0
    over = experience.terminated | experience.truncated
    gains = advantages(experience.rewards * reward, values, following, over, ppo.gamma, ppo.lam)
    rows = observations.reshape(-1, observations.shape[-1])
    actions = experience.actions.reshape(-1, experience.actions.shape[-1])
    return make_batch(learner, rows, actions, gains.ravel(), (gains + values).ravel())


def _values(critic: Network, observations: Floats) -> np.ndarray:
    """Values (T, B) of observations (T, B, n)."""
    rows = observations.reshape(-1, observations.shape[-1])
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
