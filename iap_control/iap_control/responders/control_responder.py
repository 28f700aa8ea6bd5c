# SPDX-License-Identifier: BSD-3-Clause
"""Responders between messages: a controller, which gives commands, and an admittance, which revises references."""

from dataclasses import dataclass

import numpy as np

from iap_control.arm.arm_control import ArmControl, JointCoordinates
from iap_control.controllers.controller import Controller
from iap_control.controllers.estimate_failsafe import EstimateFailsafe
from iap_control.controllers.known_faults import KnownFaults
from iap_control.controllers.land_detector import LandDetector
from iap_control.interaction.admittance import Admittance
from iap_control.interaction.push import PushPlan
from iap_control.lever import LeverCompensation
from iap_control.modules.exchange import ModuleRole
from iap_control.modules.follower import RoleControl
from iap_control.responders.reference_input import ReferenceInput
from iap_control.responders.state_responder import StateResponder
from iap_control.responders.wrench_input import WrenchDemand, WrenchInput
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.math.kernels import put, quat, rotate, vec
from iap_description.signals import NO_WRENCH, ForceMode, ForceTask, Reference
from iap_description.states import REF_FIXED, REF_Q, STATE_SIZE, Command, Q
from iap_description.vehicles.gripper import Load

ROLES = tuple(ModuleRole)  # by their numbers in messages


@dataclass
class WrenchInteraction:
    """The parts of a controller that act upon a wrench.

    Attributes:
        wrenches: the measured wrench.
        mode: how wrenches are controlled.
        plan: the wrench that a scenario wants; None without one.
        demand: the wrench that messages ask for, which comes before the plan.
    """

    wrenches: WrenchInput
    mode: ForceMode
    plan: PushPlan | None
    demand: WrenchDemand


