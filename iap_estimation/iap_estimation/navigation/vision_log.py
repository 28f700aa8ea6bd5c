# SPDX-License-Identifier: BSD-3-Clause
"""Times at which an estimator's cameras show nothing any longer, and show something again."""

from collections.abc import Collection

from iap_estimation.virpo.messages import CENTRE, Measurement, Tracks

LONGEST_DARKNESS = 0.5  # that is not noted [s]
FEWEST_TRACKS = 5  # with which images say how an aircraft moves


class VisionLog:
    """Log of the aircraft that see something.

    Args:
        count: of the aircraft.

    Attributes:
        events: times [s] and what happened.
    """

    def __init__(self, count: int) -> None:
        self._newest = [0.0] * count  # time at which each aircraft saw something last [s]
        self._blind: frozenset[int] = frozenset()
        self.events: list[tuple[float, str]] = []

    def see(self, aircraft: int, t: float) -> None:
        """Note that an aircraft, by its index, sees something at a time [s]."""
        self._newest[aircraft] = max(t, self._newest[aircraft])

    def take(self, owner: int, measured: Measurement) -> None:
        """Take what an aircraft, or `CENTRE`, has measured: images show something, or have shown nothing for long."""
        if isinstance(measured, Tracks) and owner != CENTRE and len(measured.ids) >= FEWEST_TRACKS:
            self.see(owner, measured.t)
        self.note(measured.t)

    def note(self, t: float) -> None:
        """Note who is blind at a time [s]."""
        ends = enumerate(self._newest)
        blind = frozenset(i for i, last in ends if t - last > LONGEST_DARKNESS)
        if blind == self._blind:
            return
        lost, regained = blind - self._blind, self._blind - blind
        if lost:
            self.events.append((min(self._newest[i] for i in lost), self._text("lost", lost)))
        if regained:
            first = min(self._newest[i] for i in regained)
            self.events.append((first, self._text("regained", regained)))
        self._blind = blind

    def _text(self, what: str, aircraft: Collection[int]) -> str:
        who = ", ".join(str(i + 1) for i in sorted(aircraft))
        return f"vision {what}" + (f" by aircraft {who}" if len(self._newest) > 1 else "")
