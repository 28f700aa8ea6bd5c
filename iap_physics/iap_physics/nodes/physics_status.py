# SPDX-License-Identifier: BSD-3-Clause
"""The status of physics_node: in diagnostics every second, in the log when something changes."""

import json
import time
from collections.abc import Sequence

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.executors import SingleThreadedExecutor

from iap_description.errors import BadInput, FlightFailed
from iap_io.ros.conversions import status_message, warning_or
from iap_io.ros.node import DIAGNOSTIC_TIMEOUT, ERROR, Diagnostics, SuiteNode
from iap_io.ros.statistics import RecentValues
from iap_physics.nodes.metronome import Metronome
from iap_physics.nodes.steps import StepRequests
from iap_physics.session.session import Session

SIMULATION = "simulation"
# missing, what vehicles do without commands, failure, collisions, faults
Reported = tuple[str, tuple[str, ...], FlightFailed | None, int, int]


ALIVE_WITHIN = 4.0  # a simulation is heard of every second [s of wall time]
DISCOVERED_WITHIN = 2.0  # after which a node knows its neighbours [s of wall time]


def refuse_beside_another(node: SuiteNode, discovered: float) -> None:
    """Refuse to fly where another simulation does, both of which would crash.

    A publisher of the clock alone may be a player, or a process that was killed and that the middleware still knows.

    Args:
        node: that would fly.
        discovered: monotonic time by which it knows its neighbours [s].

    Raises:
        BadInput: another simulation's status comes.
    """
    clock = node.resolve_topic_name(node.absolute("clock"))
    while not node.count_publishers(clock):
        if time.monotonic() >= discovered:
            return
        time.sleep(0.02)
    names: set[str] = set()
    topic = node.absolute("diagnostics")
    listener = node.create_subscription(
        DiagnosticArray, topic, lambda array: names.update(each.name for each in array.status), 10
    )
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end, status = time.monotonic() + ALIVE_WITHIN, f"{node.get_name()}: {SIMULATION}"
    while status not in names and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    executor.remove_node(node)
    executor.shutdown()
    node.destroy_subscription(listener)
    if status in names:
        raise BadInput(
            f"{clock} is published by another simulation: end it, or start this one in a namespace"
            " (namespace:=NAME of launch, -r __ns:=/NAME) or another ROS_DOMAIN_ID"
        )


