# SPDX-License-Identifier: BSD-3-Clause
"""Commands to target and chaser of many worlds, which act at once, or late by a time of each world."""

from iap_description.arrays import Array, Integers
from iap_description.states import Mode
from iap_physics.propulsion.last_command import CommandDelay, LastCommand


class PairCommands:
    """Commands of pairs in B worlds.

    Args:
        acting: the commands (B, 2, ...) that aircraft obey.
        are_late: whether any of them may act late.
    """

    def __init__(self, acting: LastCommand, *, are_late: bool) -> None:
        self._acting = acting
        self._delays = [CommandDelay(acting.of_aircraft(i)) for i in range(2)] if are_late else []

    @property
    def last(self) -> tuple[Array, Array]:
        """Thrusts (B, 2) [N] and body rates (B, 2, 3) [rad/s] of the last period; copies."""
        return self._acting.thrust.copy(), self._acting.w_WB_B.copy()

    def hold_rotors(self, worlds: Integers, i: int, rpm: Array) -> None:
        """Let the rotors of an aircraft be as they are, until a command comes."""
        self._acting.modes[worlds, i], self._acting.rpm[worlds, i] = Mode.RPM, rpm
        if self._delays:
            self._delays[i].reset(worlds)

    def set_delay(self, world: int, i: int, periods: int) -> None:
        """Let the commands of an aircraft act late by control periods."""
        if self._delays:
            self._delays[i].set_periods(world, periods)

    def send(self, thrust: Array, w_WB_B: Array) -> None:
        """Send thrusts (B, 2) [N] and body rates (B, 2, 3) [rad/s]; those that are due act."""
        if not self._delays:
            self._acting.modes[:] = Mode.RATE_THRUST
            self._acting.thrust[:], self._acting.w_WB_B[:] = thrust, w_WB_B
            return
        for i, delay in enumerate(self._delays):
            latest = delay.latest
            latest.modes[:] = Mode.RATE_THRUST
            latest.thrust[:, 0], latest.w_WB_B[:, 0] = thrust[:, i], w_WB_B[:, i]
            delay.apply_due()
