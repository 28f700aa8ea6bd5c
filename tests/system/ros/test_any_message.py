# SPDX-License-Identifier: BSD-3-Clause
"""Whatever anybody publishes, every node goes on, says no NaN, and answers sound messages as if nothing had been.

IAP_FUZZED_MESSAGES=20000 is the nightly size, and IAP_FUZZ_SEED=N makes other messages.
"""

import math
import os
import sys
import time
from collections import Counter
from random import Random

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import rclpy
from mutations import mutated
from node_bench import Bench, odd_field, without_executor
from sound_messages import NODES, Script, begin

from iap_io.ros.node_inputs import MOST_CAUSES, QUIET

pytestmark = [pytest.mark.ros, pytest.mark.slow]
ORDINARY = 1300  # messages
COUNT = int(os.environ.get("IAP_FUZZED_MESSAGES", str(ORDINARY)))
SEED = os.environ.get("IAP_FUZZ_SEED", "")
DURATION = (
    1.0  # of the flight whose messages are sound; longer than jumps that estimators bridge [s]
)
SHARES = {"frontend_node": 0.3}  # of a node's share of the messages: images take most of the time
SILENT = ("recorder", "sensor_player", "web_view")  # whatever they hear


class Pair:
    """A node that hears damaged messages, and where its words follow from what it hears one that never does."""

    def __init__(self, name: str, script: Script) -> None:
        make, has_twin = NODES[name]
        self.disturbed = Bench(make(), script)
        self.calm = Bench(make(), script) if has_twin else None
        self.samples = {}
        for k in (0, 10, 30, 60):
            self.samples |= {t: d for t, d in script(k) if t in self.disturbed.inputs}
        self._last, self.begun_anew = script.instants - 20, 0

    @property
    def both(self) -> list[Bench]:
        return [self.disturbed, *([self.calm] if self.calm else [])]

    def sample(self, topic: str) -> bytes:
        """The sound message of the next instant, or the last one."""
        return self.disturbed.words().get(topic, self.samples[topic])

    def compare(self) -> bool:
        """Let both hear the next instant; whether they say the same."""
        said = [[s for s in each.go_on() if isinstance(s[2], bytes)] for each in self.both]
        check_finite(said[0])
        return all(each == said[0] for each in said)

    def begin_anew(self) -> None:
        self.begun_anew += 1
        for each in self.both:
            each.begin_anew()

    def is_over(self) -> bool:
        return self.disturbed.k >= self._last


def check_finite(said) -> None:
    for topic, kind, content in said:
        assert not odd_field(kind, content), (topic, odd_field(kind, content))


@pytest.fixture(scope="module")
def script():
    return Script(DURATION)


@pytest.fixture(params=NODES)
def pair(request, script, tmp_path, monkeypatch):
    without_executor(monkeypatch)
    begin(request.param, tmp_path)
    try:
        pair = Pair(request.param, script)
        yield pair
        for each in pair.both:
            each.node.close()
            each.node.destroy_node()  # later tests of this process would hear it
    finally:
        rclpy.try_shutdown()


def test_no_message_ends_a_node_or_stays_in_what_it_says(pair, script, capsys):
    tally, bench = Counter(), pair.disturbed
    others = [data for k in (0, 10) for _, data in script(k)]
    types = {
        each.topic_name: f"{each.msg_type.__module__.partition('.')[0]}/msg/{each.msg_type.__name__}"
        for each in bench.node.subscriptions
    }

    def disturb(topic, what, data) -> None:
        before = bench.refused
        bench.hear(topic, data)
        was_refused = bench.refused > before
        check_finite(bench.taken())
        is_same = pair.compare()
        was_refused |= bench.calls_stray(data)
        tally.update(["refused" if was_refused else "taken", what])
        assert bench.node.exit_code is None
        assert is_same or not was_refused, "a refused message changed what is said"
        if not was_refused or pair.is_over():  # what is believed may show later
            pair.begin_anew()
            assert pair.compare(), "after a new beginning the words are others"

    began = time.monotonic()
    share = SHARES.get(bench.node.get_name(), 1.0) if COUNT <= ORDINARY else 1.0
    for seed in range(math.ceil(share * COUNT / len(NODES))):
        rng = Random(f"{bench.node.get_fully_qualified_name()} {SEED}{seed}")
        topic = rng.choice(sorted(pair.samples))
        what, data = mutated(rng, pair.sample(topic), types[topic], others)
        try:
            disturb(topic, what, data)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {topic}, {what}, {data[:2000].hex()}") from error

    lines = len(bench.lines)
    assert all(not each.lines for each in pair.both[1:])
    spans = 1 + (time.monotonic() - began) // QUIET
    assert lines <= (MOST_CAUSES + 1) * len(pair.samples) * spans
    pair.begin_anew()
    said = [bench.go_on() for _ in range(script.instants - 5)]
    assert any(said) or bench.node.get_name() in SILENT
    with capsys.disabled():
        name = bench.node.get_fully_qualified_name()
        counts = ", ".join(f"{n} {what}" for what, n in sorted(tally.items()))
        sys.stdout.write(f"\n{name}: {counts}; {lines} lines in the log\n")


def test_every_input_is_one_that_is_checked(pair):
    """Bytes of which rclpy itself makes a message could end a node before anybody looks at them."""
    for each in pair.disturbed.node.subscriptions:
        assert each.raw or each.topic_name.endswith("/parameter_events"), each.topic_name


def test_nothing_sound_is_refused(pair):
    for each in pair.both:
        for _ in range(40):
            each.go_on()
        assert not each.lines and not each.refused
