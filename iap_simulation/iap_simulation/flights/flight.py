# SPDX-License-Identifier: BSD-3-Clause
"""A scenario made ready to fly: its vehicles, sensors and estimators, and the recording's description of them."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from iap_control.controllers.estimate_failsafe import Failsafe
from iap_control.controllers.known_faults import RemainingThrust
from iap_control.references.replay import RecordedCommand
from iap_description.config.bounds import check_size
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.sensor_info import SensorInfo
from iap_description.states import STATE_SIZE
from iap_description.vehicles.arm_links import ChainState
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.urdf import urdf_text
from iap_description.world.objects import Funnel
from iap_description.world.world import World
from iap_estimation.navigation.make import StateNavigator, make_navigator
from iap_estimation.wrench.imu_wrench_observer import ImuWrenchObserver
from iap_io.runs import topics
from iap_io.runs.fault_meta import LossMeta
from iap_io.runs.run_meta import Bore, RunMeta, Track, WrenchTrack
from iap_io.runs.vehicle_meta import TRUTH, VehicleMeta
from iap_physics.build import build_plant
from iap_physics.engines.engine import Engine
from iap_physics.identified.engine import IdentifiedEngine
from iap_physics.plant.inertial import InertialProbe, inertial_probes
from iap_physics.plant.part import PlantPart
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_spec import PlantSpec
from iap_sensors.mounted.rig_state import RigState
from iap_sensors.mounted.sensor_suite import ReadingSink, SensorSuite
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.flights.state_log import STATE_NUMBERS, StateLog
from iap_simulation.loop.estimate_monitor import EstimateMonitor
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec
from iap_simulation.vehicles.replayed import recorded_commands
from iap_simulation.vehicles.vehicle import Vehicle, vehicles_of


class TrackSink(Protocol):
    """Takes poses and wrenches with stamps of their own, such as a `Recorder`."""

    def add_track(self, vehicle: int, name: str, track: Track | WrenchTrack) -> None:
        """Take what a vehicle's flight is set against, before the flight."""
        ...


NO_OBJECTS = np.zeros((0, STATE_SIZE))  # where no sensor depends on objects


class PlantSensors:
    """The sensors of a scenario, and the probes that its plant needs for them.

    Args:
        scenario: resolved.
        spec: of its plant.

    Attributes:
        suite: the sensors.
        vehicle_probes: of each vehicle's inertial units; None without any.
    """

    def __init__(self, scenario: Scenario, spec: PlantSpec) -> None:
        self.suite = SensorSuite(rig_spec(scenario))
        self.vehicle_probes = inertial_probes(spec)

    @property
    def probes(self) -> list[InertialProbe]:
        """The probes that there are."""
        return [each for each in self.vehicle_probes if each is not None]

    def begin(self, plant: Plant, sinks: Sequence[ReadingSink]) -> None:
        """Begin a run for those who receive the readings; the plant is at its start."""
        self.suite.begin(plant.engine.state()[0], sinks)

    def sample(self, k: int, plant: Plant) -> None:
        """Sample the plant's present state at control instant k."""
        suite, engine = self.suite, plant.engine
        objects = engine.object_states() if suite.needs_objects(k) else NO_OBJECTS
        samples = [None if each is None else each.take() for each in self.vehicle_probes]
        tilts = np.concatenate([each.rotors.tilt[0] for each in plant.propulsion])
        joints = [ChainState(each.q, each.v) for each in engine.arms.values()]
        state = RigState(engine.state()[0], objects, tilts, joints)
        suite.sample(k, plant.t, state, samples)


