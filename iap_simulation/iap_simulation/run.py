# SPDX-License-Identifier: BSD-3-Clause
"""One run from resolved scenario to run folder: fly, record, judge."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from iap_control.references.replay import Commanded
from iap_description import so3
from iap_description.errors import FlightFailed
from iap_description.sensors.sensor_info import SensorInfo
from iap_description.vehicles.assembly import Assembly
from iap_description.world.objects import Funnel
from iap_description.world.world import World
from iap_estimation.navigation.navigator import Navigator
from iap_estimation.navigation.sensor_set import SensorSet
from iap_estimation.navigation.settings import load_settings
from iap_estimation.wrench.imu_wrench_observer import ImuWrenchObserver
from iap_io.runs import topics
from iap_io.runs.recorder import Recorder, RecordingFailed
from iap_io.runs.run_folder import load_run, write_config, write_metrics, write_trajectories
from iap_io.runs.run_meta import COMPLETED, TRUTH, Bore, RunMeta, RunStats, Track, VehicleMeta
from iap_io.wire.cdr import message_types
from iap_physics.engines.make import make_engine
from iap_physics.flight_monitor import FlightMonitor
from iap_physics.plant import Plant
from iap_sensors.cameras.make import make_renderer
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.loop import Observer, fly, make_plant
from iap_simulation.metrics.metrics import compute_metrics
from iap_simulation.pacing import StepTimer, WallClock
from iap_simulation.scenario.plant_spec import plant_spec
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec
from iap_simulation.sensing import PlantSensors
from iap_simulation.vehicle import Vehicle, recorded_commands, vehicles_of

Progress = Callable[[float], None]
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Result:
    """What a run came to.

    Attributes:
        metrics: metrics.json.
        failure: the sentence for the user when the flight did not complete.
        interrupted: whether the user stopped it.
    """

    metrics: dict[str, Any]
    failure: str | None
    interrupted: bool


@dataclass(frozen=True)
class Flight:
    """A scenario made ready to fly.

    Attributes:
        scenario: resolved.
        pilots: one per vehicle.
        recorded: the recorded command and flight of each vehicle that replays one.
        sensors: all sensors.
        navigators: of the vehicles, by their numbers, that fly on an estimate.
    """

    scenario: Scenario
    pilots: tuple[Vehicle, ...]
    recorded: tuple[Commanded | None, ...]
    sensors: PlantSensors
    navigators: dict[int, Navigator]

    @classmethod
    def of(cls, scenario: Scenario) -> "Flight":
        """Read recorded commands and build the pilots.

        Raises:
            BadInput: a recording cannot be used, or a vehicle cannot localise itself.
        """
        recorded = recorded_commands(scenario)
        pilots = vehicles_of(scenario, recorded)
        sensors = PlantSensors(scenario)
        navigators = {
            i: _navigator(scenario, vehicle, sensors.suite.infos)
            for i, vehicle in enumerate(scenario.vehicles)
            if vehicle.control.state_source != TRUTH
        }
        return cls(scenario, pilots, recorded, sensors, navigators)

    @property
    def feeling(self) -> list[ImuWrenchObserver]:
        """Those who feel a wrench by what inertial units say."""
        observers = [
            pilot.interaction.observer for pilot in self.pilots if pilot.interaction is not None
        ]
        return [each for each in observers if isinstance(each, ImuWrenchObserver)]

    @property
    def duration(self) -> float:
        """Simulated time of the whole flight [s]."""
        return max(pilot.timeline.duration for pilot in self.pilots)

    @property
    def meta(self) -> RunMeta:
        """What the recording says about the run."""
        s = self.scenario
        vehicles = []
        for vehicle, pilot in zip(s.vehicles, self.pilots, strict=True):
            meta = VehicleMeta.of(
                Assembly.of(vehicle.platform, vehicle.name),
                vehicle.platform,
                pilot.model.controlled_angles,
                gains=vehicle.control.preset,
                window_s=s.metrics.window or pilot.timeline.window,
                feels=pilot.interaction is not None,
                state_source=vehicle.control.state_source,
                frontend=vehicle.control.frontend,
            )
            vehicles.append(meta)
        return RunMeta(
            scenario=s.scenario,
            seed=s.seed,
            physics_hz=s.rates.physics_hz,
            control_hz=s.rates.control_hz,
            vehicles=tuple(vehicles),
            after_contact=s.metrics.after_contact,
            steady=s.metrics.steady,
            force_band=s.metrics.force_band,
            bore=_bore(s.world),
            sensors=self.sensors.suite.infos,
            gravity=s.world.gravity,
        )

    def begin(self, plant: Plant, *sinks: ReadingSink) -> None:
        """Begin to sample sensors, for those who receive readings; the plant is at its start."""
        for i, navigator in self.navigators.items():
            navigator.begin(plant.state(i)[0])
        self.sensors.begin(plant, [*sinks, *self.feeling, *self.navigators.values()])

    def write_tracks(self, recorder: Recorder) -> None:
        """Record what a replay is scored against, and what the real aircraft did, on the run's time."""
        for i, (command, pilot) in enumerate(zip(self.recorded, self.pilots, strict=True)):
            if command is None:
                continue
            start = pilot.timeline.lead
            offset = np.array(self.scenario.vehicles[i].offset)
            for name, track in ((topics.GIVEN, command.given), (topics.ACTUAL, command.actual)):
                if track is not None:
                    poses = np.hstack([track.poses[:, :3] + offset, track.poses[:, 3:]])
                    recorder.add_track(i, name, Track(track.t + start, poses))


