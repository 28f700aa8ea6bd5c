# SPDX-License-Identifier: BSD-3-Clause
"""The viewer of a flight of nodes: it shows what topics say, controls by services, and is silent unless looked at."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy
from probe import start_gathered
from rclpy.qos import qos_profile_sensor_data
from recording_stage import RecordingStage

from iap_bringup.experiments.nodes.processes import executable
from iap_bringup.nodes.topic_flight import TopicFlight
from iap_bringup.viewing.note_layers import DEVIATIONS
from iap_bringup.viewing.scene import FlightScene
from iap_description.states import P
from iap_io.ros.node import SuiteNode
from iap_io.ros.process import make_executor
from iap_io.runs.topics import ESTIMATED
from iap_msgs.msg import PlatformReference, PlatformState
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import resolved

pytestmark = [pytest.mark.ros, pytest.mark.nodes]
SPACE, BODY = "/sim_1", "world/bodies/iap/base_link"
PERIOD = 0.005
WEAK = {"at": 0.5, "aircraft": 1, "rotor": 2, "thrust": 0.95}
CLOSED = {"engine.name": "closed_form", "faults": [WEAK]}


class Onlooker:
    """A viewer without pages, in this process.

    Attributes:
        is_watched: whether somebody looks.
    """

    def __init__(self, domain, scenario):
        rclpy.init(domain_id=domain)
        self.node = SuiteNode("web_view", namespace=SPACE)
        self.flight = TopicFlight(self.node, Flight.of(scenario))
        rig, meta, couplings = self.flight.rig, self.flight.meta, self.flight.couplings
        self.stage, self.scene = RecordingStage(), FlightScene(rig, meta, couplings=couplings)
        self.scene.add(self.stage)
        self.is_watched = True
        self._executor = make_executor()
        self._executor.add_node(self.node)

    def look(self):
        """Go on for a moment; returns the step that the stage shows, if there is one."""
        self._executor.spin_once(timeout_sec=0.01)
        self.flight.work(is_watched=self.is_watched)
        steps = self.flight.steps()
        if steps:
            self.scene.update(self.stage, steps, self.flight.notes())
        return steps[0] if steps else None

    def close(self):
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown()


@pytest.fixture
def onlooker(start):
    """A viewer, and a platform that hovers in a namespace, with nobody who publishes references."""
    nodes, probe = start
    faults = "faults=[{at: 0.5, aircraft: 1, rotor: 2, thrust: 0.95}]"
    settings = {"scenario": "hover", "assignments": ["engine.name=closed_form", faults]}
    nodes.start("controller_node", namespace=f"{SPACE}/iap")
    nodes.start("physics_node", {**settings, "pace": "realtime"}, namespace=SPACE)
    probe.hear_states(f"{SPACE[1:]}/iap")
    made = Onlooker(int(nodes.environment["ROS_DOMAIN_ID"]), resolved("hover", CLOSED, {})[0])
    try:
        yield made, probe
    finally:
        made.close()


@pytest.mark.slow
def test_a_flight_of_nodes_is_shown_and_controlled_in_its_namespace(onlooker):
    viewer, probe = onlooker
    states = probe.states[f"{SPACE[1:]}/iap"]
    control, hand = viewer.flight.control, viewer.flight.hand

    def is_shown():
        step = viewer.look()
        return step is not None and round(step.t * 1e9) in states

    probe.wait(is_shown, "the first instant")
    step = viewer.flight.steps()[0]
    row = states[round(step.t * 1e9)][0]
    assert viewer.stage.poses[BODY] == pytest.approx(row[:7])

    # keys: the reference rises, and the platform after it
    probe.wait(lambda: viewer.look() and not hand.hindrance(0), "the controller")
    began, low = viewer.flight.steps()[0], viewer.stage.poses["world/references/iap"][2]

    def has_risen():
        hand.fly(0, np.array([0.0, 0.0, 0.8, 0.0]))
        step = viewer.look()
        return step.reference.row[2] > low + 0.3 and step.x[0, 2] > began.x[0, 2] + 0.2

    probe.wait(has_risen, "the platform's rise")
    assert viewer.stage.poses["world/references/iap"][2] > low + 0.3

    # the handle: the platform comes to where it is put
    goal = np.array([0.3, -0.2, 1.4, 0.0, 0.0, 0.0, 1.0])
    hand.drag(0, goal)
    probe.wait(
        lambda: np.abs(viewer.look().x[0, P] - goal[P]).max() < 0.02, "the platform at the handle"
    )

    (fault,) = viewer.flight.notes().events
    assert fault == (0.5, "iap: rotor 2 of aircraft 1 at 95 % thrust")

    # pause, step, reset
    def stands():
        t = probe.newest[f"{SPACE[1:]}/iap"]
        return probe.stays(lambda: viewer.look() and probe.newest[f"{SPACE[1:]}/iap"] == t)

    probe.hear_diagnostics(SPACE)
    control.is_paused = True
    probe.wait(
        lambda: viewer.look() and probe.says("physics_node: simulation", "paused"), "the pause"
    )
    probe.wait(lambda: viewer.look() and stands(), "the last state before the pause")
    t = viewer.look().t
    assert probe.stays(lambda: viewer.look().t == t)
    control.step()
    probe.wait(lambda: viewer.look().t > t, "a step")
    assert viewer.flight.steps()[0].t == pytest.approx(t + PERIOD)
    control.reset()
    probe.wait(lambda: viewer.look().t == 0.0, "a reset")
    assert viewer.flight.notes().events == []
    control.is_paused = False
    probe.wait(lambda: viewer.look().t > 0.1, "the flight to go on")

    # others' references are not fought against
    others = probe.node.create_publisher(PlatformReference, f"{SPACE}/iap/reference", 1)
    probe.wait(lambda: viewer.look() and hand.hindrance(0), "the others")
    assert "reference:=false" in hand.hindrance(0)
    probe.node.destroy_publisher(others)

    # nobody looks: nothing is listened to; somebody comes back
    topic = f"{SPACE}/iap/state"
    before = probe.node.count_subscribers(topic)
    viewer.is_watched = False
    probe.wait(
        lambda: viewer.look() and probe.node.count_subscribers(topic) == before - 1, "silence"
    )
    viewer.is_watched, t = True, viewer.flight.steps()[0].t
    probe.wait(lambda: viewer.look().t > t + 0.1, "the present")


SMALL = {"width": 160, "height": 120, "fx": 80.0, "fy": 80.0, "cx": 79.5, "cy": 59.5}
SMALL_PAIR = {f"sensors.cameras.{c}.{k}": v for c in ("left", "right") for k, v in SMALL.items()}
VIEWED = {  # sensors, state source, and settings
    "by cameras": ("stereo,depth", "vio", SMALL_PAIR),
    "by motion capture": ("capture,imu,lidar", "capture_inertial", {"recording.euroc": False}),
}


@pytest.mark.slow
@pytest.mark.usefixtures("opengl")
@pytest.mark.parametrize("how", VIEWED)
def test_covariances_of_estimates_and_measured_points_are_shown_in_their_namespace(start, how):
    nodes, probe = start
    sensors, source, settings = VIEWED[how]
    given = {"platform": "f450", "sensors": sensors, "state_source": source}
    given |= {"scene": "textured_walls", "duration": 60.0}
    scenario, _ = resolved("hover", settings, given)
    assignments = [f"{key}={value}" for key, value in settings.items()]
    parameters = {"scenario": "hover", **given, "assignments": assignments}
    viewer = Onlooker(int(nodes.environment["ROS_DOMAIN_ID"]), scenario)
    try:
        estimates = probe.hear(PlatformState, f"{SPACE}/iap/{ESTIMATED}", qos_profile_sensor_data)
        start_gathered(nodes, scenario, parameters, simulation=SPACE, pace="lockstep")
        ball, sizes = "world/covariances/iap/base_link/ball", viewer.stage.sizes
        points = viewer.stage.points

        def is_shown():
            viewer.look()
            return viewer.stage.visible.get(ball) and all(map(len, points.values()))

        probe.wait(is_shown, "a covariance and points")
        deviations = np.asarray(sizes[ball]) / DEVIATIONS
        assert (deviations > 1e-5).all()
        assert (deviations < 0.1).all()
        (cloud,) = points.values()
        assert np.abs(cloud[:, :2]).max() > 1.0

        def stands_on_the_ground():
            """A viewer that is busy loses states, so that some clouds are turned by another instant's attitude."""
            viewer.look()
            (cloud,) = points.values()
            return abs(cloud[:, 2].min()) < 0.1

        probe.wait(stands_on_the_ground, "points on the ground")

        def is_at_an_estimate():
            """A busy machine loses images, so that vision drifts away from the body: its own estimates are compared."""
            viewer.look()
            place = viewer.stage.poses["world/covariances/iap/base_link"][P]
            positions = [message.poses[0].position for message in estimates]
            return any(place == pytest.approx((p.x, p.y, p.z), abs=1e-6) for p in positions)

        probe.wait(is_at_an_estimate, "the ball at an estimate")
        # Estimates begin at the body; at the origin the ball would be 1.3 m below it.
        assert viewer.stage.poses["world/covariances/iap/base_link"][P][2] > 0.5
    finally:
        viewer.close()


@pytest.mark.slow
def test_a_parameter_that_cannot_be_is_refused_in_a_line(refusal):
    web_view = executable("web_view")
    for word, reason in (
        ("allow_contrl:=true", "is allow_control meant?"),
        ("host:=192.0.2.1", "host 192.0.2.1"),
    ):
        line = refusal(web_view, ["--ros-args", "-p", word])
        assert reason in line
