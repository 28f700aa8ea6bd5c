# SPDX-License-Identifier: BSD-3-Clause
"""Hand-written agents that take an object and set it down; their actions depend on present inputs alone."""

from typing import Literal

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.config.values import NonNegative, Positive
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.kinds.arm_pick.episodes import PickEpisodes
from iap_learning.tasks.kinds.arm_pick.observations import PickInputs


class PickSettings(AgentSettings):
    """Gains of the agents.

    Attributes:
        rate: at which the reference goes to where the tip shall be [1/s].
        lead: share of the tip's lag over its reference that is left to the law; it acts on the rest.
        cruise: fastest level speed [m/s].
        descent: fastest speed down and up [m/s].
        settle: likewise downwards, where the object is set down [m/s].
        hover: height of the tip over the object's point where it is not yet above it [m].
        carry: likewise over that of the goal while it carries the object [m].
        align: level error up to which the tip comes down all the way [m].
        slope: further level error up to which it comes down part of the way [m].
        calm: height of the tip over its reference up to which it comes down all the way, twice that part of it [m].
        gap: height over the object's point at which it takes it [m].
        close: further height at which the gripper begins to close [m].
        felt: force from which on it comes down no further [N].
        light: load below which the object stands on something [N].
        still: speed downwards below which it does, too [m/s].
        low: height over the goal up to which that lets go of it [m].
        near: level distance of the object from its goal up to which it is left there [m].
    """

    guide: Literal["pick", "pick_oracle"]
    rate: Positive
    lead: NonNegative
    cruise: Positive
    descent: Positive
    settle: Positive
    hover: Positive
    carry: Positive
    align: Positive
    slope: Positive
    calm: Positive
    gap: Positive
    close: Positive
    felt: Positive
    light: Positive
    still: Positive
    low: Positive
    near: Positive


class PickAgent(ScriptedAgent[PickSettings, PickEpisodes]):
    """Comes down on the object, closes, raises it, carries it to its goal, sets it down, opens and rises.

    Which of these it does follows from what it observes, so that it takes again what it has missed.
    """

    SETTINGS = PickSettings
    TASKS = "takes an object with a gripper"

    def values(self) -> Array:
        """(B, 4) velocities of the tip's reference [m/s], and 1 where the gripper shall close or -1."""
        pick = self._inputs
        held = pick.held > 0.5
        placed = np.linalg.norm((pick.goal - pick.object)[:, :2], axis=1) < self.settings.near
        taking, carrying, leaving = self._take(pick), self._carry(pick), self._leave(pick)
        away = np.where(placed[:, None], leaving, taking)
        return np.where(held[:, None], carrying, away)

    def _take(self, pick: PickInputs) -> Array:
        """Values (B, 4) that come down on the object, and close there."""
        s = self.settings
        height, aside = -pick.object[:, 2], np.linalg.norm(pick.object[:, :2], axis=1)
        unready = np.maximum((aside - s.align) / s.slope, np.abs(pick.lag[:, 2]) / s.calm - 1.0)
        high = s.hover * np.clip(unready, 0.0, 1.0)
        felt = np.linalg.norm(pick.force, axis=1) > s.felt
        up = self._up(s.gap + high - height, pick.lag[:, 2])
        up = np.where(felt, np.maximum(up, 0.0), np.clip(up, -s.descent, s.descent))
        closes = (aside < s.align + s.slope) & (felt | (height < s.gap + s.close))
        return np.column_stack([self._level(pick.object, pick.lag), up, self._grip(closes)])

    def _carry(self, pick: PickInputs) -> Array:
        """Values (B, 4) that raise the object, carry it to its goal, and open once it stands there."""
        s = self.settings
        height, aside = -pick.goal[:, 2], np.linalg.norm(pick.goal[:, :2], axis=1)
        share = np.clip((aside - s.align) / s.slope, 0.0, 1.0)
        target = s.carry * share
        down = -np.where(height < s.low, s.settle, s.descent)
        up = self._up(target - height, pick.lag[:, 2])
        up = np.where(share > 0.0, np.clip(up, down, s.descent), down)
        is_free = np.clip((height - s.low) / (0.5 * s.carry), 0.0, 1.0)
        level = self._level(pick.goal, pick.lag) * np.where(share < 1.0, 1.0, is_free)[:, None]
        rests = (pick.load < s.light) | (pick.velocity[:, 2] > -s.still)
        stands = (share == 0.0) & (height < s.low) & rests
        return np.column_stack([level, up, self._grip(~stands)])

    def _leave(self, pick: PickInputs) -> Array:
        """Values (B, 4) that open, rise and stay above."""
        s, still = self.settings, np.zeros((len(pick.load), 2))
        up = self._up(s.carry + pick.goal[:, 2], pick.lag[:, 2])
        return np.column_stack([still, np.clip(up, 0.0, s.descent), self._grip(still[:, 0] > 0.0)])

    def _level(self, ways: Array, lag: Array) -> Array:
        """(B, 2) level velocities towards where ways (B, 3) lead."""
        velocities = self.settings.rate * (ways[:, :2] + lag[:, :2])
        speed = np.linalg.norm(velocities, axis=1, keepdims=True)
        limited: Array = velocities * np.minimum(
            1.0, self.settings.cruise / np.maximum(speed, 1e-9)
        )
        return limited

    def _up(self, ways: Array, lag: Array) -> Array:
        """Velocities (B,) of the reference by the tip's ways up to where it shall be, and its height over it."""
        moved: Array = self.settings.rate * (ways + self.settings.lead * lag)
        return moved

    @staticmethod
    def _grip(closes: Booleans) -> Array:
        return np.where(closes, 1.0, -1.0)

    @property
    def _inputs(self) -> PickInputs:
        return self.episodes.inputs


class PickOracle(PickAgent):
    """Knows the object's place, forces and load: what the platform can take and set down at all."""

    @property
    def _inputs(self) -> PickInputs:
        return self.episodes.true_inputs
