# SPDX-License-Identifier: BSD-3-Clause
"""Episodes of tasks that touch by the tip of a tool, whose reference actions move."""

from typing import TypeVar, Unpack

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q
from iap_learning.tasks.late_sensors import WrenchSensorSpec
from iap_learning.tasks.touch_episodes import BY_POSE, TouchCounts, TouchEpisodes, WorldsOptions
from iap_learning.tasks.touch_task import TouchTask
from iap_simulation.batch.references import References
from iap_simulation.batch.worlds import Worlds

T = TypeVar("T", bound=TouchTask)


class TipReference:
    """References of B platforms, all of which begin at one.

    Args:
        row: the first reference.
        tip_P: (3,) the tool's tip in P [m].
        batch: number of worlds.

    Attributes:
        tip: (B, 3) references of the tips [m].
        q: (B, 4) of the attitudes.
    """

    def __init__(self, row: Array, tip_P: Array, batch: int) -> None:
        self._tip_P, self._first_q = tip_P, row[REF_Q].copy()
        self._first_tip = row[REF_P] + so3.rotate(self._first_q, tip_P)
        self.tip, self.q = np.tile(self._first_tip, (batch, 1)), np.tile(self._first_q, (batch, 1))

    def reset(self, worlds: Integers) -> None:
        """Let some worlds begin anew."""
        self.tip[worlds], self.q[worlds] = self._first_tip, self._first_q

    def move(self, velocities_W: Array, turns_P: Array, dt: float) -> None:
        """Go on at velocities (B, 3) of tips [m/s] and rates (B, 3) in axes of P [rad/s] for a time [s]."""
        self.tip += dt * velocities_W
        q = so3.multiply(self.q, so3.quaternion_exp(dt * turns_P))
        self.q[:] = q / np.linalg.norm(q, axis=1, keepdims=True)

    def advance(self, worlds: Worlds) -> None:
        """Fly a control period on these references."""
        rows = worlds.references().rows.copy()
        rows[:, REF_P] = self.tip - so3.rotate(self.q, self._tip_P)
        rows[:, REF_Q] = self.q
        worlds.advance(References.of(rows))


class TipEpisodes(TouchEpisodes[T]):
    """A task in B worlds, by the reference of a tool's tip, or by the scenario's own law and references.

    Args:
        task: what is to be done.
        worlds: B.
        counts: of these.
        sensor: of the wrench that is observed.
        how: see `WorldsOptions`.
    """

    def __init__(
        self,
        task: T,
        worlds: int,
        counts: TouchCounts,
        sensor: WrenchSensorSpec,
        **how: Unpack[WorldsOptions],
    ) -> None:
        super().__init__(task, worlds, BY_POSE, **how)
        self._row, self._counts = self.worlds.timeline.row(0), counts
        self._sensors = sensor.sensors(task, task.periods(self.worlds.scenario.dt), worlds)
        self._force_sum, self._best = np.zeros((2, worlds))

    def _lead(self, tip_P: Array) -> None:
        """Lead a tip, which is at a place (3,) in P [m]."""
        self._reference = TipReference(self._row, tip_P, self.count)
        self._begin(np.arange(self.count))

    def _begin(self, indices: Integers) -> None:
        super()._begin(indices)
        self._counts.reset(indices)
        self._sensors.reset(indices, self.worlds.seeds[indices])
        self._reference.reset(indices)
        self._force_sum[indices] = self._best[indices] = 0.0

    @property
    def _forces(self) -> Array:
        """(B,) of contacts on the platform, mean over the last control period [N]."""
        return np.asarray(np.linalg.norm(self.worlds.contact_wrenches[:, :3], axis=1))

    def _feel(self, forces: Array, most: float) -> None:
        """Measure the wrenches of a control period, and sum up forces (B,) that cost, each as so much at most."""
        self._sensors.measure(self.worlds.state[:, 0], self.worlds.contact_wrenches)
        self._force_sum += self.worlds.scenario.dt * np.minimum(forces, most)

    def _gains(self, values: Array, goal: float) -> tuple[Array, Array]:
        """Advances (B,) of values beyond the best so far, up to a goal, and forces [N s], both since the last step."""
        gains = np.clip(values, self._best, goal) - self._best
        self._best += np.maximum(gains, 0.0)
        forces = self._force_sum.copy()
        self._force_sum[:] = 0.0
        return gains, forces
