# SPDX-License-Identifier: BSD-3-Clause
"""One latch at work in a world."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import W, resting_state
from iap_description.vehicles.latch import Approach, Latch, PortFrame, approach, slip_of
from iap_physics.engines.engine import WORLD
from iap_physics.latching import kernel
from iap_physics.latching.kernel import BodyInertia, FaceLimits, LatchParameters

PAD_TIME = 0.005  # [s] over which the pad between a probe and a face spreads what it bears


class LatchingEngine(Protocol):
    """A world in which latches join bodies in flight."""

    batch: int

    def state(self) -> Array:
        """(1, bodies, 13) states."""

    def object_states(self) -> Array:
        """(objects, 13) state rows of the frames of its objects."""

    def add_joint(
        self, body_a: int, body_b: int, p_AJ_A: Array, p_BJ_B: Array, *, type: str = "spherical"
    ) -> int:
        """Join two bodies, see `Engine.add_joint`."""

    def remove_joint(self, handle: int) -> None:
        """Undo `add_joint`."""

    def joint_wrench(self, handle: int) -> Array:
        """(6,) what a joint bore in the last step, see `Engine.joint_wrench`."""


@dataclass
class WorkingLatch:
    """A latch in a world.

    Attributes:
        name: its name.
        latch: what it is.
        rows: state rows of the probe's and the socket's body, which is `WORLD` for an object.
        ports: their frames on these bodies.
        bodies: their inertia.
        parameters: of the latch.
        number: of the object that is the socket, if it is one.
        face: its limits, if it is one.
        standing: (13,) state row of that object.
        phase: what it is doing, a number of `kernel`.
        joint: the engine's handle while it is locked.
        wrench_W: (6,) force and torque about the probe's end on the probe's body in the last step.
        smooth_W: (6,) such a wrench of the lock, smoothed over `PAD_TIME`, by which a face gives way.
        place_W: (3,) where that was [m].
    """

    name: str
    latch: Latch
    rows: tuple[int, int]
    ports: tuple[PortFrame, PortFrame]
    bodies: tuple[BodyInertia, BodyInertia]
    parameters: LatchParameters
    number: int = 0
    face: FaceLimits | None = None
    standing: Array = field(default_factory=lambda: resting_state(np.zeros(3), so3.IDENTITY))
    phase: int = kernel.OPEN
    joint: int = 0
    wrench_W: Array = field(default_factory=lambda: np.zeros(6))
    smooth_W: Array = field(default_factory=lambda: np.zeros(6))
    place_W: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def is_closed(self) -> bool:
        """True if it holds the probe."""
        return self.phase in (kernel.CAUGHT, kernel.LOCKED)

    def approach(self, x: Array) -> Approach:
        """The probe's pose in the socket in states (bodies, 13)."""
        return approach(*self.states(x), *self.ports)

    def states(self, x: Array) -> tuple[Array, Array]:
        """State rows (13,) of the probe's body and of the socket's in states (bodies, 13)."""
        a, b = self.rows
        return x[a], self.standing if b == WORLD else x[b]

    def motion(self, x: Array) -> tuple[float, float]:
        """Speed of the probe across the socket's axis [m/s], and turn of its body in the socket's [rad/s]."""
        x_p, x_s = self.states(x)
        return slip_of(x_p, x_s, *self.ports), float(np.linalg.norm(x_p[W] - x_s[W]))

    @property
    def gives_way(self) -> bool:
        """True if it bears more than it can."""
        face = self.latch.face
        if face is None:
            return bool(np.linalg.norm(self.wrench_W[:3]) > self.latch.max_force)
        force, torque = np.linalg.norm(self.smooth_W[:3]), np.linalg.norm(self.smooth_W[3:])
        return bool(force > self.latch.max_force or torque > face.max_torque)

    def bear(self, wrench_W: Array, dt: float) -> None:
        """Take the wrench (6,) that the lock has borne in a step of dt [s]."""
        self.wrench_W = wrench_W
        self.smooth_W = self.smooth_W + dt / (dt + PAD_TIME) * (wrench_W - self.smooth_W)

    def end(self, phase: int) -> None:
        """Let go, and be in a phase from now on."""
        self.phase, self.wrench_W, self.smooth_W = phase, np.zeros(6), np.zeros(6)
