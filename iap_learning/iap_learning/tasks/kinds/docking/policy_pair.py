# SPDX-License-Identifier: BSD-3-Clause
"""A policy that flies both aircraft of a docking, in the loop of its scenario and between messages."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_io.ros.synchronizer import Instant, TimeSynchronizer
from iap_learning.policies.layout import Layout
from iap_learning.policies.policy import Policy
from iap_learning.policies.scenario_policies import info_of, periods
from iap_learning.tasks.eye import Eye
from iap_learning.tasks.kinds.docking.pair import DockingPair
from iap_learning.tasks.kinds.docking.task import DockingTask
from iap_learning.tasks.sensor_wait import SensorWait, lacking
from iap_sensors.mounted.sensor_suite import SensorInput
from iap_simulation.docking.pair_pilot import DockingPilot, PairMeasurement, PairPilot
from iap_simulation.docking.ports import pair_of
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


def docking_pilot(
    policy: Policy, task: DockingTask, scenario: Scenario, vehicles: Sequence[Vehicle]
) -> DockingPilot:
    """The pilot of a scenario that docks.

    Raises:
        BadInput: the policy is of another platform, rate or layout, or nothing docks.
    """
    return DockingPilot(scenario, vehicles, PolicyPair(policy, task, scenario))


class PolicyPair:
    """A policy flies target and chaser, see `iap_simulation.docking.pair_pilot.PairPilot`.

    Args:
        policy: that flies.
        task: of it.
        scenario: that docks.

    Attributes:
        inputs: what sees the images of the chaser's camera; none where the task has none.

    Raises:
        BadInput: the policy is of another platform, rate or layout, or the camera is.
    """

    def __init__(self, policy: Policy, task: DockingTask, scenario: Scenario) -> None:
        self._repeat = periods(policy, scenario)
        (target, chaser), _ = pair_of(scenario)
        self._eye = None
        if task.depth is not None:
            self._eye = Eye(task.depth, scenario, self._repeat, policy.name, chaser)
        self.inputs: Sequence[SensorInput] = () if self._eye is None else (self._eye,)
        self._pair, self._policy = DockingPair(task, scenario), policy.acting()
        self._info = info_of(policy)
        interface, platform = self._pair.interface, scenario.vehicles[target].platform.name
        hz = scenario.rates.control_hz
        terms = (*interface.observer.layout, *(() if self._eye is None else (self._eye.term,)))
        layout = Layout.of(task, terms, interface.scale.size, platform, hz)
        policy.check(layout, f"task '{task.name}' in this scenario")
        self._period = -1  # of the last action

    @property
    def info(self) -> Mapping[str, Any]:
        """Name and task of the policy, or name of the script."""
        return self._info

    def lacks(self, stamp: int, k: int) -> Sequence[str]:
        """Topic of the camera, if instant k of a stamp [ns] needs an image that has not come; else nothing."""
        return lacking(self.inputs, stamp, k) if k // self._repeat > self._period else ()

    def __call__(self, k: int, sensed: PairMeasurement) -> Array:
        """(2, 4) thrust [N] and body rates [rad/s] of target and chaser; a missed instant puts off no action."""
        pair = self._pair
        pair.sense(sensed.rows, sensed.wrench_W, sensed.phase)
        if k // self._repeat > self._period:
            pair.take(self._policy(self._observation()))
            self._period = k // self._repeat
        return pair.command()

    def _observation(self) -> NDArray[np.float32]:
        terms = self._pair.observe()
        return terms if self._eye is None else np.concatenate([terms, self._eye.numbers[0]])


class PairInput(IntEnum):
    """Inputs of an answer: of target and chaser the measured row and the wrench, and the latch's phase."""

    TARGET, CHASER, TARGET_WRENCH, CHASER_WRENCH, PHASE = range(5)


class PairResponder(SensorWait[Array]):
    """Answers every instant once; one that comes again gets the same answer, an earlier one begins a new flight.

    At an instant at which a pilot acts on images it waits for one of the same period.

    Args:
        make: makes the pilot of a flight.

    Attributes:
        pilot: of the present flight.
        stamp: of the newest answer [ns]; -1 before the first.
        sequence: its state's number.
        answer: (2, 4) thrust [N] and body rates [rad/s] of target and chaser.
        answered: number of instants so far.
    """

    def __init__(self, make: Callable[[], PairPilot]) -> None:
        self._make, self.answered = make, 0
        self.answer, self._parts = np.zeros((2, 4)), TimeSynchronizer(len(PairInput))
        self._begin()

    def _begin(self) -> None:
        """Begin a flight, of which some parts may be there."""
        self.pilot = self._make()
        self.stamp, self.sequence = -1, 0
        self._begin_readings()

    def take(self, source: PairInput, stamp: int, sequence: int, part: object) -> Array | None:
        """Take a part of an instant, an array of its own; returns the answer that it completes.

        Args:
            source: whose part it is.
            stamp: simulation time [ns].
            sequence: number of the state, of states and latches; 0 of wrenches.
            part: measured row (13,), wrench (6,) in the vehicle's axes, or the latch's phase.
        """
        if source == PairInput.TARGET and stamp < self._newest:  # simulation time began anew
            self._begin()
        instant = self._parts.take(source, stamp, sequence, (sequence, part))
        if instant is None or instant.stamp < self.stamp:
            return None
        return self._try(instant)

    def _pilot(self) -> PairPilot:
        """Pilot of the present flight."""
        return self.pilot

    def _try(self, instant: Instant) -> Array | None:
        """Answer an instant, unless it waits for an image."""
        if instant.stamp > self.stamp:
            if self._waits(instant, instant.parts[PairInput.TARGET][0]):
                return None
            self._answer(instant)
        return self.answer

    def _answer(self, instant: Instant) -> None:
        numbers, parts = zip(*instant.parts, strict=True)
        target, chaser, *wrenches, phase = parts
        sensed = PairMeasurement(np.stack([target, chaser]), np.stack(wrenches), phase)
        k = numbers[PairInput.TARGET]  # whichever part has come last
        self.answer[:] = self.pilot(k, sensed)
        self.stamp, self.sequence = instant.stamp, k
        self.answered += 1
