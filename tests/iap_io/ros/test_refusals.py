# SPDX-License-Identifier: BSD-3-Clause
"""A refused message is in the log once for its cause, and in the next diagnostics."""

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from iap_io.ros.node_inputs import MOST_CAUSES, QUIET, REMINDER, Refusals

pytestmark = pytest.mark.ros


class Log:
    def __init__(self):
        self.lines, self.t = [], 0.0
        self.refusals = Refusals(self.lines.append, lambda: self.t)


def test_a_cause_that_lasts_is_said_once_and_then_each_minute():
    log = Log()
    for k in range(20 * 130):
        log.t = k / 20
        log.refusals.add("/iap/command", f"aircraft[0].thrust is {k}.5e+10, beyond 1e+06")
    assert log.lines[0] == "/iap/command: aircraft[0].thrust is 0.5e+10, beyond 1e+06"
    assert len(log.lines) == 1 + 130 // int(REMINDER)
    assert log.refusals.count() == 20 * 130


def test_another_cause_another_topic_and_one_that_comes_back_are_said():
    log = Log()
    assert log.refusals.add("/iap/state", "poses[0].position.x is nan")
    assert log.refusals.add("/iap/state", "poses[0].position.y is nan")
    assert log.refusals.add("/iap/command", "mode 9 is none of 0 to 3")
    assert not log.refusals.add("/iap/state", "poses[0].position.x is inf")
    log.t = QUIET + 1.0
    assert log.refusals.add("/iap/state", "poses[0].position.x is nan")


def test_whoever_sends_no_end_of_causes_does_not_fill_the_log():
    log = Log()
    for k in range(1000):
        log.refusals.add("/iap/state", "".join(chr(97 + int(c)) for c in str(k)))
    assert len(log.lines) == MOST_CAUSES + 1


def test_diagnostics_get_the_newest_of_a_vehicle_once():
    log = Log()
    log.refusals.add("/iap_1/command", "first")
    log.refusals.add("/iap_2/command", "second")
    assert log.refusals.newest("/iap_1/") == "/iap_1/command: first"
    assert log.refusals.newest("/iap_1/") == ""
    assert log.refusals.newest() == "/iap_2/command: second"
    assert (log.refusals.count("/iap_1/"), log.refusals.count()) == (1, 2)
