# SPDX-License-Identifier: BSD-3-Clause
"""The task of modules by the messages of their nodes."""

from typing import Any

import numpy as np
import pytest

from iap_bringup.nodes.node_recording import FlightReplay
from iap_description.signals import NO_WRENCH, Reference, Step
from iap_description.states import Command, Level
from iap_description.vehicles.latching import Hold
from iap_io.runs.topics import COORDINATED, JOINT_WRENCHES, JOINTS
from iap_io.wire.module_views import JointStates
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import Options, resolve

APART, JOINED, EMERGENCY = 0, 4, 6
DT, EVERY = 0.005, 5  # [s], control periods between two instants of coordination


@pytest.fixture(scope="module")
def flight() -> Flight:
    settings = (
        "modules.count=2",
        "modules.mission=[{hover: 0.1}, {part: j1}]",
        "vehicles.*.sensors.motion_capture.position_bias=0.0",
    )
    return Flight.of(resolve("module_release", Options(assignments=settings))[0])


def joints_said(
    state: int = JOINED, hold: Hold = Hold.LOCKED, leader: int = 0, **others: Any
) -> JointStates:
    """Of two modules and their joint."""
    numbers = {"returns": [0], "failed": [0], "lost": [0, 0], "steps_done": 0, **others}
    parts: dict[str, Any] = {name: np.array(values) for name, values in numbers.items()}
    led_by = np.array([leader, leader]) if hold != Hold.OPEN else np.array([0, 1])
    own = {"states": np.array([state]), "holds": np.array([hold]), "led_by": led_by}
    return JointStates(**{**parts, **own, "steps_done": int(parts["steps_done"])})


def update(replay: FlightReplay, k: int, joints: JointStates) -> None:
    """An instant at which both modules are 1 mm beside their references, and their joint bears 2 N."""
    row = np.zeros(20)
    row[6] = 1.0
    x = row[None, :13].copy()
    x[0, 0] = 1e-3
    shared = {JOINTS: joints, JOINT_WRENCHES: np.array([[2.0, 0.0, 0.0, 0.0, 0.0, 0.0]])}
    tick = Step(
        k, k * DT, x, Reference(row, Level.POSE, NO_WRENCH), Command.zeros(1), np.zeros((1, 4))
    )
    replay.update(
        [tick, tick], lambda _, topic: shared.get(topic, np.full(6, topic == COORDINATED))
    )


def test_the_mission_is_done_by_the_messages(flight: Flight, tmp_path: Any) -> None:
    replay = FlightReplay(flight)
    assert replay.task is not None
    for k in range(31):
        update(replay, k, joints_said())
    assert (
        replay.task.failure == "key 'modules.mission': step 0 was not done before the flight's end"
    )
    for k in range(31, 60):
        update(replay, k, joints_said(APART, Hold.OPEN, steps_done=2))
    assert replay.task.failure is None
    metrics = replay.task_metrics(tmp_path)["modules"]
    assert metrics["mission_done"]
    assert metrics["events"] == [{"t_s": pytest.approx(31 * DT), "joint": "j1", "state": "apart"}]
    assert metrics["joints"]["j1"]["released_s"] == pytest.approx(31 * DT)


def test_an_instant_whose_next_state_is_lost_is_left_out(flight: Flight, tmp_path: Any) -> None:
    replay = FlightReplay(flight)
    assert replay.task is not None
    for k in (k for k in range(31) if k != 2 * EVERY + 1):
        update(replay, k, joints_said())
    replay.task_metrics(tmp_path)
    with np.load(tmp_path / "modules.npz") as columns:
        np.testing.assert_allclose(columns["t"] / DT, [1, 6, 16, 21, 26])
        assert columns["roles"].tolist() == [[1.0, 2.0]] * 5  # leader, follower
        np.testing.assert_array_equal(columns["joint_wrenches"][:, 0, 0], 2.0)
        np.testing.assert_array_equal(columns["feed_forward"], 1.0)
        np.testing.assert_allclose(columns["errors"][..., 0], 1e-3)


def test_losses_and_failures_are_those_of_the_messages(flight: Flight, tmp_path: Any) -> None:
    replay = FlightReplay(flight)
    assert replay.task is not None
    update(replay, 0, joints_said())
    update(replay, 1, joints_said(leader=1, lost=[1, 0]))
    update(replay, 2, joints_said(EMERGENCY, Hold.OPEN, lost=[1, 0], failed=[1], returns=[4]))
    metrics = replay.task_metrics(tmp_path)["modules"]
    assert metrics["lost"] == [{"t": pytest.approx(DT), "module": "m1", "leader": "m2"}]
    assert metrics["joints"]["j1"]["returns"] == 4
    assert replay.task.failure == "joint 'j1': failed (see coordinator_node's log)"
