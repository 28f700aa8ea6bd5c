# SPDX-License-Identifier: BSD-3-Clause
"""An arm in flight as nodes: bit for bit as in one process, and by a controller in another process."""

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import TwistStamped
from probe import flown_in_process, fly_recorded
from sensor_msgs.msg import JointState, Joy
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from iap_description.math import so3
from iap_description.states import Mode, P, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.serial_chain import tip_pose
from iap_io.ros.node import EVERY
from iap_io.runs.run_folder import load_run
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
SWING = "arm_hover_swing"
SHORT = ("reference.duration=1.0", "metrics.window=null", "compare={}")
TAKE = (  # above the box from the start: it is taken at 1.0 s, lifted and dropped
    "reference.position=[0.0, 0.0, 1.1297]",
    "reference.moves=[{seconds: 1.2, by: [0.0, 0.0, 0.0], turn_deg: [0.0, 0.0, 0.0]},"
    " {seconds: 0.8, by: [0.0, 0.0, 0.05], turn_deg: [0.0, 0.0, 0.0]}]",
    "reference.ease=0.4",
    "arm.motion.points=[{t: 0.8, q: [0.0, 0.9, 0.6708]}]",
    "gripper.close=1.0",
    "gripper.open=1.6",
    "draw.position=0.0",
    "draw.attitude_deg=0.0",
    "metrics.window=null",
    "compare={}",
)


def flown_both_ways(start, folder, name, assignments):
    """Columns of a flight in one process, after those of the same flight as nodes have been found equal to them."""
    nodes, probe = start
    scenario, tree = resolve(name, Options(assignments=assignments))
    parameters = {"scenario": name, "assignments": list(assignments)}
    fly_recorded(nodes, probe, scenario, parameters, folder / "nodes")
    (folder / "process").mkdir()
    execute(Flight.of(scenario), folder / "process", tree)
    ours, theirs = (load_run(folder / each).vehicles[0].columns for each in ("nodes", "process"))
    np.testing.assert_array_equal(ours.x, theirs.x)
    for each in vars(theirs.arm):
        np.testing.assert_array_equal(getattr(ours.arm, each), getattr(theirs.arm, each))
    return theirs


def test_the_joints_are_those_of_one_process(start, tmp_path):
    columns = flown_both_ways(start, tmp_path, SWING, SHORT)
    assert np.ptp(columns.arm.q[:, 1]) > 0.2


def test_a_plant_identified_from_logs_flies_as_nodes(start, tmp_path):
    columns = flown_both_ways(start, tmp_path, "arm_path", ("duration=4.0", "compare={}"))
    assert (columns.mode == Mode.VELOCITY).all()
    assert np.ptp(columns.x[:, 0, 0]) > 1.0


def test_the_load_is_counted_as_in_one_process_from_the_grip_on(start, tmp_path):
    columns = flown_both_ways(start, tmp_path, "arm_pick", TAKE)
    held = columns.t[columns.arm.load[:, 0] > 0.0]
    np.testing.assert_allclose(held[[0, -1]], [1.005, 1.6], atol=0.006)
    assert np.ptp(columns.arm.load[:, 0]) == pytest.approx(0.2, rel=0.02)


def test_an_answer_to_the_first_state_that_comes_late_moves_nothing(start):
    nodes, probe = start
    scenario, _ = resolve(SWING, Options(assignments=SHORT))
    probe.hear_states("iap")
    parameters = {"scenario": SWING, "assignments": list(SHORT)}
    nodes.start_flight(scenario, parameters, pace="lockstep", start_paused=True)
    probe.meet()
    out = probe.node.create_publisher(JointTrajectory, "/iap/joints/command", 1)
    probe.wait(lambda: out.get_subscription_count() > 0, "physics_node")
    assert probe.step(1).success
    late = JointTrajectoryPoint(positions=[0.0, 1.0, 0.0])
    probe.hand_over(
        out, JointTrajectory(joint_names=["arm_q1", "arm_q2", "arm_q3"], points=[late])
    )
    assert probe.step(3).success
    probe.wait(lambda: 20_000_000 in probe.states["iap"], "the fourth state")
    theirs = flown_in_process(scenario)["iap"]
    np.testing.assert_array_equal(probe.states["iap"][20_000_000], theirs[20_000_000])


def point(t, q, v):
    """A point of a trajectory at a time [s] from its start."""
    later = Duration(sec=int(t), nanosec=round(1e9 * (t - int(t))))
    return JointTrajectoryPoint(positions=q, velocities=v, time_from_start=later)


