# SPDX-License-Identifier: BSD-3-Clause
"""Energy and momenta of an assembly's state rows: what free flight conserves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.states import P, Q, V, W
from iap_description.vehicles.assembly import Assembly

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Invariants:
    """Conserved quantities of free motion, each with the batch's leading shape.

    Attributes:
        kinetic: sum of m v^2 / 2 + w J w / 2 over the bodies [J].
        potential: sum of m g z [J].
        linear: (..., 3) momentum in world axes [N s].
        angular: (..., 3) angular momentum about the common CoM, world axes [N m s].
    """

    kinetic: Array
    potential: Array
    linear: Array
    angular: Array


def invariants(assembly: Assembly, x: Array, gravity: float = 0.0) -> Invariants:
    """Energy and momenta of state rows (..., bodies, 13) under `gravity` [m/s^2]."""
    masses = np.array([body.mass for body in assembly.bodies])
    inertias = np.stack([body.inertia for body in assembly.bodies])
    momenta = masses[:, None] * x[..., V]
    spins = _spin(inertias, x)
    p_WC_W = np.einsum("b,...bi->...i", masses, x[..., P]) / masses.sum()
    arms = x[..., P] - p_WC_W[..., None, :]
    kinetic = 0.5 * (momenta * x[..., V] + spins * x[..., W]).sum((-2, -1))
    potential = gravity * (masses * x[..., 2]).sum(-1)
    angular = (np.cross(arms, momenta) + spins).sum(-2)
    return Invariants(kinetic, potential, momenta.sum(-2), angular)


def _spin(inertias: Array, x: Array) -> Array:
    """Angular momentum (..., bodies, 3) of each body about its own CoM, world axes."""
    w_B = so3.rotate(so3.conjugate(x[..., Q]), x[..., W])
    return so3.rotate(x[..., Q], np.einsum("bij,...bj->...bi", inertias, w_B))
