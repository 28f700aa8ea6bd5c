# SPDX-License-Identifier: BSD-3-Clause
"""The fail-safe of a controller whose states are estimates: health of the estimators in, words about a loss out."""

from collections.abc import Callable

from iap_control.controllers.estimate_failsafe import EstimateFailsafe, Failsafe
from iap_description.config.plain_yaml import parse_yaml
from iap_description.config.record import validate
from iap_io.ros.node import LATEST, SuiteNode
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.sample_views import HealthMessage
from iap_io.wire.stamps import SECOND


def declared_failsafe(node: SuiteNode) -> EstimateFailsafe | None:
    """The fail-safe that the parameter `failsafe` describes; None where it is empty.

    Raises:
        BadInput: it is none.
    """
    what = "When the estimate that states come from counts as lost, and what then, as YAML; empty: never."
    text, source = node.parameter("failsafe", "", what), "parameter failsafe"
    if not text:
        return None
    return EstimateFailsafe(validate(Failsafe, parse_yaml(text, source=source), source=source))


class EstimateHealthInput:
    """Hands what estimators say of themselves to the fail-safe, and says once when it has acted.

    Args:
        node: of the controller.
        failsafe: of it.
        say: what is to be done besides a line in the log.
    """

    def __init__(
        self, node: SuiteNode, failsafe: EstimateFailsafe, say: Callable[[], None]
    ) -> None:
        self._node, self._failsafe, self._say = node, failsafe, say
        self._text = ""
        what = "Topics on which the estimators that states come from say how well they know them."
        for topic in filter(None, node.parameter("health_topics", [""], what)):
            read = MessageReader(HealthMessage).read
            node.inputs.listen(HealthMessage.TYPE, topic, read, self._take, LATEST)

    def _take(self, message: HealthMessage) -> None:
        self._failsafe.judge(message.stamp / SECOND, message.health)

    def look(self) -> None:
        """Say what has happened since the last look."""
        before, self._text = self._text, self._failsafe.text
        if self._text and before != self._text:
            self._node.get_logger().error(self._text)
            self._say()