def _navigator(
    scenario: Scenario, vehicle: VehicleSpec, sensors: Sequence[SensorInfo]
) -> Navigator:
    """The estimator that a vehicle's keys ask for.

    Raises:
        BadInput: no such settings, or sensors or a platform that the method cannot use.
    """
    control, assembly = vehicle.control, Assembly.of(vehicle.platform, vehicle.name)
    sensor_set = SensorSet.of(assembly, sensors, scenario.world.gravity)
    settings = load_settings(control.estimator, frontend=control.frontend)
    return Navigator(control.state_source, sensor_set, settings)


def _bore(world: World) -> Bore | None:
    """The bore of the first funnel, into which things go along -x of its frame."""
    for item in world.objects.values():
        if isinstance(item, Funnel):
            x, y, z = so3.rotate(item.q_WO, np.array([-1.0, 0.0, 0.0])).tolist()
            return Bore(start=item.position, axis=(x, y, z), length=item.throat_length)
    return None


def execute(
    flight: Flight,
    folder: Path,
    config: dict[str, Any],
    *,
    progress: Progress,
    realtime: bool = False,
    view: bool = False,
) -> Result:
    """Fly, record into `folder`, and judge; whatever ends the flight, what was recorded is kept and judged.

    Args:
        flight: made ready.
        folder: an empty run folder.
        config: the resolved plain tree, kept in the folder.
        progress: is told the simulation time [s].
        realtime: keep pace with the wall clock.
        view: open PyBullet's window.
    """
    write_config(folder, config, flight.sensors.suite.infos)
    message_types()  # a tenth of a second once per process, which is no part of the loop
    engine = make_engine(flight.scenario.engine.name, view=view)
    renderer = (
        make_renderer(flight.scenario.renderer) if flight.sensors.suite.has_cameras else None
    )
    try:
        spec = plant_spec(flight.scenario, flight.pilots)
        plant = make_plant(spec, flight.pilots, engine, flight.sensors.probes)
        if renderer is not None:
            flight.sensors.suite.open_cameras(renderer)
        watch, timer = FlightMonitor(spec), StepTimer()
        pace: list[Observer] = [WallClock()] if realtime else []
        began = time.perf_counter()
        ending = _fly_recorded(flight, folder, plant, pace, (watch, timer), progress)
        wall = time.perf_counter() - began
    finally:
        engine.close()
        if renderer is not None:
            renderer.close()
    cameras = flight.sensors.suite.cameras
    seen = (0, 0.0) if cameras is None else (cameras.count, cameras.seconds)
    faults = {
        flight.pilots[i].name: tuple((fault.t, fault.reason) for fault in navigator.faults)
        for i, navigator in flight.navigators.items()
    }
    stats = RunStats(ending.outcome, plant.t, wall, timer.mean_us, *seen, faults=faults)
    metrics = judge(folder, stats, watch.collision_records)
    return Result(metrics, ending.failure, ending.outcome == INTERRUPTED)


def judge(folder: Path, stats: RunStats, collisions: list[dict[str, Any]]) -> dict[str, Any]:
    """Compute and write the metrics and trajectories of a folder whose bag is closed.

    Raises:
        BadInput: nothing was recorded.
    """
    run = load_run(folder)
    metrics = compute_metrics(run, stats)
    metrics["collisions"] = collisions
    write_trajectories(folder, run)
    write_metrics(folder, metrics)
    return metrics


@dataclass(frozen=True)
class _Ending:
    """How a flight ended: the outcome's word, and the sentence for the user unless it completed."""

    outcome: str
    failure: str | None


def _fly_recorded(
    flight: Flight,
    folder: Path,
    plant: Plant,
    pace: Sequence[Observer],
    tools: tuple[FlightMonitor, StepTimer],
    progress: Progress,
) -> _Ending:
    """Fly with a recorder; garbage collection waits, since a pause in the loop would be a missed deadline."""
    gc.collect()
    gc.freeze()
    try:
        with Recorder(folder, flight.meta, flight.scenario.recording) as recorder:
            flight.write_tracks(recorder)
            flight.begin(plant, recorder)
            sensors, beliefs = flight.sensors, flight.navigators
            fly(plant, flight.pilots, [recorder, *pace], *tools, progress, sensors, beliefs)
    except FlightFailed as error:
        return _Ending(error.outcome, str(error))
    except RecordingFailed as error:
        return _Ending("recording_failed", str(error))
    except KeyboardInterrupt:
        return _Ending(INTERRUPTED, f"interrupted at t = {plant.t:.3f} s")
    finally:
        gc.unfreeze()
    return _Ending(COMPLETED, None)
