# SPDX-License-Identifier: BSD-3-Clause
r"""Kinematic control of an end effector by a level platform and its arm together, aerial_manipulator eq. (27).

    v_c = J^+ (r_d' + K_2 tanh(K_2^-1 K_1 (r_d - r))) + (1 - J^+ J) n,     J^+ = W^-1 J^T (J W^-1 J^T)^-1

r = (x, y, z, heading) of the end effector; v_c has the platform's velocity along the axes of its heading, its yaw rate
and the joint rates. (27) is printed with the error's derivative inside of tanh; the law that (28) follows from, and
that was flown, has the error. W weighs the velocities, all alike in the paper; n draws the joints to the middle of
their travel, B. Siciliano et al., Robotics: Modelling, Planning and Control, eqs. (3.54), (3.57); the paper has none.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive
from iap_description.errors import BadInput, IapError
from iap_description.math import so3
from iap_description.vehicles.arm import Arm
from iap_description.vehicles.joint_limits import BASE
from iap_description.vehicles.serial_chain import REVOLUTE, Chain, jacobian, tip_pose

HEADING = 3  # index of the heading in r
Four = tuple[Positive, Positive, Positive, Positive]


class SingularPose(IapError):
    """The platform and its arm cannot move the end effector in every direction of the task."""


class EndEffectorGains(Record):
    """Gains of (27), order x, y, z, heading."""

    task: Literal["position_heading", "position"]  # J of 4 rows, or of the first 3
    slope: Four  # diagonal of K_1 [1/s]
    speed: Four  # diagonal of K_2: largest speed that an error asks for [m/s], [rad/s]
    weights: Annotated[tuple[Positive, ...], Field(min_length=BASE + 1)]  # of velocities, in W
    centring: NonNegative  # of the joints in the null space [1/s]
    singular: Positive  # smallest singular value of J W^-1/2 that is flown


def heading(chain: Chain, yaw: float, q: Array) -> float:
    """Heading of the end effector [rad]: the platform's, turned by the joints that come first and are vertical."""
    return yaw + float(_heading_axes(chain) @ q)


def _heading_axes(chain: Chain) -> Array:
    """(n,) 1, -1 or 0: by how much a joint's turn is one of the heading."""
    out = np.zeros(len(chain.kinds))
    for i, (kind, axis, fixed) in enumerate(
        zip(chain.kinds, chain.axes, chain.rotations, strict=True)
    ):
        if kind != REVOLUTE or abs(axis[2]) < 1.0 or fixed[2, 2] < 1.0:
            break
        out[i] = axis[2]
    return out


def level(yaw: float) -> Array:
    """Attitude (3, 3) of a level platform."""
    return so3.exp(np.array([0.0, 0.0, yaw]))


def task_pose(chain: Chain, p_WP_W: Array, yaw: float, q: Array) -> Array:
    """R (4,): position of the end effector [m] and its heading [rad], aerial_manipulator eq. (3)."""
    return np.append(tip_pose(chain, p_WP_W, level(yaw), q)[0], heading(chain, yaw, q))


def task_jacobian(chain: Chain, yaw: float, q: Array) -> Array:
    """J (4, 4 + n) of r by the velocities, aerial_manipulator eq. (A-1)."""
    full = jacobian(chain, level(yaw), q)
    J = np.empty((4, BASE + len(q)))
    J[:3, :3] = level(yaw)
    J[:3, 3] = full[:3, 5]
    J[:3, BASE:] = full[:3, 6:]
    J[HEADING] = np.concatenate([np.zeros(3), [1.0], _heading_axes(chain)])
    return J


