# SPDX-License-Identifier: BSD-3-Clause
"""Topics of a flight that are of no single vehicle, covariances of estimates, and the shape of events."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_io.runs.topics import JOINTS, LATCHES, OBJECTS
from iap_physics.latching.latches import Latches
from iap_simulation.runs import topic_logs as logs
from iap_simulation.runs.estimate_covariances import EstimateCovariances
from iap_simulation.runs.events_so_far import estimate_losses, event_tree
from iap_simulation.scenario.resolving import Options, resolve

Notes = list[Any]


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Notes:
    """Notes (topic, time, content) of all logs."""
    notes: Notes = []

    def note_of(topic: str, message: Any, step: Any) -> Any:
        content = getattr(message, "phases", getattr(message, "covariance", None))
        return topic, step.t, None if content is None else content.copy()

    monkeypatch.setattr(logs, "note_of", note_of)
    return notes


def recorder(notes: Notes) -> Any:
    return SimpleNamespace(note=notes.append)


def step(t: float, **keys: Any) -> Any:
    return SimpleNamespace(t=t, k=round(200.0 * t), estimated=None, **keys)


def simulation_of(name: str, **parts: Any) -> Any:
    scenario, _ = resolve(name, Options(engine="pybullet"))
    engine = SimpleNamespace(object_states=lambda: np.zeros((len(scenario.world.objects), 13)))
    plant = SimpleNamespace(engine=engine, part=parts.get)
    return SimpleNamespace(scenario=scenario, plant=plant, modules=None)


def test_latches_are_noted_once_for_all_vehicles(noted: Notes) -> None:
    latches = SimpleNamespace(numbers=np.array([2]))
    simulation = simulation_of("docking")
    simulation.plant.part = {Latches: latches}.get
    (log,) = logs.topic_logs(simulation, recorder(noted))
    for t in (0.0, 0.005):
        for vehicle in (0, 1):
            log.record(vehicle, step(t))
    assert [(topic, t, content.tolist()) for topic, t, content in noted] == [
        (LATCHES, 0.0, [2]), (LATCHES, 0.005, [2]),
    ]  # fmt: skip
    simulation.plant.part = {}.get
    log.record(0, step(0.01))
    assert len(noted) == 2


def test_joints_between_modules_are_noted_once_and_only_where_modules_fly(
    noted: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation = simulation_of("module_square")
    put = []
    monkeypatch.setattr(logs, "joint_states", lambda coordinator: coordinator)
    monkeypatch.setattr(logs, "joints_message", lambda *_: SimpleNamespace(put=put.append))
    log = next(
        x for x in logs.topic_logs(simulation, recorder(noted)) if isinstance(x, logs.JointsLog)
    )
    log.record(0, step(0.0))
    assert not noted  # without modules
    simulation.modules = SimpleNamespace(coordinator="joined")
    for vehicle in (0, 1, 2):
        log.record(vehicle, step(0.5))
    assert put == ["joined"] and [(topic, t) for topic, t, _ in noted] == [(JOINTS, 0.5)]


def test_objects_that_move_freely_are_noted_and_a_plain_flight_notes_nothing(noted: Notes) -> None:
    simulation = simulation_of("arm_pick")
    kinds = [type(each) for each in logs.topic_logs(simulation, recorder(noted))]
    assert kinds == [logs.ObjectLog]
    (log,) = logs.topic_logs(simulation, recorder(noted))
    log.record(1, step(0.2))
    log.record(0, step(0.3))
    assert [(topic, t) for topic, t, _ in noted] == [(OBJECTS, 0.3)]
    assert logs.topic_logs(simulation_of("hover"), recorder(noted)) == []


def flight_with(navigators: dict[int, Any], names: tuple[str, ...] = ("a", "b")) -> Any:
    vehicles = [
        SimpleNamespace(name=name, bodies=("base", "drone"), state_source="vio") for name in names
    ]
    return SimpleNamespace(
        navigators=navigators, vehicles=vehicles, meta=SimpleNamespace(vehicles=vehicles)
    )


def test_covariances_are_looked_at_five_times_a_second() -> None:
    asked = []

    def covariances() -> dict[int, np.ndarray]:
        asked.append(len(asked))
        return {1: np.eye(3) * len(asked)}

    flight = flight_with({1: SimpleNamespace(covariances=covariances)})
    found = EstimateCovariances(flight)
    first = found.at(0.0)
    assert list(first) == ["b/drone"] and found.at(0.199) is first
    assert found.at(0.201)["b/drone"][0, 0] == 2.0
    assert found.at(0.399)["b/drone"][0, 0] == 2.0 and len(asked) == 2
    assert EstimateCovariances(flight_with({})).at(1.0) == {}


def test_new_and_finite_covariances_are_recorded_with_their_poses(
    noted: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        logs, "covariance_topics", lambda v: {b: f"/{v.name}/{b}" for b in v.bodies}
    )
    sizes = iter([1.0, np.nan, 3.0])
    navigator = SimpleNamespace(covariances=lambda: {0: next(sizes) * np.eye(3)})
    flight = flight_with({0: navigator})
    assert logs.CovarianceLog.of(flight_with({}), recorder(noted)) == []
    (log,) = logs.CovarianceLog.of(flight, recorder(noted))
    row = np.arange(13.0)
    for t in (0.0, 0.1, 0.25, 0.45):
        estimated = step(t)
        estimated.estimated = np.stack([row, row + 1.0])
        log.record(0, estimated)
        log.record(1, step(t))  # which flies on the truth
    assert [(topic, t) for topic, t, _ in noted] == [("/a/base", 0.0), ("/a/base", 0.45)]
    np.testing.assert_array_equal(noted[1][2][:3, :3], 3.0 * np.eye(3))


def test_events_are_by_method_and_of_several_vehicles_by_name() -> None:
    navigator = SimpleNamespace(
        faults=[SimpleNamespace(t=2.0, reason="no tracks")], vision_events=[(1.0, "lost vision")]
    )
    monitors = {0: SimpleNamespace(events=[(0.5, "was lost")])}
    simulation: Any = SimpleNamespace(
        participants=SimpleNamespace(estimates=SimpleNamespace(monitors=monitors))
    )
    flight = flight_with({0: navigator})
    losses = estimate_losses(simulation, flight)
    assert losses == {
        "a": [(0.5, "was lost"), (1.0, "lost vision"), (2.0, "began anew, no tracks")]
    }
    events = [{"t_s": t, "what": what} for t, what in losses["a"]]
    tree = event_tree(flight.meta, {"docking": [{"t_s": 3.0}]}, losses)
    assert tree == {
        "docking": {"events": [{"t_s": 3.0}]},
        "vehicles": {"a": {"methods": {"vio": {"events": events}}}},
    }
    alone = flight_with({}, ("a",)).meta
    assert event_tree(alone, {}, losses) == {"methods": {"vio": {"events": events}}}
    assert event_tree(alone, {}, {"a": []}) == {"methods": {}}
    simulation.participants.estimates = None
    assert estimate_losses(simulation, flight)["a"][0] == (1.0, "lost vision")