@dataclass(frozen=True)
class Flight:
    """A scenario made ready to fly.

    Attributes:
        scenario: resolved.
        vehicles: one per vehicle.
        recorded: the recorded command and flight of each vehicle that replays one.
        spec: of the plant.
        sensors: all sensors.
        navigators: of the vehicles, by their numbers, that fly on an estimate.
    """

    scenario: Scenario
    vehicles: tuple[Vehicle, ...]
    recorded: tuple[RecordedCommand | None, ...]
    spec: PlantSpec
    sensors: PlantSensors
    navigators: dict[int, StateNavigator]

    @classmethod
    def of(cls, scenario: Scenario) -> "Flight":
        """Read recorded commands and build vehicles, sensors and estimators.

        Raises:
            BadInput: a recording cannot be used, or a vehicle cannot localise itself.
        """
        recorded = recorded_commands(scenario)
        vehicles = vehicles_of(scenario, recorded)
        spec = plant_spec(scenario, vehicles)
        sensors = PlantSensors(scenario, spec)
        navigators = {
            i: _navigator(scenario, vehicle, sensors.suite.infos)
            for i, vehicle in enumerate(scenario.vehicles)
            if vehicle.control.state_source != TRUTH
        }
        flight = cls(scenario, vehicles, recorded, spec, sensors, navigators)
        if flight.duration < scenario.dt:
            raise BadInput(
                f"key 'duration': the flight has no whole control period of {scenario.dt:g} s"
            )
        return flight

    @property
    def imu_wrench_observers(self) -> list[ImuWrenchObserver]:
        """The observers that estimate wrenches from inertial units."""
        observers = [v.interaction.observer for v in self.vehicles if v.interaction is not None]
        return [each for each in observers if isinstance(each, ImuWrenchObserver)]

    def estimate_monitors(self) -> dict[int, EstimateMonitor]:
        """Monitors of the estimates of a new flight, of the vehicles that have a fail-safe, by their numbers."""
        return {
            i: EstimateMonitor(self.vehicles[i].name, self.navigators[i], spec)
            for i, spec in self.failsafes.items()
        }

    @property
    def failsafes(self) -> dict[int, Failsafe]:
        """Settings of the fail-safes of vehicles that fly on an estimate, by their numbers; of those that have one."""
        specs = {i: self.scenario.vehicles[i].control.failsafe for i in self.navigators}
        return {i: spec for i, spec in specs.items() if spec is not None}

    @property
    def recordings(self) -> dict[str, dict[str, Any]]:
        """Readings of the recorded commands, by the names of the vehicles that fly them."""
        pairs = zip(self.vehicles, self.recorded, strict=True)
        return {v.name: asdict(command.about) for v, command in pairs if command is not None}

    @property
    def duration(self) -> float:
        """Simulated time of the whole flight [s]."""
        return max(vehicle.timeline.duration for vehicle in self.vehicles)

    @property
    def meta(self) -> RunMeta:
        """The recording's description of the run."""
        s = self.scenario
        metas = []
        for spec, vehicle, parts in zip(
            s.vehicles, self.vehicles, self.spec.vehicles, strict=True
        ):
            meta = VehicleMeta.of(
                Assembly.of(spec.platform, spec.name),
                spec.platform,
                vehicle.model.controlled_angles,
                gains=spec.control.preset,
                window_s=s.metrics.window or vehicle.timeline.window,
                feels=vehicle.interaction is not None,
                state_source=spec.control.state_source,
                frontend=spec.control.frontend,
                thrust_factors=parts.deviation.thrust,
                faults=spec.faults,
                losses=tuple(map(_told, vehicle.faults.losses)),
            )
            metas.append(meta)
        return RunMeta(
            scenario=s.scenario,
            seed=s.seed,
            physics_hz=s.rates.physics_hz,
            control_hz=s.rates.control_hz,
            vehicles=tuple(metas),
            **s.metrics.model_dump(exclude={"window", "published_rmse"}),
            bore=_bore(s.world),
            sensors=self.sensors.suite.infos,
            gravity=s.world.gravity,
            latches=tuple(s.latches),
            joints=() if s.modules is None else tuple(s.modules.joints),
            objects=tuple(s.world.objects) if s.world.has_free_objects else (),
        )

    def make_plant(self, engine: Engine, probes: Sequence[PlantPart] = ()) -> Plant:
        """The plant at its start, with controllers and noise at theirs.

        Args:
            engine: of it, not loaded yet.
            probes: see every physics step besides those of the sensors.

        Raises:
            BadInput: a vehicle starts inside an object of the world.
        """
        logs: list[PlantPart] = []
        if isinstance(engine, IdentifiedEngine):
            hz = self.scenario.rates.physics_hz
            check_size("duration", self.duration * hz, STATE_NUMBERS)
            logs = [StateLog(engine, 1.0 / hz)]
        plant = build_plant(self.spec, engine, [*self.sensors.probes, *logs, *probes])
        self._reset_vehicles()
        return plant

    def reset(self, plant: Plant) -> None:
        """Bring the plant back to its start, with controllers and noise to theirs."""
        self._reset_vehicles()
        plant.restart(self.spec)

    def _reset_vehicles(self) -> None:
        for vehicle in self.vehicles:
            vehicle.reset(self.spec.seed)

    def begin(self, plant: Plant, *sinks: ReadingSink) -> None:
        """Begin to sample sensors, for those who receive readings; the plant is at its start."""
        for i, navigator in self.navigators.items():
            navigator.begin(plant.state(i)[0])
        self.sensors.begin(plant, [*sinks, *self.imu_wrench_observers, *self.navigators.values()])

    @cached_property
    def descriptions(self) -> list[str]:
        """URDF of every vehicle."""
        assemblies = (Assembly.of(each.platform, each.name) for each in self.scenario.vehicles)
        return [urdf_text(each, target="ros") for each in assemblies]

    def write_tracks(self, recorder: TrackSink) -> None:
        """Record what a replay is scored against, and what the real aircraft did, on the run's time."""
        for i, (command, vehicle) in enumerate(zip(self.recorded, self.vehicles, strict=True)):
            if command is None:
                continue
            start = vehicle.timeline.lead
            offset = np.array(self.scenario.vehicles[i].offset)
            for name, track in (
                (topics.REFERENCE_POSE, command.commanded),
                (topics.ACTUAL, command.actual),
            ):
                if track is not None:
                    poses = np.hstack([track.poses[:, :3] + offset, track.poses[:, 3:]])
                    recorder.add_track(i, name, Track(track.t + start, poses))
            if (measured := command.measured) is not None:
                wrenches = WrenchTrack(measured.t + start, measured.wrenches)
                recorder.add_track(i, topics.ACTUAL_WRENCH, wrenches)


def _navigator(
    scenario: Scenario, vehicle: VehicleSpec, sensors: Sequence[SensorInfo]
) -> StateNavigator:
    """The estimator that a vehicle's keys ask for.

    Raises:
        BadInput: no such settings, or sensors or a platform that the method cannot use.
    """
    control, assembly = vehicle.control, Assembly.of(vehicle.platform, vehicle.name)
    return make_navigator(
        control.state_source,
        assembly,
        sensors,
        gravity=scenario.world.gravity,
        estimator=control.estimator,
        frontend=control.frontend,
    )


def _told(loss: RemainingThrust) -> LossMeta:
    load = loss.load if math.isfinite(loss.load) else None
    return LossMeta(at=loss.at, hover_load=load, can_carry=loss.can_carry, text=loss.text)


def _bore(world: World) -> Bore | None:
    """The bore of the first funnel, into which things go along -x of its frame."""
    for item in world.objects.values():
        if isinstance(item, Funnel):
            x, y, z = so3.rotate(item.q_WO, np.array([-1.0, 0.0, 0.0])).tolist()
            return Bore(start=item.position, axis=(x, y, z), length=item.throat_length)
    return None
