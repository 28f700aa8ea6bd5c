# SPDX-License-Identifier: BSD-3-Clause
"""The wrench that goes with a state as both come in messages, and the wrench that messages ask for."""

import numpy as np

from iap_control.allocation.model import PlatformModel, check_axes
from iap_control.responders.reference_input import Source
from iap_description.arrays import Array, Booleans
from iap_description.config.bounds import are_plausible
from iap_description.errors import BadInput
from iap_description.signals import AXES, ForceMode, ForceTask

SECOND = 1_000_000_000  # [ns]


class WrenchInput:
    """The measured wrench.

    A state waits for the wrench of its stamp. A state that is overtaken by the next one while it
    waits shows that time does not wait: from then on the newest wrench counts at once, until one
    comes in time again.

    Args:
        timeout: a wrench that is older than this counts no more [s of simulation time].
        source: ``latest`` never waits.

    Attributes:
        is_lost: whether there was none for the last state.
    """

    def __init__(self, timeout: float, source: Source) -> None:
        self._timeout = round(timeout * SECOND)
        self._may_wait = self._waits = source == "stamped"
        self._state = -1  # stamp of the last state [ns]
        self._newest, self._before = (-1, np.zeros(6)), (-1, np.zeros(6))
        self.is_lost = False

    def reset(self, stamp: int) -> None:
        """Simulation time started again, and is now that of a stamp [ns]; what came for it stays."""
        if self._newest[0] > stamp:
            self._newest = (-1, np.zeros(6))
        self._before = (-1, np.zeros(6))
        self._waits, self.is_lost = self._may_wait, False

    def take(self, stamp: int, wrench_P: Array) -> None:
        """Take a wrench (6,), which is copied.

        Raises:
            BadInput: it is not finite, or beyond all bounds.
        """
        if not are_plausible(wrench_P):
            raise BadInput("wrench: not finite, or beyond all bounds")
        if stamp != self._newest[0]:
            self._before = self._newest
        self._newest = (stamp, wrench_P.copy())
        if stamp == self._state:
            self._waits = self._may_wait

    def overtaken(self) -> None:
        """A state was overtaken while it waited."""
        self._waits = False

    def is_awaited(self, stamp: int) -> bool:
        """True if the state of a stamp [ns] is to wait for its wrench."""
        self._state = stamp
        return self._waits and stamp not in (self._newest[0], self._before[0])

    def at(self, stamp: int) -> Array | None:
        """The wrench (6,) for the state of a stamp [ns]; None if it has stayed away for too long."""
        measured, wrench_P = self._before if stamp == self._before[0] else self._newest
        self.is_lost = measured < 0 or stamp - measured > self._timeout
        return None if self.is_lost else wrench_P


class WrenchDemand:
    """A wrench that messages ask for: it switches wrench control on, and off again when they fall silent.

    Args:
        model: of the platform.
        mode: how the wrench is controlled.
        axes: names of those of the wrench under the mode `selective`.
        timeout: a demand that is silent for longer is over [s of simulation time].
        name: of the vehicle.

    Raises:
        BadInput: the platform cannot push along one of the axes.
    """

    def __init__(
        self,
        model: PlatformModel,
        mode: ForceMode,
        axes: tuple[str, ...],
        *,
        timeout: float,
        name: str,
    ) -> None:
        self._model, self._mode, self._timeout, self._name = model, mode, timeout, name
        self.set_axes(axes)
        self.reset()

    def reset(self) -> None:
        """Nothing is asked for."""
        self._received = -np.inf

    def set_axes(self, axes: tuple[str, ...]) -> None:
        """Choose the axes of the wrench.

        Raises:
            BadInput: an axis is unknown, or the platform cannot push along it.
        """
        mask = axes_of(axes)
        if self._mode == ForceMode.SELECTIVE:
            check_axes(self._model, mask, self._name)
        else:
            mask = np.ones(6, dtype=bool)
        self._task = ForceTask(ForceMode.NONE, np.zeros(6), np.zeros(6), mask)

    def take(self, t: float, wrench_P: Array) -> None:
        """Ask for a wrench (6,) at simulation time `t` [s].

        Raises:
            BadInput: it is not finite, beyond all bounds, or not for this platform.
        """
        if self._mode == ForceMode.NONE:
            raise BadInput("wrench/reference: ignored, parameter wrench_mode is none")
        if not are_plausible(wrench_P):
            raise BadInput("wrench/reference: not finite, or beyond all bounds")
        check_axes(self._model, wrench_P != 0.0, self._name)
        self._task.desired_P[:] = wrench_P
        self._received = t

    def is_alive(self, t: float) -> bool:
        """True if something is asked for at simulation time `t` [s]."""
        return t - self._received <= self._timeout

    def task(self, t: float, measured_P: Array) -> ForceTask:
        """The task at simulation time `t` [s] under a measured wrench (6,)."""
        task, is_alive = self._task, self.is_alive(t)
        task.mode = self._mode if is_alive else ForceMode.NONE
        task.measured_P[:] = measured_P
        if not is_alive:
            task.desired_P[:] = 0.0
        return task


def axes_of(names: tuple[str, ...]) -> Booleans:
    """(6,) which of x y z roll pitch yaw are named.

    Raises:
        BadInput: one of the names is none of these.
    """
    for name in names:
        if name not in AXES:
            raise BadInput(f"wrench axes: '{name}' is none of {', '.join(AXES)}")
    return np.array([axis in names for axis in AXES])
