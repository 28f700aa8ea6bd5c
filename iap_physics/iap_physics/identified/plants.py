# SPDX-License-Identifier: BSD-3-Clause
"""Many identified plants side by side: of each world what `IdentifiedPlant` gives with its seed, bit for bit."""

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.identified.dynamics import JOINTS, SIZE, Dynamics, advance
from iap_physics.identified.plant import FASTEST, STREAM, moved
from iap_physics.identified.plant_file import DynamicPlant, PlantFile

DRAWN = 64  # steps whose noise is drawn at once


class NoiseStreams:
    """The noise of many plants: each draws from its own stream, as `IdentifiedPlant` does.

    Args:
        half_width: of the even noise [rad, m/s, rad/s].
        worlds: B.
    """

    def __init__(self, half_width: float, worlds: int) -> None:
        self._half_width = half_width
        self._streams: list[np.random.Generator | None] = [None] * worlds
        self._drawn = np.zeros((worlds, DRAWN if half_width else 1, SIZE + JOINTS))
        self._next = np.zeros(worlds, np.int64)

    def reset(self, indices: Integers, seeds: Integers) -> None:
        """Begin the streams of some worlds anew."""
        if self._half_width:
            for b, seed in zip(indices.tolist(), seeds.tolist(), strict=True):
                self._streams[b] = stream(seed, STREAM)
            self._next[indices] = DRAWN

    def __call__(self) -> Array:
        """(B, 10) noise of the next step: of velocities, then of joints."""
        if not self._half_width:
            return self._drawn[:, 0]
        width = self._half_width
        for b in np.flatnonzero(self._next == DRAWN).tolist():
            stream = self._streams[b]
            assert stream is not None  # noqa: S101 - plants are reset before they step
            self._drawn[b] = stream.uniform(-width, width, self._drawn.shape[1:])
            self._next[b] = 0
        noise = self._drawn[np.arange(len(self._next)), self._next]
        self._next += 1
        return noise


class IdentifiedPlants:
    """Plants of eq. (18) in B worlds, see `IdentifiedPlant`; they are to be reset before they step.

    Args:
        plant: the model's parameters.
        worlds: B.
        noise: half-width of the even noise on joints and velocities in every step [rad, m/s, rad/s].

    Attributes:
        pose: (B, 4) positions of the platforms [m], and headings [rad].
        q: (B, 3) joint angles [rad].
        v: (B, 7) velocities.
        status: (B,) see `iap_physics.engines.engine`.

    Raises:
        BadInput: a model of another kind, whose dead times are those of one flight.
    """

    def __init__(self, plant: PlantFile, worlds: int, *, noise: float) -> None:
        if not isinstance(plant, DynamicPlant):
            raise BadInput(
                f"key 'plant.file': model 'dynamic' flies many worlds (got '{plant.model}', one flight at a time)"
            )
        self._model, self._noise = plant.dynamics(), NoiseStreams(noise, worlds)
        self.pose, self.q, self.v = (np.zeros((worlds, n)) for n in (4, JOINTS, SIZE))
        self.status = np.full(worlds, RUNNING)

    def reset(self, indices: Integers, seeds: Integers, pose: Array, q: Array) -> None:
        """Put some worlds (n,) at rest at poses (n, 4) with joints at q (n, 3); seeds (n,) are those of their noise."""
        self.pose[indices], self.q[indices], self.v[indices] = pose, q, 0.0
        self.status[indices] = RUNNING
        self._noise.reset(indices, seeds)

    def step(self, v_d: Array, h: float) -> None:
        """Advance by h [s] with commands v_d (B, 7) held; a world that has diverged stands still."""
        _step(self._model, v_d, h, self._noise(), self.pose, self.q, self.v, self.status)


@njit(cache=True)
def _step(
    model: Dynamics,
    v_d: Array,
    h: float,
    noise: Array,
    pose: Array,
    q: Array,
    v: Array,
    status: Integers,
) -> None:
    """Write the states after a step, see `IdentifiedPlants`."""
    for b in range(len(pose)):
        if status[b] != RUNNING:
            continue
        new_q, new_v = q[b].copy(), v[b].copy()
        advance(model, new_q, new_v, v_d[b], h)
        new_v += noise[b, :SIZE]
        new_q += noise[b, SIZE:]
        if not np.abs(new_v).max() < FASTEST:
            status[b] = DIVERGED
            continue
        q[b], v[b] = new_q, new_v
        pose[b, 0], pose[b, 1], pose[b, 2], pose[b, 3] = moved(pose[b], new_v, h)
