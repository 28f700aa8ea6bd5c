# SPDX-License-Identifier: BSD-3-Clause
"""Base of the kinds of sensors that every aircraft of a vehicle carries, sampled at control instants."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np

from iap_description.arrays import Array
from iap_description.config.record import Presets, Record
from iap_description.config.values import NonNegative
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import stream, uniform
from iap_description.sensors.mounts import (
    SensorMount,
    displacements,
    mount_fields,
    mount_poses,
    mounts_on_aircraft,
)
from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import AnySensor
from iap_description.vehicles.assembly import Assembly
from iap_sensors.mounted.sampling import Sampling

Tree = dict[str, Any]
MOUNT = "{}/mount"  # stream of a sensor's displacement, by its topic


class RayCaster(Protocol):
    """Casts the rays of lidars and of the ranges' lines of sight, as `iap_sensors.rays.world_rays.Rays` does."""

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Fraction (rays,) of each ray, (rays, 3) to (rays, 3) [m], at its first hit; 1 if none.

        Args:
            starts_W: where rays begin, in `map`.
            ends_W: where they end.
            world_only: rays go through vehicles.
        """


class Displacement(Record):
    """Half-widths of the uniform distributions by which sensors are off their mounts, per axis."""

    position: NonNegative = 0.0  # [m]
    tilt_deg: NonNegative = 0.0

    def __call__(self, mount: SensorMount, seed: int) -> SensorMount:
        """A mount where the seed puts its sensor."""
        if self.position == self.tilt_deg == 0.0:
            return mount
        dice = uniform(seed, MOUNT.format(mount.source.topic), 6)
        shift, tilt = displacements(dice, self.position, self.tilt_deg)
        return replace(mount, p_BS_B=mount.p_BS_B + shift, q_BS=so3.multiply(mount.q_BS, tilt))


ON_THE_MOUNT = Displacement()


class MountedSensors(ABC):
    """One kind of sensor, one of which is on each aircraft of a vehicle.

    A subclass is a kind; it is entered in `iap_sensors.mounted.kinds` or named as ``module:Class``.

    Args:
        spec: of all of them, an instance of `SPEC`.
        assembly: the vehicle's bodies.
        seed: of the run.
        control_hz: rate of control instants [Hz].
        displaced: how far off their mounts they may be; their descriptions say nothing of it.

    Attributes:
        KEY: last part of the sensors' topics, and of the keys in errors.
        SPEC: the record of the kind, with `mount` and `rate`.
        PRESETS: plain trees of the record by name, or the folder of their files.
        spec: as given.
        control_hz: as given.
        notes: sentences for the user.
        sampling: the control instants of the samples.
    """

    KEY: ClassVar[str]
    SPEC: ClassVar[type[Record]]
    PRESETS: ClassVar[Mapping[str, Tree] | Presets] = {}

    def __init__(
        self,
        spec: Any,  # noqa: ANN401 - of the class `SPEC`
        assembly: Assembly,
        *,
        seed: int,
        control_hz: float,
        displaced: Displacement = ON_THE_MOUNT,
    ) -> None:
        self.spec, self.control_hz = spec, control_hz
        self._assembly, self._displaced = assembly, displaced
        self._mounts = mounts_on_aircraft(assembly, spec.mount, self.KEY)
        self.sampling = Sampling.of(spec.rate, control_hz, self.KEY)
        self.notes = [self.sampling.note] if self.sampling.note else []
        self.reset(seed)

    @classmethod
    def preset(cls, name: str) -> Tree:
        """The plain tree of a preset.

        Raises:
            BadInput: no such preset.
        """
        if isinstance(cls.PRESETS, Presets):
            return cls.PRESETS.tree(name)
        if name not in cls.PRESETS:
            raise BadInput(f"no {cls.KEY} '{name}' (presets: {', '.join(cls.PRESETS)})")
        return dict(cls.PRESETS[name])

    @property
    def needs_rays(self) -> bool:
        """True if samples are taken along rays."""
        return False

    @property
    def every(self) -> int:
        """Control periods between the instants at which `sample` may have readings."""
        return self.sampling.every

    def reset(self, seed: int) -> None:
        """Start all noise anew."""
        self._placed = [self._displaced(mount, seed) for mount in self._mounts]
        self.start([(mount, stream(seed, mount.source.topic)) for mount in self._placed])

    def sample(self, k: int, t: float, x: Array, rays: RayCaster | None) -> Sequence[Reading]:
        """The readings that are due at control instant k.

        Args:
            k: the instant.
            t: its time [s].
            x: (bodies, 13) the vehicle's state.
            rays: of the world with its vehicles; None where the kind needs none.
        """
        if not self.sampling.is_due(k):
            return []
        return self.measure(t, *mount_poses(self._placed, x), rays)

    @property
    def infos(self) -> list[AnySensor]:
        """Descriptions of the sensors."""
        rate = {"rate": self.sampling.rate}
        return [self.info({**mount_fields(self._assembly, m), **rate}) for m in self._mounts]

    @abstractmethod
    def start(self, mounts: Sequence[tuple[SensorMount, np.random.Generator]]) -> None:
        """Make a sensor on each mount, with its own generator."""

    @abstractmethod
    def measure(
        self, t: float, p_WS_W: Array, q_WS: Array, rays: RayCaster | None
    ) -> Sequence[Reading]:
        """One reading of each sensor.

        Args:
            t: time [s].
            p_WS_W: (n, 3) their places [m].
            q_WS: (n, 4) their attitudes, xyzw.
            rays: see `sample`.
        """

    @abstractmethod
    def info(self, fields: dict[str, Any]) -> AnySensor:
        """The description of one sensor, with the fields that all have."""