class ControlResponder(StateResponder[Command]):
    """Answers every state with one command; see `StateResponder`.

    Where a wrench is controlled and none is measured any more, wrench control is off.

    Args:
        controller: computes the commands.
        references: what is tracked.
        interaction: None where no wrench is measured.
        lever: of a platform whose joints are off its aircraft's CoMs.
        faults: that the controller is told of.
        failsafe: of a vehicle that flies on an estimate; None flies on.
        arm: of a platform that has one.

    Attributes:
        task: what wrench control did with the last command; None where there is none.
        faults: as given.
        failsafe: as given.
        arm: as given.
        follower: law of a module that has a coordinator; None of others.
        land_detector: of a vehicle that may land; None of others.
    """

    def __init__(
        self,
        controller: Controller,
        references: ReferenceInput,
        interaction: WrenchInteraction | None = None,
        lever: LeverCompensation | None = None,
        faults: KnownFaults | None = None,
        failsafe: EstimateFailsafe | None = None,
        arm: ArmControl | None = None,
    ) -> None:
        super().__init__(references, interaction.wrenches if interaction else None)
        self.controller = controller
        self.task: ForceTask | None = None
        self._interaction, self._lever = interaction, lever
        self.faults, self.failsafe, self.arm = faults, failsafe, arm
        self._joints: JointCoordinates | None = None
        self._load: Load | None = None
        self._off = ForceTask(ForceMode.NONE, np.zeros(6), np.zeros(6), np.zeros(6, dtype=bool))
        self.follower: RoleControl | None = None
        self.land_detector: LandDetector | None = None
        self._warm_up()

    def central(self, rows: Array) -> Array:
        """The central body's row (13,), without what a lever adds to it."""
        return super().central(rows) if self._lever is None else self._lever(rows, rows[0])

    def set_axes(self, axes: tuple[str, ...]) -> None:
        """Choose the axes of the wrench that messages ask for, as `WrenchDemand.set_axes` does."""
        if self._interaction is not None:
            self._interaction.demand.set_axes(axes)

    def take_role(self, role: int, feed_forward_P: Array) -> None:
        """Fly in a role, by its number, with a feed-forward (6,) [N, N m]."""
        assert self.follower is not None  # noqa: S101 - nobody else listens to roles
        self.follower.take(ROLES[role], feed_forward_P)

    def take_joints(self, q: Array, v: Array, load: Load | None) -> None:
        """Take coordinates and velocities (n,) of the arm's joints and their load, which go with the next state."""
        self._joints, self._load = JointCoordinates(q.copy(), v.copy()), load

    def take_demand(self, wrench_P: Array) -> None:
        """Ask for a wrench (6,) under wrench control, as `WrenchDemand.take` does."""
        assert self._interaction is not None  # noqa: S101 - nobody else listens to demands
        self._interaction.demand.take(self.t, wrench_P)

    def _warm_up(self) -> None:
        """Compute commands in every mode, so that whatever is loaded when first used is there."""
        x, at_rest = np.zeros(STATE_SIZE), Reference(np.zeros(REF_FIXED + self.references.count))
        x[Q], at_rest.row[REF_Q] = so3.IDENTITY, so3.IDENTITY
        mode = self._interaction.mode if self._interaction else ForceMode.NONE
        for each in (ForceMode.NONE, mode, ForceMode.NONE):
            self._off.mode, self._off.axes[:] = each, each == ForceMode.SELECTIVE
            self.controller(x, at_rest, NO_WRENCH, self._off)
        self._off.axes[:] = False
        self.controller.reset()

    def _begin_anew(self) -> None:
        self.controller.reset()
        if self.follower is not None:
            self.follower.reset()
        self.task = None
        if self.arm is not None:
            self.arm.reset()
        if self.faults is not None:
            self.faults.reset()
        if self.failsafe is not None:
            self.failsafe.reset()
        if self.land_detector is not None:
            self.land_detector.reset()
        if self._interaction is not None:
            self._interaction.demand.reset()
            if self._interaction.plan is not None:
                self._interaction.plan.reset()

    def _compute(self, reference: Reference, wrench_P: Array | None) -> Command:
        if self.faults is not None:
            self.faults.tell(self.t)
        if self.failsafe is not None:
            reference = self.failsafe.reference(self.t, self._x, reference)
        if self.arm is not None and self._joints is not None:
            self.arm.carry(self._load)
            self.arm.feel(self.task)
            reference = self.arm(self.sequence, self._x, self._joints, self.controller, reference)
        if self.land_detector is not None:
            reference = self.land_detector.reference(self.t, self._x, reference, wrench_P)
        if self._interaction is None:
            return self.controller(self._x, reference)
        self.task = self._task(self._interaction, wrench_P)
        measured_P = NO_WRENCH if wrench_P is None else wrench_P
        return self.controller(self._x, reference, measured_P, self.task)

    def _task(self, interaction: WrenchInteraction, wrench_P: Array | None) -> ForceTask | None:
        """The task under the measured wrench."""
        if interaction.mode == ForceMode.NONE:
            return None
        if wrench_P is None:
            return self._off
        if interaction.plan is None or interaction.demand.is_alive(self.t):
            return interaction.demand.task(self.t, wrench_P)
        return interaction.plan(self.t, wrench_P)


class AdmittanceResponder(StateResponder[Reference]):
    """Answers every state with one revised reference; see `StateResponder`.

    Where no wrench is measured any more, the correction returns to zero.

    Args:
        admittance: revises the references.
        references: what is revised.
        wrenches: what the references yield to.

    Attributes:
        is_active: whether references yield; may be switched in flight.
    """

    def __init__(
        self, admittance: Admittance, references: ReferenceInput, wrenches: WrenchInput
    ) -> None:
        super().__init__(references, wrenches)
        self.admittance = admittance
        self.is_active = True
        self._wrench_W = np.zeros(6)
        self._warm_up()

    def _warm_up(self) -> None:
        """Revise a reference, so that whatever is loaded when first used is there."""
        at_rest = Reference(np.zeros(REF_FIXED))
        at_rest.row[REF_Q.stop - 1] = self._x[Q.stop - 1] = 1.0
        self._compute(at_rest, np.zeros(6))
        self.admittance.reset()

    def _begin_anew(self) -> None:
        self.admittance.reset()

    def _compute(self, reference: Reference, wrench_P: Array | None) -> Reference:
        is_active = self.is_active and wrench_P is not None
        if wrench_P is not None:
            q_WP = quat(self._x[Q])
            put(self._wrench_W, rotate(q_WP, vec(wrench_P)))
            put(self._wrench_W[3:], rotate(q_WP, vec(wrench_P[3:])))
        return self.admittance(reference, self._wrench_W, is_active)
