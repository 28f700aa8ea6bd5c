# SPDX-License-Identifier: BSD-3-Clause
"""Control's nodes alone: a flight's recorded states and wrenches in, its references and commands out, bit for bit."""

from dataclasses import astuple

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from flying import DT, Loop, scenario_of
from geometry_msgs.msg import WrenchStamped
from probe import EVERY
from test_contact_in_lockstep import FLIGHTS

from iap_bringup.launching.node_parameters import OBSERVER, reference_parameters, vehicle_nodes
from iap_description.states import Command
from iap_description.vehicles.assembly import Assembly
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.sample_views import WrenchMessage
from iap_msgs.msg import PlatformCommand, PlatformReference, PlatformState

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]

REPEAT = 200  # turns without an answer after which a state is sent again
PERIOD = round(DT * 1e9)


class Recording:
    """Copy of what a loop's observer gets of its first vehicle."""

    def __init__(self):
        self.states, self.references, self.wrenches, self.commands = [], [], [], []

    def record(self, vehicle, step):
        self.states.append((step.x.copy(), step.rpm.copy()))
        self.references.append(step.reference.row.copy())
        self.wrenches.append(
            None if step.wrench_record is None else step.wrench_record.filtered_P.copy()
        )
        self.commands.append([np.array(part) for part in astuple(step.command)])


def flown(scenario):
    """The recording of a scenario flown in process."""
    loop, recording = Loop.of(scenario), Recording()
    try:
        loop.simulation.begin(observers=[recording])
        loop.simulation.fly()
    finally:
        loop.plant.engine.close()
    return recording


class Player:
    """Sends states and wrenches to the nodes, and keeps what they answer, by stamp [ns]."""

    def __init__(self, probe, vehicle):
        self.probe, create = probe, probe.node.create_publisher
        self.state = StateMessage.of(Assembly.of(vehicle.platform), 4 * vehicle.platform.count)
        self.wrench = WrenchMessage.of("iap/base_link")
        self.states = create(PlatformState, "/iap/state", EVERY)
        self.wrenches = create(WrenchStamped, "/iap/wrench/filtered", EVERY)
        self.count = vehicle.platform.count
        self.commands = self.keep(PlatformCommand, CommandMessage, "command", self.command_of)
        self.references = self.keep(
            PlatformReference, ReferenceMessage, "reference", self.reference_of
        )

    def keep(self, kind, view, topic, values_of):
        """The messages of a topic, in a mapping that grows."""
        kept, reader = {}, MessageReader(view)

        def take(data):
            message = reader.read(data)
            kept[message.stamp] = values_of(message)

        self.probe.node.create_subscription(kind, f"/iap/{topic}", take, EVERY, raw=True)
        return kept

    def command_of(self, message):
        command = Command.zeros(self.count)
        message.get(command)
        return [np.array(part) for part in astuple(command)]

    def reference_of(self, message):
        row = np.zeros(19 + self.count)
        message.get_row(row)
        return row

    def play(self, k, state, wrench_P):
        """Send one instant until its command is there."""
        self.state.put_head(k * PERIOD, k)
        self.state.put_rows(*state)
        turns = 0

        def is_answered():
            nonlocal turns
            if turns % REPEAT == 0:
                if wrench_P is not None:
                    self.wrench.put_wrench(k * PERIOD, wrench_P)
                    self.wrenches.publish(self.wrench.dump())
                self.states.publish(self.state.dump())
            turns += 1
            return k * PERIOD in self.commands and k * PERIOD in self.references

        self.probe.wait(is_answered, f"command on state {k}")


@pytest.mark.parametrize("name", ["admittance", "filtered", "free"])
def test_recorded_states_and_wrenches_give_the_recorded_references_and_commands(start, name):
    nodes, probe = start
    if name == "free":
        scenario = scenario_of("three_star_spiral", duration=2.0)
    else:
        source, assignments, duration = FLIGHTS[name]
        scenario = scenario_of(source, *assignments, engine="pybullet", duration=duration)
    (vehicle,) = scenario.vehicles
    recording = flown(scenario)
    player = Player(probe, vehicle)
    alone = vehicle_nodes(scenario, vehicle)
    alone.pop(OBSERVER, None)
    alone["reference_node"] = reference_parameters(scenario, vehicle)
    for node, parameters in alone.items():
        nodes.start(node, parameters, namespace="/iap", package="iap_control")
    listeners = (player.states.get_subscription_count, player.wrenches.get_subscription_count)
    wanted = (len(alone), sum("wrench_topic" in each for each in alone.values()))
    probe.wait(lambda: tuple(n() for n in listeners) == wanted, "the nodes")
    probe.wait(lambda: probe.node.count_publishers("/iap/command") > 0, "commands")
    for k, state in enumerate(recording.states):
        player.play(k, state, recording.wrenches[k])

    assert set(player.commands) == {k * PERIOD for k in range(len(recording.commands))}
    for k, command in enumerate(recording.commands):
        for got, expected in zip(player.commands[k * PERIOD], command, strict=True):
            np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(player.references[k * PERIOD], recording.references[k])
