# SPDX-License-Identifier: BSD-3-Clause
"""Direct wrench control of a jointed platform, and how it is entered and left in flight without a jump."""

import math
from dataclasses import replace

import numpy as np
from numba import njit

from iap_control.allocation.actuation import AllocationState
from iap_control.allocation.model import Inertia, PlatformModel, uncoupled
from iap_control.gains import Gains
from iap_control.interaction.pose_correction import Correction, revise
from iap_control.interaction.wrench_laws import (
    PaperLaw,
    SelectiveLaw,
    Wrenches,
    WrenchMemory,
    paper_wrench,
    selective_wrench,
    start_selective,
    tip_velocity,
)
from iap_control.laws.motion_law import MotionLaw
from iap_control.laws.tracked_axes import TrackedAxes
from iap_control.laws.tracking import Law
from iap_description.arrays import Array, Booleans
from iap_description.math import so3
from iap_description.math.second_order import transition
from iap_description.signals import ForceMode, ForceTask, Reference
from iap_description.states import REF_P, REF_Q, REF_V, REF_W, Level, P, Q, V, W

NO_AXES = np.zeros(6, dtype=bool)
NO_AXES.setflags(write=False)
MIN_STEP = 1e-4  # step of the active wrench [N, N m] and correction [m, rad, per s] below which they are over


