# SPDX-License-Identifier: BSD-3-Clause
"""Measurements as sensors give them, before the front end, and irregularities in their streams."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.config.bounds import are_plausible
from iap_estimation.virpo.messages import ImuSample, Ranges, Tilt

Gray = NDArray[np.uint8]
SENSOR_GAP = 1.0  # time without messages of a sensor that is reported [s]


@dataclass(frozen=True, eq=False)
class Images:
    """A stereo pair, or the image of one camera alone: time [s] and grey levels (h, w)."""

    t: float
    left: Gray
    right: Gray | None


Raw = ImuSample | Images | Ranges | Tilt
Event = tuple[int, Raw]  # an aircraft's index or CENTRE, and what it says


@dataclass
class Tally:
    """Irregularities of a data set as it was read.

    Attributes:
        unpaired: images without a partner of the same time.
        partial: packets of a stream of images without one that they need.
        repeated: messages with the stamp of the one before.
        late: messages that came after younger ones of their sensor, and were sorted.
        misplaced: messages whose stamps are of times that their sensor had covered already.
        numberless: inertial samples with a number that is none, or beyond any unit.
        lengthless: ranges that are no length: NaN, infinite or negative.
        unlisted: numbers of ranges to anchors that no map lists, by anchor.
        blind: time at the end with neither images nor ranges, of which most is left out [s].
        gaps: of sensors, in words.
    """

    unpaired: int = 0
    partial: int = 0
    repeated: int = 0
    late: int = 0
    misplaced: int = 0
    numberless: int = 0
    lengthless: int = 0
    blind: float = 0.0
    gaps: list[str] = field(default_factory=list)
    unlisted: dict[str, int] = field(default_factory=dict)

    def clear(self) -> None:
        """Begin anew."""
        self.unpaired = self.partial = self.repeated = self.late = self.misplaced = 0
        self.numberless = self.lengthless = 0
        self.blind = 0.0
        self.gaps.clear()
        self.unlisted.clear()

    def add(self, other: "Tally") -> None:
        """Add what was odd of another part of the data set."""
        for name, value in vars(other).items():
            if isinstance(value, dict):
                for key, count in value.items():
                    self.unlisted[key] = self.unlisted.get(key, 0) + count
            else:
                setattr(self, name, getattr(self, name) + value)

    def sentences(self) -> list[str]:
        """Sentences for the user."""
        notes = [f"{gap}: estimators start over where they have to" for gap in self.gaps]
        notes += [f"{count} {what}" for count, what in self._counts() if count]
        if self.unlisted:
            each = ", ".join(f"{count} to {name}" for name, count in sorted(self.unlisted.items()))
            notes.append(f"ranges to anchors that the map does not list were left out: {each}")
        if self.blind:
            notes.append(
                f"neither images nor ranges in the last {self.blind:.1f} s: left out but for {SENSOR_GAP:.0f} s"
            )
        return notes

    def _counts(self) -> list[tuple[int, str]]:
        """Numbers of messages, and what became of them."""
        return [
            (self.unpaired, "images without a partner of the same time were left out"),
            (
                self.partial,
                "packets of images had no key frame before them, or one was missing: left out",
            ),
            (self.repeated, "messages repeated the stamp of the one before: left out"),
            (
                self.late,
                "messages came after younger ones of their sensor: sorted by their stamps",
            ),
            (
                self.misplaced,
                "messages had stamps of a time that their sensor had covered: left out",
            ),
            (self.numberless, "inertial samples had a number that is none (NaN, 1e300): left out"),
            (self.lengthless, "ranges were no length (NaN, infinite or negative): left out"),
        ]


def inertial_sample(t: float, values: Array, tally: Tally) -> ImuSample | None:
    """A sample of angular velocity and specific force (6,) at a time [s]; None, and counted, where one is no number."""
    if not are_plausible(values):
        tally.numberless += 1
        return None
    return ImuSample(t, values[:3], values[3:])
