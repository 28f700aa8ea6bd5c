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
        """Look at what each vehicle touches.

        Args:
            endings: (vehicles, objects + 1, 2) statuses of the ground and each object, for central and other bodies.
        """

    @property
    def touched(self) -> Integers:
        """(B,) such a status, `RUNNING` where there is none."""

    @property
    def culprits(self) -> Integers:
        """(B,) number of the vehicle to which a world's status is due; whoever ends a world writes it."""


class ContactEndings:
    """Ends flights that touch what they must not, or have lost their contact for good.

    Args:
        engine: of B worlds, which is told what to look at.
        spec: of the plant.
        batch: number of worlds.
    """

    def __init__(self, engine: WatchingEngine, spec: PlantSpec, batch: int) -> None:
        objects = [
            [HIT_OBSTACLE] * 2 if isinstance(each, Obstacles) else [RUNNING, AIRCRAFT_HIT]
            for each in spec.world.objects.values()
        ]
        grounds = [RUNNING if each.may_land else HIT_GROUND for each in spec.vehicles]
        endings = [[[ground, ground], *objects] for ground in grounds]
        engine.watch(np.array(endings, dtype=np.int64))
        self._lost_after = [each.lost_after or np.inf for each in spec.vehicles]
        self._hold = [each.push_hold or np.inf for each in spec.vehicles]
        self._dt = spec.dt
        self._touched_for, self._touched_at = np.zeros((2, len(spec.vehicles), batch))

    @classmethod
    def of(cls, engine: Engine, spec: PlantSpec, batch: int) -> Self | None:
        """Endings of worlds in this engine; None in one without contact."""
        return cls(engine, spec, batch) if isinstance(engine, WatchingEngine) else None

    def reset(self, worlds: Integers) -> None:
        """Nothing has touched yet in some worlds."""
        self._touched_for[:, worlds] = self._touched_at[:, worlds] = 0.0

    def end(self, plant: Plant) -> None:
        """Give worlds whose flights have ended their statuses, at a control instant."""
        engine = plant.engine
        assert isinstance(engine, WatchingEngine)  # noqa: S101 - as `of` has looked
        is_running = plant.status == RUNNING
        plant.status[is_running] = engine.touched[is_running]
        for vehicle, lost_after in enumerate(self._lost_after):
            if lost_after < np.inf:
                lost = self._lost(vehicle, plant.times, plant.contact_wrenches(vehicle))
                lost &= plant.status == RUNNING
                plant.status[lost], engine.culprits[lost] = CONTACT_LOST, vehicle

    def _lost(self, vehicle: int, times: Array, wrenches_W: Array) -> Booleans:
        """Worlds (B,) in which a vehicle has lost its contact, at times (B,) [s] under mean wrenches (B, 6)."""
        touched_for, touched_at = self._touched_for[vehicle], self._touched_at[vehicle]
        touches = wrenches_W.any(axis=1)
        touched_for[touches] += self._dt
        touched_at[touches] = times[touches]
        lasts = touched_for < self._hold[vehicle]
        late: Booleans = times - touched_at > self._lost_after[vehicle]
        return (touched_for > 0.0) & lasts & late
