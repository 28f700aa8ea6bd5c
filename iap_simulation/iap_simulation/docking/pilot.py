# SPDX-License-Identifier: BSD-3-Clause
"""The script on what is measured of a pair, and the judgement of a docking."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from iap_control.docking.guidance import empty_memory, script_command
from iap_control.docking.settings import ScriptParameters
from iap_control.docking.vehicle_control import PairParameters
from iap_description.arrays import Array
from iap_description.states import Q, V
from iap_description.vehicles.latch import Approach, Latch, PortFrame, approach
from iap_physics.latching.latches import Latches, LatchEvent, Phase
from iap_physics.measured.wrench_sensor import to_world
from iap_physics.plant.plant import Plant
from iap_simulation.scenario.docking_spec import DockingSpec, Success
from iap_simulation.scenario.scenario import Scenario

TOUCH = 0.5  # force from which on a vehicle is touched [N]


class Sensed(NamedTuple):
    """What a pilot knows at a control instant.

    Attributes:
        rows: (2, 13) measured state rows of target and chaser.
        wrenches_P: (2, 6) contact and latch on each over the last period, about its CoM, in its axes [N, N m].
        latched: whether the latch holds the probe.
    """

    rows: Array
    wrenches_P: Array
    latched: bool

    @property
    def wrench_W(self) -> Array:
        """(6,) on the chaser, along the world's axes."""
        out = np.zeros(6)
        to_world(self.wrenches_P[1], self.rows[1, Q], out)
        return out


class ScriptPilot:
    """Flies target and chaser by the script.

    Args:
        spec: of the docking.
        pair: what is known of the vehicles.

    Attributes:
        pair: as given.
    """

    def __init__(self, spec: DockingSpec, pair: PairParameters) -> None:
        self._script = ScriptParameters(**spec.script.model_dump())
        self.pair = pair
        self._out = np.zeros((2, 4))
        self._memory = empty_memory()

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """The script of a scenario that docks."""
        assert scenario.docking is not None
        latch = scenario.latches[scenario.docking.latch]
        probe, socket = frames(scenario, latch)
        target = next(v for v in scenario.vehicles if v.name == latch.socket.split("/")[0])
        mass = target.platform.aircraft.mass
        return cls(
            scenario.docking,
            PairParameters(probe, socket, mass, scenario.world.gravity, scenario.dt),
        )

    @property
    def info(self) -> Mapping[str, Any]:
        """What flies."""
        return {"name": "script"}

    def __call__(self, k: int, sensed: Sensed) -> Array:  # noqa: ARG002 - it acts at every instant
        """(2, 4) thrust [N] and body rates [rad/s] of target and chaser; the next call overwrites them."""
        target, chaser = sensed.rows
        touches = bool((np.linalg.norm(sensed.wrenches_P[:, :3], axis=1) > TOUCH).any())
        latched = sensed.latched
        script_command(
            target, chaser, touches, latched, self._script, self.pair, self._memory, self._out
        )
        return self._out


def is_held(phase: Phase) -> bool:
    """Whether a latch holds its probe."""
    return phase in (Phase.CAUGHT, Phase.LOCKED)


def frames(scenario: Scenario, latch: Latch) -> tuple[PortFrame, PortFrame]:
    """Frames of a latch's probe and socket on their vehicles as their files say."""
    platforms = {vehicle.name: vehicle.platform for vehicle in scenario.vehicles}
    paths = (latch.probe.split("/"), latch.socket.split("/"))
    found = [PortFrame.of(platforms[name].ports[port], np.zeros(3)) for name, port in paths]
    return found[0], found[1]


class DockingInstant(NamedTuple):
    """What is known of a docking at a control instant.

    Attributes:
        t: [s].
        rows: (13,) state rows of the probe's and of the socket's vehicle.
        force: largest on one of them, mean over the last control period [N].
        caught: time at which the latch caught what it holds [s]; None while it holds nothing.
    """

    t: float
    rows: Sequence[Array]
    force: float
    caught: float | None


