# SPDX-License-Identifier: BSD-3-Clause
"""Visual terms of a window: `iap_estimation.virpo.factors.vision` of all pairs, with their landmarks."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from iap_description.arrays import Array
from iap_estimation.virpo.algebra.states import States
from iap_estimation.virpo.factors.camera import StereoRig
from iap_estimation.virpo.factors.landmarks import (
    Landmarks,
    add_tracks,
    begin_depths,
    cull,
    drop_first_frame,
    drop_frame,
    mean_shift,
)
from iap_estimation.virpo.factors.vision import (
    LandmarkElimination,
    System,
    add_vision,
    step_landmarks,
    vision_cost,
)
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Tracks
from iap_estimation.virpo.spec import VirpoSpec

MAX_LANDMARKS = 500  # rows of each aircraft's table
FIRST_DEVIATION = 0.1  # deviation of an inverse depth that a landmark may begin with [1/m]


@dataclass
class AircraftLandmarks:
    """One aircraft's cameras, what they see, and where its landmarks are eliminated."""

    aircraft: int
    rig: StereoRig
    frames: int
    table: Landmarks = field(init=False)
    out: LandmarkElimination = field(init=False)

    def __post_init__(self) -> None:
        self.out = LandmarkElimination.empty(MAX_LANDMARKS, self.frames)
        self.forget()

    @property
    def views(self) -> tuple[Landmarks, StereoRig, int]:
        """Table, cameras and aircraft, as factors take them."""
        return self.table, self.rig, self.aircraft

    def forget(self) -> None:
        """All landmarks."""
        self.table = Landmarks.empty(MAX_LANDMARKS, self.frames)


class VisualTerms:
    """The terms of all views.

    Args:
        fleet: the aircraft, of which some may have no cameras.
        spec: see `VirpoSpec`.
    """

    def __init__(self, fleet: Fleet, spec: VirpoSpec) -> None:
        self._spec, self._aircraft = spec, len(fleet.aircraft)
        self._pairs = [
            AircraftLandmarks(a, model.rig, spec.keyframes + 1)
            for a, model in enumerate(fleet.aircraft)
            if model.rig is not None
        ]

    def begin(self) -> None:
        """Forget all."""
        for pair in self._pairs:
            pair.forget()

    def see(self, frame: int, tracks: Sequence[Tracks | None]) -> None:
        """Enter what the aircraft see in a keyframe."""
        for pair in self._pairs:
            one = tracks[pair.aircraft]
            if one is not None:
                views = np.where(np.isnan(one.views), 0.0, one.views)
                right = one.has_right.astype(np.int64)
                add_tracks(pair.table, pair.aircraft, frame, one.ids, views, right)

    def shift(self, i: int, j: int) -> list[float]:
        """Mean movement of tracks between two keyframes in the mean, for every aircraft [px]; NaN with too few."""
        shifts = [np.nan] * self._aircraft
        for pair in self._pairs:
            mean, count = mean_shift(pair.table, i, j)
            if count >= self._spec.fewest_tracks:
                shifts[pair.aircraft] = mean * pair.rig.focal
        return shifts

    def is_new(self, i: int, j: int) -> bool:
        """True if keyframe j shows what keyframe i does not (VINS' rule)."""
        shifts = self.shift(i, j)
        return any(not shifts[pair.aircraft] < self._spec.parallax for pair in self._pairs)

    def is_last_view(self, i: int) -> bool:
        """True if the keyframe after i no longer shows what i does, and would hang on dead reckoning without it."""
        fewest = self._spec.fewest_tracks
        return any(
            mean_shift(pair.table, i, i)[1] >= fewest > mean_shift(pair.table, i, i + 1)[1]
            for pair in self._pairs
        )

    def begin_depths(self, states: States) -> None:
        """Begin the landmarks that can be."""
        for pair in self._pairs:
            begin_depths(states.x, *pair.views, FIRST_DEVIATION)

    def add(self, states: States, only: int, damping: float, H: Array, g: Array) -> float:
        """Add all views, or those that a keyframe takes along, without their landmarks; their cost."""
        cost, width = 0.0, self._spec.huber.vision
        for pair in self._pairs:
            system = System(H, g, states.stride, pair.out)
            cost += add_vision(states.x, *pair.views, only, width, damping, system)
        return cost

    def cost(self, states: States) -> float:
        """The cost alone."""
        width = self._spec.huber.vision
        return sum(vision_cost(states.x, *pair.views, width) for pair in self._pairs)

    def step(self, step: Array, states: States) -> None:
        """Move the landmarks as the states' step has it."""
        for pair in self._pairs:
            step_landmarks(step, pair.table, len(states.x), states.stride, pair.out)

    def positions(self) -> list[Array]:
        """Copies of where the landmarks are."""
        return [pair.table.place.copy() for pair in self._pairs]

    def put_back(self, points: Sequence[Array]) -> None:
        """Lay the landmarks where they were."""
        for pair, place in zip(self._pairs, points, strict=True):
            pair.table.place[:] = place

    def cull(self, states: States) -> None:
        """Forget views that are too far from their landmarks."""
        for pair in self._pairs:
            cull(states.x, *pair.views, self._spec.cull / pair.rig.focal)

    def count(self) -> int:
        """Number of measured components."""
        return 2 * sum(int(np.unpackbits(pair.table.sides).sum()) for pair in self._pairs)

    def leave(self, states: States, frame: int) -> None:
        """A keyframe goes with all that was seen in it; the states are those before."""
        for pair in self._pairs:
            drop_frame(states.x, *pair.views, frame)

    def leave_first(self) -> None:
        """The oldest keyframe goes, and the landmarks that began in it."""
        for pair in self._pairs:
            drop_first_frame(pair.table)
