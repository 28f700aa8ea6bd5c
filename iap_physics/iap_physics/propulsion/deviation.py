# SPDX-License-Identifier: BSD-3-Clause
"""Deviation of the real vehicle from its platform's file and its controller's model."""

from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field

from iap_description.config.bounds import MAX_DELAY
from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive, Vec3
from iap_description.vehicles.aircraft import Drag
from iap_description.vehicles.assembly import Assembly


class Deviation(Record):
    """Factors of one vehicle, and what acts on it besides.

    Factors of rotors are one for each aircraft, or none where all are 1.

    Attributes:
        mass: on all masses and inertias.
        inertia: on all inertias besides.
        com: of the central body, from where it should be, in P [m].
        drag: on the drag of all bodies.
        thrust: on each aircraft's thrust coefficient, and with it on its rotors' torques.
        rotor_lag: on its rotors' time constants.
        delay: of commands on their way to the aircraft, in whole control periods once it flies [s].
        force: that acts on the central body for no reason that anybody knows, along the axes of `map` [N].
        torque: the same about its CoM [N m].
    """

    mass: Positive = 1.0
    inertia: Positive = 1.0
    com: Vec3 = (0.0, 0.0, 0.0)
    drag: NonNegative = 1.0
    thrust: tuple[Positive, ...] = ()
    rotor_lag: tuple[Positive, ...] = ()
    delay: Annotated[NonNegative, Field(le=MAX_DELAY)] = 0.0
    force: Vec3 = (0.0, 0.0, 0.0)
    torque: Vec3 = (0.0, 0.0, 0.0)

    def check(self, count: int) -> None:
        """Refuse factors for other numbers of aircraft than `count`.

        Raises:
            ValueError: naming the key.
        """
        for key in ("thrust", "rotor_lag"):
            if len(getattr(self, key)) not in (0, count):
                raise ValueError(f"key 'deviation.{key}': {count} entries are needed")

    def assembly(self, nominal: Assembly) -> Assembly:
        """The bodies that fly."""
        bodies = tuple(
            replace(
                body,
                mass=self.mass * body.mass,
                inertia=self.mass * self.inertia * body.inertia,
                drag=_scaled(body.drag, self.drag),
            )
            for body in nominal.bodies
        )
        return replace(nominal, bodies=bodies).with_central_com(np.array(self.com))

    def of_rotors(self, i: int) -> tuple[float, float]:
        """Factors on thrust coefficient and time constants of one aircraft's rotors, by its number."""
        return (
            self.thrust[i] if self.thrust else 1.0,
            self.rotor_lag[i] if self.rotor_lag else 1.0,
        )


NO_DEVIATION = Deviation()


def _scaled(drag: Drag, factor: float) -> Drag:
    if factor == 1.0:
        return drag
    (a, b, c), (d, e, f) = drag.linear, drag.quadratic
    changes = {
        "linear": (factor * a, factor * b, factor * c),
        "quadratic": (factor * d, factor * e, factor * f),
    }
    return drag.model_copy(update=changes)
