# SPDX-License-Identifier: BSD-3-Clause
"""UWB tags of one vehicle."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import RangeReading
from iap_description.sensors.sensor_info import UwbInfo
from iap_description.vehicles.assembly import Assembly
from iap_sensors.mounted.mounted_sensors import MountedSensors, Tree
from iap_sensors.ray_caster import RayCaster
from iap_sensors.uwb import PRESETS, UwbSpec, UwbTag, clear_lines

Array = NDArray[np.float64]


class UwbTags(MountedSensors):
    """The tags of one vehicle, one on each aircraft; they range to the anchors and to each other."""

    KEY, SPEC = "uwb", UwbSpec

    def __init__(self, spec: UwbSpec, assembly: Assembly, *, seed: int, control_hz: float) -> None:
        self._spec, self.needs_rays = spec, spec.obstruction is not None
        self._anchors_W = np.array([each.position for each in spec.anchors]).reshape(-1, 3)
        super().__init__(spec, assembly, seed=seed, control_hz=control_hz)

    @classmethod
    def preset(cls, name: str) -> Tree:
        """The plain tree of a preset."""
        return PRESETS.tree(name)

    def start(self, mounts: Sequence[tuple[SensorMount, np.random.Generator]]) -> None:
        """Make a tag on each mount."""
        anchors = [anchor.id for anchor in self._spec.anchors]
        frames = [mount.source.frame for mount, _ in mounts] if self._spec.between_aircraft else []
        self._tags = []
        for mount, rng in mounts:
            others = [frame for frame in frames if frame != mount.source.frame]
            self._tags.append(UwbTag(mount.source, self._spec, [*anchors, *others], rng))

    def measure(
        self, t: float, p_WS_W: Array, q_WS: Array, rays: RayCaster | None
    ) -> list[RangeReading]:
        """One round of each tag."""
        partners = [self._partners(i, p_WS_W) for i in range(len(self._tags))]
        clear = self._clear(p_WS_W, partners, rays)
        rows = zip(self._tags, p_WS_W, partners, clear, strict=True)
        return [tag.measure(t, p, others, free) for tag, p, others, free in rows]

    def _partners(self, i: int, p_WS_W: Array) -> Array:
        """Places (n, 3) of those that tag i ranges to."""
        if not self._spec.between_aircraft:
            return self._anchors_W
        return np.vstack([self._anchors_W, np.delete(p_WS_W, i, axis=0)])

    def _clear(
        self, p_WS_W: Array, partners: list[Array], rays: RayCaster | None
    ) -> list[NDArray[np.bool_]]:
        """For each tag, whether the lines to its partners are free; all are, where that does not matter."""
        counts = [len(each) for each in partners]
        if not self.needs_rays:
            return [np.ones(count, dtype=bool) for count in counts]
        assert rays is not None  # noqa: S101 - obstruction needs them
        free = clear_lines(rays, np.repeat(p_WS_W, counts, axis=0), np.vstack(partners))
        return np.split(free, np.cumsum(counts)[:-1])

    def info(self, fields: dict[str, Any]) -> UwbInfo:
        """The description of one tag."""
        return UwbInfo(**fields)
