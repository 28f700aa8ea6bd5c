# SPDX-License-Identifier: BSD-3-Clause
"""A whole flight's references on the control grid: take-off, lead-in, the motion itself, landing.

They are made some seconds at a time, as they are flown, so that an hour takes no more memory than a minute.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from iap_control.references.landing import CLIMB_SPEED, SPIN_UP, landing
from iap_control.references.motions import Motion, Replay
from iap_control.references.replay import RecordedCommand, commanded
from iap_control.references.rows import hold
from iap_control.references.timeline_parts import (
    TimelinePart,
    approach_part,
    level_at,
    period_count,
)
from iap_control.references.velocity_steps import VelocitySteps
from iap_description.arrays import Array, Integers
from iap_description.config.bounds import MAX_SI_NUMBER, are_plausible
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_FIXED, REF_P, REF_Q, Level

SAMPLES = 200  # of a motion, that are looked at beforehand
BLOCK = 512  # control instants that are made at once; the reference does not depend on it


@dataclass
class _Block:
    """Rows that have been made, from the instant `first` on."""

    first: int
    rows: Array


@dataclass(frozen=True)
class Timeline:
    """References of one vehicle at every control instant.

    Attributes:
        parts: one after another; behind the last one its last pose is held.
        count: control instants.
        window: first and last time [s] over which errors count.
        lead: when the motion itself begins [s].
        dt: control period [s].
        offset: (3,) added to positions [m].
        mount_yaw: (N,) of each aircraft in P, which with the platform's yaw makes its heading [rad].
        aircraft_yaw: (N,) headings that are given instead [rad].
    """

    parts: tuple[TimelinePart, ...]
    count: int
    window: tuple[float, float]
    lead: float
    dt: float
    offset: Array = field(default_factory=lambda: np.zeros(3))
    mount_yaw: Array = field(default_factory=lambda: np.zeros(0))
    aircraft_yaw: Array | None = None
    _made: list[_Block] = field(default_factory=list, init=False, repr=False, compare=False)

    def placed(self, offset: Array, mount_yaw: Array, aircraft_yaw: Array | None) -> Self:
        """The same moved by an offset (3,) [m], with headings (T, N) behind the 19 columns."""
        return replace(self, offset=offset, mount_yaw=mount_yaw, aircraft_yaw=aircraft_yaw)

    @property
    def width(self) -> int:
        """Columns of a row: 19, or 19 + N once placed."""
        return REF_FIXED + len(self.mount_yaw)

    @property
    def last(self) -> int:
        """Number of the last control instant."""
        return self.count - 1

    @property
    def goal(self) -> Array:
        """(19 + N,) the row at which the motion ends, also where the flight is cut before."""
        end = sum(part.count for part in self.parts) - 1
        return np.asarray(self.rows(end, end + 1)[0]) if end > self.last else self.row(self.last)

    @property
    def duration(self) -> float:
        """Length [s]; the last row counts as an instant, not as a period."""
        return self.last * self.dt

    def cut(self, duration: float) -> Self:
        """The first `duration` seconds; the last pose is held if the timeline is shorter.

        Raises:
            BadInput: that is longer than a stamp can say.
        """
        window = (min(self.window[0], duration), min(self.window[1], duration))
        count = period_count("duration", duration, self.dt) + 1
        return replace(self, count=count, window=window)

    def row(self, k: int) -> Array:
        """The row (19 + N,) that the controller tracks at control instant k within the timeline."""
        return np.asarray(self.ahead(k, 1)[0])

    def ahead(self, k: int, most: int) -> Array:
        """The rows (T, 19 + N) from control instant k on that are made by now: one at least, `most` at most."""
        block = self._made[0] if self._made else None
        if block is None or not 0 <= k - block.first < len(block.rows):
            first = k - k % BLOCK
            block = _Block(first, self.rows(first, min(first + BLOCK, self.count)))
            self._made[:] = [block]
        return block.rows[k - block.first : k - block.first + most]

    def level(self, k: int) -> Level:
        """The tracked part of the row at control instant k."""
        for part in self.parts[:-1]:
            if k < part.count:
                return part.level
            k -= part.count
        return self.parts[-1].level

    def levels(self, start: int, stop: int) -> Integers:
        """(stop - start,) the tracked parts of the control instants from `start` to before `stop`."""
        ends = np.cumsum([part.count for part in self.parts[:-1]])
        parts = np.searchsorted(ends, np.arange(start, stop), side="right")
        return np.array([part.level for part in self.parts], dtype=np.int64)[parts]

    def rows(self, start: int, stop: int) -> Array:
        """The rows (stop - start, 19 + N) of the control instants from `start` to before `stop`."""
        pieces, begin = [], 0
        for part in self.parts:
            first, end = max(start, begin), min(stop, begin + part.count)
            if first < end:
                pieces.append(part.rows(first - begin, end - begin))
            begin += part.count
        if stop > begin:
            pieces.append(hold(part.row(part.count - 1), stop - max(start, begin)))
        rows = np.vstack(pieces)
        rows[:, REF_P] += self.offset
        if self.aircraft_yaw is None:
            yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(rows[:, REF_Q]))[:, 2:]
            return np.hstack([rows, yaw + self.mount_yaw])
        return np.hstack([rows, np.tile(self.aircraft_yaw, (len(rows), 1))])


@dataclass(frozen=True)
class Leads:
    """The surroundings of a motion.

    Attributes:
        lead_in: from rest at the first pose to the motion [s].
        ground_height: height of P's origin when the platform stands on the ground [m]; None starts hovering.
        mass: of the platform, by which it touches the ground the slower [kg].
    """

    lead_in: float
    ground_height: float | None
    mass: float


def build(
    motion: Callable[[Array], Array],
    duration: float,
    leads: Leads,
    dt: float,
    *,
    score_leads: bool,
    level: Level = Level.POSE,
) -> Timeline:
    """Surround a motion by its leads.

    Args:
        motion: tracked rows (T, 19) at times (T,) of the motion.
        duration: of the motion [s].
        leads: what surrounds it.
        dt: control period [s].
        score_leads: whether errors count in the leads, too (not for a recorded command).
        level: what of the motion is tracked.

    Raises:
        BadInput: a part lasts longer than a stamp can say.
    """
    middle = TimelinePart(
        period_count("reference", duration, dt) + 1, lambda k: motion(k * dt), level
    )
    _check_plausible(middle)
    first, last = middle.row(0), middle.row(middle.count - 1)
    still = hold(first, 1)[0]
    before: list[TimelinePart] = []
    if leads.lead_in > 0.0:
        before = [approach_part("start.lead_in", still, first, leads.lead_in, dt)]
    after: list[TimelinePart] = []
    if leads.ground_height is not None:
        ground = level_at(still, leads.ground_height)
        climb = (still[REF_P.stop - 1] - leads.ground_height) / CLIMB_SPEED
        spin_up = TimelinePart(round(SPIN_UP / dt), lambda k: hold(ground, len(k)))
        before = [spin_up, approach_part("reference", ground, still, climb, dt), *before]
        after = landing(last, leads.ground_height, leads.mass, dt)
    lead = sum(part.count for part in before)
    parts = (*before, middle, *after)
    first_t, last_t = lead * dt, (lead + middle.count - 1) * dt
    start = 0.0 if score_leads and leads.ground_height is None else first_t
    count = sum(part.count for part in parts)
    return Timeline(parts, count, (start, last_t), first_t, dt)


def flight_timeline(
    reference: Motion | Replay, leads: Leads, dt: float, recorded: RecordedCommand | None = None
) -> Timeline:
    """A motion or a recorded command, surrounded by its leads; `recorded` is the replay's, if it has been read already.

    Raises:
        BadInput: the recording cannot be used, or something lasts longer than a stamp can say.
    """
    if isinstance(reference, Replay):
        recorded = recorded or commanded(reference)
        return build(recorded.rows, recorded.duration, leads, dt, score_leads=False)
    level = VelocitySteps.LEVEL if isinstance(reference, VelocitySteps) else Level.POSE
    return build(reference.rows, reference.duration, leads, dt, score_leads=True, level=level)


def _check_plausible(part: TimelinePart) -> None:
    """Refuse a motion that no vehicle can follow or no recording can keep, by samples over its length.

    Raises:
        BadInput: one of them has a number beyond `MAX_SI_NUMBER`.
    """
    k = np.unique(np.linspace(0.0, part.count - 1.0, SAMPLES).round())
    with np.errstate(all="ignore"):  # what becomes no number is refused here
        rows = part.made(k)
    if not are_plausible(rows.ravel()):
        raise BadInput(
            f"key 'reference': a position, velocity or acceleration is beyond {MAX_SI_NUMBER:g} m, m/s or m/s^2"
        )
