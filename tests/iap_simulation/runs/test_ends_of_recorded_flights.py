# SPDX-License-Identifier: BSD-3-Clause
"""Ends of recorded flights: what is raised, what is told, and what a run gives back and writes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput, FlightFailed
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.runs import topics
from iap_io.runs.fault_meta import Notice
from iap_simulation.flights.flight import Flight
from iap_simulation.runs import recorded_flight, rerender
from iap_simulation.runs.estimate_covariances import EstimateCovariances
from iap_simulation.runs.events_so_far import events_so_far
from iap_simulation.runs.recorded_flight import Announcer, Ending, RunOptions, fly_recorded
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import Options, resolve

SHORT = ("reference.duration=0.3", "start.lead_in=0.0", "start.mode=hover")
ENDS = {
    "crashed": FlightFailed("crashed", 1.5, "it fell"),
    "interrupted": KeyboardInterrupt(),
    "recording_failed": RecordingFailed("the disk is full"),
}


def test_an_ending_is_by_what_ended_the_flight() -> None:
    assert Ending.by(ENDS["crashed"], 9.0) == ("crashed", str(ENDS["crashed"]))
    assert Ending.by(KeyboardInterrupt(), 1.25) == ("interrupted", "interrupted at t = 1.250 s")
    assert Ending.by(ENDS["recording_failed"], 9.0) == ("recording_failed", "the disk is full")


@pytest.mark.parametrize(
    ("task", "ending"),
    [
        (None, ("completed", None)),
        (SimpleNamespace(failure=None, missed="not_docked"), ("completed", None)),
        (
            SimpleNamespace(failure="never locked", missed="not_docked"),
            ("not_docked", "never locked"),
        ),
    ],
)
def test_a_flight_to_its_end_has_completed_unless_its_task_has_failed(task, ending) -> None:
    simulation: Any = SimpleNamespace(task=task)
    assert Ending.of(simulation) == ending


class MadeUpRecorder:
    """Has recorded something, or nothing."""

    written = False

    def __init__(self, *_: Any) -> None:
        self.descriptions: list[Any] = []

    def __enter__(self) -> "MadeUpRecorder":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_descriptions(self, descriptions: Any) -> None:
        self.descriptions.append(descriptions)


@pytest.mark.parametrize("outcome", [None, *ENDS])
@pytest.mark.parametrize("written", [False, True])
def test_what_ends_a_flight_before_anything_is_recorded_is_raised(
    outcome, written, monkeypatch
) -> None:
    monkeypatch.setattr(MadeUpRecorder, "written", written)
    monkeypatch.setattr(recorded_flight, "Recorder", MadeUpRecorder)
    monkeypatch.setattr(recorded_flight, "_begin", lambda *_: None)

    def fly(progress: Any) -> None:
        if outcome is not None:
            raise ENDS[outcome]

    simulation: Any = SimpleNamespace(fly=fly, t=0.5, task=None)
    flight: Any = SimpleNamespace(
        meta=None, scenario=SimpleNamespace(recording=None), descriptions={}, write_tracks=lambda _: None
    )  # fmt: skip
    folder: Any = None
    if outcome is not None and not written:
        with pytest.raises(type(ENDS[outcome])):
            fly_recorded(simulation, flight, folder, RunOptions())
        return
    ending = fly_recorded(simulation, flight, folder, RunOptions())
    assert ending.outcome == (outcome or "completed")


def test_what_cannot_be_opened_to_record_is_raised(monkeypatch) -> None:
    def recorder(*_: Any) -> None:
        raise RecordingFailed("no folder")

    monkeypatch.setattr(recorded_flight, "Recorder", recorder)
    nothing: Any = SimpleNamespace(meta=None, scenario=SimpleNamespace(recording=None))
    with pytest.raises(RecordingFailed, match="no folder"):
        fly_recorded(nothing, nothing, nothing, RunOptions())


def test_notices_of_all_vehicles_are_said_once_in_the_order_of_time(monkeypatch) -> None:
    due = {
        "a": [Notice(1.0, "a1", is_warning=False), Notice(3.0, "a3", is_warning=True)],
        "b": [Notice(2.0, "b2", is_warning=False)],
    }
    monkeypatch.setattr(recorded_flight, "notices", lambda name, faults, losses: due[name])
    vehicles = [SimpleNamespace(name=name, faults=("x",), losses=()) for name in due]
    flight: Any = SimpleNamespace(
        meta=SimpleNamespace(vehicles=vehicles), scenario=SimpleNamespace(vehicles=vehicles)
    )
    said = list[Notice]()
    (announcer,) = Announcer.of(flight, said.append)
    texts = []
    for t in (0.5, 1.0, 1.5, 3.5):
        step: Any = SimpleNamespace(t=t)
        announcer.record(0, step)
        announcer.record(1, step)
        texts.append([each.text for each in said])
    assert texts == [[], ["a1"], ["a1"], ["a1", "b2", "a3"]]
    for each in vehicles:
        each.faults = ()
    assert Announcer.of(flight, said.append) == []


class Onlooker:
    """A viewer that says how it took part."""

    def __init__(self) -> None:
        self.metrics = {"pilot": {"steps": 3}}
        self.seen: list[str] = []

    def attach(self, simulation: Any) -> None:
        self.seen.append("attach")

    def receive(self, reading: Any) -> None:
        pass

    def record(self, vehicle: int, step: Any) -> None:
        self.seen.append("record")

    def refer(self, k: int, plant: Any, references: Any) -> None:
        pass


def test_a_run_gives_back_its_summary_and_has_the_viewer_s_figures(tmp_path) -> None:
    scenario, tree = resolve("hover", Options(assignments=SHORT, engine="closed_form"))
    plain = execute(Flight.of(scenario), tmp_path / "plain", tree)
    assert (plain.failure, plain.interrupted, plain.summary) == (None, False, "completed")
    assert plain.followers == {"iap"} and plain.folder == tmp_path / "plain"
    assert "pilot" not in plain.metrics
    viewer: Any = Onlooker()
    shown = execute(Flight.of(scenario), tmp_path / "shown", tree, RunOptions(viewer=viewer))
    assert shown.metrics["pilot"] == {"steps": 3}
    assert viewer.seen[0] == "attach" and viewer.seen.count("record") == 61
    assert "compiled_fraction" not in shown.metrics
    assert plain.metrics["compiled_fraction"] == pytest.approx((49 + 9) / 60)


def test_a_run_has_the_files_of_its_task(tmp_path) -> None:
    scenario, tree = resolve("arm_path", Options(assignments=("plant.noise=0.0",)))
    result = execute(Flight.of(scenario), tmp_path / "run", tree)
    names = {each.name for each in (tmp_path / "run").iterdir()}
    assert {"trajectory_tip.tum", "trajectory_reference_tip.tum"} <= names
    assert "arm" in result.metrics


def test_tracks_of_a_recording_are_copied_where_there_are_some() -> None:
    tracks = {"commanded": "c", "actual": None, "measured": "m"}
    vehicles = [
        SimpleNamespace(**tracks),
        SimpleNamespace(commanded=None, actual="a", measured=None),
    ]
    data: Any = SimpleNamespace(vehicles=vehicles)
    kept = []
    recorder: Any = SimpleNamespace(add_track=lambda *track: kept.append(track))
    rerender._copy_tracks(data, recorder)
    assert kept == [
        (0, topics.REFERENCE_POSE, "c"), (0, topics.ACTUAL_WRENCH, "m"), (1, topics.ACTUAL, "a"),
    ]  # fmt: skip


def test_images_are_rendered_at_every_instant_of_all_vehicles() -> None:
    def columns(count: int, shift: float) -> Any:
        k = np.arange(count)
        x = shift + np.arange(count * 26.0).reshape(count, 2, 13)
        return SimpleNamespace(k=k + 5, t=0.5 * k, x=x, tilt=x[:, :1, :4], arm=None)

    pair = [columns(4, 0.0), columns(3, 1000.0)]
    states = rerender.RecordedStates(pair, lambda t: np.full((1, 13), t), 3)
    assert states.time(2) == (7, 1.0)
    state = states.at(2)
    np.testing.assert_array_equal(state.rows, np.concatenate([pair[0].x[2], pair[1].x[2]]))
    np.testing.assert_array_equal(state.tilts, np.concatenate([each.tilt[2] for each in pair]))
    assert (state.objects == 1.0).all() and not state.joints


def test_covariances_are_looked_at_when_they_are_first_asked_for() -> None:
    navigator = SimpleNamespace(covariances=lambda: {0: np.eye(3)})
    vehicle = SimpleNamespace(name="a", bodies=("base",))
    flight: Any = SimpleNamespace(
        navigators={0: navigator}, meta=SimpleNamespace(vehicles=[vehicle])
    )
    for t in (0.0, 0.3, 5.1):
        assert list(EstimateCovariances(flight).at(t)) == ["a/base"]


def test_other_objects_than_recorded_ones_cannot_be_rendered() -> None:
    recorded = [SimpleNamespace(meta=SimpleNamespace(name="a"))]
    data: Any = SimpleNamespace(vehicles=recorded, objects=SimpleNamespace(names=("box", "ball")))
    still = SimpleNamespace(mass=None)

    def scenario(*objects: str, name: str = "a") -> Any:
        world = SimpleNamespace(objects=dict.fromkeys(objects, still))
        return SimpleNamespace(vehicles=[SimpleNamespace(name=name)], world=world)

    run = Path("runs/1")
    rerender.check_rerender(run, data, scenario("box", "ball"), 1)
    for flown, cameras, said in (
        (
            scenario("box"),
            1,
            "key 'world.objects': box, ball were recorded, no others can be shown",
        ),
        (scenario("box", "ball"), 0, "there is no camera to render; choose some with --sensors"),
        (scenario("box", "ball", name="b"), 1, "vehicles a were recorded, not b"),
    ):
        with pytest.raises(BadInput, match=f"^runs/1: {said}$"):
            rerender.check_rerender(run, data, flown, cameras)
    data.objects = None
    still.mass = 1.0
    with pytest.raises(
        BadInput, match="key 'world.objects.box': it moves freely, and this recording"
    ):
        rerender.check_rerender(run, data, scenario("box"), 1)


def test_events_so_far_are_of_the_task_and_of_estimators() -> None:
    vehicle = SimpleNamespace(name="a", state_source="vio")
    meta: Any = SimpleNamespace(vehicles=[vehicle])
    navigator = SimpleNamespace(vision_events=[(1.0, "lost vision")], faults=[])
    flight: Any = SimpleNamespace(navigators={0: navigator}, vehicles=[vehicle])
    task = SimpleNamespace(key="docking", events=lambda plant: [{"t_s": 2.0, "plant": plant}])
    simulation: Any = SimpleNamespace(
        task=task, plant="plant", participants=SimpleNamespace(estimates=None)
    )
    methods = {"vio": {"events": [{"t_s": 1.0, "what": "lost vision"}]}}
    docking = {"events": [{"t_s": 2.0, "plant": "plant"}]}
    assert events_so_far(simulation, flight, meta) == {"docking": docking, "methods": methods}
    simulation.task = None
    assert events_so_far(simulation, flight, meta) == {"methods": methods}
