# SPDX-License-Identifier: BSD-3-Clause
"""Aircraft on joints, each of which gives a thrust vector: what `full` and `collinear` have in common."""

from collections.abc import Callable

import numpy as np

from iap_control.allocation.actuation import (
    Effectiveness,
    JointLine,
    PlatformLaw,
    ReferenceRows,
    Thrusters,
)
from iap_control.allocation.allocation import allocation_matrix
from iap_control.allocation.inverses import thrust_strengths, thrust_vectors
from iap_control.allocation.jointed_allocation import JointedAllocation
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.thrust_directions import Reach, thrust_directions
from iap_control.gains import Gains
from iap_control.interaction.wrench_control import WrenchControl
from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.health import Health


def turns(assembly: Assembly) -> bool:
    """Check that an aircraft turns on its joint; one on a spring counts as part of the body."""
    return any(joint.kind.is_free and not joint.is_sprung for joint in assembly.joints)


class JointedActuation:
    """Base of the kinds whose aircraft turn on joints."""

    mode = Mode.ATTITUDE_THRUST
    tilts_to_push = False
    uncontrolled = "is left to itself"

    def inverse(self, B: Array, thrusters: Thrusters, health: Health) -> Array:
        """See `Actuation`."""
        return thrust_vectors(B, thrusters, thrust_strengths(thrusters.fleet, health))

    def wrenches(self, model: PlatformModel) -> Array:
        """See `Actuation`."""
        return model.B @ thrust_directions(model.q_PB, model.swings, model.axes)

    def allocation(self, model: PlatformModel) -> JointedAllocation:
        """See `Actuation`."""
        return JointedAllocation(model)

    def make_law(
        self,
        model: PlatformModel,
        gains: Gains,
        dt: float,
        headings: Callable[[Array, Reference], Array],  # noqa: ARG002 - aircraft turn freely
        *,
        follows: bool,  # noqa: ARG002
    ) -> PlatformLaw:
        """Pose and wrench control, see `Actuation`."""
        return WrenchControl(model, gains, dt)

    def thrusts(self, parts: Array) -> Array:
        """(N,) of thrust vectors (3N,), see `Actuation`."""
        return np.asarray(np.linalg.norm(parts.reshape(len(parts) // 3, -1), axis=1))

    def limits(self, model: PlatformModel) -> tuple[Array, Array]:
        """Limits of the aircraft's thrusts, see `Actuation`."""
        low, high = model.thrust_limits.T
        return low, high

    def check_references(
        self, model: PlatformModel, rows: ReferenceRows, vehicle_name: str
    ) -> None:
        """Any attitude can be held up to limits that depend on the flight, see `Actuation`."""

    def _reach(self, assembly: Assembly, thrusters: Thrusters) -> Reach | None:
        """The wrenches of aircraft on joints that turn; None of other platforms."""
        if thrusters.is_vectored or not turns(assembly):
            return None
        directions = thrust_directions(thrusters.q_PB, thrusters.swings, thrusters.axes)
        return Reach.of(positions(assembly), directions)

    def _effectiveness(
        self, assembly: Assembly, thrusters: Thrusters, line: JointLine | None = None
    ) -> Effectiveness:
        B = allocation_matrix(positions(assembly))
        sound = Health.sound(thrusters.fleet)
        return Effectiveness(B, self.inverse(B, thrusters, sound), line)


def positions(assembly: Assembly) -> Array:
    """(N, 3) points of attack of the aircraft's thrusts in P [m]."""
    return np.asarray(assembly.p_PF_P[list(assembly.aircraft)])
