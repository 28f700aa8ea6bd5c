# SPDX-License-Identifier: BSD-3-Clause
"""The filter of one body by its inertial unit and the poses that a motion capture sees of it; see `kernel`."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.readings import ImuReading, PoseReading, Reading
from iap_description.sensors.sensor_info import CaptureInfo, ImuInfo, SensorInfo
from iap_description.states import P, Q, V
from iap_description.vehicles.assembly import Assembly
from iap_estimation.capture import kernel
from iap_estimation.capture.gains import CaptureFilterSpec, CaptureGains

CAPTURE_INERTIAL = "capture_inertial"  # the method's name
LAST_POSES = 64  # that may wait for their samples


class FilterConstants(NamedTuple):
    """Numbers of a filter that stay as they are; frames are body B, inertial unit I, markers S.

    Attributes:
        place: (3,) gains, see `CaptureGains`.
        angle: (2,) gains.
        gravity: along -z of `map` [m/s^2].
        p_BI_B: (3,) place of the unit [m].
        q_BI: (4,) its attitude, xyzw.
        p_IB_I: (3,) place of the body [m].
        q_IB: (4,) its attitude.
        p_SI_S: (3,) place of the unit in the markers' frame [m].
        q_SI: (4,) its attitude there.
    """

    place: Array
    angle: Array
    gravity: float
    p_BI_B: Array
    q_BI: Array
    p_IB_I: Array
    q_IB: Array
    p_SI_S: Array
    q_SI: Array

    @classmethod
    def of(cls, imu: ImuInfo, capture: CaptureInfo, gains: CaptureGains, gravity: float) -> Self:
        """The numbers of a filter of two sensors."""
        p_BI_B, q_BI = np.array(imu.p_BS_B), np.array(imu.q_BS)
        q_IB, q_SB = so3.conjugate(q_BI), so3.conjugate(np.array(capture.q_BS))
        p_SI_S = so3.rotate(q_SB, p_BI_B - np.array(capture.p_BS_B))
        unit = (p_BI_B, q_BI, -so3.rotate(q_IB, p_BI_B), q_IB)
        return cls(gains.place, gains.angle, gravity, *unit, p_SI_S, so3.multiply(q_SB, q_BI))

    @property
    def gains(self) -> tuple[Array, Array, float]:
        """Gains of a pose, and gravity, as `kernel.correct` takes them."""
        return self.place, self.angle, self.gravity


def starting_state(row: Array, constants: FilterConstants) -> Array:
    """State (16,) of the unit on a body with a state row (13,), without offsets."""
    arm_W, state = so3.rotate(row[Q], constants.p_BI_B), np.zeros(kernel.SIZE)
    state[:3], state[3:7] = row[P] + arm_W, so3.multiply(row[Q], constants.q_BI)
    state[7:10] = row[V] + np.cross(row[10:13], arm_W)
    return state


class CaptureFilter:
    """Place, attitude, velocity and offsets of one body.

    Samples and poses may come in any order, as long as each of them come in the order of their own times.

    Args:
        imu: the body's inertial unit.
        capture: its markers.
        spec: what gains are made of.
        gravity: along -z of `map` [m/s^2].

    Attributes:
        imu: as given.
        capture: as given.
        t: of the newest sample [s]; minus infinity before it has begun.
        t_pose: of the newest pose [s]; minus infinity before the first.
        deviation: standard deviation of a place behind a pose [m].
        constants: gains, gravity, and where the unit and the markers are.
    """

    def __init__(
        self, imu: ImuInfo, capture: CaptureInfo, spec: CaptureFilterSpec, gravity: float
    ) -> None:
        self.imu, self.capture = imu, capture
        gains = CaptureGains.of(spec, capture, imu)
        self.deviation = gains.deviation
        self.constants = FilterConstants.of(imu, capture, gains, gravity)
        self._sample, self._pose = np.zeros(6), np.zeros(7)
        self.reset()

    @classmethod
    def of(
        cls,
        assembly: Assembly,
        sensors: Sequence[SensorInfo],
        spec: CaptureFilterSpec,
        gravity: float,
    ) -> "CaptureFilter":
        """The filter of a vehicle that is one body.

        Args:
            assembly: the vehicle.
            sensors: those of the vehicle; others may be among them.
            spec: what gains are made of.
            gravity: [m/s^2].

        Raises:
            BadInput: the vehicle has several bodies, no inertial unit, or no markers.
        """
        if len(assembly.bodies) != 1:
            raise BadInput(
                f"vehicle '{assembly.name}': method {CAPTURE_INERTIAL} is for one body, and the platform has"
                f" {len(assembly.bodies)}"
            )
        frame = f"{assembly.name}/{assembly.bodies[0].name}"
        on_it = [each for each in sensors if each.parent == frame]
        imu = next((each for each in on_it if isinstance(each, ImuInfo)), None)
        capture = next((each for each in on_it if isinstance(each, CaptureInfo)), None)
        if imu is None or capture is None:
            raise BadInput(
                f"vehicle '{assembly.name}': method {CAPTURE_INERTIAL} needs sensors: imu, motion_capture"
            )
        return cls(imu, capture, spec, gravity)

    def reset(self) -> None:
        """Forget all: the first pose begins anew."""
        self._ring = kernel.empty_ring()
        self._waiting: list[tuple[float, Array]] = []
        self.t = self.t_pose = -math.inf

    def begin(self, t: float, row: Array) -> None:
        """Begin at a body's state row (13,) at a time [s]."""
        self.reset()
        self._ring.states[0] = starting_state(row, self.constants)
        self._ring[0][0], self._ring[3][kernel.COUNT], self.t = t, 1, t

    def take_sample(self, reading: ImuReading) -> None:
        """Take a sample of the unit; one that is no newer than the last does not count."""
        t = _rounded(reading)
        if not math.isfinite(self.t) or t <= self.t + kernel.TOLERANCE:
            return
        self._sample[:3], self._sample[3:] = reading.w_WS_S, reading.f_S
        kernel.predict(*self._ring, t, self._sample, self.constants.gravity)
        self.t = t
        while self._waiting and self._waiting[0][0] <= self.t + kernel.TOLERANCE:
            self._correct(*self._waiting.pop(0))

    def take_pose(self, reading: PoseReading) -> None:
        """Take a pose of the markers, which may be late."""
        t = _rounded(reading)
        if t <= self.t_pose + kernel.TOLERANCE:
            return
        self.t_pose = t
        pose = self._pose
        constants = self.constants
        kernel.unit_pose(reading.p_WS_W, reading.q_WS, constants.p_SI_S, constants.q_SI, pose)
        if not math.isfinite(self.t):
            self._ring[2][0][:7] = pose
            self._ring[0][0], self._ring[3][kernel.COUNT], self.t = t, 1, t
        elif t <= self.t + kernel.TOLERANCE:
            self._correct(t, pose)
        else:
            self._waiting = [*self._waiting[1 - LAST_POSES :], (t, pose.copy())]

    def _correct(self, t: float, pose: Array) -> None:
        kernel.correct(*self._ring, t, pose, *self.constants.gains)

    @property
    def offsets(self) -> Array:
        """(6,) of the unit's readings, as they are estimated: specific force [m/s^2], angular velocity [rad/s]."""
        offsets: Array = self._ring[2][self._ring[3][kernel.NEWEST], 10:].copy()
        return offsets

    def put_row(self, t: float, out: Array) -> None:
        """Write the body's state row (13,) at a time [s] that is no earlier than the newest sample's."""
        i, span = self._ring[3][kernel.NEWEST], t - self.t
        kernel.body_row(
            self._ring[2][i],
            self._ring[1][i],
            span if span > kernel.TOLERANCE else 0.0,
            self.constants.p_IB_I,
            self.constants.q_IB,
            out,
        )


def _rounded(reading: Reading) -> float:
    """Time of a reading as its stamp has it [s], so that it is the same in one process and between nodes."""
    return reading.stamp / 1e9
