# SPDX-License-Identifier: BSD-3-Clause
"""A whole flight's references on the control grid: take-off, lead-in, the motion itself, landing."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from iap_control.references.motions import Motion, Replay
from iap_control.references.replay import Commanded, commanded
from iap_control.references.rows import approach, hold
from iap_control.responders.inputs import held
from iap_description import so3
from iap_description.arrays import Array, Integers
from iap_description.states import REF_P, REF_Q, Level

SPIN_UP = 1.0  # on the ground before the climb, and idling after the landing [s]
CLIMB_SPEED = 0.5  # mean speed of take-off and landing [m/s]


@dataclass(frozen=True)
class Timeline:
    """References of one vehicle at every control instant.

    Attributes:
        rows: (T, 19), or (T, 19 + N) once placed, what the controller tracks.
        scored: of the same shape, what errors are measured against: the command as given.
        levels: (T,) `iap_description.states.Level` of each row.
        window: first and last time [s] over which errors count.
        lead: when the motion itself begins [s].
        dt: control period [s].
    """

    rows: Array
    scored: Array
    levels: Integers
    window: tuple[float, float]
    lead: float
    dt: float

    def placed(self, offset: Array, mount_yaw: Array, aircraft_yaw: Array | None) -> Self:
        """The same moved by an offset (3,) [m], with headings (T, N) behind the 19 columns.

        Args:
            offset: added to positions.
            mount_yaw: (N,) of each aircraft in P, which with the platform's yaw makes its heading [rad].
            aircraft_yaw: (N,) headings that are given instead [rad].
        """
        rows, scored = self.rows.copy(), self.scored.copy()
        for table in (rows, scored):
            table[:, REF_P] += offset
        if aircraft_yaw is None:
            yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(rows[:, REF_Q]))[:, 2:]
            headings = yaw + mount_yaw
        else:
            headings = np.tile(aircraft_yaw, (len(rows), 1))
        return replace(
            self, rows=np.hstack([rows, headings]), scored=np.hstack([scored, headings])
        )

    @property
    def duration(self) -> float:
        """Length [s]; the last row counts as an instant, not as a period."""
        return (len(self.rows) - 1) * self.dt

    def cut(self, duration: float) -> Self:
        """The first `duration` seconds; the last pose is held if the timeline is shorter."""
        wanted = round(duration / self.dt) + 1
        missing = max(0, wanted - len(self.rows))
        rows, scored = (
            np.vstack([table, np.repeat(hold(table[-1], 1), missing, axis=0)])[:wanted]
            for table in (self.rows, self.scored)
        )
        levels = np.concatenate([self.levels, np.repeat(self.levels[-1:], missing)])[:wanted]
        window = (min(self.window[0], duration), min(self.window[1], duration))
        return replace(self, rows=rows, scored=scored, levels=levels, window=window)


@dataclass(frozen=True)
class Leads:
    """The surroundings of a motion.

    Attributes:
        lead_in: from rest at the first pose to the motion [s].
        ground_height: height of P's origin when the platform stands on the ground [m]; None starts hovering.
    """

    lead_in: float
    ground_height: float | None


def build(
    motion: Callable[[Array], tuple[Array, Array]],
    duration: float,
    leads: Leads,
    dt: float,
    *,
    score_leads: bool,
) -> Timeline:
    """Surround a motion by its leads.

    Args:
        motion: tracked and scored rows (T, 19) at times (T,) of the motion.
        duration: of the motion [s].
        leads: what surrounds it.
        dt: control period [s].
        score_leads: whether the leads are part of the commands as given (False for a recorded command).
    """
    t = np.arange(round(duration / dt) + 1, dtype=np.float64) * dt
    tracked, scored = motion(t)
    still = hold(tracked[0], 1)[0]
    before = [_approach(still, tracked[0], leads.lead_in, dt)] if leads.lead_in > 0.0 else []
    after: list[Array] = []
    idle = 0
    if leads.ground_height is not None:
        ground = _level_at(still, leads.ground_height)
        climb = (still[REF_P.stop - 1] - leads.ground_height) / CLIMB_SPEED
        before = [hold(ground, round(SPIN_UP / dt)), _approach(ground, still, climb, dt), *before]
        after, idle = _landing(tracked[-1], leads.ground_height, dt)
    lead = np.vstack(before) if before else np.empty((0, tracked.shape[1]))
    tail = np.vstack(after) if after else np.empty((0, tracked.shape[1]))
    rows = np.vstack([lead, tracked, tail])
    levels = np.full(len(rows), int(Level.POSE))
    levels[len(rows) - idle :] = int(Level.WRENCH)
    first, last = len(lead) * dt, (len(lead) + len(tracked) - 1) * dt
    start = 0.0 if score_leads and leads.ground_height is None else first
    return Timeline(rows, np.vstack([lead, scored, tail]), levels, (start, last), first, dt)


def flight_timeline(
    reference: Motion | Replay, leads: Leads, dt: float, recorded: Commanded | None = None
) -> Timeline:
    """A motion or a recorded command, surrounded by its leads; `recorded` is the replay's, if it has been read already.

    Raises:
        BadInput: the recording cannot be used.
    """
    if isinstance(reference, Replay):
        recorded = recorded or commanded(reference)
        return build(recorded.rows, recorded.duration, leads, dt, score_leads=False)

    def motion(t: Array) -> tuple[Array, Array]:
        return reference.rows(t), reference.rows(t)

    return build(motion, reference.duration, leads, dt, score_leads=True)


def _approach(start: Array, end: Array, duration: float, dt: float) -> Array:
    """Rows from rest at `start` towards `end`, whose own row is left to what follows."""
    count = max(1, round(duration / dt))
    return approach(np.arange(count, dtype=np.float64) * dt, count * dt, start, end)


def _level_at(row: Array, height: float) -> Array:
    """A pose at rest, level, with the yaw of `row`, at a height."""
    out = row.copy()
    held(row, out)
    out[REF_P.stop - 1] = height
    return out


def _landing(last: Array, height: float, dt: float) -> tuple[list[Array], int]:
    """Rows that stop, level out, descend slightly into the ground, and idle; and how many of them idle."""
    stop = last.copy()
    stop[REF_P] += 0.5 * last[7:10]  # comes to rest within a second
    rest = _level_at(stop, float(stop[2]))
    down = _level_at(rest, height - 0.02)
    descend = (rest[2] - down[2]) / CLIMB_SPEED
    halting = _reversed_approach(rest, last, 2.0, dt)
    idle = round(SPIN_UP / dt)
    return [halting, _approach(rest, down, descend, dt), hold(down, idle)], idle


def _reversed_approach(rest: Array, moving: Array, duration: float, dt: float) -> Array:
    """Rows from a moving row to rest: the approach to the row run backwards in time."""
    mirrored = moving.copy()
    mirrored[7:13] *= -1.0  # velocities change sign with time, accelerations do not
    rows = _approach(rest, mirrored, duration, dt)[::-1].copy()
    rows[:, 7:13] *= -1.0
    return rows
