# SPDX-License-Identifier: BSD-3-Clause
"""Control periods that a paused simulation is asked to fly, one request at a time."""

import time
from collections.abc import Callable

from iap_io.ros.late_answer import LateAnswer
from iap_io.ros.node import SuiteNode
from iap_msgs.srv import Step

Done = Callable[
    [str, bool], None
]  # called at the end, with what came of it and whether all were flown


class StepRequests:
    """One request at a time; another one is refused until it is done.

    Args:
        obstacle: says why no step can be flown now; empty: it can.
        begin: called when there are steps to fly.

    Attributes:
        left: control periods that are to be flown yet.
    """

    def __init__(self, obstacle: Callable[[], str], begin: Callable[[], None]) -> None:
        self._obstacle, self._begin, self.left = obstacle, begin, 0
        self._done: Done = lambda _message, _success: None
        self._each: Callable[[], None] = lambda: None
        self._went_on = 0.0  # when the request, or the newest of its steps, came [s of wall time]

    def waited(self) -> float:
        """Time for which the next step has waited [s of wall time]; 0 where none is left."""
        return time.monotonic() - self._went_on if self.left else 0.0

    def start(self, steps: int, done: Done, each: Callable[[], None] = lambda: None) -> str:
        """Begin to fly steps.

        Args:
            steps: their number.
            done: called at the end.
            each: called after each step but the last.

        Returns:
            Why none is flown; empty where they are.
        """
        reason = self._refusal(steps)
        if not reason:
            self.left, self._done, self._each = steps, done, each
            self._went_on = time.monotonic()
            self._begin()
        return reason

    def flown(self, t: float) -> None:
        """A control period was flown, up to time `t` [s]."""
        if self.left:
            self.left, self._went_on = self.left - 1, time.monotonic()
            if not self.left:
                self._done(f"t = {t:.3f} s", True)
            else:
                self._each()

    def end(self, reason: str) -> None:
        """Give up the steps that are left."""
        if self.left:
            left, self.left = self.left, 0
            self._done(f"{reason} with {left} steps to go", False)

    def _refusal(self, steps: int) -> str:
        if self.left:
            return f"stepping already, with {self.left} steps to go"
        return self._obstacle() or ("" if steps else "no steps asked for")


class StepService:
    """The service `step`, which answers once its steps are flown."""

    def __init__(self, node: SuiteNode, steps: StepRequests) -> None:
        self._steps, self._response = steps, Step.Response()
        self._answer = LateAnswer(node.create_service(Step, "step", self._on_step))

    def _on_step(self, request: Step.Request, response: Step.Response) -> Step.Response:
        if not self._steps.left:
            self._response = self._answer.keep(response)
        reason = self._steps.start(request.steps, self._finish)
        if reason:
            response.success, response.message = False, reason
            if response is self._response:
                self._answer.give()
        return response

    def _finish(self, message: str, success: bool) -> None:  # noqa: FBT001 - see `Done`
        self._response.success, self._response.message = success, message
        self._answer.give()
