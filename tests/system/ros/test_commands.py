# SPDX-License-Identifier: BSD-3-Clause
"""Commands that stay away, that are no numbers, or that answer to nobody's state."""

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from iap_description.states import REF_P, REF_Q
from iap_io.ros.node import LATEST
from iap_io.wire.message_views import CommandMessage
from iap_msgs.msg import AircraftCommand, PlatformCommand
from iap_simulation.scenario.scenario import Options, resolve
from iap_simulation.vehicle import Vehicle

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
    probe.wait(lambda: probe.says(IAP, "/iap/command: command: not finite"), "refusal")
    by_hand.send(by_hand.command(0), 10 * PERIOD)
    probe.wait(lambda: probe.value(IAP, "rejected") == 2.0, "refusal of a command from the future")
    assert probe.stays(lambda: probe.newest["iap"] == 0)

    by_hand.send(by_hand.command(0), 0)
    probe.wait_for_state("iap", 0.005)
    probe.wait(lambda: probe.says(SIMULATION, "stamped 0.005 s"), "the next missing command")
    assert np.isfinite(probe.states["iap"][PERIOD]).all()


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


def test_without_commands_the_platform_levels_out_and_holds_until_they_return(start):
    nodes, probe = start
    scenario, _ = resolve("three_star_spiral", Options())
    parameters = {"scenario": "three_star_spiral"}
    probe.hear_states("iap")
    nodes.start_flight(scenario, parameters, pace="realtime")
    probe.wait_for_state("iap", 4.5)  # under way at 1 m/s
    before = probe.value(IAP, "holds")  # a busy machine may have stopped it before
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
    assert probe.value(IAP, "holds") > before
    assert probe.value(IAP, "lost") > 400.0
    assert probe.says(SIMULATION, "running")
