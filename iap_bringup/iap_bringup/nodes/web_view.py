# SPDX-License-Identifier: BSD-3-Clause
"""Shows a flight of nodes in a browser by their topics, and controls it by services and simple references.

ros2 run iap_bringup web_view --ros-args -p scenario:=figure_eight -r __ns:=/sim_1
"""

import sys
from contextlib import ExitStack
from functools import partial

from diagnostic_msgs.msg import DiagnosticStatus

from iap_bringup.nodes.scenario_node import resolved_scenario
from iap_bringup.nodes.topic_flight import TopicFlight
from iap_bringup.viewing.live_viewer import LiveViewer
from iap_bringup.viewing.viser_stage import ALONE, FIRST_PORT, LAST_PORT, open_browser, open_server
from iap_io.ros.node import STEADY, Diagnostics, SuiteNode
from iap_io.ros.process import program
from iap_simulation.flights.flight import Flight

PERIOD = 0.05  # between looks at who looks on, and what was ordered [s]


class WebViewNode(SuiteNode):
    """Pages of a flight; the pages of a node that listens to the network only look on unless it is told otherwise."""

    def __init__(self, namespace: str = "") -> None:
        self._pages = ExitStack()
        super().__init__("web_view", namespace=namespace)
        scenario, _ = resolved_scenario(self)
        host = self.parameter("host", ALONE, "Address that pages are served at.")
        port = self.parameter(
            "port", FIRST_PORT, "First port that is tried; 0 takes any.", limits=(0, LAST_PORT)
        )
        what = "Whether pages served to the network may control the flight; others may."
        may_control = self.parameter("allow_control", False, what) or host == ALONE
        opens = self.parameter("open_browser", False, "Whether to open a browser.")
        self.flight = TopicFlight(self, Flight.of(scenario))
        self._server = open_server(host, port, f"{scenario.scenario} {self.simulation}".rstrip())
        viewer = LiveViewer(self._server, self.flight, may_control=may_control)
        self._pages.enter_context(viewer)
        self._timer = self.create_timer(PERIOD, self._work, clock=STEADY)
        self._diagnostics = Diagnostics(self, self._statuses)
        tell = partial(self._tell, host, port, may_control=may_control, opens=opens)
        self._news = [tell]  # once the parameters have been looked at

    def _tell(self, host: str, port: int, *, may_control: bool, opens: bool) -> None:
        """Log where the pages are and what they may do, and open a browser."""
        log, bound_port = self.get_logger(), self._server.get_port()
        if port not in (0, bound_port):
            log.warning(f"port {port} is in use: {bound_port} in its place")
        address = f"http://{host}:{bound_port}"
        log.info(f"pages at {address}")
        if not may_control:
            log.info(f"pages at {host} only look on; allow_control lets them control")
        if opens and not open_browser(address):
            log.warning("no browser found: open the address by hand")

    def _work(self) -> None:
        while self._news:
            self._news.pop()()
        self.flight.work(is_watched=bool(self._server.get_clients()))

    def _statuses(self) -> list[DiagnosticStatus]:
        steps = self.flight.steps()
        values = {"pages": len(self._server.get_clients()), "t": steps[0].t if steps else 0.0}
        return [self.inputs.status("showing", values)]

    def close(self) -> None:
        """End the pages."""
        self._pages.close()

    def destroy_node(self) -> None:
        """Destroy it, and the pages of one that has never run: their threads would outlive it."""
        self.close()
        super().destroy_node()


main = program("web_view", WebViewNode)

if __name__ == "__main__":
    sys.exit(main())
