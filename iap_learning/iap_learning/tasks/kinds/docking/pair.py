# SPDX-License-Identifier: BSD-3-Clause
"""One docking pair as a policy sees and commands it: what episodes do for many, for flights in engines and for nodes.

At every control instant `sense`; where a policy is due, `observe` and give its action to `take`; then `command`.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from iap_control.docking.coupled_flight import BEGUN, COUPLED_SIZE, PairLaws, coupled_command
from iap_control.docking.missed_approach import MISSED_SIZE, MissedApproach, back_off
from iap_control.docking.vehicle_control import (
    VEHICLE_SIZE,
    initialise_observer,
    predict,
    update_observer,
)
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED, REF_P
from iap_learning.tasks.kinds.docking.actions import KINDS, ActionControl, command
from iap_learning.tasks.kinds.docking.observations import (
    ACTIONS_BEFORE,
    NO_ROTORS,
    TERMS,
    PairInputs,
    rest_of,
)
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.scaling import ActionScale
from iap_learning.tasks.terms import TermObserver
from iap_learning.tasks.user_functions import ActionConverter
from iap_learning.tasks.user_inputs import WorldArrays, resting
from iap_physics.latching.latches import Phase
from iap_simulation.docking.pair_laws import docked_positions, pair_laws
from iap_simulation.docking.pair_pilot import TOUCH
from iap_simulation.docking.ports import is_held
from iap_simulation.scenario.scenario import Scenario


class PairMemory(NamedTuple):
    """Memory of the laws of B pairs; arrays of one pair are views of their rows.

    Attributes:
        observers: (B, 2, n) of both vehicles, see `iap_control.docking.vehicle_control`.
        coupled: (B, m) of the coupled flight, see `iap_control.docking.coupled_flight`.
        missed: (B, k) of missed approaches, see `iap_control.docking.missed_approach`.
        predicted: (B, 2, 13) state rows at the instant at which commands act.
        actions: (B, 3 n) actions before the last, newest first.
    """

    observers: Array
    coupled: Array
    missed: Array
    predicted: Array
    actions: Array

    @classmethod
    def of(cls, batch: int, action_size: int) -> Self:
        """Memory before the start, for actions of so many numbers."""
        return cls(
            np.zeros((batch, 2, VEHICLE_SIZE)),
            np.zeros((batch, COUPLED_SIZE)),
            np.zeros((batch, MISSED_SIZE)),
            np.zeros((batch, 2, 13)),
            np.zeros((batch, ACTIONS_BEFORE * action_size)),
        )

    def keep_action(self, action: Array) -> None:
        """Keep actions (B, n) that new ones follow; the oldest are forgotten."""
        size = action.shape[1]
        self.actions[:, size:] = self.actions[:, :-size].copy()
        self.actions[:, :size] = action


class Interface(NamedTuple):
    """Between a policy and a pair of a scenario.

    Attributes:
        observer: makes observations.
        references: (2, 3) positions of target and chaser that are docked [m].
        goals: (1, 2, 19) the same as reference rows.
        control: of actions.
        scale: of actions.
        columns: numbers of an action's kind, of all aircraft that are commanded.
    """

    observer: TermObserver
    references: Array
    goals: Array
    control: ActionControl
    scale: ActionScale
    columns: int

    @classmethod
    def of(cls, task: DockingTask, scenario: Scenario) -> Self:
        """The interface of a task in its scenario."""
        spec = scenario.docking
        assert spec is not None
        kind, laws = KINDS[task.action.kind], pair_laws(scenario)
        first = 1 if task.flies == "chaser" else 0
        action_scale = task.action.scale(2 - first)
        size = action_scale.size
        observer = TERMS.observer(task.observation, size, rest_of(size))
        latch = scenario.latches[spec.latch]
        docked = docked_positions(scenario)
        target = latch.socket.split("/")[0]
        gains = next(v for v in scenario.vehicles if v.name == target).control.gains.autopilot
        rate = np.array(gains.rate, float)
        missed = MissedApproach.of(task.missed_approach, laws.script)
        control = ActionControl(*kind, task.action.compensated, rate, laws, missed, first)
        goals = resting(2, REF_FIXED)[None]
        goals[0, :, REF_P] = docked
        return cls(observer, docked, goals, control, action_scale, (2 - first) * kind.size)

    def worlds(self, rows: Array, action: Array) -> WorldArrays:
        """Pairs of state rows (B, 2, 13) after actions (B, n), as functions of the user's own get them."""
        at, rotors = np.zeros(len(rows), np.int64), np.zeros((len(rows), *NO_ROTORS.shape))
        return WorldArrays(rows, self.goals, at, rotors, action)

    def inputs(
        self, wrench: Array, latched: Booleans, action: Array, memory: PairMemory
    ) -> PairInputs:
        """Inputs of observations, see `PairInputs`."""
        return PairInputs(
            memory.predicted,
            wrench,
            latched,
            action,
            memory.actions,
            memory.observers,
            self.references,
            self.control.laws.pair,
        )


