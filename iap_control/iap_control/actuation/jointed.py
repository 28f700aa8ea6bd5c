# SPDX-License-Identifier: BSD-3-Clause
"""Aircraft on joints, each of which gives a thrust vector: the kinds `full` and `collinear`."""

import numpy as np

from iap_control.actuation.base import PoseActuation
from iap_control.allocation.actuation import Effectiveness, JointLine, Thrusters
from iap_control.allocation.allocation import allocation_matrix
from iap_control.allocation.inverses import thrust_strengths, thrust_vectors
from iap_control.allocation.jointed_allocation import JointedAllocation
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.thrust_directions import FREE, Reach, thrust_directions
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.states import Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.health import Health

COSINE_TOLERANCE = 1e-6  # between the joints' line and an axis: perpendicular below


def turns(assembly: Assembly) -> bool:
    """Check that an aircraft turns on its joint; one on a spring counts as part of the body."""
    return any(joint.kind.is_free and not joint.is_sprung for joint in assembly.joints)


class JointedActuation(PoseActuation):
    """Base of the kinds whose aircraft turn on joints."""

    mode = Mode.ATTITUDE_THRUST

    def inverse(self, B: Array, thrusters: Thrusters, health: Health) -> Array:
        """See `Actuation`."""
        return thrust_vectors(B, thrusters, thrust_strengths(thrusters.fleet, health))

    def wrenches(self, model: PlatformModel) -> Array:
        """See `Actuation`."""
        return model.B @ thrust_directions(model.q_PB, model.swings, model.axes)

    def allocation(self, model: PlatformModel) -> JointedAllocation:
        """See `Actuation`."""
        return JointedAllocation(model)

    def thrusts(self, parts: Array) -> Array:
        """(N,) of thrust vectors (3N,), see `Actuation`."""
        return np.asarray(np.linalg.norm(parts.reshape(len(parts) // 3, -1), axis=1))

    def limits(self, model: PlatformModel) -> tuple[Array, Array]:
        """Limits of the aircraft's thrusts, see `Actuation`."""
        low, high = model.thrust_limits.T
        return low, high

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


class FullActuation(JointedActuation):
    """Full actuation: aircraft on joints whose thrusts together make any wrench, rank 6; iap_simulator eq. (10)."""

    name = "full"
    law = "full_actuation"

    def effectiveness(self, assembly: Assembly, thrusters: Thrusters) -> Effectiveness | None:
        """The map of thrust vectors of rank 6, else None."""
        reach = self._reach(assembly, thrusters)
        if reach is None or reach.rank < 6:
            return None
        return self._effectiveness(assembly, thrusters)


class CollinearActuation(JointedActuation):
    """Collinear actuation: aircraft on spherical joints along a line, about which they cannot turn, rank 5.

    The law is that of iap_simulator eq. (16).
    """

    name = "collinear"
    law = "under_actuation"
    arm_refusal: str | None = "no law flies an arm on joints that lie on a line"

    def effectiveness(self, assembly: Assembly, thrusters: Thrusters) -> Effectiveness | None:
        """The map of thrust vectors of a lower rank than 6, else None.

        Raises:
            BadInput: an aircraft does not turn freely.
        """
        reach = self._reach(assembly, thrusters)
        if reach is None or reach.rank == 6:
            return None
        if not (thrusters.swings == FREE).all():
            raise BadInput(
                f"vehicle '{assembly.name}': key 'platform.joints': the aircraft on their joints push along"
                f" {reach.rank} of 6 axes only, and not along {reach.lacking}, for which there is no control law"
            )
        return self._effectiveness(assembly, thrusters, line_through(positions(assembly)))

    def controlled_angles(self, model: PlatformModel) -> tuple[bool, bool, bool]:
        """The angles of the two axes that are furthest from the line."""
        free = int(np.argmax(np.abs(line_of(model).direction_P)))
        return free != 0, free != 1, free != 2

    def axis_refusal(self, model: PlatformModel, axis: int) -> str | None:
        """The torque about the line cannot be made."""
        if axis >= 3 and abs(line_of(model).direction_P[axis - 3]) > COSINE_TOLERANCE:
            return "with its joints on a line cannot turn about it"
        return None


def line_of(model: PlatformModel) -> JointLine:
    """The line of a model's joints."""
    assert model.line is not None  # noqa: S101 - each platform of this kind has one
    return model.line


def line_through(joints: Array) -> JointLine:
    """Fit a line through joints: p = p_0 + s r, with r the first right singular vector of p_i - mean(p).

    Args:
        joints: (N, 3) [m], in P.

    Returns:
        Unit direction r, whose largest component is positive, and the point p_0 [m] that is nearest to the origin.
    """
    center = joints.mean(axis=0)
    direction = np.linalg.svd(joints - center)[2][0]
    direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
    return JointLine(direction, center - direction * (direction @ center))


def positions(assembly: Assembly) -> Array:
    """(N, 3) points of attack of the aircraft's thrusts in P [m]."""
    return np.asarray(assembly.p_PF_P[list(assembly.aircraft)])
