# SPDX-License-Identifier: BSD-3-Clause
"""Rotors of a rigid platform of which faults have left less, or nothing, of some."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from iap_control.model import PlatformModel
from iap_description.arrays import Array
from iap_description.saturation import share_out


class LeftRotors:
    """Speeds of the rotors that still turn, for thrusts in their order of priority; the others stand still.

    Args:
        model: of a rigid platform whose rotors are not all sound.
    """

    def __init__(self, model: PlatformModel) -> None:
        low, high = model.rotor_limits
        self._turning = np.flatnonzero(high > 0.0)
        self._limits = low[self._turning], high[self._turning]
        sound = [each.rotor.c_f for each in model.fleet]
        left = np.repeat(sound, 4) * model.health.thrust.ravel()
        self._per_square = left[self._turning]  # [N/rpm^2]
        self._forces = np.zeros(len(self._turning))

    @classmethod
    def of(cls, model: PlatformModel) -> Self | None:
        """The rotors that are left of a platform; None where all are sound, or rotors are not commanded."""
        is_sound = bool((model.health.rotors == 1.0).all())
        return None if is_sound or model.actuation != "rigid" else cls(model)

    def speeds(self, parts: Sequence[Array], rpm: Array, thrust: Array) -> bool:
        """Write speeds (N, 4) [rpm] and thrusts (N,) [N] of three parts (4N,) of thrusts; True if one is at a limit."""
        rpm[:], thrust[:] = 0.0, 0.0
        if not len(self._turning):
            return True
        left = [part[self._turning] for part in parts]
        saturated = share_out(*left, *self._limits, self._forces)
        rpm.reshape(-1)[self._turning] = np.sqrt(self._forces / self._per_square)
        np.add.at(thrust, self._turning // 4, self._forces)
        return bool(saturated)
