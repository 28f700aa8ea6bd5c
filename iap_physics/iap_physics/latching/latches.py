# SPDX-License-Identifier: BSD-3-Clause
"""Latches in an engine: they catch, damp, lock with a rigid joint, give way and let go; see `kernel`."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.latch import (
    Approach,
    Ends,
    Latch,
    PortFrame,
    place_of,
)
from iap_description.world.objects import WorldObject
from iap_physics.engines.engine import WORLD
from iap_physics.latching import kernel
from iap_physics.latching.kernel import (
    BodyInertia,
    FaceLimits,
    LatchParameters,
    damp,
    is_slow,
    next_face_phase,
    next_phase,
)
from iap_physics.latching.working_latch import LatchingEngine, WorkingLatch
from iap_physics.plant.part import PlantPart


class Phase(Enum):
    """Phases of a latch, in the order of their numbers, see `kernel`."""

    OPEN = "open"
    CAUGHT = "caught"  # damps
    LOCKED = "locked"
    SPENT = "spent"  # has let go or not caught, and catches nothing before the probe has left it


PHASES = tuple(Phase)
FACE_RATE = 0.5  # share of the rate below which a port is locked: a rod is a long lever
EVENTS = {  # that a change of phase without a lock means; others are none
    (kernel.OPEN, kernel.CAUGHT): "caught",
    (kernel.CAUGHT, kernel.OPEN): "lost",
    (kernel.OPEN, kernel.SPENT): "missed",
}


class LatchEvent(NamedTuple):
    """Event of a latch: its kind, its time, and the probe's pose in the socket.

    Attributes:
        t: [s].
        latch: its name.
        what: ``caught``, ``missed``, ``locked``, ``lost``, ``broken`` or ``released``.
        probe: how the probe was.
        slip: its speed across the socket's axis [m/s].
        rate: turn of its body in the socket's [rad/s].
    """

    t: float
    latch: str
    what: str
    probe: Approach
    slip: float = 0.0
    rate: float = 0.0


NO_OBJECTS: Mapping[str, WorldObject] = {}


class Latches(PlantPart):
    """All latches of a world, stepped with its physics.

    Args:
        engine: that joins bodies in flight.
        latches: by their names.
        assemblies: of the vehicles, in the engine's order.
        ends: of every vehicle's central body.
        objects: of the world.

    Attributes:
        events: what has happened since the last reset.
        working: the latches in this world.
    """

    def __init__(
        self,
        engine: LatchingEngine,
        latches: Mapping[str, Latch],
        assemblies: Sequence[Assembly],
        ends: Sequence[Ends],
        objects: Mapping[str, WorldObject] = NO_OBJECTS,
    ) -> None:
        if engine.batch != 1:
            raise BadInput("key 'latches': they work in a world that is no batch")
        self._engine, self.events, self._dt = engine, list[LatchEvent](), 0.0
        first = np.cumsum([0, *(len(assembly.bodies) for assembly in assemblies[:-1])]).tolist()
        homes = {a.name: each for a, *each in zip(assemblies, first, ends, strict=True)}
        centers = {a.name: a for a in assemblies}
        self.working = []
        for name, latch in latches.items():
            rows, frames, bodies = [], [], []
            for path in (latch.probe, latch.socket):
                vehicle, _, port = path.partition("/")
                if not port:
                    rows.append(WORLD)
                    frames.append(PortFrame.of_face())
                    bodies.append(BodyInertia.immovable())
                    continue
                row, of_vehicle = homes[vehicle]
                center = centers[vehicle]
                rows.append(row)
                frames.append(PortFrame.of(of_vehicle[port], center.p_FP_F))
                bodies.append(BodyInertia.of(center.bodies[0]))
            pairs = ((rows[0], rows[1]), (frames[0], frames[1]), (bodies[0], bodies[1]))
            each = WorkingLatch(name, latch, *pairs, LatchParameters.of(latch))
            if latch.face is not None:
                each.number = list(objects).index(latch.socket)
                each.face = FaceLimits.of(latch.face)
            self.working.append(each)

    def reset(self, x: Array | None = None, worlds: Integers | None = None) -> None:
        """All are open, as after a reset of the engine."""
        self.events = []
        for each in self.working:
            each.end(kernel.OPEN)
            if each.face is not None:
                each.standing = self._engine.object_states()[each.number].copy()

    @property
    def numbers(self) -> list[int]:
        """The phases of all latches, as numbers of `Phase` in its order."""
        return [each.phase for each in self.working]

    @property
    def phase_numbers(self) -> Integers:
        """(1, latches) the same, as of a batch of one world."""
        return np.array([self.numbers])

    @property
    def phases(self) -> dict[str, Phase]:
        """The phases of all latches."""
        return {each.name: PHASES[each.phase] for each in self.working}

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
        own, self._dt = np.zeros_like(wrenches), dt
        for each in self.working:
            due = each.latch.release
            if due is not None and t >= due and each.is_closed:
                self._open(each, x, t, "released")
            if each.phase == kernel.LOCKED:
                continue
            if not each.is_closed:
                each.wrench_W[:] = 0.0  # of a lock that gave way in the step before
            self._follow(each, x, t)
            if each.phase == kernel.CAUGHT:
                self._damp(each, x, own, t, dt)
        wrenches += own

    def _follow(self, each: WorkingLatch, x: Array, t: float) -> None:
        """Catch the probe, or let it go."""
        probe, due = each.approach(x), each.latch.release
        last, may_catch = each.phase, due is None or t < due
        if each.face is not None and may_catch:
            phase = int(next_face_phase(last, probe, *each.motion(x), each.parameters, each.face))
        else:
            phase = int(next_phase(last, probe, each.parameters, may_catch))
        if phase == kernel.OPEN and last == kernel.CAUGHT:
            each.end(phase)
        each.phase = phase
        if (last, phase) in EVENTS:
            self._note(each, x, t, EVENTS[last, phase])

    def _note(self, each: WorkingLatch, x: Array, t: float, what: str) -> None:
        event = LatchEvent(t, each.name, what, each.approach(x), *each.motion(x))
        self.events.append(event)

    def _damp(self, each: WorkingLatch, x: Array, wrenches: Array, t: float, dt: float) -> None:
        a, b = each.rows
        pair = (*each.states(x), each.ports[0], *each.bodies)
        speed, turn = damp(*pair, each.parameters, dt, each.wrench_W)
        each.place_W[:] = place_of(x[a], each.ports[0].position)
        if each.face is not None:
            turn /= FACE_RATE
        if is_slow(speed, turn):
            self._lock(each, x, t)
            return
        for row, sign in ((a, 1.0), (b, -1.0)):
            if row != WORLD:
                wrenches[row] += sign * about(each.wrench_W, each.place_W, x[row, P])

    def _lock(self, each: WorkingLatch, x: Array, t: float) -> None:
        a, b = each.rows
        p_BJ_B = each.place_W.copy()
        if b != WORLD:
            p_BJ_B = so3.rotate(so3.conjugate(x[b, Q]), each.place_W - x[b, P])
        each.joint = self._engine.add_joint(a, b, each.ports[0].position, p_BJ_B, type="fixed")
        each.end(kernel.LOCKED)
        self._note(each, x, t, "locked")

    def _open(self, each: WorkingLatch, x: Array, t: float, why: str) -> None:
        if each.phase == kernel.LOCKED:
            self._engine.remove_joint(each.joint)
        each.end(kernel.SPENT)
        self._note(each, x, t, why)

    def end_step(self, before: Array, t: float) -> None:
        """Read what locks have borne in the step since states `before` (bodies, 13), and open those that give way."""
        for each in self.working:
            if each.phase != kernel.LOCKED:
                continue
            each.bear(self._engine.joint_wrench(each.joint), self._dt)
            each.place_W[:] = place_of(before[each.rows[0]], each.ports[0].position)
            if each.gives_way:
                borne = each.wrench_W
                self._open(each, self._engine.state()[0], t, "broken")
                each.wrench_W = borne.copy()

    def add_reaction(self, row: int, before: Array, out: Array) -> None:
        """Add what latches did to a body in the last step, of states `before`, to a wrench (6,) about its CoM."""
        for each in self.working:
            if row in each.rows and each.wrench_W.any():
                sign = 1.0 if row == each.rows[0] else -1.0
                out += sign * about(each.wrench_W, each.place_W, before[row, P])

    def _named(self, name: str) -> WorkingLatch:
        for each in self.working:
            if each.name == name:
                return each
        known = ", ".join(each.name for each in self.working) or "none"
        raise BadInput(f"no latch '{name}' (latches: {known})")


def about(wrench: Array, place_W: Array, center_W: Array) -> Array:
    """Take a wrench [f; tau] (6,) at p (3,) about c (3,): [f; tau + (p - c) x f], all in W [N, N m, m]."""
    x, y, z = (place_W - center_W).tolist()
    f_x, f_y, f_z, *_ = wrench.tolist()
    shifted = wrench.copy()
    # numpy's cross takes 15 times as long, and this is done for each body in each physics step
    shifted[3:] += (y * f_z - z * f_y, z * f_x - x * f_z, x * f_y - y * f_x)
    return shifted
