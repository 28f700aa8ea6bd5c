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
from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput
from iap_description.states import REF_P
from iap_learning.tasks.kinds.docking.actions import KINDS, ActionControl, command
from iap_learning.tasks.kinds.docking.observations import TERMS, PairInputs
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.scaling import ActionScale
from iap_learning.tasks.terms import TermObserver
from iap_simulation.docking.pair_pilot import TOUCH, ScriptPilot
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


class Interface(NamedTuple):
    """Between a policy and a pair of a scenario.

    Attributes:
        observer: makes observations.
        references: (2, 3) positions of target and chaser that are docked [m].
        control: of actions.
        scale: of actions.
    """

    observer: TermObserver
    references: Array
    control: ActionControl
    scale: ActionScale

    @classmethod
    def of(cls, task: DockingTask, scenario: Scenario) -> Self:
        """The interface of a task in its scenario."""
        spec = scenario.docking
        assert spec is not None
        kind, pair = KINDS[task.action.kind], ScriptPilot.of(scenario).pair
        observer = TERMS.observer(task.observation, 2 * kind.size)
        latch = scenario.latches[spec.latch]
        docked = references(scenario, pair, latch.depth)
        target = latch.socket.split("/")[0]
        gains = next(v for v in scenario.vehicles if v.name == target).control.gains.autopilot
        script = ScriptParameters(**spec.script.model_dump())
        rate = np.array(gains.rate, float)
        control = ActionControl(*kind, task.action.compensated, rate, script, pair)
        action_scale = ActionScale.of(task.action.low, task.action.high, repeats=2)
        return cls(observer, docked, control, action_scale)

    def inputs(
        self, measured: Array, wrench: Array, latched: Booleans, action: Array, observers: Array
    ) -> PairInputs:
        """Inputs of observations, see `PairInputs`."""
        pair = self.control.pair
        return PairInputs(measured, wrench, latched, action, observers, self.references, pair)


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
        self._memory, self._out = np.zeros((2, VEHICLE_SIZE)), np.zeros((2, 4))
        self._measured, self._wrench = np.zeros((2, 13)), np.zeros(6)
        self._only = np.zeros(1, dtype=np.int64)
        self.reset()

    def reset(self) -> None:
        """Forget the last flight."""
        self._starts, self._is_latched = True, False
        self._action = np.zeros(self.interface.scale.size)
        self._values = self.interface.scale.middle.copy()

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
        state = (self._measured[None], self._wrench[None], np.array([self._is_latched]))
        inputs = self.interface.inputs(*state, self._action[None], self._memory[None])
        return self.interface.observer(inputs, self._only)[0]

    def take(self, action: ArrayLike) -> None:
        """Hold an action (n,) in [-1, 1], clipped to it, from now on.

        Raises:
            BadInput: it has another shape, or is no number.
        """
        numbers = np.asarray(action, np.float64)
        if numbers.shape != self._action.shape:
            raise BadInput(f"action: has shape {numbers.shape}; {self._action.shape} is expected")
        if np.isnan(numbers).any():
            raise BadInput("action: a number is NaN")
        self._action = np.clip(numbers, -1.0, 1.0)
        self._values = self.interface.scale.apply(self._action)

    def command(self) -> Array:
        """(2, 4) thrust [N] and body rates (3,) [rad/s] of target and chaser at this control instant; a new array."""
        command(self._values, self._measured, self.interface.control, self._memory, self._out)
        return self._out.copy()
