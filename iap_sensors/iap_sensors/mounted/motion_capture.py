# SPDX-License-Identifier: BSD-3-Clause
r"""A motion capture that sees markers on every aircraft: poses in `map` that come late, with white noise and a bias.

Of the markers' frame S with the true pose (p, q), a pose of time t that is there at t + latency is

.. math::
    \tilde p = p + b + \sigma_p n_p, \qquad \tilde q = q \otimes \exp(\sigma_q n_q),

with n white and normal, and b drawn once a flight: what the origin of the markers' frame is off that of the vehicle.
Captures of the jsk group are simulated so (jsk_aerial_robot, aerial_robot_hw_sim.cpp); for what real ones err by see
Merriaux et al., "A Study of Vicon System Positioning Performance", Sensors 17(7), 2017.

Presets are read from ``data/motion_capture/NAME.yaml``.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_DELAY
from iap_description.config.record import Presets, Record
from iap_description.config.values import Hertz, NonNegative
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.sensors.mounts import SensorMount, mounts_on_aircraft
from iap_description.sensors.readings import PoseReading, Reading, SensorSource
from iap_description.sensors.sensor_info import CaptureInfo
from iap_description.vehicles.assembly import Assembly
from iap_sensors.mounted.mounted_sensors import MountedSensors, RayCaster

PRESETS = Presets(Path(__file__).parents[1] / "data" / "motion_capture", "motion capture")
KEY = "motion_capture"
POSES_DRAWN_AT_ONCE = (
    64  # poses whose errors are drawn at once; the sequence does not depend on it
)
BIAS = "{}/bias"  # stream of what a vehicle's markers are off, by their topic


class MotionCaptureSpec(Record):
    """A motion capture: standard deviations are per axis."""

    mount: str  # of the aircraft, where the markers' frame is
    rate: Hertz  # poses of each body [Hz]
    latency: Annotated[NonNegative, Field(le=MAX_DELAY)]  # until a pose is there [s]
    position: NonNegative  # white noise of places [m]
    attitude: NonNegative  # white noise of rotation vectors [rad]
    position_bias: NonNegative = 0.0  # of places, drawn once for a flight [m]


@dataclass
class _Markers:
    """Markers on one aircraft, with the errors of poses to come: shifts (K, 3) [m] and turns (K, 4)."""

    source: SensorSource
    rng: np.random.Generator
    bias_W: Array
    shifts: Array
    turns: Array
    next: int

    def error(self, spec: MotionCaptureSpec) -> tuple[Array, Array]:
        """Shift (3,) [m] and turn (4,) of the next pose."""
        if self.next == len(self.shifts):
            self.shifts, self.turns = drawn_errors(spec, self.rng)
            self.next = 0
        self.next += 1
        return self.shifts[self.next - 1], self.turns[self.next - 1]


def drawn_errors(spec: MotionCaptureSpec, rng: np.random.Generator) -> tuple[Array, Array]:
    """Shifts (K, 3) [m] and turns (K, 4) of the next K poses."""
    draws = rng.standard_normal((POSES_DRAWN_AT_ONCE, 2, 3))
    return spec.position * draws[:, 0], so3.quaternion_exp(spec.attitude * draws[:, 1])


class MotionCaptures(MountedSensors):
    """The markers of one vehicle, on each of its aircraft."""

    KEY, SPEC, PRESETS = KEY, MotionCaptureSpec, PRESETS

    @property
    def every(self) -> int:
        """Control periods between calls of `sample`: poses may be there at any instant."""
        return 1

    def start(self, mounts: Sequence[tuple[SensorMount, np.random.Generator]]) -> None:
        """Put markers on each mount."""
        topics = [mount.source.topic for mount, _ in mounts]
        biases = [capture_bias(self.spec, topic, self._seed) for topic in topics]
        self._markers = [
            _Markers(mount.source, rng, bias, np.empty((0, 3)), np.empty((0, 4)), 0)
            for (mount, rng), bias in zip(mounts, biases, strict=True)
        ]
        self._late = round(self.spec.latency * self.control_hz)  # control periods
        self._waiting: deque[tuple[int, Sequence[Reading]]] = deque()

    def reset(self, seed: int) -> None:
        """Start all noise anew; what has not come yet will never come."""
        self._seed = seed
        super().reset(seed)

    def sample(self, k: int, t: float, x: Array, rays: RayCaster | None) -> Sequence[Reading]:
        """The poses that are there at control instant k; arguments as of `MountedSensors`."""
        readings = super().sample(k, t, x, rays)
        if readings:
            self._waiting.append((k + self._late, readings))
        if not self._waiting or self._waiting[0][0] > k:
            return []
        return self._waiting.popleft()[1]

    def measure(
        self,
        t: float,
        p_WS_W: Array,
        q_WS: Array,
        rays: RayCaster | None,  # noqa: ARG002 - cameras of a capture stand all around
    ) -> list[PoseReading]:
        """One pose of each aircraft's markers."""
        rows = zip(self._markers, p_WS_W, q_WS, strict=True)
        return [self._pose(markers, t, p, q) for markers, p, q in rows]

    def _pose(self, markers: _Markers, t: float, p_WS_W: Array, q_WS: Array) -> PoseReading:
        shift, turn = markers.error(self.spec)
        return PoseReading(
            markers.source, t, p_WS_W + markers.bias_W + shift, so3.multiply(q_WS, turn)
        )

    def info(self, fields: dict[str, Any]) -> CaptureInfo:
        """The description of one aircraft's markers."""
        spec = self.spec
        return CaptureInfo(
            **fields,
            position_deviation=spec.position,
            attitude_deviation=spec.attitude,
            latency=self._late / self.control_hz,
        )


def capture_bias(spec: MotionCaptureSpec, topic: str, seed: int) -> Array:
    """(3,) what the markers of a topic are off in a flight [m], axes of `map`."""
    if spec.position_bias == 0.0:
        return np.zeros(3)
    return spec.position_bias * stream(seed, BIAS.format(topic)).standard_normal(3)


def vehicle_bias(spec: MotionCaptureSpec, assembly: Assembly, seed: int) -> Array:
    """(3,) what the markers of a vehicle's first aircraft are off in a flight [m]."""
    topic = mounts_on_aircraft(assembly, spec.mount, KEY)[0].source.topic
    return capture_bias(spec, topic, seed)
