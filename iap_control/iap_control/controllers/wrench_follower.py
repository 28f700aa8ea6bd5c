# SPDX-License-Identifier: BSD-3-Clause
r"""Recorded wrenches in flight: the reference and the feed-forward of a vehicle's controller.

Open loop the recorded wrench is the platform's active wrench. As feed-forward it takes the place of what the model
asks for along the recorded motion, so that feedback alone is added to it:

.. math:: U = U_{recorded} + U_{law} - U_{model}, \quad U_{model} = M \nu'_{ref} + c(\nu_{ref}) - G(R_{ref})

with iap_simulator eq. (4)'s inertia M, velocity terms c and weight G. A wrench holds until the next one comes.
"""

from typing import Self

import numpy as np
from numba import njit

from iap_control.allocation.model import Inertia, PlatformModel
from iap_control.controllers.controller import PlatformController
from iap_control.laws.tracking import coriolis, gravity_on, inertia_numbers, reference_motion_at
from iap_control.references.wrench_replay import WrenchCommand, to_body
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math.kernels import add6, mv6, put_six, six, sub6, unrotate
from iap_description.signals import NO_WRENCH, Reference
from iap_description.states import Level

LIFT_SHARE = (0.4, 2.0)  # of the weight, that the mean recorded force holds up


class WrenchFollower:
    """Gives a controller the recorded wrenches at their times.

    Args:
        command: the wrenches.
        model: of the platform.
        controller: that takes them.
        begin: of the recorded motion in the flight [s].
    """

    def __init__(
        self,
        command: WrenchCommand,
        model: PlatformModel,
        controller: PlatformController,
        begin: float,
    ) -> None:
        self._command, self._inertia = command, model.inertia
        self._controller, self._begin = controller, begin

    @classmethod
    def of(
        cls, command: WrenchCommand, model: PlatformModel, controller: object, begin: float
    ) -> Self:
        """The follower of a vehicle.

        Raises:
            BadInput: the vehicle cannot make such wrenches, or they hold up another weight than its own.
        """
        name = command.source
        refusals = filter(None, (model.actuation.axis_refusal(model, i) for i in range(3)))
        if (refusal := next(refusals, None)) is not None:
            raise BadInput(
                f"{name}: the platform {refusal}: recorded wrenches are flown by platforms that push along every axis"
                " (--platform)"
            )
        if not isinstance(controller, PlatformController):
            raise BadInput(f"{name}: key 'control.law': this one takes no recorded wrenches")
        weight = model.inertia.mass * model.inertia.gravity
        lift = float(command.wrenches[:, 2].mean())
        if not LIFT_SHARE[0] * weight <= lift <= LIFT_SHARE[1] * weight:
            raise BadInput(
                f"{name}: its mean force along z is {lift:.3g} N, and the platform weighs {weight:.3g} N: another"
                " platform's (--platform), other axes (--convention ned), or no force in N?"
            )
        return cls(command, model, controller, begin)

    def reference(self, t: float, q_WP: Array, reference: Reference) -> Reference:
        """The reference to track at a time [s] and an attitude (4,); the controller has its feed-forward."""
        wrench = self._command.at(t - self._begin)
        if wrench is None:
            self._controller.feed_forward_P = NO_WRENCH
            return reference
        wrench_P = to_body(q_WP, wrench) if self._command.frame == "world" else wrench
        if self._command.use == "open_loop":
            return Reference(reference.row, Level.WRENCH, wrench_P)
        self._controller.feed_forward_P = wrench_P - model_wrench(self._inertia, reference.row)
        return reference


@njit(cache=True)
def model_wrench(inertia: Inertia, row: Array) -> Array:
    """The wrench (6,) about P's origin, in P, that moves a platform along a reference row (19+) [N, N m].

    Accelerations of the row are of the origin in W, so that their part w x v of eq. (4)'s C(w) xi is in M's term.
    """
    body, target = inertia_numbers(inertia), reference_motion_at(row)
    rates = six(unrotate(target.q, target.a), target.alpha)
    turning = six((0.0, 0.0, 0.0), target.w)
    load = coriolis(body.d_0, body.J, body.mass, body.coupling, target.w, turning)
    U = add6(mv6(body.M, rates), load)
    out = np.empty(6)
    put_six(out, 0, sub6(U, gravity_on(body.mass, body.d_0, body.gravity, target.q)))
    return out
