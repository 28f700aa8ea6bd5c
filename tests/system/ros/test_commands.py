# SPDX-License-Identifier: BSD-3-Clause
"""Commands that stay away, that are no numbers, or that answer to nobody's state."""

import signal
import subprocess
import time
from collections import defaultdict

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from hang import HANG

from iap_bringup.experiments.nodes.processes import executable
from iap_bringup.launching.node_parameters import controller_parameters
from iap_description.states import REF_P, REF_Q, Command, Mode
from iap_io.ros.node import EVERY, LATEST
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, StateMessage
from iap_msgs.msg import AircraftCommand, PlatformCommand, PlatformState
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.vehicles.vehicle import Vehicle

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
CLOSED_FORM = {"assignments": ["engine.name=closed_form"]}
SIMULATION, IAP = "physics_node: simulation", "physics_node: iap"
PERIOD = 5_000_000  # [ns]


class Commander:
    """Answers states by hand, with the command of a scenario's own controller."""

    def __init__(self, probe, scenario) -> None:
        self._pilot = Vehicle.of(scenario, scenario.vehicles[0])
        self._probe = probe
        self.publisher = probe.node.create_publisher(PlatformCommand, "/iap/command", LATEST)

    def command(self, stamp: int):
        row = self._probe.states["iap"][stamp][0]
        return self._pilot.controller(row, self._pilot.reference(stamp // PERIOD))

    def send(self, command, stamp: int) -> None:
        message = CommandMessage.of(len(command.thrust))
        message.put_head(stamp, stamp // PERIOD)
        message.put(command)
        self.publisher.publish(message.dump())

    def is_heard(self) -> bool:
        return self.publisher.get_subscription_count() > 0


@pytest.fixture
def commander(start):
    """A plant in lockstep that has had no command yet."""
    nodes, probe = start
    scenario, _ = resolve("hover", Options(assignments=("engine.name=closed_form",)))
    probe.hear_states("iap")
    nodes.start("physics_node", {**CLOSED_FORM, "pace": "lockstep"})
    commander = Commander(probe, scenario)
    probe.wait_for_state("iap", 0.0)
    probe.wait(commander.is_heard, "subscription to commands")
    return probe, commander


def test_lockstep_waits_names_what_is_missing_and_takes_nothing_but_numbers(commander):
    probe, by_hand = commander
    missing = "waiting for /iap/command stamped 0.000 s"
    probe.wait(lambda: probe.says(SIMULATION, missing), missing)
    assert probe.statuses[SIMULATION][0] == b"\x01"

    spoilt = by_hand.command(0)
    spoilt.thrust[1] = np.nan
    by_hand.send(spoilt, 0)
    probe.wait(lambda: probe.says(IAP, "/iap/command: aircraft[1].thrust is nan"), "refusal")
    by_hand.send(by_hand.command(0), 10 * PERIOD)
    probe.wait(lambda: probe.value(IAP, "rejected") == 2.0, "refusal of a command from the future")
    assert probe.stays(lambda: probe.newest["iap"] == 0)

    by_hand.send(by_hand.command(0), 0)
    probe.wait_for_state("iap", 0.005)
    probe.wait(lambda: probe.says(SIMULATION, "stamped 0.005 s"), "the next missing command")
    assert np.isfinite(probe.states["iap"][PERIOD]).all()


def test_a_state_whose_answer_is_lost_comes_again_within_milliseconds(commander):
    """Sent again after 5 ms, 10 ms, 20 ms and so on: four times until a tenth of a second has passed.

    A busy machine may need more for one state or another: for one of them it has the time.
    """
    probe, by_hand = commander
    arrived = defaultdict(list)

    def take(data):
        arrived[MessageReader(StateMessage).read(data).stamp].append(time.monotonic())

    probe.node.create_subscription(PlatformState, "/iap/state", take, EVERY, raw=True)
    stamp = 0

    def comes_again_soon():
        nonlocal stamp
        copies = arrived[stamp]
        if len(copies) < 4:
            return False
        if copies[3] - copies[0] < 0.2:
            return True
        by_hand.send(by_hand.command(stamp), stamp)
        stamp += PERIOD
        probe.wait_for_state("iap", 1e-9 * stamp)
        return False

    probe.wait(comes_again_soon, "four copies within a fifth of a second")
    probe.wait(lambda: len(arrived[stamp]) >= 8, "copies until it is answered")


@pytest.mark.parametrize(("count", "mode", "reason"), [(2, 1, "for 2 aircraft"), (3, 9, "mode 9")])
def test_a_command_for_another_platform_or_of_no_known_mode_is_refused(
    commander, count, mode, reason
):
    probe, by_hand = commander
    command = by_hand.command(0)
    message = PlatformCommand(mode=mode)
    message.header.frame_id = "map"
    message.aircraft = [AircraftCommand() for _ in range(count)]
    by_hand.publisher.publish(message)
    probe.wait(lambda: probe.says(IAP, reason), reason)
    by_hand.send(command, 0)
    probe.wait_for_state("iap", 0.005)


@pytest.mark.parametrize("topic", ["command/wrench", "command"])
def test_a_platform_wrench_is_allocated_by_the_controller(start, topic):
    """It comes on its own topic, or for now on that of commands, whence physics_node hands it on."""
    nodes, probe = start
    scenario, _ = resolve("hover", Options(assignments=("engine.name=closed_form",)))
    mass = Vehicle.of(scenario, scenario.vehicles[0]).model.inertia.mass
    probe.hear_states("iap")
    nodes.start("physics_node", {**CLOSED_FORM, "pace": "lockstep"})
    nodes.start("controller_node", controller_parameters(scenario, scenario.vehicles[0]))
    publisher = probe.node.create_publisher(PlatformCommand, f"/iap/{topic}", LATEST)
    probe.wait_for_state("iap", 0.0)
    probe.wait(lambda: probe.node.count_subscribers("/iap/command/wrench"), "the controller")
    probe.wait(publisher.get_subscription_count, "subscription to wrenches")
    message, order = CommandMessage.of(3), Command.zeros(3, Mode.WRENCH)
    order.wrench_P[2] = mass * (9.81 + 1.0)
    message.put(order)

    def has_risen() -> bool:
        stamp = probe.newest["iap"]
        message.put_head(stamp, stamp // PERIOD)
        publisher.publish(message.dump())
        return stamp >= 200 * PERIOD

    probe.wait(has_risen, "a second of wrenches")
    base = probe.states["iap"][200 * PERIOD][0]
    assert 0.9 < base[9] < 1.0  # m/s after 1 s at 1 m/s^2, less what the rotors take to follow
    text = nodes.log("physics_node").read_text()
    assert ("/iap/command/wrench" in text) == (topic == "command")


def test_the_plant_s_own_node_takes_values_and_names_who_takes_scenarios():
    node = executable("physics_node", "iap_physics")
    command = [str(node), "--ros-args", "-p", "scenario:=hover"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=HANG)
    assert ended.returncode == 2
    assert "parameter scenario" in ended.stderr and "'plant'" in ended.stderr
    assert "ros2 run iap_bringup physics_node" in ended.stderr
    ended = subprocess.run(command[:1], capture_output=True, text=True, timeout=HANG)
    assert ended.returncode == 2 and "parameter plant: missing" in ended.stderr


def test_without_commands_the_platform_levels_out_and_holds_until_they_return(start):
    nodes, probe = start
    scenario, _ = resolve("three_star_spiral", Options())
    parameters = {"scenario": "three_star_spiral"}
    probe.hear_states("iap")
    nodes.start_flight(scenario, parameters, pace="realtime")
    probe.wait_for_state("iap", 4.5)  # under way at 1 m/s
    controller = nodes.processes["iap.controller_node"]
    controller.send_signal(signal.SIGSTOP)
    try:
        probe.wait(lambda: probe.says(IAP, "levels out and holds"), "hold")
        began = probe.newest["iap"]
        probe.wait_for_state("iap", began / 1e9 + 3.0)
    finally:
        controller.send_signal(signal.SIGCONT)
    base = probe.states["iap"][probe.newest["iap"]][0]
    start_of_hold = probe.states["iap"][began][0]
    assert np.abs(base[REF_P] - start_of_hold[REF_P]).max() < 0.6
    assert np.abs(base[REF_Q][:2]).max() < 0.02
    assert np.abs(base[7:13]).max() < 0.15
    probe.wait(lambda: probe.says(IAP, "commanded"), "commands again")
    assert probe.value(IAP, "holds") >= 1.0  # a busy machine may have begun it before
    assert probe.value(IAP, "lost") > 400.0
    assert probe.says(SIMULATION, "running")
