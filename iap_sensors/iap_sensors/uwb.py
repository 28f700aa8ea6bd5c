# SPDX-License-Identifier: BSD-3-Clause
"""A UWB tag: ranges to anchors and to other tags, with their errors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.sensors.readings import RangeReading, Source
from iap_sensors.rays import RayCaster
from iap_sensors.uwb_spec import UwbSpec

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
CLEARANCE = (
    0.1  # at both ends of a line of sight: what a tag or an anchor is fixed to blocks nothing [m]
)


class UwbTag:
    """One tag.

    Args:
        source: its topic and frame.
        spec: what it is.
        partners: ids of those it ranges to, the anchors first.
        rng: its own generator.
    """

    def __init__(
        self, source: Source, spec: UwbSpec, partners: Sequence[str], rng: np.random.Generator
    ) -> None:
        self.source, self._spec, self._ids = source, spec, tuple(partners)
        fixed = [anchor.position for anchor in spec.anchors]
        self._known_W = np.full((len(self._ids), 3), np.nan)
        self._known_W[: len(fixed)] = np.reshape(fixed, (-1, 3))
        self.reset(rng)

    def reset(self, rng: np.random.Generator) -> None:
        """Start anew with a generator, which draws the constant errors."""
        self._rng = rng
        self._bias = self._spec.bias * rng.standard_normal(len(self._ids))

    def measure(self, t: float, p_WT_W: Array, p_WO_W: Array, is_clear: Flags) -> RangeReading:
        """One round of ranges.

        Args:
            t: its time [s].
            p_WT_W: (3,) place of the tag [m].
            p_WO_W: (n, 3) places of the partners [m].
            is_clear: (n,) whether the line of sight to each is free.
        """
        spec = self._spec
        distance = np.linalg.norm(p_WO_W - p_WT_W, axis=1)
        white, extra = self._rng.standard_normal((2, len(self._ids)))
        lucky, kept, seen = self._rng.random((3, len(self._ids)))
        late = self._rng.standard_exponential(len(self._ids))
        error = self._bias + spec.noise * white
        error += spec.outliers.size * late * (lucky < spec.outliers.share)
        valid = (kept >= spec.dropout) & (distance <= spec.range_max)
        if spec.obstruction is not None:
            through = ~is_clear
            error += through * (spec.obstruction.delay + spec.obstruction.noise * extra)
            valid &= is_clear | (seen >= spec.obstruction.lost)
        ranges = np.where(valid, np.maximum(distance + error, 0.0), np.nan)
        deviations = np.full(len(self._ids), spec.noise)
        return RangeReading(self.source, t, self._ids, self._known_W, ranges, deviations, valid)


def clear_lines(rays: RayCaster, p_WT_W: Array, p_WO_W: Array) -> Flags:
    """Whether the lines from places (n, 3) to places (n, 3) [m] are free of what stands in the world."""
    way = p_WO_W - p_WT_W
    length = np.linalg.norm(way, axis=1, keepdims=True)
    share = np.minimum(CLEARANCE / np.maximum(length, 1e-9), 0.5)
    hits = rays.ray_cast(p_WT_W + share * way, p_WO_W - share * way, world_only=True)
    return np.asarray(hits >= 1.0)
