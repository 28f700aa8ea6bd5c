# SPDX-License-Identifier: BSD-3-Clause
"""Endings of flights in contact, in many worlds: what `FlightMonitor` looks at in one."""

from typing import Protocol, Self, runtime_checkable

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.world.obstacles import Obstacles
from iap_physics.engines.engine import (
    AIRCRAFT_HIT,
    CONTACT_LOST,
    HIT_GROUND,
    HIT_OBSTACLE,
    RUNNING,
    Engine,
)
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_spec import PlantSpec


@runtime_checkable
class WatchingEngine(Protocol):
    """An engine of many worlds that tells what vehicles touch."""

    def watch(self, endings: Integers) -> None:
        """Look at it: statuses (objects + 1, 2) of the ground and each object, for central and other bodies."""

    @property
    def touched(self) -> Integers:
        """(B,) such a status, `RUNNING` where there is none."""


class ContactEndings:
    """Ends flights that touch what they must not, or have lost their contact for good.

    Args:
        engine: of B worlds, which is told what to look at.
        spec: of the plant; its only vehicle counts.
        batch: number of worlds.
    """

    def __init__(self, engine: WatchingEngine, spec: PlantSpec, batch: int) -> None:
        (vehicle,) = spec.vehicles
        ground = RUNNING if vehicle.may_land else HIT_GROUND
        objects = [
            [HIT_OBSTACLE] * 2 if isinstance(each, Obstacles) else [RUNNING, AIRCRAFT_HIT]
            for each in spec.world.objects.values()
        ]
        engine.watch(np.array([[ground, ground], *objects], dtype=np.int64))
        self._lost_after, self._hold = vehicle.lost_after or np.inf, vehicle.push_hold or np.inf
        self._dt = spec.dt
        self._touched_for, self._touched_at = np.zeros((2, batch))

    @classmethod
    def of(cls, engine: Engine, spec: PlantSpec, batch: int) -> Self | None:
        """Endings of worlds in this engine; None in one without contact."""
        return cls(engine, spec, batch) if isinstance(engine, WatchingEngine) else None

    def reset(self, worlds: Integers) -> None:
        """Nothing has touched yet in some worlds."""
        self._touched_for[worlds] = self._touched_at[worlds] = 0.0

    def end(self, plant: Plant) -> None:
        """Give worlds whose flights have ended their statuses, at a control instant."""
        engine = plant.engine
        assert isinstance(engine, WatchingEngine)  # noqa: S101 - as `of` has looked
        is_running = plant.status == RUNNING
        plant.status[is_running] = engine.touched[is_running]
        if self._lost_after < np.inf:
            lost = self._lost(plant.times, plant.contact_wrenches())
            plant.status[lost & (plant.status == RUNNING)] = CONTACT_LOST

    def _lost(self, times: Array, wrenches_W: Array) -> Booleans:
        """Worlds (B,) that have lost their contact, at times (B,) [s] under mean wrenches (B, 6)."""
        touches = wrenches_W.any(axis=1)
        self._touched_for[touches] += self._dt
        self._touched_at[touches] = times[touches]
        lasts = self._touched_for < self._hold
        late: Booleans = times - self._touched_at > self._lost_after
        return (self._touched_for > 0.0) & lasts & late