def test_another_process_moves_the_joints_by_a_trajectory(start):
    """From where they are through two points, names in another order; beyond the elbow's travel it is clipped."""
    nodes, probe = start
    given = (*SHORT, "arm.motion={type: given}")
    scenario, _ = resolve(SWING, Options(assignments=given))
    parameters = {"scenario": SWING, "assignments": list(given)}
    joints = probe.hear(JointState, "/iap/joint_states", EVERY)
    probe.hear_states("iap")
    nodes.start_flight(scenario, parameters, pace="lockstep", start_paused=True)
    probe.meet()
    out = probe.node.create_publisher(JointTrajectory, "/iap/joints/command", 1)
    probe.wait(lambda: out.get_subscription_count() > 0, "physics_node")
    names = ["arm_q3", "arm_q2", "arm_q1"]
    points = [
        point(0.2, [-0.2, 0.3, 0.0], [-0.5, 0.5, 0.0]),
        point(0.5, [-0.3, 0.4, 0.0], [0.0] * 3),
    ]
    assert probe.step(1).success
    probe.hand_over(out, JointTrajectory(joint_names=names, points=points))
    assert probe.step(200).success
    probe.wait(lambda: stamp_of(joints[-1]) >= 1_000_000_000, "joint states")
    last = joints[-1]
    assert list(last.name) == ["arm_q1", "arm_q2", "arm_q3"]
    np.testing.assert_allclose(last.position, [0.0, 0.4, -0.3], atol=0.1)  # servos give way
    assert np.diff([stamp_of(each) for each in joints]).max() <= 10_000_000  # 100 Hz
    assert last.effort[1] < -0.1  # holds the links


def stamp_of(message):
    """Stamp of a message [ns]."""
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


class Pilot:
    """A gamepad's stick, and where the end effector is; it waits for joy_teleop, however slowly that answers."""

    def __init__(self, start):
        nodes, self._probe = start
        given = ("arm.motion.demands=[]",)
        scenario, _ = resolve("arm_teleop", Options(assignments=given))
        parameters = {"scenario": "arm_teleop", "assignments": list(given)}
        self._joints = self._probe.hear(JointState, "/iap/joint_states", EVERY)
        self._twists = self._probe.hear(TwistStamped, "/iap/reference/tip", EVERY)
        self._states = self._probe.states.setdefault("iap", {})
        self._probe.hear_states("iap")
        nodes.start_flight(scenario, parameters, pace="lockstep", start_paused=True)
        self.teleop = nodes.processes[nodes.start("joy_teleop", {"tip": True}, namespace="/iap")]
        self._probe.meet()
        self._out = self._probe.node.create_publisher(Joy, "/iap/joy", 1)
        self._probe.wait(lambda: self._out.get_subscription_count() > 0, "joy_teleop")
        self._chain = Assembly.of(scenario.vehicles[0].platform).arm.chain
        self._stamp = 0

    def deflect(self, deflection):
        """Push the stick forward until joy_teleop asks for what it means."""
        joy = Joy(axes=[0.0, deflection] + [0.0] * 6, buttons=[0] * 4 + [1] + [0] * 7)
        speed = max(0.0, deflection - 0.08) / 0.92
        before = len(self._twists)

        def is_asked():
            self._out.publish(joy)
            newest = self._twists[before:][-1:]
            return newest and abs(newest[0].twist.linear.x - speed) < 1e-6

        self._probe.wait(is_asked, f"a twist of {speed} m/s")

    def fly(self, periods, deflection, answers=True):
        """Fly control periods of the law, each of which begins under a deflection; returns where the tip is then."""
        for _ in range(periods):
            assert self._probe.step(19).success
            if answers:
                self.deflect(deflection)
            assert self._probe.step(1).success
            self._stamp += 100_000_000
        return self.tip()

    def tip(self):
        """Position of the end effector; joint states of the same stamp may be of the rotors."""
        at = {}

        def is_there():
            newest = [each for each in self._joints[-50:] if each.name[0].startswith("arm_")]
            at.update({stamp_of(each): each for each in newest})
            return self._stamp in at and self._stamp in self._states

        self._probe.wait(is_there, "the newest state")
        x, q = self._states[self._stamp][0], np.array(at[self._stamp].position)
        return tip_pose(self._chain, x[P], so3.matrix_from_quaternion(x[Q]), q)[0]

    def largest_step(self):
        """The longest way of the platform between two control instants [m]."""
        rows = np.array([self._states[stamp][0, P] for stamp in sorted(self._states)])
        return np.linalg.norm(np.diff(rows, axis=0), axis=1).max()


def test_a_gamepad_moves_the_end_effector(start):
    """Half of the left stick forward for a second of the simulation: it goes along x by some 0.5 m, stops and stays."""
    pilot = Pilot(start)
    first = pilot.fly(1, 0.0)
    pilot.fly(10, 0.54)
    last = pilot.fly(14, 0.0)
    assert 0.2 < last[0] - first[0] < 0.8
    np.testing.assert_allclose(last[1:], first[1:], atol=0.02)
    np.testing.assert_allclose(pilot.fly(2, 0.0), last, atol=0.02)
    assert pilot.largest_step() < 0.005  # 1 m/s: never elsewhere at once


def test_an_end_effector_stops_where_its_pilot_falls_silent_and_goes_on_smoothly(start):
    """joy_teleop stands still for a second in the middle of a push, and then works off all that has come."""
    pilot = Pilot(start)
    pilot.fly(6, 0.54)
    pilot.teleop.send_signal(signal.SIGSTOP)
    pilot.fly(12, 0.0, answers=False)
    silent = pilot.fly(8, 0.0, answers=False)
    np.testing.assert_allclose(pilot.fly(2, 0.0, answers=False), silent, atol=0.02)
    pilot.teleop.send_signal(signal.SIGCONT)
    on = pilot.fly(8, 0.54)
    assert 0.1 < on[0] - silent[0] < 0.6
    np.testing.assert_allclose(on[1:], silent[1:], atol=0.03)
    assert pilot.largest_step() < 0.005
