# SPDX-License-Identifier: BSD-3-Clause
"""The closed loop, in one process: the same plant, controllers and references as the ROS nodes, without topics."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_description.random_streams import stream
from iap_description.signals import Step
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import OBJECT, Engine
from iap_physics.flight_monitor import FlightMonitor
from iap_physics.plant import Plant, Probe
from iap_simulation.pacing import StepTimer
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicle import Vehicle

Array = NDArray[np.float64]
NO_BELIEFS: Mapping[int, "Belief"] = MappingProxyType({})
OVERLAP = 1e-3  # by which a vehicle may be inside an object at the start [m]


class Observer(Protocol):
    """What sees every control step, such as the recorder."""

    def record(self, vehicle: int, step: Step) -> None:
        """Take what happened to one vehicle; arrays are overwritten by the next step."""


def make_engine(scenario: Scenario, *, view: bool = False) -> Engine:
    """The engine that a scenario names; PyBullet is only imported where it flies."""
    if scenario.engine.name == "closed_form":
        return ClosedFormEngine()
    from iap_physics.engines.pybullet.engine import PyBulletEngine

    return PyBulletEngine(view=view)


class Sensors(Protocol):
    """All sensors of a run."""

    def sample(self, k: int, plant: Plant) -> None:
        """Sample the present state at control instant k, and hand the readings over."""


class Belief(Protocol):
    """What a vehicle believes of its state."""

    def state(self, t: float) -> Array:
        """Rows (bodies, 13) at a time [s]."""


def make_plant(
    scenario: Scenario, pilots: Sequence[Vehicle], engine: Engine, probes: Sequence[Probe] = ()
) -> Plant:
    """Load the world and the vehicles into the engine, at their starts."""
    engine.load(scenario.world, [pilot.airframe.assembly for pilot in pilots])
    plant = Plant(
        engine,
        [pilot.airframe for pilot in pilots],
        physics_hz=scenario.rates.physics_hz,
        control_hz=scenario.rates.control_hz,
        wind=scenario.wind,
        has_drag=scenario.has_drag,
        gust_rng=stream(scenario.seed, "gusts"),
        feeling=[i for i, pilot in enumerate(pilots) if pilot.touch is not None],
        disturbances=[vehicle.disturbances for vehicle in scenario.vehicles],
        probes=probes,
    )
    reset_plant(plant, scenario, pilots)
    _check_clear(plant, scenario, pilots)
    return plant


def _check_clear(plant: Plant, scenario: Scenario, pilots: Sequence[Vehicle]) -> None:
    """Refuse vehicles that start inside an object of the world.

    Raises:
        BadInput: naming vehicle and object.
    """
    names = list(scenario.world.objects)
    for contact in plant.engine.contacts():
        low, row = sorted((contact.body_a, contact.body_b))
        if low > OBJECT or contact.distance > -OVERLAP:
            continue
        vehicle = next(
            p.name for p, d in zip(pilots, plant.drives, strict=True) if row < d.rows.stop
        )
        raise BadInput(
            f"vehicle '{vehicle}' starts {-1e3 * contact.distance:.0f} mm inside the object"
            f" '{names[OBJECT - low]}': check its tool, its reference's start and world.objects"
        )


def reset_plant(plant: Plant, scenario: Scenario, pilots: Sequence[Vehicle]) -> None:
    """Bring every vehicle back to its start, and controllers, noise and gusts to theirs."""
    for pilot in pilots:
        pilot.reset(scenario.seed)
    start = np.concatenate([pilot.start for pilot in pilots])[None]
    plant.reset(start, [pilot.start_rpm for pilot in pilots], stream(scenario.seed, "gusts"))


def fly(
    plant: Plant,
    pilots: Sequence[Vehicle],
    observers: Sequence[Observer],
    watch: FlightMonitor,
    timer: StepTimer,
    progress: Callable[[float], None],
    sensors: Sensors | None = None,
    beliefs: Mapping[int, Belief] = NO_BELIEFS,
) -> None:
    """Fly all references from the plant's start to their end.

    Args:
        plant: at its start.
        pilots: one per vehicle.
        observers: see every step.
        watch: ends a flight that has failed.
        timer: measures the control steps.
        progress: is told the simulation time [s] now and then.
        sensors: of the vehicles; None where there are none.
        beliefs: of the vehicles, by their numbers, that do not go by the truth.

    Raises:
        FlightFailed: the flight ended before its time.
    """
    steps = max(len(pilot.timeline.rows) for pilot in pilots)
    for k in range(steps):
        if sensors is not None:
            sensors.sample(k, plant)
        for i, pilot in enumerate(pilots):
            state = plant.state(i)[0]
            believed = beliefs[i].state(plant.t) if i in beliefs else None
            reference = pilot.reference(k)
            seen = state if believed is None else believed
            timer.start()
            command = pilot.command(plant.t, seen, plant.contact_wrench(i), reference)
            timer.stop()
            rpm = plant.drives[i].rpm[0]
            step = Step(k, plant.t, state, reference, command, rpm, pilot.felt, believed)
            for observer in observers:
                observer.record(i, step)
            plant.command(i, command)
            plant.believe(i, believed)
        watch.check(plant)
        if k < steps - 1:
            plant.advance()
        if k % 50 == 0:
            progress(plant.t)
