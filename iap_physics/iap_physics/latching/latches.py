# SPDX-License-Identifier: BSD-3-Clause
"""Latches in an engine: they catch, damp, lock with a rigid joint, give way and let go; see `kernel`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.latch import Approach, Latch, PortFrame, approach, place_of
from iap_description.vehicles.ports import Port
from iap_physics.engines.engine import Engine
from iap_physics.latching import kernel
from iap_physics.latching.kernel import BodyInertia, LatchParameters, damp, is_slow, next_phase
from iap_physics.plant.part import PlantPart


class Phase(Enum):
    """Phases of a latch, in the order of their numbers, see `kernel`."""

    OPEN = "open"
    CAUGHT = "caught"  # damps
    LOCKED = "locked"
    SPENT = "spent"  # has let go, and catches nothing before the probe has left it


PHASES = tuple(Phase)
EVENTS = {  # that a change of phase without a lock means; others are none
    (kernel.OPEN, kernel.CAUGHT): "caught",
    (kernel.CAUGHT, kernel.OPEN): "lost",
}


class LatchEvent(NamedTuple):
    """Event of a latch: its kind, its time, and the probe's pose in the socket.

    Attributes:
        t: [s].
        latch: its name.
        what: ``caught``, ``locked``, ``lost``, ``broken`` or ``released``.
        probe: how the probe was.
    """

    t: float
    latch: str
    what: str
    probe: Approach


@dataclass
class _Working:
    """A latch in a world.

    Attributes:
        name: its name.
        latch: what it is.
        rows: state rows of the probe's and the socket's body.
        ports: their frames on these bodies.
        bodies: their inertia.
        parameters: of the latch.
        phase: what it is doing, a number of `kernel`.
        joint: the engine's handle while it is locked.
        wrench_W: (6,) force and torque about the probe's end on the probe's body in the last step.
        place_W: (3,) where that was [m].
    """

    name: str
    latch: Latch
    rows: tuple[int, int]
    ports: tuple[PortFrame, PortFrame]
    bodies: tuple[BodyInertia, BodyInertia]
    parameters: LatchParameters
    phase: int = kernel.OPEN
    joint: int = 0
    wrench_W: Array = field(default_factory=lambda: np.zeros(6))
    place_W: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def is_closed(self) -> bool:
        """True if it holds the probe."""
        return self.phase in (kernel.CAUGHT, kernel.LOCKED)

    def approach(self, x: Array) -> Approach:
        """The probe's pose in the socket in states (bodies, 13)."""
        a, b = self.rows
        return approach(x[a], x[b], *self.ports)

    def end(self, phase: int) -> None:
        """Let go, and be in a phase from now on."""
        self.phase, self.wrench_W = phase, np.zeros(6)