@njit(cache=True)
def sense(
    indices: Integers,
    measured: Array,
    links: tuple[Booleans, Booleans],
    starts: bool,
    laws: PairLaws,
    memory: PairMemory,
) -> None:
    """Advance the observers of some pairs to their measured state rows, and predict.

    Args:
        indices: (n,) of the pairs.
        measured: (B, 2, 13) state rows.
        links: (B,) each, whether the vehicles touch or are caught, and whether they are locked.
        starts: whether a flight begins.
        laws: of the pairs.
        memory: of the pairs; advanced in place.
    """
    script, pair = laws.script, laws.pair
    for b in indices:
        rate_gain = pair.coupled_rate_gain if links[1][b] else pair.rate_gain
        for i in range(2):
            x, observer = measured[b, i], memory.observers[b, i]
            if starts:
                initialise_observer(x, pair, observer)
            update_observer(x, links[0][b], script, pair, observer)
            predict(x, rate_gain, script, pair, observer, memory.predicted[b, i])


@njit(cache=True)
def act(
    values: Array,
    measured: Array,
    links: tuple[Booleans, Booleans],
    control: ActionControl,
    memory: PairMemory,
    out: Array,
) -> None:
    """Write the commands (B, 2, 4) of pairs: by their actions up to the lock, as one body from there on.

    A missed approach is left to its own law.

    Args:
        values: (B, n) actions in SI units.
        measured: (B, 2, 13) state rows.
        links: (B,) each, whether the latch holds, and whether it does without play.
        control: how actions become commands.
        memory: of the pairs; advanced in place.
        out: thrust [N] and body rates (3,) [rad/s] of target and chaser, written.
    """
    for b in range(len(values)):
        observers, predicted = memory.observers[b], memory.predicted[b]
        if not links[1][b]:
            memory.coupled[b, BEGUN] = 0.0
            if back_off(
                (predicted[0], predicted[1]),
                links[0][b],
                control.missed,
                control.laws,
                (observers[0], observers[1]),
                memory.missed[b],
                out[b],
            ):
                continue
            command(values[b], predicted, control, observers, out[b])
            continue
        coupled_command(
            (measured[b, 0], measured[b, 1]),
            (predicted[0], predicted[1]),
            control.laws,
            (observers[0], observers[1]),
            memory.coupled[b],
            out[b],
        )


class DockingPair:
    """Policy's side of one pair in flight; world i of `iap_learning.tasks.kinds.docking.episodes` is this, bit for bit.

    Args:
        task: what is seen and commanded.
        scenario: that is flown, resolved.

    Attributes:
        interface: between both.
    """

    def __init__(self, task: DockingTask, scenario: Scenario) -> None:
        self.interface = interface = Interface.of(task, scenario)
        self._converted = ActionConverter(task.action, interface.columns, interface.observer)
        self._memory, self._out = PairMemory.of(1, self.interface.scale.size), np.zeros((1, 2, 4))
        self._measured, self._wrench = np.zeros((1, 2, 13)), np.zeros((1, 6))
        self._only = np.zeros(1, dtype=np.int64)
        self._latched, self._locked = np.zeros(1, bool), np.zeros(1, bool)
        self.reset()

    def reset(self) -> None:
        """Forget the last flight."""
        self._starts = True
        self._latched[:] = self._locked[:] = False
        self._memory.actions[:] = 0.0
        self._memory.missed[:] = 0.0
        self._action = np.zeros(self.interface.scale.size)
        self._values = np.zeros(self.interface.columns)
        if self._action.size == self._values.size:
            self._values[:] = self.interface.scale.middle

    def sense(self, measured: Array, wrench: Array, phase: Phase) -> None:
        """Take the measurements of a control instant; once in each.

        Args:
            measured: (2, 13) state rows of target and chaser.
            wrench: (6,) of contact and latch on the chaser over the last period, about its CoM, in `map`.
            phase: of the latch.
        """
        self._measured[0], self._wrench[0] = measured, wrench
        self._latched[0], self._locked[0] = is_held(phase), phase == Phase.LOCKED
        touches = self._latched | (np.linalg.norm(wrench[:3]) > TOUCH)
        links = (touches, self._locked)
        laws = self.interface.control.laws
        sense(self._only, self._measured, links, self._starts, laws, self._memory)
        self._starts = False

    def observe(self) -> NDArray[np.float32]:
        """(n,) what a policy sees now; a new array."""
        return self.interface.observer(self._inputs(), self._only, self._worlds)[0]

    def _inputs(self) -> PairInputs:
        action = self._action[None]
        return self.interface.inputs(self._wrench, self._latched, action, self._memory)

    def _worlds(self) -> WorldArrays:
        return self.interface.worlds(self._measured, self._action[None])

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
        self._memory.keep_action(self._action[None])
        self._action = np.clip(numbers, -1.0, 1.0)
        values = self.interface.scale.apply(self._action)[None]
        self._values = self._converted(values, self._inputs, self._worlds)[0]

    def command(self) -> Array:
        """(2, 4) thrust [N] and body rates (3,) [rad/s] of target and chaser at this control instant; a new array."""
        control = self.interface.control
        links = (self._latched, self._locked)
        act(self._values[None], self._measured, links, control, self._memory, self._out)
        return self._out[0].copy()
