# SPDX-License-Identifier: BSD-3-Clause
"""A running controller_node and what strangers publish: it says so, and answers the next state."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from geometry_msgs.msg import PoseStamped
from probe import EVERY

from iap_bringup.launching.node_parameters import controller_parameters
from iap_description.vehicles.assembly import Assembly
from iap_io.wire.cdr import in_frame, serialised
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, StateMessage
from iap_io.wire.sample_views import PoseMessage
from iap_msgs.msg import PlatformCommand, PlatformState
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
CONTROLLER = "/iap/controller_node"
PERIOD = 5_000_000  # [ns]


def test_a_running_controller_survives_what_is_no_state_and_no_pose(start):
    nodes, probe = start
    scenario, _ = resolve("hover", Options(assignments=("engine.name=closed_form",)))
    (vehicle,) = scenario.vehicles
    nodes.start("controller_node", controller_parameters(scenario, vehicle))
    states = probe.node.create_publisher(PlatformState, "/iap/state", EVERY)
    poses = probe.node.create_publisher(PoseStamped, "/iap/reference/pose", EVERY)
    commands, reader = {}, MessageReader(CommandMessage)

    def take(data):
        command = reader.read(data)
        commands[command.stamp] = data

    probe.node.create_subscription(PlatformCommand, "/iap/command", take, EVERY, raw=True)
    probe.wait(lambda: states.get_subscription_count() and poses.get_subscription_count(), "it")
    state = StateMessage.of(Assembly.of(vehicle.platform), 12)
    x = np.zeros((4, 13))
    x[:, 6] = 1.0
    pose = PoseMessage._of()
    pose.pose[2], pose.pose[6] = 1.0, 1.0

    def answers(k):
        state.put_rows(x, np.zeros((3, 4)))
        state.put_head(k * PERIOD, k)

        def is_answered():
            poses.publish(pose.dump())
            states.publish(state.dump())
            return k * PERIOD in commands

        probe.wait(is_answered, f"command {k}")

    answers(0)
    damaged = {
        "0 poses and 0 twists": (states, PlatformState()),
        "bytes that are no message": (states, state.dump()[:-9]),
        "header.frame_id 'nonsense'": (poses, serialised(in_frame(PoseMessage.TYPE, "nonsense"))),
        "twists[1].linear.x is 1e+308": (states, None),
    }
    for k, (reason, (publisher, said)) in enumerate(damaged.items()):
        if said is None:
            x[1, 7] = 1e308
            state.put_rows(x, np.zeros((3, 4)))
            said, x[1, 7] = state.dump(), 0.0

        def is_refused(publisher=publisher, said=said, reason=reason):
            publisher.publish(said)
            return probe.says(CONTROLLER, reason)

        probe.wait(is_refused, reason)
        answers(k + 1)
    lines = [
        line for line in nodes.log("controller_node").read_text().splitlines() if "WARN" in line
    ]
    assert len(lines) <= 2 * len(damaged), lines