class Latches(PlantPart):
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
            rows, frames, bodies = [], [], []
            for path in (latch.probe, latch.socket):
                vehicle, port = path.split("/")
                row, of_vehicle = homes[vehicle]
                center = centers[vehicle]
                rows.append(row)
                frames.append(PortFrame.of(of_vehicle[port], center.p_FP_F))
                bodies.append(BodyInertia.of(center.bodies[0]))
            pairs = ((rows[0], rows[1]), (frames[0], frames[1]), (bodies[0], bodies[1]))
            self._working.append(_Working(name, latch, *pairs, LatchParameters.of(latch)))

    def reset(self, x: Array | None = None, worlds: Integers | None = None) -> None:
        """All are open, as after a reset of the engine."""
        self.events = []
        for each in self._working:
            each.end(kernel.OPEN)

    @property
    def numbers(self) -> list[int]:
        """The phases of all latches, as numbers of `Phase` in its order."""
        return [each.phase for each in self._working]

    @property
    def phases(self) -> dict[str, Phase]:
        """The phases of all latches."""
        return {each.name: PHASES[each.phase] for each in self._working}

    def phase(self, name: str) -> Phase:
        """The phase of a latch."""
        return PHASES[self._named(name).phase]

    def wrench(self, name: str) -> Array:
        """(6,) force [N], torque about the probe's end [N m], of a latch on the probe in the last step, world axes."""
        return self._named(name).wrench_W

    def release(self, name: str, t: float) -> None:
        """Open a latch that holds something; nothing happens where it does not.

        Raises:
            BadInput: there is no such latch.
        """
        each = self._named(name)
        if each.is_closed:
            self._open(each, self._engine.state()[0], t, "released")

    def before_step(self, x: Array, wrenches: Array, t: float, dt: float) -> None:
        """Catch and lock, and add the wrenches of dampers for the coming step."""
        for each in self._working:
            due = each.latch.release
            if due is not None and t >= due and each.is_closed:
                self._open(each, x, t, "released")
            if each.phase == kernel.LOCKED:
                continue
            self._follow(each, each.approach(x), t)
            if each.phase == kernel.CAUGHT:
                self._damp(each, x, wrenches, t, dt)

    def _follow(self, each: _Working, probe: Approach, t: float) -> None:
        """Catch the probe, or let it go."""
        due = each.latch.release
        last = each.phase
        phase = int(next_phase(last, probe, each.parameters, due is None or t < due))
        if phase == kernel.OPEN and last == kernel.CAUGHT:
            each.end(phase)
        each.phase = phase
        if (last, phase) in EVENTS:
            self.events.append(LatchEvent(t, each.name, EVENTS[last, phase], probe))

    def _damp(self, each: _Working, x: Array, wrenches: Array, t: float, dt: float) -> None:
        a, b = each.rows
        pair = (x[a], x[b], each.ports[0], *each.bodies)
        speed, turn = damp(*pair, each.parameters, dt, each.wrench_W)
        each.place_W[:] = place_of(x[a], each.ports[0].position)
        if is_slow(speed, turn):
            self._lock(each, x, t)
            return
        for row, sign in ((a, 1.0), (b, -1.0)):
            wrenches[row] += sign * about(each.wrench_W, each.place_W, x[row, P])

    def _lock(self, each: _Working, x: Array, t: float) -> None:
        a, b = each.rows
        p_BJ_B = so3.rotate(so3.conjugate(x[b, Q]), each.place_W - x[b, P])
        each.joint = self._engine.add_joint(a, b, each.ports[0].position, p_BJ_B, type="fixed")
        each.end(kernel.LOCKED)
        self.events.append(LatchEvent(t, each.name, "locked", each.approach(x)))

    def _open(self, each: _Working, x: Array, t: float, why: str) -> None:
        if each.phase == kernel.LOCKED:
            self._engine.remove_joint(each.joint)
        each.end(kernel.SPENT)
        self.events.append(LatchEvent(t, each.name, why, each.approach(x)))

    def end_step(self, before: Array, t: float) -> None:
        """Read what locks have borne in the step since states `before` (bodies, 13), and open those that give way."""
        for each in self._working:
            if each.phase != kernel.LOCKED:
                continue
            each.wrench_W = self._engine.joint_wrench(each.joint)
            each.place_W[:] = place_of(before[each.rows[0]], each.ports[0].position)
            if np.linalg.norm(each.wrench_W[:3]) > each.latch.max_force:
                borne = each.wrench_W
                self._open(each, self._engine.state()[0], t, "broken")
                each.wrench_W = borne

    def add_reaction(self, row: int, before: Array, out: Array) -> None:
        """Add what latches did to a body in the last step, of states `before`, to a wrench (6,) about its CoM."""
        for each in self._working:
            if row in each.rows and each.wrench_W.any():
                sign = 1.0 if row == each.rows[0] else -1.0
                out += sign * about(each.wrench_W, each.place_W, before[row, P])

    def _named(self, name: str) -> _Working:
        for each in self._working:
            if each.name == name:
                return each
        known = ", ".join(each.name for each in self._working) or "none"
        raise BadInput(f"no latch '{name}' (latches: {known})")


def about(wrench: Array, place_W: Array, center_W: Array) -> Array:
    """Take a wrench [f; tau] (6,) at p (3,) about c (3,): [f; tau + (p - c) x f], all in W [N, N m, m]."""
    x, y, z = (place_W - center_W).tolist()
    f_x, f_y, f_z, *_ = wrench.tolist()
    shifted = wrench.copy()
    # numpy's cross takes 15 times as long, and this is done for each body in each physics step
    shifted[3:] += (y * f_z - z * f_y, z * f_x - x * f_z, x * f_y - y * f_x)
    return shifted
