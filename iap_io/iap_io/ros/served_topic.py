# SPDX-License-Identifier: BSD-3-Clause
"""Topics that are published once, and some times more for subscribers that have come since."""

import math
import time
from typing import Any

from rclpy.publisher import Publisher

# Waits between repeats, each twice the one before [s of wall time].
FIRST_REPEAT, LAST_REPEAT = 0.1, 2.0


class ServedTopic:
    """A publisher of what is shown of the present, which subscribers have that come while time stands.

    They have it several times: a publisher knows a subscriber before the subscriber knows the publisher, and what is
    sent between is lost.

    Args:
        publisher: of the topic.
    """

    def __init__(self, publisher: Publisher) -> None:
        self._publisher, self._count = publisher, 0
        self._wait, self._repeat_at = FIRST_REPEAT, math.inf  # monotonic time [s]

    def is_due(self, *, again: bool) -> bool:
        """True if somebody listens who may lack a message; whoever asks publishes it then.

        Args:
            again: it was published before, so that newcomers alone lack it.
        """
        count, now = self._publisher.get_subscription_count(), time.monotonic()
        if count > self._count:
            self._wait, self._repeat_at = FIRST_REPEAT, now
        self._count = count
        if now >= self._repeat_at:
            self._repeat_at = now + self._wait if self._wait <= LAST_REPEAT else math.inf
            self._wait *= 2.0
            return count > 0
        return count > 0 and not again

    def publish(self, message: Any) -> None:  # noqa: ANN401 - of the publisher's type, or its bytes
        """Publish a message."""
        self._publisher.publish(message)
