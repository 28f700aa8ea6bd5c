# SPDX-License-Identifier: BSD-3-Clause
"""A policy between what is known of one platform and what is commanded, as the episodes have it fly."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import Command, Level
from iap_learning.policies.layout import Layout
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import KEY, info_of, periods
from iap_learning.tasks.eye import Eye
from iap_learning.tasks.kinds.platform.history import History
from iap_learning.tasks.kinds.platform.image_memory import ImageMemory
from iap_learning.tasks.kinds.platform.inertial import InertialMeans
from iap_learning.tasks.kinds.platform.observation_checks import (
    check_measures,
    inertial_key,
    measures_with_noise,
)
from iap_learning.tasks.kinds.platform.observations import NO_SAMPLES, ObservationInputs
from iap_learning.tasks.kinds.platform.observer import Observer
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.scaling import ActionScale
from iap_learning.tasks.senses import Sense, Senses
from iap_learning.tasks.sensor_wait import lacking
from iap_learning.tasks.user_inputs import TermInputs
from iap_sensors.mounted.sensor_suite import SensorInput
from iap_simulation.batch.actions import REFERENCE_KINDS, action_of, action_size
from iap_simulation.batch.references import References
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle

NOTHING = Senses()


class OneWorld:
    """A vehicle as `iap_simulation.batch.actions` sees worlds.

    Attributes:
        state: (1, bodies, 13) that the vehicle goes by.
        rpm: (1, N, 4) [rpm].
        model: of the platform.
        goal: (1, 19 + N) the scenario's reference.
    """

    def __init__(self, vehicle: Vehicle) -> None:
        self.model = vehicle.model
        self.state, self.rpm, self.goal = np.zeros((3, 1, 1))

    def known_states(self) -> Array:
        """The same."""
        return self.state

    def references(self) -> References:
        """The scenario's reference."""
        return References.of(self.goal)

    def output_of(self, kind: str, values: Array) -> Reference | Command:
        """The reference for the vehicle's controller, or the command of its aircraft, of an action in SI units."""
        if kind in REFERENCE_KINDS:
            return self.reference_of(kind, values)
        return _alone(cast(Command, action_of(kind, values, self)))

    def reference_of(self, kind: str, values: Array) -> Reference:
        """The reference of an action in SI units.

        Raises:
            BadInput: actions of this kind are commands.
        """
        if kind not in REFERENCE_KINDS:
            raise BadInput(f"{KEY}: actions '{kind}' are no references")
        made = cast(References, action_of(kind, values, self))
        return Reference(made.rows[0], Level(int(made.levels[0])), made.wrenches_P[0])


