# SPDX-License-Identifier: BSD-3-Clause
"""UWB tags of one vehicle."""

import numpy as np
from numpy.typing import NDArray

from iap_description.random_streams import stream
from iap_description.sensors.mounts import places, seat_meta, seats_on_aircraft
from iap_description.sensors.readings import RangeReading
from iap_description.sensors.sensor_info import UwbInfo
from iap_description.vehicles.assembly import Assembly
from iap_sensors.mounted.sampling import Sampling
from iap_sensors.ray_caster import RayCaster
from iap_sensors.uwb import UwbTag, clear_lines
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

Array = NDArray[np.float64]
TOPIC = "uwb"


class UwbTags:
    """The tags of one vehicle, one on each aircraft; they range to the anchors and to each other.

    Args:
        scenario: what is flown.
        vehicle: whose tags; it must have some.
        assembly: its bodies.

    Attributes:
        notes: sentences for the user.
    """

    def __init__(self, scenario: Scenario, vehicle: VehicleSpec, assembly: Assembly) -> None:
        spec = vehicle.sensors.uwb
        assert spec is not None  # noqa: S101 - the caller has looked
        self._spec, self._assembly = spec, assembly
        self._seats = seats_on_aircraft(assembly, spec.mount, TOPIC)
        self._anchors_W = np.array([each.position for each in spec.anchors]).reshape(-1, 3)
        fixed = [anchor.id for anchor in spec.anchors]
        frames = [place.source.frame for place in self._seats]
        others = spec.between_aircraft
        self._tags = [
            UwbTag(
                place.source,
                spec,
                [*fixed, *(f for f in frames if others and f != place.source.frame)],
                stream(scenario.seed, place.source.topic),
            )
            for place in self._seats
        ]
        self._sampling = Sampling.of(spec.rate, scenario.rates.control_hz, TOPIC)
        self.notes = [self._sampling.note] if self._sampling.note else []

    def reset(self, seed: int) -> None:
        """Noise starts anew."""
        for tag in self._tags:
            tag.reset(stream(seed, tag.source.topic))

    def look(self, k: int, t: float, x: Array, rays: RayCaster) -> list[RangeReading]:
        """The round that is due at control instant k.

        Args:
            k: the instant.
            t: its time [s].
            x: (bodies, 13) the vehicle's state.
            rays: of the world.
        """
        if not self._sampling.is_due(k):
            return []
        p_WT_W, _ = places(self._seats, x)
        partners = [self._partners(i, p_WT_W) for i in range(len(self._tags))]
        clear = self._clear(p_WT_W, partners, rays)
        rows = zip(self._tags, p_WT_W, partners, clear, strict=True)
        return [tag.measure(t, p, others, free) for tag, p, others, free in rows]

    def _partners(self, i: int, p_WT_W: Array) -> Array:
        """Places (n, 3) of those that tag i ranges to."""
        if not self._spec.between_aircraft:
            return self._anchors_W
        return np.vstack([self._anchors_W, np.delete(p_WT_W, i, axis=0)])

    def _clear(
        self, p_WT_W: Array, partners: list[Array], rays: RayCaster
    ) -> list[NDArray[np.bool_]]:
        """For each tag, whether the lines to its partners are free; all are, where that does not matter."""
        counts = [len(each) for each in partners]
        if self._spec.obstruction is None:
            return [np.ones(count, dtype=bool) for count in counts]
        free = clear_lines(rays, np.repeat(p_WT_W, counts, axis=0), np.vstack(partners))
        return np.split(free, np.cumsum(counts)[:-1])

    @property
    def metas(self) -> list[UwbInfo]:
        """What a recording says of the tags."""
        return [
            UwbInfo(**seat_meta(self._assembly, place), rate=self._sampling.rate)
            for place in self._seats
        ]
