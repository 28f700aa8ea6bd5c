# SPDX-License-Identifier: BSD-3-Clause
"""Modules in the closed loop: what they tell the coordinator, and what it lets them, their latches and laws do."""

import copy
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import LatchOrder, ModuleReports, mean_wrench
from iap_control.modules.follower import RoleControl
from iap_control.modules.losses import fault_times
from iap_control.modules.settings import ModulesSpec
from iap_description.arrays import Array
from iap_description.signals import Reference, Step
from iap_description.states import Command, P
from iap_description.vehicles.faults import has_come
from iap_estimation.wrench.module_observer import ModuleObserver, module_observer
from iap_physics.modules.engine_joints import EngineJoints
from iap_physics.plant.plant import Plant
from iap_simulation.loop.agents import make_joint_guidance
from iap_simulation.modules.coordination import lift_of
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


class ModulesInFlight:
    """The coordinator of a scenario's modules in its loop: guidance, agent of silent controllers, and step observer.

    Args:
        scenario: with modules.
        spec: of them.
        vehicles: the modules.
        plant: at its start; joints that hold from there are added.

    Attributes:
        coordinator: what decides.
        joints: in the engine.
        orders: that latches have had, with their times [s].
        external_P: (n, 6) what each module's observer has told last [N, N m].
        policy: that guides modules which dock; None where the coordinator does.

    Raises:
        BadInput: modules that are none, or joints that do not fit.
    """

    def __init__(
        self, scenario: Scenario, spec: ModulesSpec, vehicles: Sequence[Vehicle], plant: Plant
    ) -> None:
        self._vehicles, self._plant = vehicles, plant
        self.policy = make_joint_guidance(scenario, vehicles)
        spec = spec if self.policy is None else aligned_by_policy(spec)
        lift = lift_of(scenario, vehicles)
        self.coordinator = Coordinator(spec, [vehicle.name for vehicle in vehicles], lift)
        self.coordinator.check_start(np.array([vehicle.start[0] for vehicle in vehicles]))
        closing = {name for name, joint in spec.joints.items() if joint.closes}
        machines, joints = self.coordinator.machines, self.coordinator.joints
        self.joints = EngineJoints(plant, joints, closing, spec.latch_force)
        for name in [each for each, machine in machines.items() if machine.holds]:
            self.joints.hold(name)
        self._observers = [_observer(vehicle, scenario, spec) for vehicle in vehicles]
        self._followers = [
            RoleControl.of(vehicle.name, vehicle.controller, replaces=spec.replaces_integral)
            for vehicle in vehicles
        ]
        self._every = round(scenario.rates.control_hz / spec.rate)
        self._estimates = np.array([vehicle.start[0] for vehicle in vehicles])
        self._rows = np.array([vehicle.timeline.row(0) for vehicle in vehicles])
        self._nominal = self._rows.copy()
        self._rotors = [np.zeros((2, 4)) for _ in vehicles]
        self._silent = fault_times(spec, [vehicle.name for vehicle in vehicles], "controller")
        self._last: dict[int, Command] = {}  # of controllers that fall silent
        self._commanded_at = np.zeros(len(vehicles))
        self._k = 0
        self.orders: list[tuple[float, LatchOrder]] = []
        self.external_P = np.zeros((len(vehicles), 6))
        self._wrenches: list[deque[Array]] = [deque(maxlen=self._every) for _ in vehicles]

    @classmethod
    def of(cls, scenario: Scenario, vehicles: Sequence[Vehicle], plant: Plant) -> Self | None:
        """The modules of a scenario; None where it has none."""
        spec = scenario.modules
        return None if spec is None else cls(scenario, spec, vehicles, plant)

    @property
    def rows(self) -> Array:
        """(n, 19+) references of the modules at the last control instant."""
        return self._rows

    @property
    def is_due(self) -> bool:
        """True if the coordinator has just been at work, or is at this instant."""
        return self._k % self._every == 0

    def refer(self, k: int, plant: Plant, references: list[Reference]) -> None:
        """Put the references of control instant k in place of the modules' own."""
        self._k = k
        for i, reference in enumerate(references):
            self._nominal[i] = reference.row
        if self.is_due:
            self._coordinate()
        self.coordinator.put_rows(plant.t, self._nominal, self._rows)
        for i, reference in enumerate(references):
            references[i] = Reference(self._rows[i], reference.level, reference.wrench_P)
        if self.policy is not None:
            for name, machine in self.coordinator.machines.items():
                if machine.is_docking:
                    i = self.coordinator.joints[name].b
                    references[i] = self.policy.reference(
                        k, self._shared(), plant, references[i], is_due=self.is_due
                    )

    def command(
        self,
        k: int,  # noqa: ARG002 - rotors hold what they have
        plant: Plant,  # noqa: ARG002
        references: Sequence[Reference],  # noqa: ARG002
    ) -> Mapping[int, Command]:
        """Commands that rotors hold, of modules whose controllers have fallen silent, by the modules' numbers."""
        return {i: each for i, each in self._last.items() if self._is_silent(i)}

    def _is_silent(self, i: int) -> bool:
        return i in self._silent and has_come(self._silent[i], self._plant.t)

    def _note_command(self, i: int, command: Command) -> None:
        """Note that module i has been commanded, unless it holds its last command."""
        if self._is_silent(i):
            return
        self._commanded_at[i] = self._plant.t
        if i in self._silent:
            self._last[i] = copy.deepcopy(command)

    def record(self, vehicle: int, step: Step) -> None:
        """Let a module's observer see the state that was measured and what was commanded before."""
        i, command = vehicle, step.command
        self._note_command(i, command)
        measured, rotors = self._vehicles[i].measurement, self._rotors[i]
        self._estimates[i] = measured
        if self._k > 0:
            self.external_P[i] = self._observers[i](measured, rotors[0], rotors[1])
        self._wrenches[i].append(self.external_P[i].copy())
        c_f = self._vehicles[i].model.fleet[0].rotor.c_f
        rotors[0], rotors[1] = c_f * command.rpm[0] ** 2, command.tilt[0]

    def _coordinate(self) -> None:
        self.joints.part_touching()
        for order in self.coordinator.update(self._told()):
            self.joints.obey(order.joint, order.latching)
            self.orders.append((self._plant.t, order))
        wrenches, roles = self.coordinator.feed_forward.wrenches_P, self.coordinator.roles
        for follower, role, wrench_P in zip(self._followers, roles, wrenches, strict=True):
            follower.take(role, wrench_P)

    def _told(self) -> ModuleReports:
        external_P = np.array([mean_wrench(each) for each in self._wrenches])
        others = (external_P, self._nominal, self._commanded_at, self.joints.wrenches_S())
        return ModuleReports(self._plant.t, self._estimates, self._shared(), *others)

    def _shared(self) -> Array:
        """(n, 13) what was measured last, in one frame."""
        shared: Array = self._estimates.copy()
        shared[:, P] -= [vehicle.position_bias for vehicle in self._vehicles]
        return shared


def aligned_by_policy(spec: ModulesSpec) -> ModulesSpec:
    """The same where a policy aligns the follower: the machine looks for the catch as soon as that is in line."""
    machine = spec.machine
    changes = {"hold": 1.0 / spec.rate, "offset": machine.approach.offset}
    alignment = machine.alignment.model_copy(update=changes)
    return spec.model_copy(update={"machine": machine.model_copy(update={"alignment": alignment})})


def partners(spec: ModulesSpec | None) -> frozenset[frozenset[str]]:
    """Pairs of modules that joints join."""
    joints = {} if spec is None else spec.joints
    return frozenset(frozenset((each.leader, each.follower)) for each in joints.values())


def _observer(vehicle: Vehicle, scenario: Scenario, spec: ModulesSpec) -> ModuleObserver:
    inertia, gravity = vehicle.model.inertia, scenario.world.gravity
    return module_observer(
        vehicle.name,
        vehicle.model.fleet,
        inertia.mass,
        inertia.J,
        gravity=gravity,
        gain=spec.observer_gain,
        dt=scenario.dt,
    )
