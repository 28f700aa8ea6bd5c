# SPDX-License-Identifier: BSD-3-Clause
"""A platform in motion as one of its aircraft knows it: its own states, and rows of what the others show."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pytest
from synthetic import CENTRE, GRAVITY, Flight
from synthetic_fleet import fleet_of

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import States, retract
from iap_estimation.virpo.factors.neighbours import (
    EACH,
    FALL,
    FIRST,
    GAIN,
    JOINT,
    MEASURED,
    Neighbours,
    joint_of,
    joints_at,
    measured_columns,
)
from iap_estimation.virpo.factors.physical import add_physical
from iap_estimation.virpo.factors.physical_jacobians import most_residuals, residuals
from iap_estimation.virpo.factors.ranging import ARM, FRAME, LIFT, SHARE
from iap_estimation.virpo.messages import SharedOdometry, Tilt

STAR = np.array([[0.48, 0.0, -0.07], [-0.24, 0.416, -0.07], [-0.24, -0.416, -0.07]])
SQUARE = np.array([[0.5, 0.5, 0.1], [-0.5, 0.5, 0.1], [-0.5, -0.5, 0.1], [0.5, -0.5, 0.1]])
LINE = np.array([[1.0, 0.0, 0.05], [0.0, 0.0, 0.05], [-1.0, 0.0, 0.05]])
TWO = LINE[::2]
ACROSS = LINE[:, [1, 0, 2]]  # a line along y, which the paper has none of
TIPPED = STAR + [[0.0, 0.0, 0.3], [0, 0, 0], [0, 0, 0]]  # a plane that is not level in the centre
PLATFORMS = {
    "star": STAR,
    "square": SQUARE,
    "line": LINE,
    "two": TWO,
    "across": ACROSS,
    "tipped": TIPPED,
}

CASES = [
    pytest.param(d, own, id=f"{name}-{own}") for name, d in PLATFORMS.items() for own in (0, 1)
]
ARM_B = (0.02, -0.03, 0.08)  # of a joint on its aircraft
BEGIN, SPAN = 2.0, 0.1  # of the first keyframe, of an interval [s]
TABLE_IX = (0.04, 0.1, 0.01)
WALK = np.array([0.01, 0.04, np.inf])
ONLY = {
    "position": (True, False, False),
    "velocity": (False, True, False),
    "attitude": (False, False, True),
}
ALL, OPEN = -1, np.inf


@dataclass(frozen=True, eq=False)
class Meeting:
    """Keyframes of one aircraft of a platform.

    Attributes:
        d: (A, 3) places of the joints on the centre [m].
        own: index of the aircraft.
        frames: keyframes.
        per: instants in every interval.
        alignment: (4,) of the aircraft's frame L in W.
    """

    d: np.ndarray
    own: int = 0
    frames: int = 3
    per: int = 2
    alignment: np.ndarray = field(default_factory=lambda: np.array([1.0, -2.0, 0.5, 0.7]))

    @cached_property
    def flight(self) -> Flight:
        fleet = replace(fleet_of(len(self.d), joint=ARM_B), d=self.d)
        return Flight.of(BEGIN + SPAN * self.frames, fleet=fleet, points=1)

    @property
    def others(self) -> list[int]:
        return [a for a in range(len(self.d)) if a != self.own]

    def neighbours(
        self,
        deviations: tuple = TABLE_IX,
        terms: tuple = (True, True, True),
    ) -> Neighbours:
        return Neighbours.of(self.d, self.own, deviations, terms)

    def states(self) -> States:
        """The true ones."""
        flight, states = self.flight, States.empty(self.frames, 1, len(self.d) - 1)
        states.alignment[0] = self.alignment
        for k in range(self.frames):
            states.x[k, 0] = flight.state(self.own, BEGIN + SPAN * k, self.alignment)
        return states

    def times(self) -> np.ndarray:
        """Instants since the keyframe before them [s], all on samples of the inertial unit."""
        return 0.005 * np.round(SPAN * (np.arange(self.per) + 0.5) / self.per / 0.005)

    def rows(self) -> np.ndarray:
        """Exact rows of all instants."""
        return np.array([self._row(k, t) for k in range(self.frames - 1) for t in self.times()])

    def shared(self, aircraft: int, t: float) -> SharedOdometry:
        """The odometry it shows, which is true."""
        now = self.flight.truth(aircraft, t)
        return SharedOdometry(t, aircraft, now.p_WB_W, now.q_WB, now.v_WB_W, now.w_B)

    def joint(self, aircraft: int, t: float) -> np.ndarray:
        """Place and velocity (6,) of its joint in W, by the motion of the centre."""
        centre, d = self.flight.truth(CENTRE, t), self.d[aircraft]
        swing = so3.rotate(centre.q_WB, np.cross(centre.w_B, d))
        return np.r_[centre.p_WB_W + so3.rotate(centre.q_WB, d), centre.v_WB_W + swing]

    def spin(self, t: float) -> np.ndarray:
        """Angular velocity (3,) of the centre in W."""
        centre = self.flight.truth(CENTRE, t)
        return so3.rotate(centre.q_WB, centre.w_B)

    def _row(self, k: int, t: float) -> np.ndarray:
        """With what leads from the states to the own joint as the motion has it, not as samples tell."""
        row, now, share = np.zeros(self.neighbours().width), BEGIN + SPAN * k + t, t / SPAN
        x, y = self.states().x[k : k + 2, 0]
        back = so3.quaternion_exp(np.array([0.0, 0.0, -self.alignment[3]]))
        p, v = self.joint(self.own, now).reshape(2, 3)
        p, v = so3.rotate(back, p - self.alignment[:3]), so3.rotate(back, v)
        lift, fall = 0.5 * GRAVITY * share * (1 - share) * SPAN**2, GRAVITY * t
        arm = p - (1 - share) * x[:3] - share * y[:3] - [0, 0, lift]
        row[FRAME], row[SHARE], row[LIFT], row[FALL] = k, share, lift, fall
        row[ARM : ARM + 3] = so3.rotate(so3.conjugate(x[3:7]), arm)
        row[GAIN : GAIN + 3] = so3.rotate(so3.conjugate(x[3:7]), v - x[7:10] + [0, 0, fall])
        centre = self.flight.truth(CENTRE, now)
        shown = [joint_of(self.shared(a, now), np.array(ARM_B)) for a in self.others]
        row[MEASURED:] = measured_columns(Tilt(now, centre.q_WB, centre.w_B, np.zeros(3)), shown)
        return row


def shaken(states, size=0.03, seed=0):
    """Not quite where they are."""
    out = states.copy()
    retract(out, size * np.random.default_rng(seed).normal(size=out.size))
    return out


def told(joints, row, neighbours):
    """Residuals of one instant and their derivatives by the joints."""
    n = most_residuals(len(joints) - 1)
    r, G = np.zeros(n), np.zeros((n, JOINT * len(joints)))
    n = residuals(joints, row, neighbours, r, G)
    return r[:n], G[:n]


def joints_of(states, row, neighbours):
    joints = np.zeros((1 + states.drift.shape[1], JOINT))
    joints_at(states, row, joints)
    return joints


def all_residuals(states, rows, neighbours):
    return np.concatenate(
        [told(joints_of(states, row, neighbours), row, neighbours)[0] for row in rows]
    )


def normal_equations(states, rows, neighbours, only=ALL, width=OPEN):
    H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
    cost = add_physical(states, rows, neighbours, only, width, H, g)
    return H, g, cost


def whole(H):
    return H + np.tril(H, -1).T


def neighbour(rows, o, part=slice(0, EACH)):
    """Columns of a neighbour."""
    at = FIRST + EACH * o
    return rows[:, at : at + EACH][:, part]


def told_terms(d):
    """The terms of one row, by name."""
    others = len(d) - 1
    is_line = np.linalg.matrix_rank(d - d[0], tol=1e-6) < 2
    attitudes = others if is_line else others * (others - 1) // 2
    return ["p"] * others + ["v"] * (not is_line) + ["q"] * attitudes
