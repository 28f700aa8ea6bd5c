# SPDX-License-Identifier: BSD-3-Clause
"""What a policy that moves an end effector may see: terms by name, in axes of the platform's heading.

| term | numbers | unit | what it is |
|---|---|---|---|
| `error` | 3 | m | from the end effector to the target |
| `tip` | 3 | m | from the platform's origin to the end effector |
| `tip_velocity` | 3 | m/s | of the end effector in `map` |
| `joints` | 3 | rad | joint angles |
| `velocity` | 3 | m/s | of the platform |
| `rates` | 4 | rad/s | of its heading and of the joints |
| `action` | 7 | 1 | the last action |
"""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.vehicles.serial_chain import Chain, jacobian, tip_pose
from iap_learning.tasks.terms import LARGEST, Layout
from iap_physics.identified.plants import IdentifiedPlants

TERMS = {  # numbers of each
    "error": 3,
    "tip": 3,
    "tip_velocity": 3,
    "joints": 3,
    "velocity": 3,
    "rates": 4,
    "action": 7,
}


class Tips(NamedTuple):
    """End effectors of B worlds, along the axes of the platforms' headings H.

    Attributes:
        p_PE_H: (B, 3) from the platforms' origins [m].
        v_WE_H: (B, 3) their velocities [m/s].
        error_H: (B, 3) from them to their targets [m].
    """

    p_PE_H: Array
    v_WE_H: Array
    error_H: Array

    @classmethod
    def empty(cls, worlds: int) -> Self:
        """Room for so many."""
        return cls(*(np.zeros((worlds, 3)) for _ in range(3)))

    def look(
        self, chosen: Integers, plants: IdentifiedPlants, chain: Chain, targets: Array
    ) -> None:
        """Take the present states of chosen worlds; targets (B, 3) are in `map` [m]."""
        _look(chosen, plants.pose, plants.q, plants.v, chain, targets, *self)


@njit(cache=True)
def _look(
    chosen: Integers,
    pose: Array,
    q: Array,
    v: Array,
    chain: Chain,
    targets: Array,
    tip: Array,
    speed: Array,
    error: Array,
) -> None:
    here, level = np.zeros(3), np.eye(3)
    for b in chosen:
        tip[b] = tip_pose(chain, here, level, q[b])[0]
        J = jacobian(chain, level, q[b])
        for i in range(3):
            speed[b, i] = v[b, i] + J[i, 5] * v[b, 3]
            for k in range(q.shape[1]):
                speed[b, i] += J[i, 6 + k] * v[b, 4 + k]
        c, s = np.cos(pose[b, 3]), np.sin(pose[b, 3])
        dx, dy = targets[b, 0] - pose[b, 0], targets[b, 1] - pose[b, 1]
        error[b, 0] = c * dx + s * dy - tip[b, 0]
        error[b, 1] = c * dy - s * dx - tip[b, 1]
        error[b, 2] = targets[b, 2] - pose[b, 2] - tip[b, 2]


class Sight:
    """Makes observations.

    Args:
        scales: of each term, by which its numbers are divided.

    Attributes:
        layout: terms, their sizes and scales.
        size: numbers of an observation.
    """

    def __init__(self, scales: Mapping[str, float]) -> None:
        self.layout: Layout = tuple((name, TERMS[name], scale) for name, scale in scales.items())
        factors = [np.full(size, 1.0 / scale) for _, size, scale in self.layout]
        self._factors: Array = np.concatenate(factors)
        self.size = len(self._factors)

    def __call__(
        self, chosen: Integers, tips: Tips, plants: IdentifiedPlants, action: Array
    ) -> NDArray[np.float32]:
        """Observations (n, size) of chosen worlds, whose last actions are rows of `action` (B, 7)."""
        terms = {
            "error": tips.error_H,
            "tip": tips.p_PE_H,
            "tip_velocity": tips.v_WE_H,
            "joints": plants.q,
            "velocity": plants.v[:, :3],
            "rates": plants.v[:, 3:],
            "action": action,
        }
        raw = np.hstack([terms[name][chosen] for name, _, _ in self.layout]) * self._factors
        return np.clip(raw, -LARGEST, LARGEST).astype(np.float32)