class WrenchControl:
    """Turns states, references and force tasks into active wrenches of one platform on spherical joints.

    On a switch the flight integral is frozen and the active wrench is kept continuous (bumpless transfer); the part of
    a step that the new integrals cannot hold decays with `blend_time`. A pose that was left to the wrench returns to
    its reference on a path that starts with the platform's pose and twist.

    Args:
        model: of the platform.
        gains: of flight and of wrench control.
        dt: control period [s].

    Attributes:
        is_idle: whether nothing but the flight law acts.
        integral: of the pose errors in flight.
        integrates: whether it goes on; one that does not keeps its share.
    """

    def __init__(self, model: PlatformModel, gains: Gains, dt: float) -> None:
        self._dt = dt
        self.set_gains(model, gains)
        self.reset()

    def set_gains(self, model: PlatformModel, gains: Gains) -> None:
        """Change the gains, also in flight; the memory stays."""
        wrench = gains.wrench
        self._tip_P = model.tip_P.copy()
        self.flight = MotionLaw.of(model, Law.of(gains), self._dt)
        self._paper = MotionLaw.of(model.coupled(False), Law.of(wrench.paper), self._dt)
        self._paper_law = PaperLaw.of(wrench.paper)
        self._selective_law = SelectiveLaw.of(wrench.selective)
        self._fading = math.exp(-self._dt / wrench.blend_time)
        self._return = transition(1.0 / wrench.return_time, 1.0, self._dt)
        self._spring = 1.0 / wrench.return_time

    def set_inertia(self, inertia: Inertia) -> None:
        """Fly on with other lumped dynamics of the same mass, where nothing is split along a line."""
        self.flight = replace(self.flight, inertia=inertia)
        self._paper = replace(self._paper, inertia=uncoupled(inertia))

    def set_tip(self, tip_P: Array) -> None:
        """Go on with the tool's tip at another place (3,) in P [m]."""
        self._tracked.pivot_P[:] = tip_P

    def reset(self) -> None:
        """Forget everything: flight under the flight law."""
        self.is_idle = self.integrates = True
        self.mode, self.axes = ForceMode.NONE, NO_AXES.copy()
        self.integral = np.zeros(self.flight.size)
        self._paper_integral = np.zeros(self._paper.size)
        self._memory = WrenchMemory.empty()
        self._tracked = TrackedAxes(np.ones(6), self._tip_P.copy())
        self._pushed, self._external, self._step = np.zeros(6), np.zeros(6), np.zeros(6)
        self._way_back = Correction.none()
        self._row = np.zeros(0)
        self._no_task = ForceTask(ForceMode.NONE, np.zeros(6), np.zeros(6), NO_AXES)

    def __call__(
        self,
        x: Array,
        reference: Reference,
        wrench_e_P: Array,
        task: ForceTask | None,
        last: Array | None,
        allocator: AllocationState,
    ) -> Array:
        """Active wrench U (6,) about P's origin in P.

        Args:
            x: (13,) state row of the central body.
            reference: the present reference.
            wrench_e_P: (6,) external wrench in P to compensate besides [N, N m]; not by the mode `paper`.
            task: the wrench that is wanted; None is pose control.
            last: (6,) the last active wrench; None if there was none.
            allocator: of the last command.
        """
        row, level, short = reference.row, reference.level, allocator.short
        if not self.is_idle or (task is not None and task.mode != ForceMode.NONE):
            return self._control(x, row, level, wrench_e_P, task or self._no_task, last, short)
        integral = self.integral if self.integrates else self.integral.copy()
        U = self.flight.wrench(x, row, wrench_e_P, integral, int(level), short)
        if task is not None:
            self.report(task)
        return U

    def _control(
        self,
        x: Array,
        row: Array,
        level: Level,
        wrench_e_P: Array,
        task: ForceTask,
        last: Array | None,
        short: Array,
    ) -> Array:
        """The active wrench while a wrench is controlled, and on the way back from it."""
        is_new = task.mode != self.mode or not np.array_equal(_axes_of(task), self.axes)
        if is_new:
            self._begin(x, row, level, task)
        row = self._back(row)
        if is_new and last is not None:
            self._take_over(x, row, wrench_e_P, task, last, int(level))
        self._push(x, task, wrench_e_P, short)
        motion, integral = self._law
        U = motion.wrench(x, row, self._external, integral, int(level), short, self._tracked)
        if is_new and last is not None:
            self._step[:] = last - U
            self._step[self._fresh] = 0.0
        U += self._step
        self._step *= self._fading
        self.report(task)
        return U

    @property
    def _law(self) -> tuple[MotionLaw, Array]:
        if self.mode == ForceMode.PAPER:
            return self._paper, self._paper_integral
        return self.flight, self.integral

    def _begin(self, x: Array, row: Array, level: Level, task: ForceTask) -> None:
        """Take over what the task says of mode and axes."""
        axes = _axes_of(task)
        if (self.axes & ~axes).any() and level == Level.POSE:
            _start_back(x, row, self._way_back)
        goes_on = self.axes if self.mode == task.mode == ForceMode.SELECTIVE else NO_AXES
        self._fresh = axes & ~goes_on if task.mode == ForceMode.SELECTIVE else NO_AXES
        if task.mode != self.mode:
            self._memory.reset()
            self._paper_integral[:] = 0.0
        self._memory.share[~axes] = 0.0
        self.mode, self.axes = task.mode, axes.copy()
        self._tracked.axes[:] = 1.0 if task.mode == ForceMode.PAPER else ~axes
        self.is_idle = False

    def _take_over(
        self,
        x: Array,
        row: Array,
        wrench_e_P: Array,
        task: ForceTask,
        last: Array,
        level: int,
    ) -> None:
        """Fill the new loops' integrals so that the active wrench goes on from its last value."""
        motion, integral = self._law
        none = np.zeros(6)  # laws are compiled once more for an array that cannot be written
        if self.mode == ForceMode.PAPER:
            U = motion.wrench(x, row, none, integral.copy(), level, none, self._tracked)
            integral[:] = motion.integral_of(last - U)
        elif self._fresh.any():
            law = self._selective_law
            tracked = self._tracked.axes
            e = tracked * (wrench_e_P + law.compensation * task.measured_P)
            U = motion.wrench(x, row, e, integral.copy(), level, none, self._tracked)
            M = motion.inertia.M
            push = last - U + np.diag(M) * law.damping * tip_velocity(x, self._tracked)
            wrenches = (task.measured_P, task.desired_P)
            start_selective(push, *wrenches, self._fresh, law, self._memory, M)

    def _push(self, x: Array, task: ForceTask, wrench_e_P: Array, short: Array) -> None:
        """Write the external wrench under which the motion law pushes as the wrench loops ask."""
        if self.mode == ForceMode.PAPER:
            wrenches = (task.measured_P, task.desired_P)
            paper_wrench(*wrenches, self._paper_law, self._memory, self._dt, self._pushed)
            self._external[:] = 0.0
        else:
            law = self._selective_law
            if self.mode == ForceMode.NONE:
                self._pushed[:] = 0.0
            else:
                asked = Wrenches(task.measured_P, task.desired_P, short)
                memory = (self._memory, self.flight.inertia.M, self._dt)
                selective_wrench(x, asked, self._tracked, law, *memory, self._pushed)
            np.multiply(wrench_e_P, self._tracked.axes, out=self._external)
        if self.flight.split is not None:
            self.flight.split.drop_turn_about_line(self._pushed)
        self._external -= self._pushed

    def _back(self, row: Array) -> Array:
        """The reference with what is left of the way back to it; idle once there is nothing left."""
        way, step = self._way_back, self._step
        if not way.e.any() and not way.de.any():
            if self.mode == ForceMode.NONE and np.abs(step).max() < MIN_STEP:
                step[:] = 0.0
                self.is_idle = True
            return row
        _relax(self._return, self._spring, way)
        if np.abs(way.e).max() < MIN_STEP and np.abs(way.de).max() < MIN_STEP:
            for part in way:
                part[:] = 0.0
            return row
        if self._row.shape != row.shape:
            self._row = np.empty_like(row)
        revise(row, way, self._row)
        return self._row

    def report(self, task: ForceTask) -> None:
        """Write into a task what the integrals add to the active wrench."""
        motion, integral = self._law
        task.pose_integral_P[:] = motion.share_of(integral)
        task.wrench_integral_P[:] = self._memory.share


def _axes_of(task: ForceTask) -> Booleans:
    """(6,) whether the wrench has a say on each axis."""
    if task.mode == ForceMode.SELECTIVE:
        return task.axes
    return ~NO_AXES if task.mode == ForceMode.PAPER else NO_AXES


def _start_back(x: Array, row: Array, way: Correction) -> None:
    """Begin the way back to a reference at the platform's present pose and twist."""
    turn = so3.quaternion_log(so3.multiply(x[Q], so3.conjugate(row[REF_Q])))
    spin_W = x[W] - so3.rotate(x[Q], row[REF_W])
    way.e[:3], way.e[3:] = x[P] - row[REF_P], turn
    way.de[:3] = x[V] - row[REF_V]
    way.de[3:] = np.linalg.solve(so3.right_jacobian(-turn), spin_W)


@njit(cache=True)
def _relax(A: Array, spring: float, way: Correction) -> None:
    """Move a correction one step on towards zero, critically damped."""
    for i in range(6):
        e, de = way.e[i], way.de[i]
        way.e[i] = A[0, 0] * e + A[0, 1] * de
        way.de[i] = A[1, 0] * e + A[1, 1] * de
        way.dde[i] = -2.0 * spring * way.de[i] - spring * spring * way.e[i]