class PlatformPolicy:
    """A policy that flies one platform.

    Args:
        policy: that flies.
        task: of it.
        scenario: that is flown.
        vehicle: the only one.

    Attributes:
        task: as given.
        inputs: of the sensors that it observes: its camera or lidar, and its inertial unit.
        asks_for: the measured state, if it observes that and the controller does not measure the truth.
        info: name and task of the policy.

    Raises:
        BadInput: the policy is of another platform, rate, layout or sensors.
    """

    closes: bool | None = None  # it commands no gripper

    def __init__(
        self, policy: Policy, task: PlatformTask, scenario: Scenario, vehicle: Vehicle
    ) -> None:
        self.task, self._policy, self._vehicle = task, policy.acting(), vehicle
        self.info: Mapping[str, Any] = info_of(policy)
        self._repeat = periods(policy, scenario)
        platform = scenario.vehicles[0].platform
        check_measures(task)
        is_noisy = measures_with_noise(task, scenario.vehicles[0])
        self.asks_for: tuple[Sense, ...] = (Sense.MEASURED,) if is_noisy else ()
        size = task.action.size(platform.count)
        example = TermInputs.at_rest(platform.count, size)
        columns = action_size(task.action.kind, platform.count)
        self._function = task.action.user_function(columns, example)
        self._observer = Observer(task.observation, aircraft=platform.count, actions=size)
        self._eye = self._unit = None
        if task.depth is not None:
            self._eye = Eye(task.depth, scenario, self._repeat, policy.name)
            self._images = ImageMemory(1, task.image_ages, self._eye.size)
        if (key := inertial_key(task)) is not None:
            source = f"policy '{policy.name}': task '{task.name}', key '{key}'"
            self._unit = InertialMeans(scenario, source)
        inputs = (self._eye, self._unit)
        self.inputs: Sequence[SensorInput] = tuple(each for each in inputs if each is not None)
        self._history = History(1, task.history, self._observer.size)
        suite = self._history.layout(self._observer.layout)
        terms = (*suite, *(() if self._eye is None else self._images.layout(self._eye.term)))
        layout = (task, terms, size, platform.name, scenario.rates.control_hz)
        policy.check(Layout.of(*layout), f"task '{task.name}' in this scenario")
        action = policy.header.action
        self._scale = ActionScale.of(action.low, action.high)
        self._world, self._action = OneWorld(vehicle), np.zeros((1, size))
        self._values = self._scale.apply(self._action)
        self._only = np.zeros(1, dtype=np.int64)  # row of its goal
        self._period = -1  # of the last action

    @property
    def gives_references(self) -> bool:
        """True if its outputs are references for the vehicle's controller; else they are commands of its aircraft."""
        return self.task.action.gives_references

    def acts_at(self, k: int) -> bool:
        """True if it acts anew at control instant k; a missed instant puts off no action."""
        return k // self._repeat > self._period

    def lacks(self, stamp: int, k: int) -> Sequence[str]:
        """Topics of the sensors that instant k of a stamp [ns] needs a reading of, and has none yet."""
        return lacking(self.inputs, stamp, k) if self.acts_at(k) else ()

    def __call__(
        self,
        k: int,
        x: Array,
        rpm: Array,
        reference: Array,
        senses: Senses = NOTHING,
    ) -> Reference | Command:
        """The output at control instant k: a reference for the vehicle's controller, or a command of its aircraft.

        Args:
            k: number of the instant; none comes twice.
            x: (bodies, 13) state.
            rpm: (N, 4) rotor speeds [rpm].
            reference: (19 + N) row of the scenario's reference.
            senses: with what it asks for.
        """
        world = self._world
        world.state, world.rpm, world.goal = x[None], rpm[None], reference[None]
        if self.acts_at(k):
            self._act(k, self._observed(senses))
            self._period = k // self._repeat
        return world.output_of(self.task.action.kind, self._values)

    def _observed(self, senses: Senses) -> Array:
        """State (1, bodies, 13) that is observed; before anything has been measured, the truth."""
        x = self._world.state
        if not self.asks_for or self._period < 0:
            return x
        assert senses.measured is not None  # noqa: S101 - it asks for it
        x = x.copy()
        x[0, 0] = senses.measured
        return x

    def _act(self, k: int, x: Array) -> None:
        """Act anew at instant k on the state that is observed."""
        world, task = self._world, self.task
        goals = world.goal if task.goal == "present" else self._last
        means = NO_SAMPLES if self._unit is None else self._unit.means(k)
        inputs = ObservationInputs(x, goals, self._only, world.rpm, self._action, means)
        now = self._observer(inputs)
        self._history.begin(self._only, now) if self._period < 0 else self._history.add(now)
        observation = self._history(now)
        if self._eye is not None:
            image, images = self._eye.numbers, self._images
            images.begin(self._only, image) if self._period < 0 else images.add(image)
            observation = np.hstack([observation, images()])
        self._action = np.clip(self._policy(observation).astype(np.float64), -1.0, 1.0)
        self._values = self._scale.apply(self._action)
        if self._function is not None:
            inputs = inputs._replace(action=self._action)
            self._values = self._function(self._values, inputs.arrays)

    @property
    def _last(self) -> Array:
        return self._vehicle.timeline.goal[None]


def _alone(command: Command) -> Command:
    """The command of one world, without the axis of worlds."""
    arrays = (
        command.wrench_P,
        command.thrust,
        command.q_WB,
        command.w_WB_B,
        command.rpm,
        command.tilt,
    )
    return Command(command.mode, *(each[0] for each in arrays))
