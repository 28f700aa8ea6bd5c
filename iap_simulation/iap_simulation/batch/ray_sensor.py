# SPDX-License-Identifier: BSD-3-Clause
"""A depth camera or a lidar in each of many worlds: images as arrays, of each world those of its single run."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans, Integers
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import uniforms
from iap_description.sensors.mounts import displacements, mounts_on_aircraft
from iap_description.states import P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import World
from iap_physics.batch.threads import Threads
from iap_physics.engines.engine import world_indices
from iap_sensors.mounted.mounted_sensors import MOUNT
from iap_sensors.mounted.sampling import Sampling
from iap_sensors.rays import depth_camera_spec
from iap_sensors.rays import lidar_spec as lidar
from iap_sensors.rays.depth_camera_spec import DEPTH_CAMERA, DepthCameraSpec
from iap_sensors.rays.images import KINDS, Images, RaySensor
from iap_sensors.rays.lidar_spec import LIDAR, LidarSpec
from iap_sensors.rays.noise import Keys, bases_of, frame_keys
from iap_sensors.rays.world_rays import Mover, Rays, movers_of
from iap_simulation.batch.batch_support import check_fits
from iap_simulation.batch.placed_objects import PlacedObjects
from iap_simulation.scenario.scenario import Scenario

if TYPE_CHECKING:
    from iap_sensors.rays.warp.images import WarpImages  # an extra

EMBREE, WARP = "cpu", "warp"  # devices that cast on the CPU, by Embree and by Warp
TRIANGLE_BYTES = (
    240  # of a triangle that stands in a world of its own, with its part of Embree's tree
)


class SensedWorlds(Protocol):
    """Worlds as ray sensors see them, see `iap_simulation.batch.worlds.Worlds`."""

    seeds: Integers

    @property
    def scenario(self) -> Scenario:
        """The scenario of all worlds."""

    @property
    def objects(self) -> PlacedObjects:
        """The objects of each world where its seed places them."""

    @property
    def instants(self) -> Integers:
        """(B,) numbers of the worlds' control instants."""

    @property
    def threads(self) -> Threads:
        """Threads that share the worlds."""

    @property
    def bodies(self) -> Array:
        """(B, bodies, 13) states of the bodies of all vehicles, in their order."""