class DockingJudge:
    """Follows a docking and says when it is over.

    Attributes:
        key: of metrics.json.
        latch: its name.
        vehicles: numbers of the probe's and of the socket's.
        missed: outcome of a flight that has not succeeded.
        docked: times at which the latch caught and held until the end of the coupled flight, or so far [s].
        is_over: whether it has succeeded, or its time is up.
        succeeded: whether it has.
        force_peak: largest force on a vehicle so far, mean over a control period [N].
        closing_speed: at the first touch [m/s]; None before it.
    """

    key, missed = "docking", "not_docked"

    def __init__(self, scenario: Scenario, spec: DockingSpec) -> None:
        latch = scenario.latches[spec.latch]
        names = [vehicle.name for vehicle in scenario.vehicles]
        self.latch, self._success = spec.latch, spec.success
        self._frames = frames(scenario, latch)
        self.vehicles = tuple(names.index(p.split("/")[0]) for p in (latch.probe, latch.socket))
        self.is_over = self.succeeded = False
        self.force_peak = 0.0
        self.closing_speed: float | None = None
        self.docked: list[float] = []
        self.end: float | None = None
        self._last: float | None = None  # closing speed at the instant before [m/s]

    @classmethod
    def of(cls, scenario: Scenario) -> Self | None:
        """The judge of a scenario that docks, else None."""
        return None if scenario.docking is None else cls(scenario, scenario.docking)

    def watch(self, plant: Plant) -> None:
        """Take the present instant."""
        forces = [float(np.linalg.norm(plant.contact_wrench(i)[:3])) for i in self.vehicles]
        rows = [plant.state(i)[0, 0] for i in self.vehicles]
        latches = plant.part(Latches)
        assert latches is not None
        caught = None
        if is_held(latches.phase(self.latch)):
            events = (e for e in latches.events if e.latch == self.latch)
            caught = [e.t for e in events if e.what == "caught"][-1]
        self.take(DockingInstant(plant.t, rows, max(forces), caught))

    def take(self, now: DockingInstant) -> None:
        """Take an instant, each once and in order."""
        self.force_peak = max(self.force_peak, now.force)
        closing = self.approach(now.rows).closing
        if self.closing_speed is None and now.force > 0.0:
            self.closing_speed = closing if self._last is None else self._last
        self._last = closing
        self._judge(now)

    def approach(self, rows: Sequence[Array]) -> Approach:
        """How the probe is to the socket, of the state rows of their vehicles."""
        return approach(rows[0], rows[1], *self._frames)

    def _judge(self, now: DockingInstant) -> None:
        if now.caught is None:
            self.is_over = self.is_over or now.t >= self._success.within
            return
        if not self.docked or self.docked[-1] != now.caught:
            self.docked.append(now.caught)
        if self.end is None and now.t >= now.caught + self._success.hover - 1e-9:
            self.end, self.is_over = now.t, True
            self.succeeded = self._is_calm(now.rows) and now.t <= self._success.within + 1e-9
            self.succeeded &= self.force_peak <= self._success.peak_force

    def _is_calm(self, rows: Sequence[Array]) -> bool:
        limits: Success = self._success
        return all(
            np.linalg.norm(x[V]) < limits.end_speed and tilt(x) < math.radians(limits.end_tilt_deg)
            for x in rows
        )

    @property
    def failure(self) -> str | None:
        """Why it is no success, in a sentence; None of a success."""
        s = self._success
        if self.succeeded:
            return None
        if self.end is None:
            return f"latch '{self.latch}' held nothing for {s.hover:g} s within {s.within:g} s"
        if self.force_peak > s.peak_force:
            return f"a force of {self.force_peak:.0f} N is more than the {s.peak_force:g} N of a docking"
        return f"the docked vehicles do not hover {s.hover:g} s after latch '{self.latch}' caught"

    def metrics(self, plant: Plant) -> dict[str, Any]:
        """Key `docking` of metrics.json."""
        latches = plant.part(Latches)
        assert latches is not None
        return self.report(latches.events)

    def report(self, events: Sequence[LatchEvent]) -> dict[str, Any]:
        """The same, of what latches have done."""
        return {
            "success": self.succeeded,
            "docked": self.docked,
            "latch_time_s": self.docked[-1] if self.docked else None,
            "docking_time_s": self.end if self.succeeded else None,
            "force_peak_n": self.force_peak,
            "closing_speed_mps": self.closing_speed,
            "events": [
                {
                    "t_s": event.t,
                    "latch": event.latch,
                    "what": event.what,
                    "depth_m": event.probe.depth,
                    "radius_m": event.probe.radius,
                    "angle_deg": math.degrees(event.probe.angle),
                    "closing_mps": event.probe.closing,
                }
                for event in events
            ],
        }


def tilt(x: Array) -> float:
    """Angle [rad] between a body's z axis, of state row (13,), and the vertical."""
    a, b = x[Q][:2]
    return math.acos(min(max(1.0 - 2.0 * (a * a + b * b), -1.0), 1.0))
