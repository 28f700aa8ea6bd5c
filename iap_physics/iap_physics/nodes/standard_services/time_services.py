# SPDX-License-Identifier: BSD-3-Clause
"""The services of simulation_interfaces that control time, and its action, where that package is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle

from iap_io.ros.late_answer import LateAnswer
from iap_io.ros.node import SuiteNode
from iap_physics.nodes.standard_services.results import msg, ok, result, srv
from iap_physics.nodes.steps import StepRequests
from iap_physics.session.placement import obstacle_to_placement, place
from iap_physics.session.session import Session

try:
    from simulation_interfaces.action import SimulateSteps
except ImportError:
    SimulateSteps = None

ALREADY_THERE, TRANSITION_FAILED, WRONG_TRANSITION = 101, 102, 103  # of SetSimulationState
AT_START = 1e-6  # largest difference from the start of what stands there [m, m/s, rad/s]
TIME, STATE, ALL = 1, 2, 255  # scopes of ResetSimulation
FEATURES = (
    *(4, 5, 8),  # ENTITY_TAGS, ENTITY_BOUNDS, ENTITY_CATEGORIES
    *(10, 11, 12, 14),  # ENTITY_STATE_GETTING, _SETTING, ENTITY_INFO_GETTING, SPAWNABLES
    *(
        20,
        21,
        22,
        24,
        25,
        26,
    ),  # SIMULATION_RESET, _TIME, _STATE, SIMULATION_STATE_GETTING, _SETTING, _PAUSE
    *(31, 32, 33, 44),  # STEP_SIMULATION_SINGLE, _MULTIPLE, _ACTION, WORLD_INFO_GETTING
)


class Controls(Protocol):
    """The simulation whose time is controlled."""

    exit_code: int | None

    @property
    def steps(self) -> StepRequests:
        """The control periods that are to be flown while paused."""

    @property
    def is_paused(self) -> bool:
        """True if time stands still."""

    def reset(self) -> None:
        """Begin anew at t = 0."""

    def pause(self, *, paused: bool) -> None:
        """Let time stand still, or go on."""

    def show(self) -> None:
        """Publish the present state."""


class TimeServices:
    """The services and the action that control the time of a session, in the namespace of a node."""

    def __init__(self, node: SuiteNode, session: Session, controls: Controls) -> None:
        self._node, self._session, self._controls = node, session, controls
        self._is_stopped = controls.is_paused
        answers: dict[str, tuple[Any, Callable[..., Any]]] = {
            "get_simulator_features": (srv.GetSimulatorFeatures, self._features),
            "get_simulation_state": (srv.GetSimulationState, self._state),
            "set_simulation_state": (srv.SetSimulationState, self._set_state),
            "reset_simulation": (srv.ResetSimulation, self._reset),
        }
        for name, (kind, answer) in answers.items():
            node.create_service(kind, name, answer)
        step = node.create_service(srv.StepSimulation, "step_simulation", self._step)
        self._answer, self._stepped = LateAnswer(step), srv.StepSimulation.Response()
        self._action = ActionServer(
            node,
            SimulateSteps,
            "simulate_steps",
            execute_callback=lambda _: SimulateSteps.Result(),  # `_on_goal` gives another one
            handle_accepted_callback=self._on_goal,
            cancel_callback=self._on_cancel,
        )

    def _features(
        self, _: srv.GetSimulatorFeatures.Request, response: srv.GetSimulatorFeatures.Response
    ) -> srv.GetSimulatorFeatures.Response:
        response.features.features = list(FEATURES)
        response.features.custom_info = (
            "docs/reference/ros2.md of the suite says what each service does"
        )
        return response

    def _state(
        self, _: srv.GetSimulationState.Request, response: srv.GetSimulationState.Response
    ) -> srv.GetSimulationState.Response:
        response.state.state = self._present
        response.result = ok()
        return response

    @property
    def _present(self) -> int:
        """The present state, of msg.SimulationState."""
        if not self._controls.is_paused:
            return int(msg.SimulationState.STATE_PLAYING)
        plant = self._session.plant
        is_at_start = np.allclose(plant.engine.state(), self._session.spec.start, atol=AT_START)
        if self._is_stopped and self._session.k == 0 and is_at_start:
            return int(msg.SimulationState.STATE_STOPPED)
        return int(msg.SimulationState.STATE_PAUSED)

    def _set_state(
        self, request: srv.SetSimulationState.Request, response: srv.SetSimulationState.Response
    ) -> srv.SetSimulationState.Response:
        response.result = self._go_to(request.state.state)
        return response

    def _go_to(self, target: int) -> msg.Result:
        states = msg.SimulationState
        known = (states.STATE_STOPPED, states.STATE_PLAYING, states.STATE_PAUSED)
        if target == states.STATE_QUITTING:
            self._node.exit_code = 0
            return ok()
        if target not in known:
            return result(WRONG_TRANSITION, f"state {target} cannot be asked for")
        if target == self._present:
            return result(ALREADY_THERE, "")
        if target == states.STATE_PLAYING and self._session.is_broken:
            return result(TRANSITION_FAILED, str(self._session.failure))
        self._controls.pause(paused=target != states.STATE_PLAYING)
        self._is_stopped = target == states.STATE_STOPPED
        if self._is_stopped:
            self._controls.reset()
        return ok()

    def _reset(
        self, request: srv.ResetSimulation.Request, response: srv.ResetSimulation.Response
    ) -> srv.ResetSimulation.Response:
        response.result = self._reset_scope(request.scope or ALL)
        return response

    def _reset_scope(self, scope: int) -> msg.Result:
        """Reset time, state or both; a part alone keeps the other as it is."""
        if not scope & (TIME | STATE):
            return result(msg.Result.RESULT_FEATURE_UNSUPPORTED, "nothing can be spawned here")
        if scope & TIME and scope & STATE:
            self._controls.reset()
            return ok()
        rows = self._session.plant.engine.state()[0].copy()
        reason = obstacle_to_placement(self._session)
        if reason:
            return result(msg.Result.RESULT_OPERATION_FAILED, reason)
        if scope & TIME:
            self._controls.reset()
        place(self._session, rows if scope & TIME else self._session.spec.start[0])
        self._controls.show()
        return ok()

    def _step(
        self, request: srv.StepSimulation.Request, response: srv.StepSimulation.Response
    ) -> srv.StepSimulation.Response:
        if not self._controls.steps.left:
            self._stepped = self._answer.keep(response)
        reason = self._controls.steps.start(request.steps, self._on_stepped)
        if reason:
            response.result = result(msg.Result.RESULT_OPERATION_FAILED, reason)
            if response is self._stepped:
                self._answer.give()
        return response

    def _on_stepped(self, message: str, success: bool) -> None:  # noqa: FBT001 - see `Done`
        self._stepped.result = _of_steps(message, success=success)
        self._answer.give()

    def _on_goal(self, goal: ServerGoalHandle) -> None:
        """Fly the steps of a goal; its result is given once they are flown, so that nothing waits."""
        count, steps = goal.request.steps, self._controls.steps

        def each() -> None:
            left = steps.left
            goal.publish_feedback(
                SimulateSteps.Feedback(completed_steps=count - left, remaining_steps=left)
            )

        def done(message: str, success: bool) -> None:  # noqa: FBT001 - see `Done`
            if success:
                each()
            goal.execute(lambda _: _end_goal(goal, message, success=success))

        reason = steps.start(count, done, each)
        if reason:
            done(reason, False)

    def _on_cancel(self, _: ServerGoalHandle) -> CancelResponse:
        # The goal is told afterwards that it is cancelled, and `execute` runs after that.
        self._controls.steps.end("cancelled")
        return CancelResponse.ACCEPT


def _of_steps(message: str, *, success: bool) -> msg.Result:
    results = msg.Result
    return result(results.RESULT_OK if success else results.RESULT_OPERATION_FAILED, message)


def _end_goal(goal: ServerGoalHandle, message: str, *, success: bool) -> SimulateSteps.Result:
    """Give a goal its end."""
    if goal.is_cancel_requested:
        goal.canceled()
    elif success:
        goal.succeed()
    else:
        goal.abort()
    return SimulateSteps.Result(result=_of_steps(message, success=success))
