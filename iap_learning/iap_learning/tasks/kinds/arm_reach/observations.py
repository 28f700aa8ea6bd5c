# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of a policy that moves an end effector, in axes of the platform's heading.

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

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.math import so3
from iap_description.states import REF_FIXED, P, Q, V
from iap_description.vehicles.serial_chain import Chain, jacobian, tip_pose
from iap_learning.tasks.terms import PER_ACTION, TermTable, array_term
from iap_learning.tasks.user_inputs import TermInputs, resting
from iap_physics.identified.plants import IdentifiedPlants


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
        self, indices: Integers, plants: IdentifiedPlants, chain: Chain, targets: Array
    ) -> None:
        """Take the present states of chosen worlds; targets (B, 3) are in `map` [m]."""
        _look(indices, (plants.pose, plants.q, plants.v), chain, targets, self)


@njit(cache=True)
def _look(
    indices: Integers,
    state: tuple[Array, Array, Array],
    chain: Chain,
    targets: Array,
    tips: Tips,
) -> None:
    """Write the tips of some worlds at the states of their plants: pose (B, 4), joints (B, 3), velocities (B, 7)."""
    (pose, q, v), (tip, speed, error) = state, tips
    here, level = np.zeros(3), np.eye(3)
    for b in indices:
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


class ArmInputs(NamedTuple):
    """Inputs of the terms, of B worlds.

    Attributes:
        tips: end effectors.
        plants: with their arms.
        action: (B, 7) the last ones.
    """

    tips: Tips
    plants: IdentifiedPlants
    action: Array


def rest_of(actions: int) -> TermInputs:
    """A platform at rest with its target, as functions of the user's own get it; it has no rotors of its own."""
    return TermInputs.at_rest(1, actions)._replace(
        goal=resting(1, REF_FIXED)[0], rpm=np.zeros((0, 4))
    )


def state_rows(plants: IdentifiedPlants) -> Array:
    """State rows (B, 13) of level platforms in `map`."""
    rows, half = resting(len(plants.pose)), 0.5 * plants.pose[:, 3]
    rows[:, P] = plants.pose[:, :3]
    rows[:, 5], rows[:, 6] = np.sin(half), np.cos(half)
    rows[:, V] = so3.rotate(rows[:, Q], plants.v[:, :3])
    rows[:, 12] = plants.v[:, 3]
    return rows


TERMS = TermTable.of(
    array_term("error", 3, lambda inputs: inputs.tips.error_H),
    array_term("tip", 3, lambda inputs: inputs.tips.p_PE_H),
    array_term("tip_velocity", 3, lambda inputs: inputs.tips.v_WE_H),
    array_term("joints", 3, lambda inputs: inputs.plants.q),
    array_term("velocity", 3, lambda inputs: inputs.plants.v[:, :3]),
    array_term("rates", 4, lambda inputs: inputs.plants.v[:, 3:]),
    array_term("action", PER_ACTION, lambda inputs: inputs.action),
)
