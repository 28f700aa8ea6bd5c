# SPDX-License-Identifier: BSD-3-Clause
"""Flies scenarios in the closed loop without a run folder, and judges what was flown by its own means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_control.actuation.kinds import platform_model
from iap_control.allocation.model import PlatformModel
from iap_control.controllers.controller import PlatformController
from iap_control.gains import Gains, gains_tree
from iap_description.config.record import validate
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.signals import Step
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import Platform, load_platform, platform_tree
from iap_description.world.world import World
from iap_physics.air.batch_air import Air
from iap_physics.air.wind import Generators, Wind, generators
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.plant.contact_wrenches import ContactWrenches
from iap_physics.plant.disturbances import Disturbance, Disturbances
from iap_physics.plant.part import PlantPart
from iap_physics.plant.plant import Plant
from iap_physics.plant.rates import LoopRates
from iap_physics.propulsion.deviation import NO_DEVIATION, Deviation
from iap_physics.propulsion.propulsion import Airframe, propulsion_of
from iap_physics.session.flight_monitor import FlightMonitor
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import Options, resolve, resolve_tree
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation

Array = NDArray[np.float64]
CONTROL_HZ, PHYSICS_HZ = 200.0, 1000.0
DT = 1.0 / CONTROL_HZ
GRAVITY = 9.81


def gains_of(preset: str = "default", **changes: Any) -> Gains:
    """A gain preset with some keys changed."""
    return validate(Gains, gains_tree(preset), source=preset).model_copy(update=changes)


def platform_with_joints(places: Sequence[Sequence[float]], base: str = "three_line") -> Platform:
    """A shipped platform with its aircraft joined elsewhere, headings zero."""
    tree, source = platform_tree(base)
    joints = [{"type": "spherical", "position": list(p), "yaw_deg": 0.0} for p in places]
    return validate(Platform, {**tree, "joints": joints}, source=source)


def model_of(platform: str | Platform, *, com_coupling: bool = True) -> PlatformModel:
    """The controller's model of a platform."""
    if isinstance(platform, str):
        platform = load_platform(platform)
    return platform_model(
        Assembly.of(platform), platform.fleet, gravity=GRAVITY, com_coupling=com_coupling
    )


def controller_of(
    platform: str | Platform, gains: Gains | None = None, **settings: Any
) -> PlatformController:
    """A controller at 200 Hz."""
    gains = gains or gains_of()
    model = model_of(platform, com_coupling=gains.com_coupling)
    return PlatformController(model, gains, dt=DT, **settings)


STEPPED = {"is_stepped": True}


def plant_of(
    platform: str | Platform,
    gains: Gains | None = None,
    *,
    physics_hz: float = PHYSICS_HZ,
    batch: int = 1,
    deviation: Deviation = NO_DEVIATION,
    wind: Wind | None = None,
    has_drag: bool = False,
    gust_rng: Generators | None = None,
    disturbances: Sequence[Sequence[Disturbance]] = (),
    is_stepped: bool = False,
) -> Plant:
    """A platform on the closed-form engine, at rest at the origin with its rotors standing still.

    Without air and disturbances there are none; `is_stepped` makes it take its physics steps one by one.
    """
    if isinstance(platform, str):
        platform = load_platform(platform)
    gains = gains or gains_of()
    assembly = Assembly.of(platform)
    engine = ClosedFormEngine(batch=batch)
    engine.load(World(), [assembly])
    airframe = Airframe(assembly, platform.fleet, gains.autopilot, deviation)
    parts: list[PlantPart] = [Disturbances(disturbances)] if disturbances else []
    if is_stepped:
        parts.append(ContactWrenches(engine, {0: 0}))
    rngs = generators(gust_rng or stream(1, "gusts"), batch)
    return Plant(
        engine,
        propulsion_of([airframe], batch, physics_hz=physics_hz),
        Air(wind or Wind(), rngs, has_drag=has_drag),
        LoopRates(physics_hz=physics_hz, control_hz=CONTROL_HZ),
        parts,
    )


