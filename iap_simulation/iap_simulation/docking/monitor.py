# SPDX-License-Identifier: BSD-3-Clause
"""Follows a docking in the closed loop or by topics: its outcome, and key `docking` of metrics.json."""

import math
from typing import Any, Self

import numpy as np

from iap_physics.engines.engine import RUNNING
from iap_physics.latching.latches import Latches, Phase
from iap_simulation.docking.outcome import (
    START,
    DockingInstant,
    DockingLimits,
    DockingProgress,
    follow,
    outcome,
)
from iap_simulation.docking.pair_laws import docking_limits
from iap_simulation.docking.ports import is_held, port_frames
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.scenario_keys import DockingSpec
from iap_simulation.tasks.monitor import ObservedLatches, ObservedPlant, TaskMonitor
from iap_simulation.tasks.outcomes import ARRIVED


class DockingMonitor(TaskMonitor[ObservedPlant]):
    """Follows a docking.

    Args:
        scenario: that docks.
        spec: its key `docking`.
        limits: of the docking; None takes those of the scenario.

    Attributes:
        docked: times at which the latch caught what it holds, or held [s].
        progress: of the docking.
        outcome: see `iap_simulation.tasks.outcomes.OUTCOMES`.
    """

    key, missed = "docking", "not_docked"

    def __init__(
        self, scenario: Scenario, spec: DockingSpec, limits: DockingLimits | None = None
    ) -> None:
        latch = scenario.latches[spec.latch]
        names = [vehicle.name for vehicle in scenario.vehicles]
        self._latch, self._success = spec.latch, spec.success
        self._limits = docking_limits(scenario) if limits is None else limits
        self._ports = port_frames(scenario, latch)
        paths = (latch.socket, latch.probe)
        self._target, self._chaser = (names.index(path.split("/")[0]) for path in paths)
        self.docked: list[float] = []
        self.progress: DockingProgress = START
        self.outcome = RUNNING
        self._last_lock = math.nan  # also of a latch that is open again [s]

    @classmethod
    def of(cls, scenario: Scenario) -> Self | None:
        """The monitor of a scenario that docks, else None."""
        return None if scenario.docking is None else cls(scenario, scenario.docking)

    @property
    def is_over(self) -> bool:
        """True if it has succeeded or failed, or its time is up."""
        return self.outcome != RUNNING

    def observe(self, plant: ObservedPlant) -> None:
        """Observe the present control instant."""
        if self.is_over:
            return
        now = self._instant(plant)
        if not math.isnan(now.caught) and now.caught not in self.docked[-1:]:
            self.docked.append(now.caught)
        self.progress = follow(self.progress, now, self._ports, self._limits)
        if not math.isnan(self.progress.lock):
            self._last_lock = self.progress.lock
        self.outcome = outcome(now, self.progress, self._limits)

    def _instant(self, plant: ObservedPlant) -> DockingInstant:
        pair = (self._target, self._chaser)
        force = max(float(np.linalg.norm(plant.contact_wrench(i)[:3])) for i in pair)
        target, chaser = (plant.state(i)[0, 0] for i in pair)
        locked = _latches_of(plant).phase(self._latch) == Phase.LOCKED
        return DockingInstant(plant.t, RUNNING, target, chaser, force, self._caught(plant), locked)

    def _caught(self, plant: ObservedPlant) -> float:
        """Time at which the latch caught what it holds [s]; NaN while it holds nothing."""
        latches = _latches_of(plant)
        if not is_held(latches.phase(self._latch)):
            return math.nan
        events = (event for event in latches.events if event.latch == self._latch)
        return [event.t for event in events if event.what == "caught"][-1]

    @property
    def failure(self) -> str | None:
        """Why it is no success, in a sentence; None of a success."""
        success, force_peak = self._success, self.progress.force_peak
        if self.outcome == ARRIVED:
            return None
        if force_peak > success.peak_force:
            return f"a force of {force_peak:.0f} N is more than the {success.peak_force:g} N of a docking"
        if math.isnan(self.progress.lock) and self._last_lock <= success.within:
            return (
                f"latch '{self._latch}' was locked at {self._last_lock:.2f} s, and open again before"
                f" the vehicles were calm for {success.calm_time:g} s"
            )
        if math.isnan(self.progress.lock):
            return f"latch '{self._latch}' was not locked within {success.within:g} s"
        return f"the locked vehicles were not calm for {success.calm_time:g} s within {success.settle:g} s"

    @property
    def success(self) -> str:
        """Times at which the latch caught and locked, and from which on the pair was calm."""
        progress = self.progress
        return (
            f"docked: caught at {self.docked[-1]:.2f} s, locked at {progress.lock:.2f} s, calm from"
            f" {progress.calm:.2f} s; first touch at {progress.closing_speed:.2f} m/s, largest force"
            f" {progress.force_peak:.0f} N"
        )

    def metrics(self, plant: ObservedPlant) -> dict[str, Any]:
        """Key `docking` of metrics.json."""
        progress, has_docked = self.progress, self.outcome == ARRIVED
        return {
            "success": has_docked,
            "docked": self.docked,
            "latch_time_s": self.docked[-1] if self.docked else None,
            "lock_time_s": _number(progress.lock),
            "docking_time_s": progress.calm + self._success.calm_time if has_docked else None,
            "force_peak_n": progress.force_peak,
            "closing_speed_mps": _number(progress.closing_speed),
            "events": self.events(plant),
        }

    def events(self, plant: ObservedPlant) -> list[dict[str, Any]]:
        """Outcome of the latches so far, with the probe's place."""
        return [
            {
                "t_s": event.t,
                "latch": event.latch,
                "what": event.what,
                "depth_m": event.probe.depth,
                "radius_m": event.probe.radius,
                "angle_deg": math.degrees(event.probe.angle),
                "closing_mps": event.probe.closing,
            }
            for event in _latches_of(plant).events
        ]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _latches_of(plant: ObservedPlant) -> ObservedLatches:
    latches: ObservedLatches | None = plant.part(Latches)
    assert latches is not None  # of a scenario that docks
    return latches