class PhysicsStatus:
    """The report of a session that goes on at a pace, under commands on topics."""

    def __init__(
        self, node: SuiteNode, session: Session, pace: str, topics: Sequence[str]
    ) -> None:
        self._node, self._session, self._pace, self._topics = node, session, pace, topics
        self._quiet: Reported = ("", ("",) * len(topics), None, 0, 0)
        self.metronome: Metronome | None = None
        self.steps: StepRequests | None = None
        self.paused = False
        self._answer_ms, self._step_us = RecentValues(), RecentValues()
        self._published = time.perf_counter()
        self._began = (self._published, session.t)
        self._factor = 0.0
        self._reported = self._quiet
        self._diagnostics = Diagnostics(node, self._statuses)

    def reset(self) -> None:
        """Time jumps back to 0."""
        self._began = (time.perf_counter(), 0.0)
        self._reported = self._quiet
        self._node.get_logger().info("reset: t = 0.000 s")

    def published(self) -> None:
        """The present state was published for the first time."""
        self._published = time.perf_counter()

    def waited(self) -> float:
        """Age of the present state [s of wall time]."""
        return time.perf_counter() - self._published

    def answered(self) -> None:
        """All commands for the present state are there."""
        self._answer_ms.add(1e3 * self.waited())

    def advanced(self, spent: float) -> None:
        """A control period was flown in `spent` [s of wall time]."""
        self._step_us.add(1e6 * spent)
        self.look()

    def look(self) -> None:
        """Report what has changed."""
        session = self._session
        without = tuple(map(session.without_commands, range(len(session.command_buffers))))
        counts = len(session.monitor.collisions), len(session.struck)
        now = (self._missing(), without, session.failure, *counts)
        if now != self._reported:
            self._log(*now)
            self._reported = now
            self._diagnostics.publish()

    def _log(
        self,
        missing: str,
        without: tuple[str, ...],
        failure: FlightFailed | None,
        *_: int,
    ) -> None:
        log, last = self._node.get_logger(), self._reported
        for topic, does, did in zip(self._topics, without, last[1], strict=True):
            if does and does != did:
                log.warning(f"no commands on {topic}: {does}")
            if did and not does:
                log.info(f"commands on {topic} again")
        if missing and missing != last[0]:
            log.warning(missing)
        if failure is not None and failure is not last[2]:
            log.error(str(failure))
        for t, a, b in self._session.monitor.collisions[last[3] :]:
            log.warning(f"{a} and {b} collide at t = {t:.3f} s")
        for text in self._session.struck[last[4] :]:
            log.warning(text)

    def _missing(self) -> str:
        """The messages that time waits for, once it has waited for long."""
        waited = self.waited()
        if self.paused:
            waited = self.steps.waited() if self.steps is not None else 0.0
        if waited < DIAGNOSTIC_TIMEOUT or self._session.is_broken:
            return ""
        topics = self.awaited() if self._pace == "lockstep" or not self._session.has_begun else ""
        return f"waiting for {topics}" if topics else ""

    def awaited(self) -> str:
        """The messages of the present instant that have not come; empty where all have."""
        session = self._session
        buffers = zip(self._topics, session.command_buffers, strict=True)
        topics = [topic for topic, buffer in buffers if buffer.name in session.missing]
        joints = session.joints
        if not topics and joints is not None and joints.newest != session.k:
            topics = [self._node.absolute("joints")]
        return f"{', '.join(topics)} stamped {session.t:.3f} s" if topics else ""

    def _statuses(self) -> list[DiagnosticStatus]:
        vehicles = [self._vehicle(i, topic) for i, topic in enumerate(self._topics)]
        return [
            self._simulation(),
            *vehicles,
        ]  # after the vehicles it tells what was refused besides

    def _simulation(self) -> DiagnosticStatus:
        session, failure = self._session, self._session.failure
        missing = self._missing()
        values = {
            "t": session.t,
            "pace": self._pace,
            "real_time_factor": self._real_time_factor(),
            "missed_deadlines": self.metronome.missed if self.metronome else 0,
            "step_us": self._step_us.percentile(50),
            "answer_ms": self._answer_ms.percentile(50),
            "answer_ms_p99": self._answer_ms.percentile(99),
            "outcome": failure.outcome if failure else "",
            "collisions": json.dumps(session.monitor.collision_records),
            "landings": json.dumps(session.plant.landings),
        }
        doing = "paused" if self.paused else "running"
        level, text = warning_or(doing, missing, self._node.inputs.refusals.newest())
        if failure is not None:
            level, text = ERROR, str(failure)
        return status_message(f"{self._node.get_name()}: {SIMULATION}", level, text, values)

    def _vehicle(self, i: int, topic: str) -> DiagnosticStatus:
        command_buffer, does = self._session.command_buffers[i], self._session.without_commands(i)
        doing = "commanded" if command_buffer.newest >= 0 else "no command yet"
        held = f"no commands on {topic}: {does}" if does else ""
        refusals = self._node.inputs.refusals
        space = self._node.absolute(f"{command_buffer.name}/")
        level, text = warning_or(doing, held, refusals.newest(space))
        name = f"{self._node.get_name()}: {command_buffer.name}"
        values = {
            **vars(command_buffer.counts),
            "rejected": refusals.count(space),
            "holding": command_buffer.is_holding,
        }
        return status_message(name, level, text, values, hardware=command_buffer.name)

    def _real_time_factor(self) -> float:
        """Over the time since it was asked for last, or longer."""
        wall, t = time.perf_counter(), self._session.t
        if wall - self._began[0] > 0.5:
            self._factor = (t - self._began[1]) / (wall - self._began[0])
            self._began = (wall, t)
        return self._factor
