# SPDX-License-Identifier: BSD-3-Clause
"""An admittance between messages: states, references and wrenches in, revised references out."""

import numpy as np

from iap_control.interaction.admittance import Admittance
from iap_control.responders.reference_input import ReferenceInput
from iap_control.responders.state_responder import StateResponder
from iap_control.responders.wrench_input import WrenchInput
from iap_description.arrays import Array
from iap_description.kernels import put, quat, rotate, vec
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, REF_Q, Q


class AdmittanceResponder(StateResponder[Reference]):
    """Answers every state with one revised reference; see `StateResponder`.

    Where no wrench is measured any more, the correction returns to zero.

    Args:
        admittance: revises the references.
        references: what is revised.
        wrenches: what the references yield to.

    Attributes:
        is_active: whether references yield; may be switched in flight.
    """

    def __init__(
        self, admittance: Admittance, references: ReferenceInput, wrenches: WrenchInput
    ) -> None:
        super().__init__(references, wrenches)
        self.admittance = admittance
        self.is_active = True
        self._wrench_W = np.zeros(6)
        self._warm_up()

    def _warm_up(self) -> None:
        """Revise a reference, so that whatever is loaded when first used is there."""
        at_rest = Reference(np.zeros(REF_FIXED))
        at_rest.row[REF_Q.stop - 1] = self._x[Q.stop - 1] = 1.0
        self._compute(at_rest, np.zeros(6))
        self.admittance.reset()

    def _begin_anew(self) -> None:
        self.admittance.reset()

    def _compute(self, reference: Reference, wrench_P: Array | None) -> Reference:
        is_active = self.is_active and wrench_P is not None
        if wrench_P is not None:
            q_WP = quat(self._x[Q])
            put(self._wrench_W, rotate(q_WP, vec(wrench_P)))
            put(self._wrench_W[3:], rotate(q_WP, vec(wrench_P[3:])))
        return self.admittance(reference, self._wrench_W, is_active)
