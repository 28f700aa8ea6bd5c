# SPDX-License-Identifier: BSD-3-Clause
r"""Latches at work: they catch, damp, lock, give way and let go.

What is caught is slowed by F = -c v and tau = -c_t w of the relative motion at the probe's end, of which v and w are
taken at the end of the step as far as the bodies' own inertia goes,

.. math::
    F = -\frac{c\,v}{1 + h c / m}, \qquad
    \frac1m = \sum_{bodies} \frac1{m_b} + (r_b \times n) \cdot J_b^{-1} (r_b \times n), \quad n = v / |v|,

and likewise for the torque: a body that others are joined to is heavier than that, and is slowed less in a step. When
it is slow the engine's rigid joint takes over.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import (
    Vec,
    cross,
    dot,
    formula,
    mat,
    mv,
    norm,
    put_at,
    quat_at,
    rotate,
    scale,
    sub,
    unrotate,
    vec_at,
)
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.latch import (
    Approach,
    Latch,
    PortFrame,
    approach,
    is_caught,
    place_of,
    velocity_at,
)
from iap_description.vehicles.ports import Port
from iap_physics.engines.engine import Engine

SLOW, SLOW_TURN = 0.02, 0.1  # relative motion that is locked [m/s], [rad/s]
SLIP = 0.01  # what is so much less deep than the latch needs has left it [m]


class Phase(Enum):
    """What a latch is doing."""

    OPEN = "open"
    CAUGHT = "caught"  # damps
    LOCKED = "locked"
    SPENT = "spent"  # has let go, and catches nothing before the probe has left it


NUMBERS = {phase: number for number, phase in enumerate(Phase)}  # as iap_msgs/LatchState has them


class LatchEvent(NamedTuple):
    """What a latch did, when, and how the probe was to the socket.

    Attributes:
        t: [s].
        latch: its name.
        what: ``caught``, ``locked``, ``lost``, ``broken`` or ``released``.
        found: how the probe was.
    """

    t: float
    latch: str
    what: str
    found: Approach


class Masses(NamedTuple):
    """Inverse mass [1/kg] and inertia (3, 3) [1/(kg m^2)] of a body."""

    mass: float
    J: Array


@dataclass
class _Working:
    """A latch in a world.

    Attributes:
        name: its name.
        latch: what it is.
        rows: state rows of the probe's and the socket's body.
        ports: their frames on these bodies.
        masses: of them.
        phase: what it is doing.
        joint: the engine's handle while it is locked.
        wrench_W: (6,) force and torque about the probe's end on the probe's body in the last step.
        place_W: (3,) where that was [m].
    """

    name: str
    latch: Latch
    rows: tuple[int, int]
    ports: tuple[PortFrame, PortFrame]
    masses: tuple[Masses, Masses]
    phase: Phase
    joint: int
    wrench_W: Array
    place_W: Array


class Latches:
    """All latches of a world, stepped with its physics.

    Args:
        engine: that joins bodies in flight.
        latches: by their names.
        assemblies: of the vehicles, in the engine's order.
        ports: of every vehicle's central body.

    Attributes:
        events: what has happened since the last reset.
    """

    def __init__(
        self,
        engine: Engine,
        latches: dict[str, Latch],
        assemblies: Sequence[Assembly],
        ports: Sequence[dict[str, Port]],
    ) -> None:
        if engine.batch != 1:
            raise BadInput("key 'latches': they work in a world that is no batch")
        self._engine, self.events = engine, list[LatchEvent]()
        first = np.cumsum([0, *(len(assembly.bodies) for assembly in assemblies[:-1])]).tolist()
        homes = {a.name: each for a, *each in zip(assemblies, first, ports, strict=True)}
        centers = {a.name: a for a in assemblies}
        self._working = []
        for name, latch in latches.items():
            rows, frames, masses = [], [], []
            for path in (latch.probe, latch.socket):
                vehicle, port = path.split("/")
                row, of_vehicle = homes[vehicle]
                center = centers[vehicle]
                rows.append(row)
                frames.append(PortFrame.of(of_vehicle[port], center.p_FP_F))
                body = center.bodies[0]
                masses.append(Masses(1.0 / body.mass, np.linalg.inv(body.inertia).astype(float)))
            self._working.append(
                _Working(
                    name,
                    latch,
                    (rows[0], rows[1]),
                    (frames[0], frames[1]),
                    (masses[0], masses[1]),
                    Phase.OPEN,
                    0,
                    np.zeros(6),
                    np.zeros(3),
                )
            )

    def reset(self) -> None:
        """All are open, as after a reset of the engine."""
        self.events = []
        for each in self._working:
            each.phase, each.wrench_W = Phase.OPEN, np.zeros(6)

    @property
    def numbers(self) -> list[int]:
        """What every latch is doing, as numbers of `Phase` in its order."""
        return [NUMBERS[each.phase] for each in self._working]

    @property
    def phases(self) -> dict[str, Phase]:
        """What every latch is doing."""
        return {each.name: each.phase for each in self._working}

    def phase(self, name: str) -> Phase:
        """What a latch is doing."""
        return self._named(name).phase

    def wrench(self, name: str) -> Array:
        """(6,) force [N], torque about the probe's end [N m], of a latch on the probe in the last step, world axes."""
        return self._named(name).wrench_W

    def release(self, name: str, t: float) -> None:
        """Open a latch that holds something; nothing happens where it does not.

        Raises:
            BadInput: there is no such latch.
        """
        each = self._named(name)
        if each.phase in (Phase.CAUGHT, Phase.LOCKED):
            self._open(each, self._engine.state()[0], t, "released")

    def act(self, x: Array, wrenches: Array, t: float, dt: float) -> None:
        """Catch and lock, and add the wrenches of dampers for the coming step.

        Args:
            x: (bodies, 13) states.
            wrenches: (bodies, 6) on the bodies about their CoMs, world axes, which are added to.
            t: simulation time [s].
            dt: length of the step [s].
        """
        for each in self._working:
            due = each.latch.release
            if due is not None and t >= due and each.phase in (Phase.CAUGHT, Phase.LOCKED):
                self._open(each, x, t, "released")
            if each.phase == Phase.LOCKED:
                continue
            found = _found(each, x)
            self._catch(each, found, t)
            if each.phase == Phase.CAUGHT:
                self._damp(each, x, wrenches, t, dt)

    def _catch(self, each: _Working, found: Approach, t: float) -> None:
        latch = each.latch
        has_left = found.depth < latch.depth - SLIP
        limits = (latch.depth, latch.radius, math.radians(latch.angle_deg), latch.speed)
        if each.phase == Phase.OPEN and is_caught(found, *limits):
            if latch.release is None or t < latch.release:
                each.phase = Phase.CAUGHT
                self.events.append(LatchEvent(t, each.name, "caught", found))
        elif each.phase == Phase.CAUGHT and has_left:
            each.phase, each.wrench_W = Phase.OPEN, np.zeros(6)
            self.events.append(LatchEvent(t, each.name, "lost", found))
        elif each.phase == Phase.SPENT and has_left:
            each.phase = Phase.OPEN

    def _damp(self, each: _Working, x: Array, wrenches: Array, t: float, dt: float) -> None:
        a, b = each.rows
        gains = (each.latch.damping, each.latch.turn_damping, dt)
        speed, turn = damp(x[a], x[b], each.ports[0], *each.masses, *gains, each.wrench_W)
        each.place_W[:] = place_of(x[a], each.ports[0].position)
        if speed < SLOW and turn < SLOW_TURN:
            self._lock(each, x, t)
            return
        for row, sign in ((a, 1.0), (b, -1.0)):
            wrenches[row] += sign * about(each.wrench_W, each.place_W, x[row, P])

    def _lock(self, each: _Working, x: Array, t: float) -> None:
        a, b = each.rows
        p_BJ_B = so3.rotate(so3.conjugate(x[b, Q]), each.place_W - x[b, P])
        each.joint = self._engine.add_joint(a, b, each.ports[0].position, p_BJ_B, type="fixed")
        each.phase, each.wrench_W = Phase.LOCKED, np.zeros(6)
        self.events.append(LatchEvent(t, each.name, "locked", _found(each, x)))

    def _open(self, each: _Working, x: Array, t: float, why: str) -> None:
        if each.phase == Phase.LOCKED:
            self._engine.remove_joint(each.joint)
        each.phase, each.wrench_W = Phase.SPENT, np.zeros(6)
        self.events.append(LatchEvent(t, each.name, why, _found(each, x)))

    def watch(self, before: Array, t: float) -> None:
        """Read what locks have borne in the step since states `before` (bodies, 13), and open those that give way."""
        for each in self._working:
            if each.phase != Phase.LOCKED:
                continue
            each.wrench_W = self._engine.joint_wrench(each.joint)
            each.place_W[:] = place_of(before[each.rows[0]], each.ports[0].position)
            if np.linalg.norm(each.wrench_W[:3]) > each.latch.max_force:
                borne = each.wrench_W
                self._open(each, self._engine.state()[0], t, "broken")
                each.wrench_W = borne

    def add_wrench_on(self, row: int, x: Array, out: Array) -> None:
        """Add what latches did to a body in the last step, of states x (bodies, 13), to a wrench (6,) about its CoM."""
        for each in self._working:
            if row in each.rows and each.wrench_W.any():
                sign = 1.0 if row == each.rows[0] else -1.0
                out += sign * about(each.wrench_W, each.place_W, x[row, P])

    def _named(self, name: str) -> _Working:
        for each in self._working:
            if each.name == name:
                return each
        known = ", ".join(each.name for each in self._working) or "none"
        raise BadInput(f"no latch '{name}' (latches: {known})")


