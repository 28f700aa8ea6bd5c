# SPDX-License-Identifier: BSD-3-Clause
"""The coordinator of modules: owns the joints' state machines, references and feed-forward, at its own rate.

It takes reports of modules and answers with references, roles and orders to latches; it knows no engines or topics.
"""

from collections.abc import Sequence

import numpy as np

from iap_control.modules.bearing import Lift
from iap_control.modules.exchange import (
    JointEvent,
    JointState,
    LatchOrder,
    ModuleReports,
    ModuleRole,
)
from iap_control.modules.feed_forward import FeedForward, JointCompensation
from iap_control.modules.guidance import ModuleGuidance
from iap_control.modules.joint_machine import JointMachine
from iap_control.modules.joint_table import check_loops, joints_of
from iap_control.modules.losses import LossMonitor, ModuleLoss
from iap_control.modules.mission import Mission
from iap_control.modules.pose_errors import LeaderOffsets, PoseOffsets, Steering
from iap_control.modules.relative_pose import RelativePose
from iap_control.modules.settings import ModulesSpec
from iap_control.modules.structure import ModuleJoint, Structure, structures
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_FIXED, REF_P, REF_Q, Q
from iap_description.vehicles.latching import LatchCommand


class Coordinator:
    """Joins and parts modules, and keeps the wrench between them as requested.

    Args:
        spec: joints, mission and thresholds.
        names: of the modules, in their order.
        lift: of them, for those that others may have to carry.

    Attributes:
        spec: as given.
        joints: all that there may be, by their names.
        machines: of them.
        events: of the joints' states.
        losses, lost: modules that were lost, in the order of time, and the monitor of them.
        roles: of all modules.
        feed_forward: of all modules.
        mission: steps of joining and parting.

    Raises:
        BadInput: joints that do not fit each other or name no module.
    """

    def __init__(self, spec: ModulesSpec, names: Sequence[str], lift: Lift) -> None:
        self.spec, self._names, self._dt = spec, list(names), 1.0 / spec.rate
        self.joints = joints_of(spec, names)
        self.machines = {name: JointMachine.of(name, spec) for name in spec.joints}
        self.events: list[JointEvent] = []
        self.feed_forward = FeedForward(lift, spec.gain, spec.compensation, limit=spec.gain_limit)
        self._compensation = JointCompensation(spec, self.feed_forward)
        self.losses: list[ModuleLoss] = []
        self._weights = lift.weights
        self.lost = LossMonitor.of(spec, names)
        self.structures: list[Structure] = []
        self.structures = self._structures()
        check_loops(spec, self.structures)
        self._guidance = ModuleGuidance(self.structures, len(names))
        self.roles = [ModuleRole.SEPARATED] * len(names)
        self._assign_roles()
        self._pose_errors = PoseOffsets(spec.machine.pose_filter, self._dt)
        self._reports_at = -np.inf
        self._rows = np.zeros((len(names), REF_FIXED))  # references before the present update
        self._steering = Steering(spec.steered, self._dt)
        self._leaders = LeaderOffsets(spec.machine.pose_filter, self._dt)
        self.mission = Mission(spec.mission)
        self._states = {name: machine.state for name, machine in self.machines.items()}

    def join(self, name: str, reports: ModuleReports) -> list[LatchOrder]:
        """Let a joint's follower dock, or close a loop at the pose that the modules have.

        Raises:
            BadInput: it is joined, another is on its way, or a loop would be closed unannounced or beyond the drogue.
        """
        self._expect_no_other(name)
        self._take_reports(reports)
        spec, joint, machine = self.spec.joints[name], self.joints[name], self.machines[name]
        pose = self._pose(joint, reports)
        if machine.state == JointState.APART and joint.b in self._structure_of(joint.a).modules:
            if not spec.closes:
                raise BadInput(
                    f"join '{name}': '{spec.leader}' and '{spec.follower}' are joined by others, and key"
                    " 'closes' does not announce a closed loop"
                )
            machine.check_drogue(pose)
            machine.close(reports.t)
            return self._obey(name, LatchCommand.CATCH, reports)
        to_follower_W = self._rows[joint.b, REF_P] - self._rows[joint.a, REF_P]
        back = so3.conjugate(self._rows[joint.a, REF_Q])
        machine.join(reports.t, pose, so3.rotate(back, to_follower_W - self._leaders.of(name)))
        self._guidance.anchor(self._structure_of(joint.b), joint.b)
        self._guide(name, reports)
        return []

    def check_start(self, rows: Array) -> None:
        """Refuse joints that hold from the start, and whose modules do not fit each other.

        Args:
            rows: (n, 13) state rows of the modules at the start.

        Raises:
            BadInput: a gap, an offset or an angle is beyond the drogue.
        """
        for name, machine in self.machines.items():
            if machine.holds:
                joint = self.joints[name]
                machine.check_drogue(RelativePose.of(rows[joint.a], rows[joint.b]))

    def part(self, name: str, reports: ModuleReports) -> None:
        """Let a joint open.

        Raises:
            BadInput: it is not joined, or another one is on its way.
        """
        self._expect_no_other(name)
        self._machine_named(name).part(reports.t)

    def abort(self, name: str, reports: ModuleReports, why: str) -> list[LatchOrder]:
        """End what a joint is doing: it lets go, and the follower flies off."""
        self._take_reports(reports)
        return self._obey(name, self._machine_named(name).abort(reports.t, why), reports)

    def update(self, reports: ModuleReports) -> list[LatchOrder]:
        """Go on by one period: mission, state machines, feed-forward; returns what latches shall do now."""
        self._take_reports(reports)
        orders = self._lose(reports)
        orders += self.mission.advance(self, reports)
        for name, machine in self.machines.items():
            if not machine.is_busy:
                continue
            pose = self._pose(self.joints[name], reports)
            orders += self._obey(name, machine.update(reports.t, self._dt, pose), reports)
            self._guide(name, reports)
        self._note(reports.t)
        stopped = self.lost.stopped(reports.t)
        for structure in self.structures:
            if set(structure.modules).isdisjoint(stopped):
                docks = any(self._docking(module) for module in structure.modules)
                self._compensation(structure, reports, docks=docks)
        return orders

    def _take_reports(self, reports: ModuleReports) -> None:
        """Take the reports of an instant, once."""
        if reports.t == self._reports_at:
            return
        self._reports_at, self._rows = reports.t, np.array(reports.nominal)
        self._guidance.put_rows(reports.t, reports.nominal, self._rows)
        self._pose_errors.update(reports.estimates, self._rows)
        turns = self._steering(self.structures, reports.estimates, self._rows)
        self._guidance.turns_S[:] = turns
        self._leaders.update(self.joints, reports.estimates, reports.shared, self._rows)

    def put_rows(self, t: float, nominal: Array, out: Array) -> None:
        """Write the references (n, 19+) of all modules at a time [s]; `nominal` (n, 19+) are their own."""
        self._guidance.put_rows(t, nominal, out)

    def _lose(self, reports: ModuleReports) -> list[LatchOrder]:
        """Let neighbours lead in place of modules that are lost, and abort their dockings."""
        orders: list[LatchOrder] = []
        for module in self.lost.update(reports.t, reports.command_times.tolist()):
            held = {self._structure_of(module).leader, self._guidance.anchor_of(module)}
            self.structures = self._structures()
            self._assign_roles()
            structure = self._structure_of(module)
            leader, name = structure.leader, self._names[module]
            if module in held and module != leader:
                self._hand_over(structure, reports)
            self.losses.append(ModuleLoss(reports.t, name, self._names[leader]))
            for joint in self._docking(module):
                orders += self.abort(joint, reports, f"joint '{joint}': '{name}' is lost")
            self._bear(reports)
        return orders

    def _hand_over(self, structure: Structure, reports: ModuleReports) -> None:
        """Let a structure stay where its leader, a new one, thinks that it is: others may think otherwise.

        Without that the leader's integral would move all by what its estimate is off the last one's.
        """
        row, nominal = self._rows[structure.leader], reports.nominal[structure.leader]
        place_W, _ = self._pose_errors.of(structure.leader, row)
        self._guidance.hand_over(structure, (place_W, row[REF_Q]), nominal)
        self.feed_forward.hold(structure, place_W - row[REF_P], reports.estimates)

    def _bear(self, reports: ModuleReports) -> None:
        """Let structures carry their modules whose motors have stopped."""
        for module in self.lost.stopped(reports.t):
            structure = self._structure_of(module)
            weight_W = np.array([0.0, 0.0, -self._weights[module]])
            back = so3.conjugate(reports.estimates[structure.leader, Q])
            weight_S = so3.rotate(back, weight_W)
            self.feed_forward.bear(structure, module, weight_S)

    def _docking(self, module: int) -> list[str]:
        """Joints by which a module is about to dock."""
        docking = (n for n, joint in self.joints.items() if module in joint.modules)
        return [n for n in docking if self.machines[n].is_docking]

    @property
    def failure(self) -> str | None:
        """Why a docking has failed, a sentence; None where none has."""
        return next((m.failure for m in self.machines.values() if m.failure is not None), None)

    def _obey(
        self, name: str, latching: LatchCommand | None, reports: ModuleReports
    ) -> list[LatchOrder]:
        """Structures, references and roles after a latch has acted, and the order to it."""
        if latching is None:
            return []
        joint = self.joints[name]
        if latching == LatchCommand.CATCH:
            self._merge(joint)
        elif latching == LatchCommand.RELEASE:
            self._split(joint, reports)
        return [LatchOrder(name, latching)]

    def _merge(self, joint: ModuleJoint) -> None:
        """One structure of two, which follows the reference of the one that was docked onto."""
        anchor = self._guidance.anchor_of(joint.a)
        self.structures = self._structures()
        self._guidance.anchor(self._structure_of(joint.a), anchor)
        self._assign_roles()

    def _split(self, joint: ModuleJoint, reports: ModuleReports) -> None:
        """Split a structure; each holds the estimated pose of its anchor; a single module has its integral back."""
        self.structures = self._structures()
        for module in joint.modules:
            structure = self._structure_of(module)
            anchor = self._guidance.anchor_of(module)
            if anchor not in structure.modules:
                anchor = structure.leader
            self._guidance.anchor(structure, anchor)
            self._stay(anchor, reports)
            if len(structure.modules) == 1:
                self.feed_forward.put(module, np.zeros(6))
        self._bear(reports)
        self._assign_roles()

    def _guide(self, name: str, reports: ModuleReports) -> None:
        """Let the follower go on to the machine's setpoint; where that has ended, stay."""
        joint, machine = self.joints[name], self.machines[name]
        if not machine.guides:
            if machine.state == JointState.APART:
                self._stay(joint.b, reports)
            return
        leader_W = self._rows[joint.a, REF_P] + self._leaders.of(name)
        q_WL = self._rows[joint.a, REF_Q]
        anchor = self._guidance.anchor_of(joint.b)
        self._guidance.go(anchor, reports.t, leader_W, q_WL, machine.setpoint)

    def _stay(self, module: int, reports: ModuleReports) -> None:
        """Let a module's structure hold the estimated pose of its anchor."""
        anchor = self._guidance.anchor_of(module)
        pose_W = self._pose_errors.of(anchor, self._rows[anchor])
        self._guidance.stay(anchor, pose_W, reports.nominal[anchor])

    def _assign_roles(self) -> None:
        for structure in self.structures:
            for module in structure.modules:
                self.roles[module] = ModuleRole.of(module, structure)

    def _note(self, t: float) -> None:
        """Remember states that are new."""
        for name, machine in self.machines.items():
            if machine.state != self._states[name]:
                self._states[name] = machine.state
                self.events.append(JointEvent(t, name, machine.state))

    def _structures(self) -> list[Structure]:
        """Structures by the joints that hold; who leads goes on among equals, since its integral carries all."""
        led = {each.leader for each in self.structures if len(each.modules) > 1}
        joints = {n: self.joints[n] for n, m in self.machines.items() if m.holds}
        return structures(joints, range(len(self._names)), self.lost.modules, led)

    def _structure_of(self, module: int) -> Structure:
        return next(each for each in self.structures if module in each.modules)

    def _pose(self, joint: ModuleJoint, reports: ModuleReports) -> RelativePose:
        return RelativePose.of(reports.shared[joint.a], reports.shared[joint.b])

    def _machine_named(self, name: str) -> JointMachine:
        if name not in self.machines:
            known = ", ".join(self.machines) or "none"
            raise BadInput(f"no joint '{name}' (joints: {known})")
        return self.machines[name]

    def _expect_no_other(self, name: str) -> None:
        self._machine_named(name)
        for other, machine in self.machines.items():
            if machine.is_busy and other != name:
                raise BadInput(
                    f"joint '{name}': '{other}' is in {machine.state.value}, one at a time"
                )
