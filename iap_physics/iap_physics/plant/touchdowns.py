# SPDX-License-Identifier: BSD-3-Clause
"""Touchdowns of vehicles: speed and force of the touch, the height at which rotors ended, and whether they stand.

Contacts are rigid, and their force of one physics step depends on its length. Hence the mean of 5 ms is looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iap_description.arrays import Array, Integers
from iap_physics.engines.engine import Engine
from iap_physics.plant.part import PlantPart
from iap_physics.propulsion.propulsion import Propulsion

AIRBORNE = 0.1  # height above standing, from which on a vehicle flies [m]
MEAN_TIME = 0.005  # over which forces are averaged [s]
RELEASE_TIME = 0.02  # without contact, after which a touch is another one [s]
ENDED = 0.3  # share of the thrust of hover, below which rotors have ended
RESTING_SPEED = 0.02  # of a vehicle that stands [m/s]


@dataclass
class Touchdown:
    """The touchdowns of one vehicle; those of several landings count together.

    Attributes:
        clearance: height of P's origin where it stands [m].
        hover: thrust of hover [N].
        forces: (n,) contact forces of the last physics steps [N].
        flies: whether it has been up since it stood last.
        touch_speed: largest speed downwards with which it came to the ground [m/s]; None before a touch.
        force: largest mean force of 5 ms [N].
        cut_height: above standing, where its rotors ended [m]; None while they turn.
        since_contact: steps since the last contact.
        stands: whether it is at rest on the ground, its rotors ended.
    """

    clearance: float
    hover: float
    forces: Array
    flies: bool = False
    touch_speed: float | None = None
    force: float = 0.0
    cut_height: float | None = None
    since_contact: int = 0
    stands: bool = False
    fall: float = field(
        default=0.0, repr=False
    )  # speed downwards at the end of the last step [m/s]

    def clear(self) -> None:
        """Begin a new flight."""
        self.forces[:] = 0.0
        self.flies = self.stands = False
        self.touch_speed = self.cut_height = None
        self.force = self.fall = 0.0
        self.since_contact = 0

    def note(self, step: int, x: Array, force: float, thrust: float, apart: int) -> None:
        """Note the end of a physics step at which a vehicle that has flown is near the ground.

        Args:
            step: its number.
            x: (13,) state row of the central body.
            force: of contact on the vehicle [N].
            thrust: of all rotors [N].
            apart: steps without contact, after which a touch is another one.
        """
        if force > 0.0 and (self.since_contact >= apart or self.touch_speed is None):
            self.touch_speed = max(self.touch_speed or 0.0, self.fall)
        self.since_contact = 0 if force > 0.0 else self.since_contact + 1
        self.forces[step % len(self.forces)] = force
        self.force = max(self.force, float(self.forces.mean()))
        self.fall = -float(x[9])
        has_ended = thrust < ENDED * self.hover
        if not has_ended:
            self.cut_height = None
        elif self.cut_height is None:
            self.cut_height = float(x[2]) - self.clearance
        rests = self.since_contact < apart and float(np.linalg.norm(x[7:10])) < RESTING_SPEED
        self.stands = has_ended and rests

    def leave(self, x: Array) -> None:
        """Note that it is up."""
        self.flies, self.stands, self.cut_height = True, False, None
        self.forces[:] = 0.0
        self.fall = -float(x[9])

    @property
    def record(self) -> dict[str, Any]:
        """The touchdown as metrics.json has it."""
        return {
            "touch_speed_mps": self.touch_speed,
            "force_n": self.force,
            "cut_height_m": self.cut_height,
            "stands": self.stands,
        }


class Touchdowns(PlantPart):
    """Measures the touchdowns of vehicles that may land, in a world that is no batch.

    Args:
        engine: that tells its contacts.
        propulsion: of all vehicles.
        clearances: heights of P's origin where vehicles stand, by the numbers of those that may land [m].
        names: of all vehicles.
        hover: thrusts of all vehicles in hover [N].
        dt: physics step [s].
    """

    def __init__(
        self,
        engine: Engine,
        propulsion: Sequence[Propulsion],
        clearances: dict[int, float],
        names: Sequence[str],
        hover: Sequence[float],
        dt: float,
    ) -> None:
        self._engine, self._propulsion, self._names = engine, propulsion, names
        self._apart, self._step = max(1, round(RELEASE_TIME / dt)), 0
        window = max(1, round(MEAN_TIME / dt))
        self._each = {
            i: Touchdown(height, hover[i], np.zeros(window)) for i, height in clearances.items()
        }

    def reset(self, x: Array, worlds: Integers) -> None:
        """Nothing has flown yet."""
        for each in self._each.values():
            each.clear()

    def after_step(self, x: Array) -> None:
        """Look at the vehicles that are near the ground."""
        self._step += 1
        for i, each in self._each.items():
            propulsion = self._propulsion[i]
            row = x[0, propulsion.rows.start]
            if row[2] - each.clearance > AIRBORNE:
                each.leave(row)
            elif each.flies:
                each.note(self._step, row, self._force(i), self._thrust(i), self._apart)

    def _force(self, i: int) -> float:
        """Size of the force of all contacts on a vehicle [N]."""
        rows = self._propulsion[i].rows
        forces = [self._engine.contact_wrench(row)[:3] for row in range(rows.start, rows.stop)]
        return float(np.linalg.norm(np.sum(forces, axis=0)))

    def _thrust(self, i: int) -> float:
        """Thrust of all rotors of a vehicle as its aircraft know them [N]."""
        propulsion = self._propulsion[i]
        per_square = np.array([each.rotor.c_f for each in propulsion.fleet])
        return float((per_square * (propulsion.rotors.rpm[0] ** 2).sum(axis=1)).sum())

    @property
    def records(self) -> dict[str, dict[str, Any]]:
        """The touchdowns of vehicles that have come down, by their names, as metrics.json has them."""
        each = self._each.items()
        return {self._names[i]: one.record for i, one in each if one.touch_speed is not None}
