# SPDX-License-Identifier: BSD-3-Clause
"""The closed loop, in one process: the same plant, controllers and references as the ROS nodes, without topics."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import FlightFailed
from iap_description.signals import Step
from iap_physics.engines.engine import Engine
from iap_physics.flight_monitor import FlightMonitor
from iap_physics.plant import Plant, Probe
from iap_physics.plant_spec import PlantSpec
from iap_simulation.pacing import StepTimer
from iap_simulation.vehicle import Vehicle

Array = NDArray[np.float64]
NO_ESTIMATES: Mapping[int, "StateEstimate"] = MappingProxyType({})
MAX_DISTANCE = 10.0  # from the reference, along an axis [m]


class Observer(Protocol):
    """What sees every control step, such as the recorder."""

    def record(self, vehicle: int, step: Step) -> None:
        """Take what happened to one vehicle; arrays are overwritten by the next step."""


class Sensing(Protocol):
    """All sensors of a run."""

    def look(self, k: int, plant: Plant) -> None:
        """Sense the present state at control instant k, and hand the readings to whoever takes them."""


class StateEstimate(Protocol):
    """A vehicle's estimate of its state."""

    def state(self, t: float) -> Array:
        """Rows (bodies, 13) at a time [s]."""


def make_plant(
    spec: PlantSpec, vehicles: Sequence[Vehicle], engine: Engine, probes: Sequence[Probe] = ()
) -> Plant:
    """The plant at its start, and controllers and noise at theirs.

    Raises:
        BadInput: a vehicle starts inside an object of the world.
    """
    plant = Plant.of(spec, engine, probes)
    reset_vehicles(spec, vehicles)
    return plant


def reset_plant(plant: Plant, spec: PlantSpec, vehicles: Sequence[Vehicle]) -> None:
    """Bring the plant back to its start, and controllers and noise to theirs."""
    reset_vehicles(spec, vehicles)
    plant.restart(spec)


def reset_vehicles(spec: PlantSpec, vehicles: Sequence[Vehicle]) -> None:
    """Let controllers forget the last flight, and noise start anew."""
    for vehicle in vehicles:
        vehicle.reset(spec.seed)


def is_far(row: Array, reference: Array) -> bool:
    """Whether a body's row (3+) is further than `MAX_DISTANCE` from a reference row (3+) along an axis."""
    return bool(max(abs(row[j] - reference[j]) for j in range(3)) > MAX_DISTANCE)


def check_distances(plant: Plant, vehicles: Sequence[Vehicle], k: int) -> None:
    """End the flight of a vehicle that has lost its reference of control instant k.

    Raises:
        FlightFailed: it is too far away.
    """
    for i, vehicle in enumerate(vehicles):
        if is_far(plant.state(i)[0, 0], vehicle.reference(k).row):
            why = f"{vehicle.name} is more than {MAX_DISTANCE:.0f} m from its reference"
            raise FlightFailed("diverged", plant.t, why)


def fly(
    plant: Plant,
    pilots: Sequence[Vehicle],
    observers: Sequence[Observer],
    watch: FlightMonitor,
    timer: StepTimer,
    progress: Callable[[float], None],
    senses: Sensing | None = None,
    estimates: Mapping[int, StateEstimate] = NO_ESTIMATES,
) -> None:
    """Fly all references from the plant's start to their end.

    Args:
        plant: at its start.
        pilots: one per vehicle.
        observers: see every step.
        watch: ends a flight that has failed.
        timer: measures the control steps.
        progress: is told the simulation time [s] now and then.
        senses: of the vehicles; None where there are none.
        estimates: of the vehicles, by their numbers, that do not go by the truth.

    Raises:
        FlightFailed: the flight ended before its time.
    """
    steps = max(len(pilot.timeline.rows) for pilot in pilots)
    for k in range(steps):
        if senses is not None:
            senses.look(k, plant)
        for i, pilot in enumerate(pilots):
            state = plant.state(i)[0]
            estimate = estimates[i].state(plant.t) if i in estimates else None
            reference = pilot.reference(k)
            seen = state if estimate is None else estimate
            timer.start()
            command = pilot.command(plant.t, seen, plant.contact_wrench(i), reference)
            timer.stop()
            rpm = plant.propulsion[i].rpm[0]
            step = Step(k, plant.t, state, reference, command, rpm, pilot.felt, estimate)
            for observer in observers:
                observer.record(i, step)
            plant.command(i, command)
            plant.set_estimate(i, estimate)
        check_distances(plant, pilots, k)
        watch.check(plant)
        if k < steps - 1:
            plant.advance()
        if k % 50 == 0:
            progress(plant.t)
