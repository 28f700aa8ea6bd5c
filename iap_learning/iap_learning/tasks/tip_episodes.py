# SPDX-License-Identifier: BSD-3-Clause
"""Episodes of tasks that touch by the tip of a tool, whose reference actions move."""

from typing import Generic, TypeVar, Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import Q
from iap_learning.tasks.touch_episodes import TouchCounts, TouchEpisodes, WorldsOptions
from iap_learning.tasks.touch_interface import TipInterface
from iap_learning.tasks.touch_task import TouchTask

T = TypeVar("T", bound=TouchTask)
I = TypeVar("I", bound=TipInterface)  # noqa: E741 - beside T


class TipEpisodes(TouchEpisodes[T, I], Generic[T, I]):
    """A task in B worlds, by the reference of a tool's tip, or by the scenario's own law and references.

    Args:
        task: what is to be done.
        worlds: B.
        interface: kind of that of actions.
        counts: of B worlds.
        how: see `WorldsOptions`.
    """

    def __init__(
        self,
        task: T,
        worlds: int,
        interface: type[I],
        counts: TouchCounts,
        **how: Unpack[WorldsOptions],
    ) -> None:
        super().__init__(task, worlds, interface, counts, **how)
        self._force_sum, self._best = np.zeros((2, worlds))

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        self._force_sum[indices] = self._best[indices] = 0.0

    @property
    def _forces(self) -> Array:
        """(B,) of contacts on the platform, mean over the last control period [N]."""
        return np.asarray(np.linalg.norm(self.worlds.contact_wrenches[:, :3], axis=1))

    @property
    def _force_P(self) -> Array:
        """(B, 3) the same as vectors in axes of P."""
        q_PW = so3.conjugate(self.worlds.state[:, 0, Q])
        force: Array = so3.rotate(q_PW, self.worlds.contact_wrenches[:, :3])
        return force

    def _feel(self, forces: Array, most: float) -> None:
        """Measure the wrenches of a control period, and sum up forces (B,) that cost, each as so much at most."""
        self.interface.measure(self.worlds.state[:, 0], self.worlds.contact_wrenches)
        self._force_sum += self.worlds.scenario.dt * np.minimum(forces, most)

    def _gains(self, values: Array, goal: float) -> tuple[Array, Array]:
        """Advances (B,) of values beyond the best so far, up to a goal, and forces [N s], both since the last step."""
        gains = np.clip(values, self._best, goal) - self._best
        self._best += np.maximum(gains, 0.0)
        forces = self._force_sum.copy()
        self._force_sum[:] = 0.0
        return gains, forces
