# SPDX-License-Identifier: BSD-3-Clause
"""References of platforms by the places of their tools' tips, which actions move."""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import REF_P, REF_Q
from iap_simulation.batch.references import References
from iap_simulation.batch.worlds import Worlds


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
