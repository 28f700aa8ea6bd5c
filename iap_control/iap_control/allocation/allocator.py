# SPDX-License-Identifier: BSD-3-Clause
"""From the platform's active wrench to one command per aircraft, within the aircraft's limits."""

import numpy as np

from iap_control.allocation.actuation import RateFilter
from iap_control.allocation.model import PlatformModel
from iap_description.arrays import Array
from iap_description.math.kernels import yaw_of
from iap_description.states import Command


def filter_share(time_constant: float, dt: float) -> float:
    """Share of a new value that a first-order filter takes up in a period, both in seconds."""
    return dt / (time_constant + dt)


class Allocator:
    """Allocates wrenches of one platform, as its kind of actuation does.

    Args:
        model: of the platform, and what is left of its rotors.
        rate_filter: time constant of the attitude command's derivative [s], fed forward as body rate.
        dt: control period [s].

    Attributes:
        model: of what is left of the platform.
        command: the last one.
        saturated: whether an aircraft or rotor was at a limit in it.
        short: (6,) the requested wrench in P less the one it makes [N, N m]; not of rigid platforms.
    """

    def __init__(self, model: PlatformModel, *, rate_filter: float, dt: float) -> None:
        self._dt = dt
        self.set_rate_filter(rate_filter)
        self.set_model(model)
        self.reset()

    def set_model(self, model: PlatformModel) -> None:
        """Allocate to what a model of the same platform says is left of it; past commands stay."""
        self.model, self._allocation = model, model.actuation.allocation(model)

    def set_rate_filter(self, rate_filter: float) -> None:
        """Change the time constant [s] of the attitude command's derivative."""
        self._rate = RateFilter(filter_share(rate_filter, self._dt), self._dt)

    def reset(self) -> None:
        """Forget past commands."""
        self.command = Command.zeros(self.model.count, self.model.actuation.mode)
        self.command.q_WB[:, 3] = 0.0  # the first step has no past attitude to differentiate
        self.saturated = False
        self.short = np.zeros(6)

    def __call__(self, U: Array, q_WP: Array, yaw: Array) -> Command:
        """The command for a wrench; the same object every time, overwritten.

        Args:
            U: (6,) active wrench about P's origin in P [N, N m].
            q_WP: (4,) the platform's attitude.
            yaw: (N,) headings [rad].
        """
        command = self.command
        command.wrench_P[:] = U
        self.saturated = self._allocation(U, q_WP, yaw, self._rate, command, self.short)
        return command

    @property
    def made_P(self) -> Array | None:
        """(6,) the wrench in P that the last command makes; None where rotors at their limits hide it."""
        if self.saturated and not self._allocation.knows_shortage:
            return None
        return self.command.wrench_P - self.short

    def allocate(self, wrench_P: Array, q_WP: Array) -> Command:
        """The command for a wrench commanded from outside, the aircraft headed as they are mounted.

        Args:
            wrench_P: (6,) active wrench about P's origin in P [N, N m].
            q_WP: (4,) the platform's attitude.
        """
        return self(wrench_P, q_WP, self.model.mount_yaw + yaw_of(q_WP))