class WorldRaySensor:
    """One ray sensor on the same aircraft of every world.

    Obstacles whose seed is open, mounts that are displaced (`draw.mount_position`, `draw.mount_tilt_deg`) and errors
    are those that each world's seed draws; after a reset to another seed they are the new one's. An image is a
    function of the world's seed, state and control instant alone: snapshots, resets and other worlds change nothing.

        camera = WorldRaySensor.of(worlds, "d455", ["depth", "segmentation"], width=64, height=48)
        depth = camera.images()["depth"]  # (B, 48, 64) [m], infinite where nothing is in range

    Args:
        worlds: in which it is.
        spec: what it is.
        outputs: of `RaySensor`.
        aircraft: of the vehicle that carries it, from 0 on.
        vehicle: number of that vehicle.
        device: that casts: ``cpu`` by Embree; ``cuda``, an NVIDIA GPU, by Warp (an extra: requirements/gpu.txt), whose
            images are those of Embree but for rounding; or ``warp``, Warp on the CPU, for tests.

    Attributes:
        worlds: as given.
        sensor: what takes the images of a state.
        mount: of the sensor on its aircraft.

    Raises:
        BadInput: there is no such aircraft, mount, output or device, or memory for so many images and obstacles; or
            the device casts at no objects that move.
    """

    def __init__(
        self,
        worlds: SensedWorlds,
        spec: DepthCameraSpec | LidarSpec,
        outputs: Sequence[str],
        aircraft: int = 0,
        device: str = EMBREE,
        vehicle: int = 0,
    ) -> None:
        self.worlds, self.sensor = worlds, RaySensor(spec, outputs)
        is_camera = isinstance(spec, DepthCameraSpec)
        scenario = worlds.scenario
        all_vehicles = [Assembly.of(each.platform, each.name) for each in scenario.vehicles]
        assembly = all_vehicles[vehicle]
        mounts = mounts_on_aircraft(assembly, spec.mount, DEPTH_CAMERA if is_camera else LIDAR)
        if not 0 <= aircraft < len(mounts):
            raise BadInput(
                f"aircraft {aircraft}: '{assembly.name}' has {len(mounts)} of them, from 0 on"
            )
        self.mount = mounts[aircraft]
        self._row = self.mount.body + sum(len(each.bodies) for each in all_vehicles[:vehicle])
        self._hidden = (self._row,) if is_camera else ()
        self._sampling = Sampling.of(spec.rate, scenario.rates.control_hz, "rays")
        self._assemblies, self._movers = all_vehicles, movers_of(all_vehicles)
        self._objects, self._is_drawn = worlds.objects, worlds.objects.is_drawn
        if device != EMBREE and any(item.moves for item in scenario.world.objects.values()):
            raise BadInput(f"ray sensor: device '{device}' sees no objects that move: take 'cpu'")
        count = len(worlds.seeds)
        self._seeds = np.full(count, -1, dtype=np.int64)
        self._bases, self._rays = np.zeros(count), self._first_rays(count)
        self._p_BS_B, self._q_BS = np.zeros((count, 3)), np.zeros((count, 4))
        self._warp = None if device == EMBREE else _warp_images(self.sensor, self._movers, device)

    @classmethod
    def of(
        cls,
        worlds: SensedWorlds,
        preset: str | None = None,
        outputs: Sequence[str] = ("depth",),
        *,
        aircraft: int = 0,
        device: str = EMBREE,
        vehicle: int = 0,
        **changes: Any,  # noqa: ANN401 - keys of the record
    ) -> Self:
        """A sensor of a preset, of depth cameras or of lidars, with some keys changed; or the scenario's depth camera.

        Raises:
            BadInput: no such preset, no such camera, or anything unknown or impossible, by its key.
        """
        if preset is not None:
            return cls(
                worlds, ray_sensor_spec(preset, changes), outputs, aircraft, device, vehicle
            )
        spec = worlds.scenario.vehicles[vehicle].sensors.depth_camera
        if spec is None:
            raise BadInput("ray sensor: the scenario has no sensors.depth_camera: name a preset")
        tree = {**spec.model_dump(), **changes}
        spec = validate(DepthCameraSpec, tree, source=DEPTH_CAMERA)
        return cls(worlds, spec, outputs, aircraft, device, vehicle)

    @property
    def is_due(self) -> Booleans:
        """(B,) whether the sensor's own rate has an image at a world's present control instant."""
        return np.asarray(self.worlds.instants % self._sampling.every == 0)

    def images(self, worlds: ArrayLike | None = None) -> Images:
        """Images in the present states, arrays (worlds, rows, columns[, 3]), see `RaySensor`.

        Args:
            worlds: of which worlds, their indices or a mask (B,); None for all.

        Raises:
            BadInput: there is no such world.
        """
        indices = world_indices(worlds, len(self.worlds.seeds))
        inputs = self._image_inputs(indices)
        rays, x = [self._rays[i] for i in indices.tolist()], self.worlds.bodies[indices]
        if self._warp is not None:
            return self._warp.images(rays, x, *inputs)
        for one, *rows in zip(rays, x, self._objects.states(indices), strict=True):
            one.follow(*rows)
        return self.sensor.images(rays, *inputs, share=self.worlds.threads.run)

    def images_on_device(self) -> dict[str, Any]:
        """The images but for labels, (B, pixels), as arrays of Warp's, which other libraries take by DLPack.

        Raises:
            BadInput: the sensor does not cast by Warp.
        """
        if self._warp is None:
            raise BadInput("ray sensor: only device 'cuda' has its images on a GPU")
        every = np.arange(len(self.worlds.seeds))
        return self._warp.on_device(self._rays, self.worlds.bodies, *self._image_inputs(every))

    def _image_inputs(self, indices: Integers) -> tuple[Array, Array, Keys, tuple[int, ...]]:
        """Places and attitudes of the mounts, keys of the errors, and what is not seen."""
        self._renew()
        x = self.worlds.bodies[indices, self._row]
        p_WS_W = x[:, P] + so3.rotate(x[:, Q], self._p_BS_B[indices])
        q_WS = so3.multiply(x[:, Q], self._q_BS[indices])
        keys = frame_keys(self._bases[indices], self.worlds.instants[indices])
        return p_WS_W, q_WS, keys, self._hidden

    def rays(self, i: int) -> Rays:
        """The rays of one world, whose `labels` may be written to."""
        self._renew()
        return self._rays[i]

    def _first_rays(self, count: int) -> list[Rays]:
        """Rays of one scene for all worlds, if they are alike; else they are made with the seeds."""
        first = self._rays_of(self._objects.world(0))
        self._check_memory(count, first)
        return [first] * count if self._is_drawn else [first.twin() for _ in range(count)]

    def _check_memory(self, count: int, first: Rays) -> None:
        """Refuse more worlds than there is memory for their images and, where they are drawn, their obstacles.

        Raises:
            BadInput: saying how much they need.
        """
        kinds = [KINDS[name] for name in self.sensor.outputs]
        pixel = sum(np.dtype(kind).itemsize * math.prod(axes) for kind, axes, _ in kinds)
        each = math.prod(self.sensor.pattern.shape) * pixel
        if self._is_drawn:
            each += TRIANGLE_BYTES * len(first.surface.corners)
        check_fits(count * each, f"ray sensor: images and obstacles of {count} worlds")

    def _rays_of(self, world: World) -> Rays:
        return Rays(world, self._assemblies, self._movers)

    def _renew(self) -> None:
        """Draw anew what depends on seeds that have changed."""
        changed = np.flatnonzero(self._seeds != self.worlds.seeds)
        if not len(changed):
            return
        seeds, topic = self.worlds.seeds[changed], self.mount.source.topic
        self._bases[changed] = bases_of(seeds, topic)
        self._displace(changed, seeds)
        if self._is_drawn:
            for i in changed.tolist():
                self._rays[i] = self._rays_of(self._objects.world(i))
        self._seeds[changed] = seeds

    def _displace(self, indices: Integers, seeds: Integers) -> None:
        draw, mount = self.worlds.scenario.draw, self.mount
        dice = uniforms(seeds, MOUNT.format(mount.source.topic), 6)
        shifts, tilts = displacements(dice, draw.mount_position, draw.mount_tilt_deg)
        self._p_BS_B[indices] = mount.p_BS_B + shifts
        self._q_BS[indices] = so3.multiply(mount.q_BS, tilts)


def _warp_images(sensor: RaySensor, bodies: Sequence[Mover], device: str) -> "WarpImages":
    """Caster by Warp.

    Raises:
        BadInput: it is not installed, or there is no such device.
    """
    from iap_sensors.rays.warp.images import WarpImages

    return WarpImages(sensor, bodies, "cpu" if device == WARP else device)


def ray_sensor_spec(
    preset: str, changes: Mapping[str, Any] | None = None
) -> DepthCameraSpec | LidarSpec:
    """The record of a preset of depth cameras or lidars, with some keys changed.

    Raises:
        BadInput: no such preset, or anything unknown or impossible, by its key.
    """
    cameras, lidars = depth_camera_spec.PRESETS, lidar.PRESETS
    if preset in cameras.names():
        tree = {**cameras.tree(preset), **(changes or {})}
        return validate(DepthCameraSpec, tree, source=f"ray sensor '{preset}'")
    if preset in lidars.names():
        tree = {**lidars.tree(preset), **(changes or {})}
        return validate(LidarSpec, tree, source=f"ray sensor '{preset}'")
    known = ", ".join([*cameras.names(), *lidars.names()])
    raise BadInput(f"no ray sensor '{preset}' (presets: {known})")
