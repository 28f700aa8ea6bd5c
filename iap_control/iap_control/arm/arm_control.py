# SPDX-License-Identifier: BSD-3-Clause
"""Control of an arm's joints in flight, and what the platform's controller is told of them."""

from typing import NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from iap_control.allocation.model import PlatformModel
from iap_control.arm.arm_model import ArmModel, MovingArm
from iap_control.arm.arm_spec import ArmSpec
from iap_control.arm.motions import ExternalMotion
from iap_control.arm.tip_guidance import TipGuidance, TipMotion
from iap_control.arm.tip_leader import TipLeader
from iap_control.arm.tip_stick import Stick
from iap_control.arm.tip_velocities import TipVelocities
from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import ForceMode, ForceTask, Reference
from iap_description.states import Q
from iap_description.vehicles.chain_inertia import Bodies, holding_torques
from iap_description.vehicles.gripper import Load, carrying
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.vehicles.serial_chain import Chain, jacobian


@runtime_checkable
class FollowsArm(Protocol):
    """A controller that can be told of an arm."""

    def follow_arm(self, moving: MovingArm) -> None:
        """Fly on with the arm as it is and moves now."""


class JointCoordinates(NamedTuple):
    """Coordinates and velocities of an arm's joints, (n,) each."""

    q: Array
    v: Array


class ArmControl:
    """The targets of an arm's motors, one control period after the other.

    Args:
        arm: of the platform.
        model: of the controller.
        spec: what the arm does.
        guide: see there.
        targets: (K, 3, n) joint coordinates, velocities and accelerations at the control instants; the last one is
            held.

    Attributes:
        is_given: whether somebody else commands the joints.
        guide: leads platform and joints together; None where both go their own ways.
        led: (19 + N) the platform's last reference by the guide; None where it does not lead now.
        target: (3, n) the last target: coordinates, velocities and torques on top of the servos'.
    """

    def __init__(
        self,
        arm: MountedArm,
        model: PlatformModel,
        spec: ArmSpec,
        targets: Array,
        guide: TipLeader | None = None,
    ) -> None:
        self._arm, self._targets, self._spec, self.guide = arm, targets, spec, guide
        self._gravity = model.inertia.gravity
        follows, moves = spec.feed_forward != "none", spec.feed_forward == "inertia"
        self._model = ArmModel(arm, model.inertia, moves=moves) if follows else None
        self.is_given = isinstance(spec.motion, ExternalMotion)
        self.target = np.zeros_like(targets[0])
        self.reset()

    def reset(self) -> None:
        """Home: a flight begins."""
        self.carry(None)
        self.feel(None)
        self.led: Array | None = None
        self.target[:] = self.at_home
        self._holds = self.holds
        if self.guide is not None:
            self.guide.reset()

    def carry(self, load: Load | None) -> None:
        """Count with a load on the last link until the next call; None of nothing."""
        self._bodies = carrying(self._arm.bodies, load)
        if self._model is not None:
            self._model.carry(load)

    def feel(self, task: ForceTask | None) -> None:
        """Count with what is measured under wrench control as a force on the tip until the next call."""
        controlled = task is not None and task.mode != ForceMode.NONE
        self._felt_P = task.measured_P[:3].copy() if task and controlled else None

    @classmethod
    def of(
        cls,
        arm: MountedArm,
        model: PlatformModel,
        spec: ArmSpec,
        *,
        lead: float,
        last: int,
        dt: float,
    ) -> Self:
        """The control of a flight whose motion begins at `lead` [s] and whose last control instant is `last`.

        Raises:
            BadInput: the motion does not fit the arm.
        """
        t: Array = dt * np.arange(last + 1.0) - lead
        motion = spec.motion
        guide = (
            motion.guide(arm, lead, dt) if isinstance(motion, TipMotion | TipVelocities) else None
        )
        return cls(arm, model, spec, motion.targets(t, arm.record), guide)

    def __call__(
        self, k: int, x: Array, joints: JointCoordinates, controller: object, reference: Reference
    ) -> Reference:
        """Set the target from control instant k on; the controller is told of the arm.

        Args:
            k: number of the instant.
            x: (13,) what is known of the central body.
            joints: what is measured of the arm.
            controller: of the platform; one that cannot follow an arm is not told.
            reference: of the platform.

        Returns:
            The reference that the platform is to follow.

        Raises:
            FlightFailed: the arm's pose is singular.
        """
        q_d, v_d, a_d = self._targets[min(k, len(self._targets) - 1)]
        led = None if self.guide is None else self.guide(k, x, *joints, reference)
        self.led = None
        if led is not None:
            q_d, v_d, a_d, reference = led
            self.led = reference.row
        if self._model is not None and isinstance(controller, FollowsArm):
            controller.follow_arm(self._model(x, joints.q, joints.v, a_d))
        if not self.is_given:
            self.target[0], self.target[1] = q_d, v_d
        if self._holds:
            R_WP = so3.matrix_from_quaternion(x[Q])
            pose = joints.q if self.is_given else q_d
            body = (self._arm.chain, self._bodies, R_WP)
            self.target[2] = holding_torques(*body, pose, self._gravity)
            if self._felt_P is not None:
                J_P = jacobian(self._arm.chain, np.eye(3), pose)[:3, 6:]
                self.target[2] -= J_P.T @ self._felt_P
        return reference

    @property
    def count(self) -> int:
        """Number of joints n."""
        return int(self.target.shape[1])

    def tip_reference(self, t: float) -> Array | None:
        """(3,) where the end effector should be at a time [s]; None where nothing is asked of it."""
        return None if self.guide is None else self.guide.tip_reference(t)

    @property
    def stick(self) -> Stick | None:
        """The receiver of twists of the end effector by messages; None where none are taken."""
        source = self.guide.source if isinstance(self.guide, TipGuidance) else None
        return source if isinstance(source, Stick) and source.listens else None

    @property
    def clipped(self) -> Integers:
        """(n,) commands of joints that were cut before the motors were told."""
        none = np.zeros(self.target.shape[1], np.int64)
        return none if self.guide is None else self.guide.clipped

    def give(self, q: ArrayLike, v: ArrayLike | None, torque: ArrayLike | None) -> None:
        """Go for coordinates, velocities and torques (n,), as a program asks, until the next call.

        Raises:
            BadInput: of another number of joints.
        """
        count = self.target.shape[1]
        for row, values in enumerate((q, 0.0 if v is None else v, torque)):
            if values is None:
                continue
            if np.shape(values) not in ((), (count,)):
                raise BadInput(f"command_arm: {count} joints expected, got {values}")
            self.target[row] = values
        self._holds = self.holds and torque is None

    @property
    def is_plain(self) -> bool:
        """True if joints go their own way, and the platform's controller does not know of them."""
        return self.guide is None and self._model is None

    @property
    def holds(self) -> bool:
        """True if motors are told what holds the links against gravity, as long as no torques are given."""
        return self._spec.holding

    @property
    def at_home(self) -> Array:
        """(3, n) the target of a flight that begins."""
        return np.stack([self._targets[0, 0], *np.zeros((2, self.count))])

    @property
    def gravity(self) -> float:
        """Acceleration that links are held against [m/s^2]."""
        return self._gravity

    @property
    def held_bodies(self) -> tuple[Chain, Bodies]:
        """The chain and its bodies with what they carry now."""
        return self._arm.chain, self._bodies

    def planned(self, instants: Integers) -> Array:
        """Joint coordinates and velocities (B, 2, n) of the arm's own motion at control instants (B,)."""
        return self._targets[np.minimum(instants, len(self._targets) - 1), :2]
