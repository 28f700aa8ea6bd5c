# SPDX-License-Identifier: BSD-3-Clause
"""The coordinator of modules: owns the joints' state machines, references and feed-forward, at its own rate.

It takes what modules tell of themselves and tells what they and their latches shall do; it knows no engines or topics.
"""

from collections.abc import Sequence

import numpy as np

from iap_control.modules.bearing import Lift
from iap_control.modules.exchange import Event, Order, Role, Told
from iap_control.modules.feed_forward import FeedForward
from iap_control.modules.guidance import Guidance
from iap_control.modules.joint_machine import JointMachine, State
from iap_control.modules.joint_table import check_loops, joints_of
from iap_control.modules.losses import Loss, Losses
from iap_control.modules.mission import Mission
from iap_control.modules.own_poses import LeadersSeen, OwnPoses
from iap_control.modules.relative_pose import RelativePose, check_drogue
from iap_control.modules.settings import FACES, JointSpec, ModulesSpec
from iap_control.modules.steering import Steering
from iap_control.modules.structure import Joint, Structure, structures
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_FIXED, REF_P, REF_Q, Q
from iap_description.vehicles.latching import Latching


class Coordinator:
    """Joins and parts modules, and keeps the wrench between them as it is wanted.

    Args:
        spec: joints, mission and thresholds.
        names: of the modules, in their order.
        lift: of them, for those that others may have to carry.

    Attributes:
        spec: as given.
        joints: all that there may be, by their names.
        machines: of them.
        events: what has happened.
        losses, lost: modules that were lost, in the order of time, and what finds them.
        roles: of all modules.
        feed_forward: of all modules.
        mission: what is being done.

    Raises:
        BadInput: joints that do not fit each other or name no module.
    """

    def __init__(self, spec: ModulesSpec, names: Sequence[str], lift: Lift) -> None:
        self.spec, self._names, self._dt = spec, list(names), 1.0 / spec.rate
        self.joints = joints_of(spec, names)
        self.machines = {name: self._machine(name, each) for name, each in spec.joints.items()}
        self.events: list[Event] = []
        self.feed_forward = FeedForward(lift, spec.gain, spec.compensation)
        self.losses: list[Loss] = []
        self._weights = lift.weights
        self.lost = Losses.of(spec, names)
        self.structures = self._structures()
        check_loops(spec, self.structures)
        self._guidance = Guidance(self.structures, len(names))
        self.roles = [Role.SEPARATED] * len(names)
        self._assign_roles()
        self._own_poses = OwnPoses(spec.machine.pose_filter, self._dt)
        self._seen_at = -np.inf
        self._rows = np.zeros((len(names), REF_FIXED))  # references before the present update
        self._steering = Steering(spec.steered, self._dt)
        self._leaders = LeadersSeen(spec.machine.pose_filter, self._dt)
        self.mission = Mission(spec.mission)
        self._seen = {name: machine.state for name, machine in self.machines.items()}

    def join(self, name: str, told: Told) -> list[Order]:
        """Let a joint's follower dock, or close a loop at the pose that the modules have.

        Raises:
            BadInput: it is joined, another is on its way, or a loop would be closed unannounced or beyond the drogue.
        """
        self._expect_no_other(name)
        self._see(told)
        spec, joint, machine = self.spec.joints[name], self.joints[name], self.machines[name]
        pose = self._pose(joint, told)
        if machine.state == State.APART and joint.b in self._structure_of(joint.a).modules:
            if not spec.closes:
                raise BadInput(
                    f"join '{name}': '{spec.leader}' and '{spec.follower}' are joined by others, and key"
                    " 'closes' does not announce a closed loop"
                )
            check_drogue(name, machine.misalignment(pose), self.spec.machine.drogue)
            machine.close(told.t)
            return self._obey(name, Latching.CATCH, told)
        to_follower_W = self._rows[joint.b, REF_P] - self._rows[joint.a, REF_P]
        back = so3.conjugate(self._rows[joint.a, REF_Q])
        machine.join(told.t, pose, so3.rotate(back, to_follower_W - self._leaders.of(name)))
        self._guidance.anchor(self._structure_of(joint.b), joint.b)
        self._guide(name, told)
        return []

    def part(self, name: str, told: Told) -> None:
        """Let a joint open.

        Raises:
            BadInput: it is not joined, or another one is on its way.
        """
        self._expect_no_other(name)
        self._machine_named(name).part(told.t)

    def abort(self, name: str, told: Told, why: str) -> list[Order]:
        """End what a joint is doing: it lets go, and the follower flies off."""
        self._see(told)
        return self._obey(name, self._machine_named(name).abort(told.t, why), told)

    def update(self, told: Told) -> list[Order]:
        """Go on by one period: mission, state machines, feed-forward; returns what latches shall do now."""
        self._see(told)
        orders = self._lose(told)
        orders += self.mission.advance(self, told)
        for name, machine in self.machines.items():
            if machine.state in (State.APART, State.JOINED):
                continue
            pose = self._pose(self.joints[name], told)
            orders += self._obey(name, machine.update(told.t, self._dt, pose), told)
            self._guide(name, told)
        self._note(told.t)
        for structure in self.structures:
            self._compensate(structure, told)
        return orders

    def _see(self, told: Told) -> None:
        """Take where modules are at an instant, once."""
        if told.t == self._seen_at:
            return
        self._seen_at, self._rows = told.t, np.array(told.nominal)
        self._guidance.put_rows(told.t, told.nominal, self._rows)
        self._own_poses.update(told.estimates, self._rows)
        turns = self._steering(self.structures, told.estimates, self._rows)
        self._guidance.turns_S[:] = turns
        self._leaders.update(self.joints, told.estimates, told.shared, self._rows)

    def put_rows(self, t: float, nominal: Array, out: Array) -> None:
        """Write the references (n, 19+) of all modules at a time [s]; `nominal` (n, 19+) are their own."""
        self._guidance.put_rows(t, nominal, out)

    def _lose(self, told: Told) -> list[Order]:
        """Let neighbours lead in place of modules that are lost, and end what these were docking."""
        orders: list[Order] = []
        for module in self.lost.update(told.t, told.heard.tolist()):
            self.structures = self._structures()
            self._assign_roles()
            structure = self._structure_of(module)
            leader, name = structure.leader, self._names[module]
            if self._guidance.anchor_of(module) == module != leader:
                self._guidance.hand_over(structure, self._rows[leader], told.nominal[leader])
            self.losses.append(Loss(told.t, name, self._names[leader]))
            for joint in self._docking(module):
                orders += self.abort(joint, told, f"joint '{joint}': '{name}' is lost")
            self._bear(told)
        return orders

    def _bear(self, told: Told) -> None:
        """Let those that are joined to modules whose motors have stopped carry these."""
        for module in self.lost.stopped(told.t):
            structure = self._structure_of(module)
            weight_W = np.array([0.0, 0.0, -self._weights[module]])
            back = so3.conjugate(told.estimates[structure.leader, Q])
            weight_S = so3.rotate(back, weight_W)
            self.feed_forward.bear(structure, module, weight_S)

    def _docking(self, module: int) -> list[str]:
        """Joints by which a module is about to dock."""
        own = (n for n, joint in self.joints.items() if module in joint.modules)
        return [n for n in own if self.machines[n].is_docking]

    @property
    def failure(self) -> str | None:
        """Why a docking has failed, a sentence; None where none has."""
        return next((m.failure for m in self.machines.values() if m.failure is not None), None)

    @property
    def _held(self) -> dict[str, Joint]:
        """The joints that hold."""
        return {n: self.joints[n] for n, m in self.machines.items() if m.holds}

    def _obey(self, name: str, latching: Latching | None, told: Told) -> list[Order]:
        """Structures, references and roles after a latch has acted, and the order to it."""
        if latching is None:
            return []
        joint = self.joints[name]
        if latching == Latching.CATCH:
            self._merge(joint)
        elif latching == Latching.RELEASE:
            self._split(joint, told)
        return [Order(name, latching)]

    def _merge(self, joint: Joint) -> None:
        """One structure of two, which follows the reference of the one that was docked onto."""
        anchor = self._guidance.anchor_of(joint.a)
        self._guidance.let_go(joint.b)
        self.structures = self._structures()
        self._guidance.anchor(self._structure_of(joint.a), anchor)
        self._assign_roles()

    def _split(self, joint: Joint, told: Told) -> None:
        """Two structures of one: each stays where its anchor thinks it is; single modules get their integral back."""
        self.structures = self._structures()
        for module in joint.modules:
            structure = self._structure_of(module)
            anchor = self._guidance.anchor_of(module)
            if anchor not in structure.modules:
                anchor = structure.leader
            self._guidance.anchor(structure, anchor)
            self._stay(anchor, told)
            if len(structure.modules) == 1:
                self.feed_forward.put(module, np.zeros(6))
        self._bear(told)
        self._assign_roles()

    def _guide(self, name: str, told: Told) -> None:
        """Let the follower go on to the machine's setpoint; where that has ended, stay."""
        joint, machine = self.joints[name], self.machines[name]
        if not machine.guides:
            if machine.state == State.APART:
                self._stay(joint.b, told)
            return
        leader_W = self._rows[joint.a, REF_P] + self._leaders.of(name)
        q_WL = self._rows[joint.a, REF_Q]
        anchor = self._guidance.anchor_of(joint.b)
        self._guidance.go(anchor, told.t, leader_W, q_WL, machine.setpoint)

    def _stay(self, module: int, told: Told) -> None:
        """Let a module's structure stay where its anchor thinks that it is."""
        anchor = self._guidance.anchor_of(module)
        pose_W = self._own_poses.of(anchor, self._rows[anchor])
        self._guidance.stay(anchor, pose_W, told.nominal[anchor])

    def _compensate(self, structure: Structure, told: Told) -> None:
        """Let the feed-forward of a structure go on.

        Not where it stands on something or is not known to be free, nor where it carries a module: rotors near their
        limits do not give what is asked of them, and what they lack would add up.
        """
        if not set(structure.modules).isdisjoint(self.lost.stopped(told.t)):
            return
        felt = told.external_P[list(structure.modules), :3].mean(axis=0)
        if not np.linalg.norm(felt) <= self.spec.standing:
            return
        if self.spec.wind_time > 0.0 and self.spec.compensation == "default":
            self._push_against(structure, felt, told)
        if len(structure.modules) == 1:
            return
        desired = np.array([self.spec.joints[name].desired for name in structure.joints])
        if self.spec.wrench_source == "joint":
            none = np.zeros(6)  # what a joint has measured whose latch has caught just now
            measured = np.array([told.joint_S.get(name, none) for name in structure.joints])
            self.feed_forward.update_measured(structure, measured, desired)
        else:
            self.feed_forward.update(structure, told.external_P, desired)

    def _push_against(self, structure: Structure, felt_P: Array, told: Told) -> None:
        """Let a structure push against the level part of a force (3,) that all feel, but not what it docks to."""
        if any(self._docking(module) for module in structure.modules):
            return
        q_WP = told.estimates[structure.leader, Q]
        wind_P = so3.rotate(so3.conjugate(q_WP), so3.rotate(q_WP, felt_P) * [1.0, 1.0, 0.0])
        self.feed_forward.push_against(
            structure, wind_P, self._dt / (self._dt + self.spec.wind_time)
        )

    def _assign_roles(self) -> None:
        for structure in self.structures:
            for module in structure.modules:
                leads = module == structure.leader
                self.roles[module] = Role.LEADER if leads else Role.FOLLOWER
            if len(structure.modules) == 1:
                self.roles[structure.leader] = Role.SEPARATED

    def _note(self, t: float) -> None:
        """Remember states that are new."""
        for name, machine in self.machines.items():
            if machine.state != self._seen[name]:
                self._seen[name] = machine.state
                self.events.append(Event(t, name, machine.state))

    def _structures(self) -> list[Structure]:
        return structures(self._held, range(len(self._names)), self.lost.modules)

    def _structure_of(self, module: int) -> Structure:
        return next(each for each in self.structures if module in each.modules)

    def _pose(self, joint: Joint, told: Told) -> RelativePose:
        return RelativePose.of(told.shared[joint.a], told.shared[joint.b])

    def _machine(self, name: str, spec: JointSpec) -> JointMachine:
        settings = (np.array(FACES[spec.face]), self.spec.size, self.spec.machine)
        return JointMachine(name, *settings, joined=spec.joined)

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
