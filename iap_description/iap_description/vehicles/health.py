# SPDX-License-Identifier: BSD-3-Clause
"""Remaining thrust of rotors where faults act."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.faults import AnyFault, BatteryFault, MotorFault, RotorFault


class Health(NamedTuple):
    """Remaining shares of the rotors of N aircraft; 1 is sound.

    Attributes:
        thrust: (N, 4) factor on each rotor's thrust and drag torque; 0 where an aircraft has fewer than four.
        speed: (N,) factor on the top speed of each aircraft's rotors; 0 where the motors have stopped.
        presence: (N, 4) what `thrust` is while all are sound.
    """

    thrust: Array
    speed: Array
    presence: Array

    @classmethod
    def sound(cls, fleet: Sequence[Aircraft]) -> Self:
        """Sound rotors of these aircraft."""
        presence = np.array([each.presence for each in fleet])
        return cls(presence.copy(), np.ones(len(presence)), presence)

    def weaken(self, faults: Sequence[AnyFault], t: float) -> None:
        """Write what faults leave at a time [s]."""
        self.thrust[:], self.speed[:] = self.presence, 1.0
        for fault in faults:
            if isinstance(fault, RotorFault) and fault.acts(t):
                self.thrust[fault.aircraft - 1, fault.rotor - 1] = fault.thrust
            elif isinstance(fault, MotorFault) and fault.acts(t):
                self.speed[fault.aircraft - 1] = 0.0
            elif isinstance(fault, BatteryFault):
                speed = self.speed[fault.aircraft - 1]
                self.speed[fault.aircraft - 1] = min(speed, fault.factor(t))

    @property
    def rotors(self) -> Array:
        """(N, 4) largest thrust of every rotor over that of a sound one."""
        return self.thrust * np.square(self.speed)[:, None]

    @property
    def aircraft(self) -> Array:
        """(N,) largest thrust at which an aircraft's rotors balance, over that of a sound one: that of its weakest."""
        return np.asarray(self.rotors.min(axis=1), dtype=np.float64)

    @property
    def thrust_per_command(self) -> Array:
        """(N,) thrust of an aircraft over what is commanded, once its autopilot has balanced its rotors' torques.

        Balanced rotors thrust alike, f each, so that an autopilot that takes them for sound commands f / share of
        each, 4 f mean(1 / share) in all; 1 where a rotor is lost.
        """
        shares = np.where(self.thrust.min(axis=1, keepdims=True) > 0.0, self.thrust, 1.0)
        return 1.0 / np.asarray((1.0 / shares).mean(axis=1), dtype=np.float64)
