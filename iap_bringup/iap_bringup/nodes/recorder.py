# SPDX-License-Identifier: BSD-3-Clause
"""Records a flight of the nodes into the same run folder as `iap run`, and judges it.

The folder ends with the references, with a crash, or at Ctrl-C; a reset of the simulation begins a
new one.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_srvs.srv import SetBool

from iap_bringup.drawing.plots import write_plots
from iap_bringup.live_run import LiveRun
from iap_bringup.nodes.flight_parameters import resolved_scenario
from iap_bringup.records.recorder import RecordingFailed
from iap_bringup.records.run_meta import COMPLETED
from iap_bringup.records.runfolder import create_run_folder, load_run
from iap_bringup.run import Flight
from iap_control.controller import Reference
from iap_description.errors import BadInput, IapError
from iap_description.ros_node import EXIT_DONE, EXIT_FAILED, SuiteNode, run
from iap_description.states import REF_FIXED, Command, Level
from iap_description.wire import CommandMessage, Inlet, Message, ReferenceMessage, StateMessage
from iap_msgs.msg import PlatformCommand, PlatformReference, PlatformState

EVERY = QoSProfile(depth=2000, reliability=ReliabilityPolicy.RELIABLE)  # while a chunk is written


class RecorderNode(SuiteNode):
    """One run folder after the other."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("recorder", namespace=namespace)
        scenario, self._config = resolved_scenario(self)
        self._flight = Flight.of(scenario)
        what = "Run folder to make; empty: the next free runs/SCENARIO-001."
        self._out = self.parameter("out", "", what)
        self._plot = self.parameter("plot", True, "Whether to draw the plots at the end.")
        what = "Whether to end the pause of a physics_node with start_paused, once all states are heard."
        self._heard: set[int] | None = set() if self.parameter("end_pause", False, what) else None
        self._pause = self.create_client(SetBool, "/pause")
        self._runs = [self._new_run()]
        for number, pilot in enumerate(self._flight.pilots):
            self._listen(number, pilot.name, pilot.airframe.model.count)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)

    def _new_run(self) -> LiveRun:
        out = Path(self._out) if self._out else None
        if out is not None and hasattr(self, "_runs"):  # a reset: NAME, NAME-2, NAME-3, ...
            out = out.with_name(f"{out.name}-{len(self._runs) + 1}")
        folder = create_run_folder(out, self._flight.scenario.scenario)
        self.get_logger().info(f"recording into {folder}")
        return LiveRun(self._flight, self._config, folder)

    def _listen(self, number: int, name: str, count: int) -> None:
        for kind, message, topic, take in (
            (PlatformState, StateMessage, "state", self._take_state),
            (PlatformReference, ReferenceMessage, "reference", self._take_reference),
            (PlatformCommand, CommandMessage, "command", self._take_command),
        ):
            callback = partial(self._on_message, Inlet(message), partial(take, number, count))
            self.create_subscription(kind, f"/{name}/{topic}", callback, EVERY, raw=True)

    def _on_message(self, inlet: Inlet, take: Callable[[Message], None], data: bytes) -> None:
        try:
            take(inlet.read(data))
        except BadInput as error:
            self.get_logger().warning(str(error), throttle_duration_sec=2.0)
        except RecordingFailed as error:
            self.get_logger().error(str(error))
            self._runs[-1].outcome = "recording_failed"
        self._end_if_over()

    def _take_state(self, number: int, _: int, state: StateMessage) -> None:
        if self._runs[-1].logbook.is_reset(number, state.stamp):
            self._close_bag()
            self._runs.append(self._new_run())
        if self._heard is not None:
            self._end_pause(number)
        logbook = self._runs[-1].logbook
        logbook.take_state(number, state.stamp, state.sequence, state.rows, state.rpm)

    def _end_pause(self, number: int) -> None:
        """Let time go once every vehicle's state was heard; a state that stands comes again and again."""
        self._heard = {*(self._heard or ()), number}
        if len(self._heard) == len(self._flight.pilots) and self._pause.service_is_ready():
            self._pause.call_async(SetBool.Request(data=False))
            self._heard = None

    def _take_reference(self, number: int, count: int, message: ReferenceMessage) -> None:
        reference = Reference(
            np.empty(REF_FIXED + count), Level(message.level), message.wrench_P.copy()
        )
        message.get_row(reference.row)
        self._runs[-1].logbook.take_reference(number, message.stamp, reference)

    def _take_command(self, number: int, count: int, message: CommandMessage) -> None:
        command = Command.zeros(count)
        message.get(command)
        self._runs[-1].logbook.take_command(number, message.stamp, command)

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        live = self._runs[-1]
        for status in array.status:
            values = {pair.key: pair.value for pair in status.values}
            if "control_step_us" in values:
                live.control_step_us = float(values["control_step_us"])
            if "collisions" in values:
                live.collisions = json.loads(values["collisions"])
                live.outcome = live.outcome or values["outcome"] or None
        self._end_if_over()

    def _end_if_over(self) -> None:
        outcome = self._runs[-1].outcome
        if outcome is not None and self.exit_code is None:
            self.exit_code = EXIT_DONE if outcome == COMPLETED else EXIT_FAILED

    def _close_bag(self) -> None:
        try:
            self._runs[-1].close()
        except RecordingFailed as error:
            self.get_logger().error(str(error))

    def close(self) -> None:
        """Complete the bag, then judge and draw every run of this process."""
        self._close_bag()
        for live in self._runs:
            try:
                metrics = live.judge()
                if self._plot:
                    write_plots(live.folder / "plots", load_run(live.folder), metrics)
            except IapError as error:
                self.get_logger().error(str(error))
            else:
                self.get_logger().info(f"{live.folder}: {metrics['outcome']}")


def main() -> int:
    """Run the node."""
    return run("recorder", lambda: [RecorderNode()])


if __name__ == "__main__":
    sys.exit(main())
