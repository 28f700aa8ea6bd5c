# SPDX-License-Identifier: BSD-3-Clause
"""Hand-written agents that push what turns about a hinge."""

from typing import Literal, TypeVar

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.config.values import NonNegative, Positive, Real
from iap_learning.tasks.kinds.hinge_turn.episodes import TurnEpisodes
from iap_learning.tasks.kinds.hinge_turn.observations import TurnInputs
from iap_learning.tasks.touch_agents import TouchAgent, TouchAgentSettings


class ArcSettings(TouchAgentSettings):
    """Gains of agents that approach along the arc.

    Attributes:
        swing: speed along the arc from the touch on [m/s].
        resist: force along the arc at which it goes no further [N].
        stop_deg: turn of the tip since the start at which it stays.
        centering: rate at which the reference comes to where it pulls the tip back to the radius of the start [1/s].
        pull: how far beyond that radius the reference is for each metre that the tip is off it.
        inwards: how far the reference is towards the axis for each metre that it is ahead: a round tip touches a leaf
            before the leaf's middle, so that a push along the tip's arc has a part outwards.
        follows: share of the turn that the heading follows.
        turns: rate at which it does [1/s].
    """

    swing: Positive
    resist: Positive
    stop_deg: Positive
    centering: NonNegative
    pull: NonNegative
    inwards: NonNegative
    follows: Real
    turns: NonNegative


class SwingSettings(ArcSettings):
    """Gains of the agents that push what nothing holds."""

    guide: Literal["swing", "swing_oracle"]


class HandleSettings(ArcSettings):
    """Gains of the agents that press a lever, and push what it frees.

    Attributes:
        lean: force along the arc with which it leans on what is latched [N].
        shove: such a force once the lever is down [N].
        press: speed at which it presses the lever down [m/s].
        depth: below the start at which the tip stays [m].
        opened: way of the tip along the arc since the touch, from which on what was latched is open [m].
        rise: rate at which the reference goes back to the height of the start once it is [1/s].
    """

    guide: Literal["handle", "handle_oracle"]
    lean: Positive
    shove: Positive
    press: Positive
    depth: Positive
    opened: Positive
    rise: NonNegative


S = TypeVar("S", bound=ArcSettings)


class ArcAgent(TouchAgent[S, TurnEpisodes]):
    """Leads its tip on the arc about the axis as it is believed, and the slower the more it is resisted."""

    def swing(self) -> Array:
        """(B, 3) velocities along the arc and away from the axis [m/s], and yaw rates [rad/s]."""
        s, push = self.settings, self._inputs
        resistance = -push.force[:, 0]
        speed = np.where(self._feels(resistance), s.swing, s.approach)
        onward = speed * slowed(resistance, s.resist)
        onward = np.where(push.turn < np.deg2rad(s.stop_deg), onward, 0.0)
        yaw = s.turns * (s.follows * push.turn - push.heading)
        across = push.lag[:, 1] + s.inwards * push.lag[:, 0] - s.pull * push.radius
        return np.column_stack([onward, s.centering * across, yaw])

    @property
    def _inputs(self) -> TurnInputs:
        return self.episodes.inputs


class SwingAgent(ArcAgent[SwingSettings]):
    """Pushes what nothing holds."""

    SETTINGS = SwingSettings
    TASKS = "pushes what has a hinge, by three numbers"
    ACTION = "arc_velocity"

    def values(self) -> Array:
        """(B, 3) see `swing`."""
        return self.swing()


class SwingOracle(SwingAgent):
    """Knows the axis and the force: what forces of the platform can turn at all."""

    @property
    def _inputs(self) -> TurnInputs:
        return self.episodes.true_inputs


class HandleAgent(ArcAgent[HandleSettings]):
    """Leans on a door, presses its lever down until the door gives way, and lets go of the lever as it swings on."""

    SETTINGS = HandleSettings
    TASKS = "pushes a door with a latch, by four numbers"
    ACTION = "cylindrical_velocity"

    def __init__(self, settings: HandleSettings, episodes: TurnEpisodes) -> None:
        self._touch, self._is_open = np.zeros(episodes.count), np.zeros(episodes.count, bool)
        super().__init__(settings, episodes)

    def begin(self, indices: Integers) -> None:
        """Forget the last episodes of some worlds."""
        super().begin(indices)
        self._touch[indices], self._is_open[indices] = 0.0, False

    def values(self) -> Array:
        """(B, 4) velocities along the arc, away from the axis and along it [m/s], and yaw rates [rad/s]."""
        s, push = self.settings, self._inputs
        onward, away, yaw = self.swing().T
        leans = self._has_felt & ~self._is_now_open(push)
        axial, share = self._pressing(push)
        wanted = s.lean + share * (s.shove - s.lean)
        lean = s.approach * np.clip((wanted + push.force[:, 0]) / s.lean, -2.0, 1.0)
        return np.column_stack(
            [
                np.where(leans, lean, onward),
                away,
                np.where(
                    leans, axial, np.where(self._is_open, s.rise * (push.sag - push.height), 0.0)
                ),
                np.where(self._is_open, yaw, 0.0),
            ]
        )

    def _pressing(self, push: TurnInputs) -> tuple[Array, Array]:
        """Velocities (B,) along the axis [m/s] that press a lever, and how far it is pressed, 0 to 1."""
        s = self.settings
        drop = -push.height
        force = np.linalg.norm(push.force, axis=1)
        left = np.clip((s.depth - drop) / (0.2 * s.depth), -1.0, 1.0)
        share = np.clip(2.0 * drop / s.depth - 1.0, 0.0, 1.0)
        return -s.press * np.minimum(slowed(force, s.resist), left), share

    def _is_now_open(self, push: TurnInputs) -> Booleans:
        """(B,) whether what was latched has given way by now."""
        way = push.turn * self.episodes.arc.reach
        self._touch = np.where(self._has_felt, self._touch, way)
        self._is_open |= self._has_felt & (way - self._touch > self.settings.opened)
        return self._is_open


class HandleOracle(HandleAgent):
    """Knows the axis and the force: what forces of the platform can open at all."""

    @property
    def _inputs(self) -> TurnInputs:
        return self.episodes.true_inputs


def slowed(force: Array, most: float) -> Array:
    """(B,) share of a speed that is left at forces (B,) against it, of which most [N] stop it."""
    return np.clip(1.0 - np.abs(force) / most, -0.3, 1.0)
