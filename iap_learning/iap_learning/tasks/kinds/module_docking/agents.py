# SPDX-License-Identifier: BSD-3-Clause
r"""The agent that docks modules by velocities: it closes in as far as it is in line.

With the low-passed gap g and offset s of `iap_learning.tasks.kinds.module_docking.latch`, in the leader's axes,

.. math:: v = -k_s\,s - n\,\mathrm{sat}(k_g (g - g_{line}) + v_{touch}), \qquad \dot\psi = -k_\psi\,\psi,

where :math:`g_{line} = (|s| - s_{line}) / m` (at least 0) is a funnel of slope m before the face: off its axis
a follower waits, and backs off, where the funnel is as narrow as it is off.
"""

from typing import Literal

import numpy as np

from iap_description.arrays import Array
from iap_description.config.record import NonNegative, Positive, Record
from iap_description.math import so3
from iap_description.states import Q
from iap_learning.tasks.agents import AgentSettings, ScriptedAgent
from iap_learning.tasks.kinds.module_docking.episodes import ModuleDockingEpisodes


class FunnelSettings(Record):
    """Numbers of the funnel, see the module."""

    sideways: Positive  # k_s [1/s]
    along: Positive  # k_g [1/s]
    turn: Positive  # k_psi [1/s]
    cruise: Positive  # largest speed along and across [m/s]
    touch: Positive  # v_touch, in line at the face [m/s]
    in_line: Positive  # s_line [m]
    slope: Positive  # m
    ahead: NonNegative  # time of the low-pass and of the modules' own lag, by which poses are predicted [s]


class FunnelAgentSettings(AgentSettings):
    """How the agent flies.

    Attributes:
        funnel: its numbers.
    """

    guide: Literal["funnel"]
    funnel: FunnelSettings
    noise: NonNegative


class FunnelAgent(ScriptedAgent[FunnelAgentSettings, ModuleDockingEpisodes]):
    """Docks by what a policy observes."""

    SETTINGS = FunnelAgentSettings
    TASKS = "docks modules by velocities"

    @classmethod
    def misfit(cls, episodes: ModuleDockingEpisodes) -> str | None:
        """Reason why it cannot fly these episodes; None where it can."""
        return None if episodes.task.action.kind == "velocity" else cls.refusal(episodes.task)

    def values(self) -> Array:
        """(B, 4) velocity in `map` [m/s] and yaw rate [rad/s] at the present instant."""
        s, docking = self.settings.funnel, self.episodes
        n = docking.latch.normal_L
        leader, follower = docking.worlds.shared
        back = so3.conjugate(leader[:, Q])
        closing_L = so3.rotate(back, follower[:, 7:10] - leader[:, 7:10])
        pose = docking.filtered[:, :3] + s.ahead * closing_L
        gap = pose @ n
        aside = pose - gap[:, None] * n
        off = np.linalg.norm(aside, axis=1)
        line = np.maximum(0.0, (off - s.in_line) / s.slope)
        speed = np.clip(s.along * (gap - line) + s.touch * (line == 0.0), -s.cruise, s.cruise)
        across = -s.sideways * aside
        fastest = np.linalg.norm(across, axis=1, keepdims=True)
        across *= np.minimum(1.0, s.cruise / np.maximum(fastest, 1e-9))
        v_W = so3.rotate(leader[:, Q], across - speed[:, None] * n)
        return np.hstack([v_W, -s.turn * docking.filtered[:, 5:6]])
