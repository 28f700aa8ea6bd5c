# SPDX-License-Identifier: BSD-3-Clause
"""The joint between an aircraft and the central body, as platform files describe it."""

from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.config.record import Record
from iap_description.config.values import Degrees, NonNegative, Position, Positive, Vec3
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.joint_types import JointTypeName, joint_type


class Friction(Record):
    """Resistance of a joint against turning."""

    viscous: NonNegative = 0.0  # torque per relative angular velocity [N m s/rad]
    coulomb: NonNegative = 0.0  # torque at any velocity, and the most that it holds at rest [N m]


class Spring(Record):
    """A spring in a revolute joint; what damps it is the joint's viscous friction."""

    stiffness: Positive  # torque per angle [N m/rad]
    rest_deg: Degrees = 0.0  # angle about the axis at which it is slack


AXES_TOLERANCE = 1e-6  # by which two axes of a joint may fail to be perpendicular
Travel = Annotated[float, Field(strict=True, gt=0.0, lt=180.0)]


class JointSpec(Record):
    """An aircraft and its joint, at `position` in P.

    Without more keys the joint is that of the papers: at the aircraft's CoM (iap_simulator III-A), smooth (eq. (7)),
    and free to turn as far as the bodies' shapes let it, as no limit of its travel is stated.
    """

    type: JointTypeName
    position: Position  # [m] in P
    yaw_deg: Degrees  # the aircraft's heading when it is level and the platform's yaw is zero
    axes: tuple[
        Vec3, ...
    ] = ()  # about which it turns, in the aircraft's frame at rest, any length
    aircraft: Aircraft | None = None  # None: as the platform's
    offset: Vec3 = (0.0, 0.0, 0.0)  # of the joint in the aircraft's frame [m]
    limit_deg: Travel | None = (
        None  # largest angle between the z axes of aircraft and platform; None: any
    )
    friction: Friction = Friction()
    spring: Spring | None = None

    @property
    def holds(self) -> bool:
        """True if the aircraft is part of the platform's body at rest: it does not turn, or only against a spring."""
        return self.spring is not None or not joint_type(self.type).is_free

    @model_validator(mode="after")
    def _has_axes(self) -> Self:
        count, axes = joint_type(self.type).axes, np.array(self.axes).reshape(-1, 3)
        if len(axes) != count:
            raise ValueError(f"key 'axes': a joint of type '{self.type}' has {count} of them")
        lengths = np.linalg.norm(axes, axis=1)
        if (lengths == 0.0).any():
            raise ValueError("key 'axes': an axis has no direction")
        if count == 2 and abs(axes[0] @ axes[1]) > AXES_TOLERANCE * lengths.prod():
            raise ValueError("key 'axes': the axes of a universal joint are perpendicular")
        return self

    @model_validator(mode="after")
    def _has_travel(self) -> Self:
        if not joint_type(self.type).is_free:
            for key in ("limit_deg", "friction", "spring"):
                if getattr(self, key) != type(self).model_fields[key].default:
                    raise ValueError(f"key '{key}': a joint of type '{self.type}' does not turn")
        if self.spring is not None and joint_type(self.type).axes != 1:
            raise ValueError("key 'spring': a joint of type 'revolute' is expected")
        return self
