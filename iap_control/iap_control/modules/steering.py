# SPDX-License-Identifier: BSD-3-Clause
r"""A whole structure turned against its leader's attitude error: an addition to BEATLE, off where its gain is zero.

What feed-forward takes out of the joints is also what followers do against a common turn, so that after a while the
leader alone holds the structure, whose inertia is many times its own (300 times about y, of eight in a chain): its
integral then swings it for minutes. So all modules get the angular acceleration

.. math::
    \alpha = -k_s\, \bar e_L,

with e_L the leader's rotation from its reference, low-passed, in their references, where a_i = alpha x R d_i follows.
They carry it out together, each for its own mass, and no joint bears any of it.
"""

from collections.abc import Sequence

import numpy as np

from iap_control.modules.settings import SteeringSettings
from iap_control.modules.structure import Structure
from iap_description import so3
from iap_description.arrays import Array
from iap_description.states import REF_Q, Q


class Steering:
    """Turns structures.

    Args:
        settings: gain and filter.
        dt: period of updates [s].
    """

    def __init__(self, settings: SteeringSettings, dt: float) -> None:
        self._gain = settings.gain
        self._share = -np.expm1(-dt / settings.filter_time)
        self._errors: Array | None = None

    def __call__(self, structures: Sequence[Structure], estimates: Array, rows: Array) -> Array:
        """Angular accelerations (n, 3) of modules, own axes [rad/s^2], on estimates (n, 13) and references (n, 19+)."""
        turns = so3.multiply(so3.conjugate(rows[:, REF_Q]), estimates[:, Q])
        now = so3.quaternion_log(turns)
        last = now if self._errors is None else self._errors
        self._errors = last + self._share * (now - last)
        out = np.zeros((len(rows), 3))
        for each in structures:
            if len(each.modules) > 1:
                out[list(each.modules)] = -self._gain * self._errors[each.leader]
        return out
