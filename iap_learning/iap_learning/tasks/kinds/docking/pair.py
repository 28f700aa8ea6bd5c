# SPDX-License-Identifier: BSD-3-Clause
"""One docking pair as a policy sees and commands it: what episodes do for many, for flights in engines and for nodes.

At every control instant `sense`; where a policy is due, `observe` and give its action to `take`; then `command`.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from iap_control.docking.settings import ScriptParameters
from iap_control.docking.vehicle_control import (
    VEHICLE_SIZE,
    PairParameters,
    initialise_observer,
    update_observer,
)
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.states import REF_P
from iap_learning.tasks.kinds.docking.actions import KINDS, Control, command
from iap_learning.tasks.kinds.docking.observations import View, layout_of, observe
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.terms import Layout
from iap_simulation.docking.pilot import TOUCH, ScriptPilot
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


class Interface(NamedTuple):
    """Between a policy and a pair of a scenario.

    Attributes:
        layout: of an observation.
        view: of it.
        control: of actions.
        middle: (n,) what an action of zero stands for.
        half: (n,) what one adds.
    """

    layout: Layout
    view: View
    control: Control
    middle: Array
    half: Array

    @classmethod
    def of(cls, task: DockingTask, scenario: Scenario) -> Self:
        """Of a task in its scenario."""
        spec = scenario.docking
        assert spec is not None
        kind, pair = KINDS[task.action.kind], ScriptPilot.of(scenario).pair
        layout = layout_of(task.observation, 2 * kind.size)
        latch = scenario.latches[spec.latch]
        view = View.of(layout, references(scenario, pair, latch.depth), pair)
        target = latch.socket.split("/")[0]
        gains = next(v for v in scenario.vehicles if v.name == target).control.gains.autopilot
        script = ScriptParameters(**spec.script.model_dump())
        rate = np.array(gains.rate, float)
        control = Control(*kind, task.action.compensated, rate, script, pair)
        low, high = np.tile(task.action.low, 2), np.tile(task.action.high, 2)
        return cls(layout, view, control, 0.5 * (low + high), 0.5 * (high - low))


def references(scenario: Scenario, pair: PairParameters, depth: float) -> Array:
    """Places (2, 3) of target and chaser that are docked, level, the target at its scenario's first reference [m]."""
    assert scenario.docking is not None
    target = scenario.latches[scenario.docking.latch].socket.split("/")[0]
    vehicle = next(v for v in scenario.vehicles if v.name == target)
    place = Vehicle.of(scenario, vehicle).timeline.row(0)[REF_P]
    end = place + pair.socket.position - depth * pair.socket.axis
    return np.stack([place, end - pair.probe.position])


@njit(cache=True)
def sense(
    measured: Array,
    touches: bool,
    starts: bool,
    script: ScriptParameters,
    pair: PairParameters,
    memory: Array,
) -> None:
    """Move the observers (2, 13) of one pair on to its measured state rows (2, 13)."""
    for i in range(2):
        if starts:
            initialise_observer(measured[i], pair, memory[i])
        update_observer(measured[i], touches, script, pair, memory[i])


class DockingPair:
    """Policy's side of one pair in flight; world i of `iap_learning.tasks.kinds.docking.episodes` is this, bit for bit.

    Args:
        task: what is seen and commanded.
        scenario: that is flown, resolved.

    Attributes:
        interface: between both.
    """

    def __init__(self, task: DockingTask, scenario: Scenario) -> None:
        self.interface = Interface.of(task, scenario)
        size = len(self.interface.view.factors)
        self._raw, self._seen = np.zeros(size), np.zeros(size, np.float32)
        self._memory, self._out = np.zeros((2, VEHICLE_SIZE)), np.zeros((2, 4))
        self._measured, self._wrench = np.zeros((2, 13)), np.zeros(6)
        self.reset()

    def reset(self) -> None:
        """Forget the last flight."""
        self._starts, self._is_latched = True, False
        self._action = np.zeros(len(self.interface.middle))
        self._values = self.interface.middle.copy()

    def sense(self, measured: Array, wrench: Array, *, latched: bool) -> None:
        """Take the measurements of a control instant; once in each.

        Args:
            measured: (2, 13) state rows of target and chaser.
            wrench: (6,) of contact and latch on the chaser over the last period, about its CoM, in `map`.
            latched: whether the latch holds the probe.
        """
        control = self.interface.control
        self._measured[:], self._wrench[:], self._is_latched = measured, wrench, latched
        touches = bool(np.linalg.norm(wrench[:3]) > TOUCH) or latched
        own = (self._starts, control.script, control.pair, self._memory)
        sense(self._measured, touches, *own)
        self._starts = False

    def observe(self) -> NDArray[np.float32]:
        """(n,) what a policy sees now; a new array."""
        seen = (self._measured, self._wrench, self._is_latched, self._action, self._memory)
        observe(*seen, self.interface.view, self._raw, self._seen)
        return self._seen.copy()

    def take(self, action: ArrayLike) -> None:
        """Hold an action (n,) in [-1, 1], clipped to it, from now on.

        Raises:
            BadInput: it has another shape, or is no number.
        """
        given = np.asarray(action, np.float64)
        if given.shape != self._action.shape:
            raise BadInput(f"action: has shape {given.shape}; {self._action.shape} is expected")
        if np.isnan(given).any():
            raise BadInput("action: a number is NaN")
        self._action = np.clip(given, -1.0, 1.0)
        self._values = self.interface.middle + self.interface.half * self._action

    def command(self) -> Array:
        """(2, 4) thrust [N] and body rates (3,) [rad/s] of target and chaser at this control instant; a new array."""
        command(self._values, self._measured, self.interface.control, self._memory, self._out)
        return self._out.copy()