def hover_rpm(platform: Platform, count: int | None = None) -> float:
    """Rotor speed at which equal rotors carry the platform [rpm]."""
    mass = Assembly.of(platform).mass
    rotors = 4 * (count or platform.count)
    return float(np.sqrt(mass * GRAVITY / rotors / platform.aircraft.rotor.thrust_coefficient))


def scenario_of(
    source: str | dict[str, Any],
    *assignments: str,
    engine: str = "closed_form",
    **options: Any,
) -> Scenario:
    """A shipped scenario by name, or one from a plain tree, with settings as on the command line."""
    chosen = Options(assignments=(f"engine.name={engine}", *assignments), **options)
    if isinstance(source, str):
        return resolve(source, chosen)[0]
    return resolve_tree("test", source, "test", chosen)[0]


@dataclass
class FlightRecord:
    """Motion of one vehicle, one row per control step.

    Attributes:
        t: (T,) [s].
        x: (T, bodies, 13).
        reference: (T, 19 + N).
        thrust: (T, N) commanded [N].
        q_WB: (T, N, 4) commanded.
        rpm: (T, N, 4) real.
    """

    t: Array
    x: Array
    reference: Array
    thrust: Array
    q_WB: Array
    rpm: Array

    @property
    def position_error(self) -> Array:
        """(T, 3) [m]."""
        return self.x[:, 0, :3] - self.reference[:, :3]

    @property
    def attitude_error_deg(self) -> Array:
        """(T, 3) components of log(R_ref^T R) [deg]."""
        q_e = so3.multiply(so3.conjugate(self.reference[:, 3:7]), self.x[:, 0, 3:7])
        return np.rad2deg(so3.quaternion_log(q_e))

    def axis_error_deg(self, line_P: Array) -> Array:
        """(T,) angle between a commanded and a real direction of the platform [deg]."""
        a, b = (so3.rotate(q, line_P) for q in (self.reference[:, 3:7], self.x[:, 0, 3:7]))
        return np.rad2deg(2.0 * np.arcsin(0.5 * np.linalg.norm(a - b, axis=1)))

    @property
    def position_rmse(self) -> float:
        """Of the 3-D error [m]."""
        return float(np.sqrt((self.position_error**2).sum(1).mean()))


class Log:
    """Observer of the loop that keeps what it sees of one vehicle."""

    def __init__(self, vehicle: int) -> None:
        self._vehicle = vehicle
        self._rows: list[tuple[Any, ...]] = []

    def record(self, vehicle: int, step: Step) -> None:
        """Copy one step."""
        if vehicle == self._vehicle:
            command = step.command
            fields = (step.x, step.reference.row, command.thrust, command.q_WB, step.rpm)
            self._rows.append((step.t, *(array.copy() for array in fields)))

    def flown(self) -> FlightRecord:
        """The recorded rows."""
        return FlightRecord(*(np.array(column) for column in zip(*self._rows, strict=True)))


class Loop:
    """A scenario made ready, which can be flown more than once after a reset."""

    def __init__(self, simulation: Simulation, flight: Flight) -> None:
        self.simulation, self.scenario = simulation, flight.scenario
        self.vehicles, self.plant = flight.vehicles, simulation.plant

    @classmethod
    def of(cls, scenario: Scenario) -> "Loop":
        """Build vehicles, engine and plant."""
        flight = Flight.of(scenario)
        return cls(Simulation(flight, render=False), flight)

    @property
    def monitor(self) -> FlightMonitor:
        """Of the present flight."""
        return self.simulation.participants.monitor

    def fly(self, progress: Callable[[float], None] = lambda t: None) -> list[FlightRecord]:
        """From the plant's present state to the end of all references."""
        logs = [Log(i) for i in range(len(self.vehicles))]
        self.simulation.begin(observers=logs)
        self.simulation.fly(progress)
        return [log.flown() for log in logs]


def fly_scenario(
    source: str | dict[str, Any], *assignments: str, **options: Any
) -> list[FlightRecord]:
    """Fly a scenario from its start to its end; see `scenario_of`."""
    loop = Loop.of(scenario_of(source, *assignments, **options))
    try:
        return loop.fly()
    finally:
        loop.plant.engine.close()
