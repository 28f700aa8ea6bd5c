# SPDX-License-Identifier: BSD-3-Clause
"""Plays what a run has recorded (states, sensors) onto its topics in real time, where rosbag2 is not installed.

ros2 run iap_bringup sensor_player --ros-args -p run:=runs/figure_eight-001
"""

import math
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import rclpy
from rclpy.publisher import Publisher
from rosbags.rosbag2 import Reader
from rosgraph_msgs.msg import Clock

from iap_description.errors import BadInput
from iap_io.bags.bag_reading import check_metadata, parsing
from iap_io.ros.conversions import stamp_message
from iap_io.ros.message_classes import message_class
from iap_io.ros.node import EVERY, LATEST, STEADY, SuiteNode
from iap_io.ros.process import EXIT_DONE, program
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.camera_messages import IMAGE
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.sample_views import OdometryMessage
from iap_io.wire.stamps import SECOND

PLAY_PERIOD = 0.005  # that is played at once [s of the recording]
UNTIL_TOLERANCE = SECOND // 2  # before the end, to which estimates must come [ns]
UNTIL_TIMEOUT = 10.0  # without an estimate, after which none is expected [s of wall time]
Played = tuple[int, str, bytes]  # stamp [ns], topic, message


class SensorPlayer(SuiteNode):
    """A recording between a bag and topics; the process ends with it."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("sensor_player", namespace=namespace)
        path = self.parameter("run", "", "Run folder.")
        self._bag = Path(path) / BAG
        if not path or not self._bag.is_dir():
            raise BadInput(f"parameter run: '{path}' is no run folder")
        self._rate = self.parameter("rate", 1.0, "Times real time.", limits=(0.01, 100.0))
        what = "Duration after which it ends [s of the recording]; 0: its own."
        self._duration = self.parameter("duration", 0.0, what, limits=(0.0, 1e6))
        what = "Ends of the names of topics that are left out."
        self._left_out = tuple(filter(None, self.parameter("leave_out", ["true_bias"], what)))
        what = "Seconds of wall time before it begins, for others to find its topics."
        self._wait = self.parameter("wait", 3.0, what, limits=(0.0, 600.0))
        what = "Ends of the names of topics that must have a subscriber before playing starts."
        self._awaited = tuple(filter(None, self.parameter("wait_for", [""], what)))
        self._until = self._declared_until()
        self._publishers_of: dict[str, Publisher] = {}
        # Images fill what a participant has for messages on their way; others would be lost with them.
        self._context_of_images = rclpy.Context()
        rclpy.init(context=self._context_of_images)
        self._images = rclpy.create_node("sensor_player_images", context=self._context_of_images)
        with parsing(self._bag, "recording"):
            check_metadata(self._bag)
            self._reader = Reader(self._bag)
            self._reader.open()
        self._advertise()
        self._clocks = self.create_publisher(Clock, self.absolute("clock"), LATEST)
        self._messages = self._read()
        self._upcoming: Played | None = next(self._messages, None)
        self._first = self._upcoming[0] if self._upcoming else 0
        self._began, self._last = math.inf, self._first
        self.worst = 0.0  # how late anything was played [s]
        self.create_timer(PLAY_PERIOD, self._play, clock=STEADY)

    def _declared_until(self) -> dict[str, int]:
        """Newest stamp [ns] on each topic that is waited for at the end."""
        what = "Topics of Odometry that must come up to the recording's end, or cease, before the node ends."
        names = filter(None, self.parameter("until", [""], what))
        newest = dict.fromkeys(map(self.absolute, names), -1)
        self._estimated = math.inf  # when anything came on them [s of wall time]
        for topic in newest:
            take = partial(self._on_estimate, topic)
            read = MessageReader(OdometryMessage, frames=()).read
            self.inputs.listen(OdometryMessage.TYPE, topic, read, take, EVERY)
        return newest

    def _on_estimate(self, topic: str, estimate: OdometryMessage) -> None:
        self._until[topic], self._estimated = estimate.stamp, time.monotonic()

    def _advertise(self) -> None:
        for each in self._reader.connections:
            if each.topic.endswith(self._left_out):
                continue
            try:
                kind = message_class(each.msgtype)
            except (BadInput, AttributeError):
                self.get_logger().info(f"{each.topic}: {each.msgtype} is not installed")
                continue
            node = self._images if each.msgtype == IMAGE else self
            topic = self.absolute(each.topic)
            self._publishers_of[each.topic] = node.create_publisher(kind, topic, EVERY)

    def _read(self) -> Iterator[Played]:
        connections = [c for c in self._reader.connections if c.topic in self._publishers_of]
        with parsing(self._bag, "recording"):
            for connection, stamp, data in self._reader.messages(connections):
                yield stamp, connection.topic, data

    def _is_subscribed(self) -> bool:
        """True once every topic that is waited for has a subscriber."""
        return all(
            publisher.get_subscription_count()
            for topic, publisher in self._publishers_of.items()
            if topic.endswith(self._awaited)
        )

    def _play(self) -> None:
        if self._began == math.inf and self._is_subscribed():
            self._began = time.monotonic() + self._wait
        now = (time.monotonic() - self._began) * self._rate
        if now < 0.0:
            return
        due = self._first + round(now * SECOND)
        if self._duration:
            due = min(due, self._first + round(self._duration * SECOND))
        stamp = -1
        while self._upcoming is not None and self._upcoming[0] <= due:
            stamp, topic, data = self._upcoming
            publisher = self._publishers_of[topic]
            if publisher.get_subscription_count():
                publisher.publish(data)
            self._upcoming = next(self._messages, None)
        if stamp >= 0:
            self._last = stamp
            self._clocks.publish(Clock(clock=stamp_message(stamp)))
            self.worst = max(self.worst, now - (stamp - self._first) / SECOND)
        is_over = self._duration and now > self._duration + 1.0
        if (self._upcoming is None or is_over) and self._is_estimated():
            self.exit_code = EXIT_DONE

    def _is_estimated(self) -> bool:
        """True once estimates have come up to the end, or come no more."""
        self._estimated = min(self._estimated, time.monotonic())
        behind = {t: s for t, s in self._until.items() if s < self._last - UNTIL_TOLERANCE}
        if behind and time.monotonic() - self._estimated < UNTIL_TIMEOUT:
            return False
        for topic, stamp in behind.items():
            up_to, end = ((each - self._first) / SECOND for each in (stamp, self._last))
            self.get_logger().warning(
                f"{topic}: estimated up to {max(up_to, 0.0):.1f} of {end:.1f} s"
            )
        return True

    def close(self) -> None:
        """Close the bag."""
        self.get_logger().info(f"played; at most {1e3 * self.worst:.0f} ms late")
        self._reader.close()
        self._images.destroy_node()
        rclpy.shutdown(context=self._context_of_images)


main = program("sensor_player", SensorPlayer)

if __name__ == "__main__":
    sys.exit(main())
