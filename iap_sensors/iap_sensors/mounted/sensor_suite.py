# SPDX-License-Identifier: BSD-3-Clause
"""All sensors of a run, on one clock: they sample every state, and sinks receive the readings in order."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from iap_description.arrays import Array
from iap_description.sensors.readings import InertialSamples, Reading
from iap_description.sensors.sensor_info import AnySensor
from iap_description.vehicles.arm_links import ArmLinks
from iap_sensors.cameras.renderer import Renderer
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.mounted.faulty_sensors import FaultySensors
from iap_sensors.mounted.inertial_units import InertialUnits
from iap_sensors.mounted.kinds import kind
from iap_sensors.mounted.mounted_sensors import MountedSensors
from iap_sensors.mounted.rig_spec import RigSpec, RigVehicle
from iap_sensors.mounted.rig_state import RigState

if TYPE_CHECKING:
    from iap_sensors.rays.world_rays import Rays  # loads Embree, for those who cast rays only


class ReadingSink(Protocol):
    """Receives readings, as a recorder or an estimator does."""

    def receive(self, reading: Reading) -> None:
        """Receive one; those of one sensor come in the order of their stamps."""


class SensorInput(ReadingSink, Protocol):
    """Receives readings, and takes those of one sensor for somebody who acts on them.

    Attributes:
        topic: of the sensor, as its description has it.
    """

    topic: str

    def is_ready(self, stamp: int, k: int) -> bool:
        """True if all has come that an action at control instant k of a stamp [ns] needs."""


class VehicleSensors:
    """The sensors of one vehicle but its cameras.

    Args:
        rig: of all vehicles.
        vehicle: one of them.
        first: row of its central body among all bodies.

    Attributes:
        rows: of its bodies among all bodies.
        inertial: its inertial units; None without any.
        mounted: its other sensors by their keys.
    """

    def __init__(self, rig: RigSpec, vehicle: RigVehicle, first: int) -> None:
        assembly, sensors = vehicle.assembly, vehicle.sensors
        how: dict[str, Any] = {
            "seed": rig.seed,
            "control_hz": rig.control_hz,
            "displaced": vehicle.displaced,
        }
        self.rows = slice(first, first + len(assembly.bodies))
        self.inertial: InertialUnits | None = None
        if sensors.imu is not None:
            self.inertial = InertialUnits(rig, vehicle)
        self.mounted: dict[str, MountedSensors] = {
            key: kind(key)(spec, assembly, **how) for key, spec in sensors.mounted.items()
        }

    @property
    def kinds(self) -> list[InertialUnits | MountedSensors]:
        """All that there are."""
        return [*([] if self.inertial is None else [self.inertial]), *self.mounted.values()]

    def reset(self, seed: int, x: Array) -> None:
        """Start anew from the vehicle's rows (bodies, 13)."""
        if self.inertial is not None:
            self.inertial.reset(seed, x)
        for each in self.mounted.values():
            each.reset(seed)

    def needs_rays(self, k: int) -> bool:
        """True if a sensor is due at control instant k that samples along rays."""
        return any(each.needs_rays and each.sampling.is_due(k) for each in self.mounted.values())


class SensorSuite:
    """The sensors of all vehicles, and cameras in the world.

    Args:
        rig: their specification.

    Attributes:
        vehicles: the sensors of each.
        sinks: receive every reading.
        cameras: once `open_cameras` was called; None without cameras.
    """

    def __init__(self, rig: RigSpec) -> None:
        self._rig = rig
        self.vehicles: list[VehicleSensors] = []
        first = 0
        for vehicle in rig.vehicles:
            self.vehicles.append(VehicleSensors(rig, vehicle, first))
            first = self.vehicles[-1].rows.stop
        self._cameras, self._faulty = mounted_cameras_of(rig), FaultySensors(rig)
        self.sinks: list[ReadingSink] = []
        self.cameras: MountedCameras | None = None
        self._rays = RigRays(rig)

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to sample."""
        return not self._cameras and not any(each.kinds for each in self.vehicles)

    @property
    def has_cameras(self) -> bool:
        """True if there are cameras, so that a renderer is needed."""
        return bool(self._cameras)

    def open_cameras(self, renderer: Renderer) -> None:
        """Give the cameras a fresh renderer, which whoever made it closes."""
        self.cameras = MountedCameras(self._rig, self._cameras, renderer)

    @property
    def infos(self) -> tuple[AnySensor, ...]:
        """Descriptions of the sensors."""
        mounted = [info for each in self.vehicles for kind in each.kinds for info in kind.infos]
        return *mounted, *(each.info for each in self._cameras)

    @property
    def notes(self) -> list[str]:
        """Sentences for the user, each once: rates that are not what was asked for."""
        notes = [note for each in self.vehicles for kind in each.kinds for note in kind.notes]
        notes += [each.sampling.note for each in self._cameras if each.sampling.note]
        return list(dict.fromkeys(notes))

    def begin(self, rows: Array, sinks: Sequence[ReadingSink]) -> None:
        """Begin a run.

        Args:
            rows: (bodies, 13) of all vehicles at the start.
            sinks: receive the readings.
        """
        self.sinks = list(sinks)
        for vehicle in self.vehicles:
            vehicle.reset(self._rig.seed, rows[vehicle.rows])
        if self.cameras is not None:
            self.cameras.reset(self._rig.seed)

    def needs_objects(self, k: int) -> bool:
        """True if a sensor at control instant k depends on the world's objects."""
        cameras = () if self.cameras is None else self.cameras.cameras
        is_due = any(each.sampling.is_due(k) for each in cameras)
        return is_due or any(each.needs_rays(k) for each in self.vehicles)

    def sample(
        self,
        k: int,
        t: float,
        state: RigState,
        samples: Sequence[InertialSamples | None],
    ) -> None:
        """Sample the present state at control instant k, and hand the readings over.

        Args:
            k: the instant.
            t: its time [s].
            state: of vehicles and world.
            samples: of each vehicle's ideal inertial units since the last instant; None without units.
        """
        rays = None
        if any(each.needs_rays(k) for each in self.vehicles):
            rays = self._rays.at(state)
        for vehicle, of_vehicle in zip(self.vehicles, samples, strict=True):
            x = state.rows[vehicle.rows]
            if vehicle.inertial is not None and of_vehicle is not None:
                self._hand_over(vehicle.inertial.sample(k, t, x, of_vehicle))
            for each in vehicle.mounted.values():
                self._hand_over(each.sample(k, t, x, rays))
        if self.cameras is not None:
            self._hand_over(self.cameras.sample(k, t, state))

    def _hand_over(self, readings: Iterable[Reading]) -> None:
        for reading in self._faulty(readings):
            for sink in self.sinks:
                sink.receive(reading)


class RigRays:
    """The rays of a rig's world, which are made when they are first needed."""

    def __init__(self, rig: RigSpec) -> None:
        self._rig = rig
        self._links = ArmLinks.of([each.assembly for each in rig.vehicles])
        self._rays: Rays | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "RigRays":
        """Itself: it remembers no state, and Embree's scenes cannot be copied."""
        return self

    def at(self, state: RigState) -> "Rays":
        """Rays in a state of vehicles and world."""
        if self._rays is None:
            from iap_sensors.rays.world_rays import Rays

            self._rays = Rays(self._rig.world, [each.assembly for each in self._rig.vehicles])
        self._rays.follow(self._links.appended(state.rows, state.joints), state.objects)
        return self._rays