class EndEffectorLaw:
    """Equation (27).

    Args:
        arm: its chain, and the travel of its joints.
        gains: of the law.
        chain: of the arm on a platform; None is that of its file.

    Raises:
        BadInput: of other joints than there are weights.
    """

    def __init__(self, arm: Arm, gains: EndEffectorGains, chain: Chain | None = None) -> None:
        self._chain, self._gains = chain or arm.chain(), gains
        if len(gains.weights) != BASE + len(arm.joints):
            raise BadInput(
                f"key 'arm.motion.control.weights': {BASE + len(arm.joints)} velocities are weighed"
                f" (got {len(gains.weights)})"
            )
        self._rows = 4 if gains.task == "position_heading" else 3
        self._slope, self._speed = np.array(gains.slope), np.array(gains.speed)
        self._inverse_weights = 1.0 / np.array(gains.weights)
        low, high = arm.limits
        self._middle = 0.5 * (low + high)

    def error(self, r_d: Array, p_WP_W: Array, yaw: float, q: Array) -> Array:
        """Error r_d - r (4,) of the end effector's position [m] in W and its heading [rad], within half a turn.

        The heading's error is zero where the task has none.

        Args:
            r_d: (4,) desired position and heading.
            p_WP_W: (3,) position of the platform [m].
            yaw: of the platform [rad].
            q: (n,) joints of the arm [rad].
        """
        e = r_d - task_pose(self._chain, p_WP_W, yaw, q)
        e[HEADING] = (e[HEADING] + np.pi) % (2.0 * np.pi) - np.pi
        e[self._rows :] = 0.0
        return e

    def correction(self, error: Array) -> Array:
        """K_2 tanh(K_2^-1 K_1 e), (4,), the velocity that an error asks for."""
        return np.asarray(self._speed * np.tanh(self._slope * error / self._speed), np.float64)

    def inverse(self, J: Array) -> Array:
        """Weighted pseudo-inverse W^-1 J' (J W^-1 J')^-1 (7, rows) of a task Jacobian J (rows, 7).

        Raises:
            SingularPose: the smallest singular value of J W^-1/2 is below `singular`.
        """
        weighted = J * self._inverse_weights
        smallest = np.sqrt(max(np.linalg.eigvalsh(weighted @ J.T)[0], 0.0))
        if smallest < self._gains.singular:
            raise SingularPose(
                f"singular pose: the smallest singular value is {smallest:.3g}, arm.motion.control.singular"
                f" {self._gains.singular:.3g}"
            )
        inverse: Array = np.linalg.solve(weighted @ J.T, weighted).T.astype(np.float64)
        return inverse

    def jacobian(self, yaw: float, q: Array) -> Array:
        """The task's rows of J."""
        return task_jacobian(self._chain, yaw, q)[: self._rows]

    def __call__(self, r_d: Array, dr_d: Array, p_WP_W: Array, yaw: float, q: Array) -> Array:
        """Velocities v_c (4 + n,).

        Args:
            r_d: (4,) desired position [m] and heading [rad].
            dr_d: (4,) their rates.
            p_WP_W: (3,) of the platform [m].
            yaw: its heading [rad].
            q: (n,) joint coordinates [rad], [m].

        Raises:
            SingularPose: J has no full rank.
        """
        return self.velocities(dr_d + self.correction(self.error(r_d, p_WP_W, yaw, q)), yaw, q)

    def velocities(self, rates: Array, yaw: float, q: Array) -> Array:
        """Velocities u = J^+ (dr - J u_0) + u_0 of platform and joints, under which the task changes at rates dr.

        u_0 moves the joints towards the middle of their travel, in the null space of J.

        Args:
            rates: (4,) of position in W [m/s] and heading [rad/s].
            yaw: of the platform [rad].
            q: (n,) joints of the arm [rad].

        Returns:
            (4 + n,) velocity [m/s] and yaw rate [rad/s] of the platform, rates of the joints [rad/s].

        Raises:
            SingularPose: J has no full rank.
        """
        J = self.jacobian(yaw, q)
        inverse = self.inverse(J)
        free = np.zeros(J.shape[1])
        free[BASE:] = self._gains.centring * (self._middle - q)
        return inverse @ (rates[: self._rows] - J @ free) + free
