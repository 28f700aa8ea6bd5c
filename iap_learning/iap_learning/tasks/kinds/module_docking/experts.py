# SPDX-License-Identifier: BSD-3-Clause
r"""The expert of docking modules: by velocities, it closes in as far as it is in line (``data/experts/NAME.yaml``).

With the low-passed gap g and offset s of `iap_learning.tasks.kinds.module_docking.sight`, in the leader's axes,

.. math:: v = -k_s\,s - n\,\mathrm{sat}(k_g (g - g_{line}) + v_{touch}), \qquad \dot\psi = -k_\psi\,\psi,

where :math:`g_{line} = (|s| - s_{line}) / m` (at least 0) is a funnel of slope m before the face: off its axis
a follower waits, and backs off, where the funnel is as narrow as it is off.
"""

from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array
from iap_description.config.record import NonNegative, Positive, Record
from iap_description.math import so3
from iap_description.states import Q
from iap_learning.tasks.agents import read_expert
from iap_learning.tasks.kinds.module_docking.episodes import ModuleDockingEpisodes
from iap_learning.tasks.kinds.navigate.experts import VelocityExpert


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


class FunnelExpertSettings(Record):
    """How the expert flies.

    Attributes:
        description: one sentence.
        guide: see `iap_learning.tasks.kinds.agents`.
        funnel: its numbers.
        noise: standard deviation of white noise on actions, as a share of their half range.
    """

    description: str
    guide: Literal["funnel"]
    funnel: FunnelSettings
    noise: NonNegative


class FunnelExpert(VelocityExpert):
    """Sees what a policy sees."""

    guide: ClassVar[str] = "funnel"

    def __init__(self, settings: FunnelExpertSettings, episodes: ModuleDockingEpisodes) -> None:
        self._s, self._docking = settings.funnel, episodes
        super().__init__(episodes, settings.noise)

    @classmethod
    def of(cls, name: str, episodes: ModuleDockingEpisodes) -> Self:
        """The expert of a file."""
        return cls(read_expert(FunnelExpertSettings, name), episodes)

    def begin(self, worlds: ArrayLike | None) -> None:
        """It remembers nothing."""

    def velocities(self) -> Array:
        """See `VelocityExpert`."""
        s, docking, n = self._s, self._docking, self._docking.latch.normal_L
        leader, follower = docking.worlds.shared
        back = so3.conjugate(leader[:, Q])
        closing_L = so3.rotate(back, follower[:, 7:10] - leader[:, 7:10])
        pose = docking.filtered[:, :3] + s.ahead * closing_L
        gap = pose @ n
        aside = pose - gap[:, None] * n
        off = np.linalg.norm(aside, axis=1)
        wanted = np.maximum(0.0, (off - s.in_line) / s.slope)
        speed = np.clip(s.along * (gap - wanted) + s.touch * (wanted == 0.0), -s.cruise, s.cruise)
        across = -s.sideways * aside
        fastest = np.linalg.norm(across, axis=1, keepdims=True)
        across *= np.minimum(1.0, s.cruise / np.maximum(fastest, 1e-9))
        v_W = so3.rotate(leader[:, Q], across - speed[:, None] * n)
        return np.hstack([v_W, -s.turn * docking.filtered[:, 5:6]])