def _found(each: _Working, x: Array) -> Approach:
    a, b = each.rows
    return approach(x[a], x[b], *each.ports)


def about(wrench: Array, place_W: Array, center_W: Array) -> Array:
    """(6,) a wrench at a place (3,) taken about another (3,)."""
    moved = wrench.copy()
    moved[3:] += np.cross(place_W - center_W, wrench[:3])
    return moved


@formula
def damp(
    x_p: Array,
    x_s: Array,
    probe: PortFrame,
    m_p: Masses,
    m_s: Masses,
    damping: float,
    turn_damping: float,
    dt: float,
    out: Array,
) -> tuple[float, float]:
    """Write force and torque (6,) of the damper on the probe, see the module; returns speed and turn rate."""
    E = place_of(x_p, probe.position)
    v = sub(velocity_at(x_p, E), velocity_at(x_s, E))
    w = sub(vec_at(x_p, 10), vec_at(x_s, 10))
    speed, turn = norm(v), norm(w)
    n, axis = scale(1.0 / max(speed, 1e-12), v), scale(1.0 / max(turn, 1e-12), w)
    ease = point_ease(x_p, E, n, m_p) + point_ease(x_s, E, n, m_s)
    turn_ease = dot(axis, turned(x_p, axis, m_p.J)) + dot(axis, turned(x_s, axis, m_s.J))
    put_at(out, 0, scale(-damping / (1.0 + dt * damping * ease), v))
    put_at(out, 3, scale(-turn_damping / (1.0 + dt * turn_damping * turn_ease), w))
    return speed, turn


@formula
def turned(x: Array, torque_W: Vec, J_inv: Array) -> Vec:
    """Angular acceleration [rad/s^2] of a body of state row (13,) under a torque [N m], world axes."""
    q = quat_at(x, 3)
    return rotate(q, mv(mat(J_inv), unrotate(q, torque_W)))


@formula
def point_ease(x: Array, p_W: Vec, n: Vec, m: Masses) -> float:
    """Acceleration along n of a body's point per force along n there [1/kg]."""
    arm = cross(sub(p_W, vec_at(x, 0)), n)
    return m.mass + dot(arm, turned(x, arm, m.J))
