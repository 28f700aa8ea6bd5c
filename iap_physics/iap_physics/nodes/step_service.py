# SPDX-License-Identifier: BSD-3-Clause
"""The service `step` of physics_node: control periods of a paused simulation, answered once they are flown."""

from collections.abc import Callable

from iap_io.ros.late_answer import LateAnswer
from iap_io.ros.node import SuiteNode
from iap_msgs.srv import Step


class StepService:
    """One request at a time; another one is refused until it is answered.

    Args:
        node: that serves.
        obstacle: says why no step can be flown now; empty: it can.
        begin: called when there are steps to fly.

    Attributes:
        left: control periods that are to be flown yet.
    """

    def __init__(
        self, node: SuiteNode, obstacle: Callable[[], str], begin: Callable[[], None]
    ) -> None:
        self._obstacle, self._begin, self.left = obstacle, begin, 0
        self._response = Step.Response()
        self._answer = LateAnswer(node.create_service(Step, "step", self._on_step))

    def flown(self, t: float) -> None:
        """A control period was flown, up to time `t` [s]."""
        if self.left:
            self.left -= 1
            if not self.left:
                self._finish(f"t = {t:.3f} s", success=True)

    def end(self, reason: str) -> None:
        """Give up the steps that are left."""
        if self.left:
            self._finish(f"{reason} with {self.left} steps to go", success=False)

    def _finish(self, message: str, *, success: bool) -> None:
        self.left = 0
        self._response.success, self._response.message = success, message
        self._answer.give()

    def _on_step(self, request: Step.Request, response: Step.Response) -> Step.Response:
        reason = self._refusal(request.steps)
        if reason:
            response.success, response.message = False, reason
            return response
        self.left, self._response = request.steps, self._answer.keep(response)
        self._begin()
        return response

    def _refusal(self, steps: int) -> str:
        if self.left:
            return f"stepping already, with {self.left} steps to go"
        return self._obstacle() or ("" if steps else "no steps asked for")
