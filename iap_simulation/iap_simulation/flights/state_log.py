# SPDX-License-Identifier: BSD-3-Clause
"""States of an identified plant at every physics step, finer than the control instants that a recording has."""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_physics.identified.engine import IdentifiedEngine
from iap_physics.plant.part import PlantPart

STATE_NUMBERS = 7 + 13  # kept of a state, with what an array of its own takes besides


class StateLog(PlantPart):
    """Keeps the states of a flight.

    Args:
        engine: of the plant.
        dt: physics step [s].
    """

    def __init__(self, engine: IdentifiedEngine, dt: float) -> None:
        self._engine, self._dt = engine, dt
        self._rows: list[Array] = []

    def reset(self, x: Array, worlds: Integers) -> None:  # noqa: ARG002 - it has one world
        """Begin anew with the present state."""
        self._rows.clear()
        self._keep()

    def after_step(self, x: Array) -> None:  # noqa: ARG002 - the model's own state is exact
        """Keep the present state."""
        self._keep()

    def _keep(self) -> None:
        state = self._engine.plant.state
        self._rows.append(np.concatenate([state.p_WP_W, [state.yaw], state.q]))

    @property
    def t(self) -> Array:
        """(K,) times of the states [s]."""
        return self._dt * np.arange(float(len(self._rows)))

    @property
    def pose(self) -> Array:
        """(K, 4) the platform's position [m] and heading [rad]."""
        return np.array(self._rows)[:, :4]

    @property
    def q(self) -> Array:
        """(K, 3) joint coordinates [rad]."""
        return np.array(self._rows)[:, 4:]
