# SPDX-License-Identifier: BSD-3-Clause
"""Notes of a recording at a time, episodes that are flown again, and vehicles that can be led, with what is made up."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_bringup.viewing import recorded_scene_notes
from iap_bringup.viewing.live_viewer import LiveViewer
from iap_bringup.viewing.recorded_scene_notes import RecordedSceneNotes, _changes
from iap_bringup.viewing.run_table import EvaluationTable
from iap_description.errors import BadInput


def notes_of(**data: Any) -> RecordedSceneNotes:
    """Notes of a run of which only some things are there."""
    meta = SimpleNamespace(sensors=[], latches=(), vehicles=[])
    meta.__dict__.update(data.pop("meta", {}))
    run: Any = SimpleNamespace(
        data=SimpleNamespace(meta=meta, objects=None), modules={}, folder=None
    )
    run.data.__dict__.update(data.pop("data", {}))
    run.__dict__.update(data)
    return RecordedSceneNotes(run)


def test_values_stay_from_their_time_on_until_they_change() -> None:
    changes = _changes([(1.0, np.array([4])), (2.0, np.array([4])), (3.0, np.array([5]))], 1)
    assert changes.t.tolist() == [1.0, 3.0]
    assert changes.at(0.99) is None
    values = [changes.at(t) for t in (1.0, 2.5, 3.0 - 5e-10, 9.0)]
    assert [each.tolist() for each in values if each is not None] == [[4], [4], [5], [5]]
    assert len(_changes([], 9).t) == 0


def test_joints_of_modules_have_their_states_from_the_first_instant_on() -> None:
    modules = {"t": np.array([0.5, 1.0, 1.5]), "states": np.array([[1, 2], [1, 2], [3, 2]]),
               "joints": np.array(["j1", "j2"])}  # fmt: skip
    notes = notes_of(modules={"fleet": modules})
    assert notes.at(0.4).couplings == {}
    assert notes.at(1.2).couplings == {"j1": 1, "j2": 2}
    assert notes.at(1.5).couplings == {"j1": 3, "j2": 2}


def test_latches_have_the_phases_of_their_messages(monkeypatch) -> None:
    class Reader:
        def __init__(self, kind: object, frames: object) -> None:
            pass

        def read(self, data: int) -> SimpleNamespace:
            return SimpleNamespace(phases=np.array([data, 0]))

    messages = [(None, 10**9, 1), (None, 2 * 10**9, 2)]
    monkeypatch.setattr(recorded_scene_notes, "MessageReader", Reader)
    monkeypatch.setattr(recorded_scene_notes, "raw_messages", lambda *_: iter(messages))
    notes = notes_of(meta={"latches": ("a", "b")}, folder=Path("run"))
    assert notes.at(0.5).couplings == {}
    assert notes.at(1.0).couplings == {"a": 1, "b": 0}
    assert notes.at(2.5).couplings == {"a": 2, "b": 0}


def test_covariances_are_of_the_bodies_that_have_one_by_then() -> None:
    notes = notes_of()
    C = np.arange(9.0)
    notes.__dict__["_covariances"] = {"v/a": _changes([(1.0, C)], 9), "v/b": _changes([], 9)}
    assert notes.at(0.5).covariances == {}
    (known,) = notes.at(1.0).covariances.items()
    assert known[0] == "v/a"
    np.testing.assert_array_equal(known[1], C.reshape(3, 3))


def test_covariances_have_the_times_and_bodies_of_their_messages(monkeypatch) -> None:
    class Reader:
        def __init__(self, kind: object, frames: object) -> None:
            pass

        def read(self, data: float) -> SimpleNamespace:
            return SimpleNamespace(covariance=data * np.arange(36.0).reshape(6, 6))

    topics = {"base_link": "/v/pose", "a_1": "/v/a_1/pose"}
    messages = [(SimpleNamespace(topic="/v/a_1/pose"), 2 * 10**9, 1.0),
                (SimpleNamespace(topic="/v/a_1/pose"), 3 * 10**9, 2.0)]  # fmt: skip
    monkeypatch.setattr(recorded_scene_notes, "MessageReader", Reader)
    monkeypatch.setattr(recorded_scene_notes, "covariance_topics", lambda vehicle: topics)
    monkeypatch.setattr(recorded_scene_notes, "raw_messages", lambda *_: iter(messages))
    notes = notes_of(meta={"vehicles": [SimpleNamespace(name="v")]}, folder=Path("run"))
    assert notes.at(1.9).covariances == {}
    place = np.arange(36.0).reshape(6, 6)[:3, :3]
    for t, factor in ((2.0, 1.0), (2.9, 1.0), (3.5, 2.0)):
        assert list(notes.at(t).covariances) == ["v/a_1"]
        np.testing.assert_array_equal(notes.at(t).covariances["v/a_1"], factor * place)


def test_objects_are_where_they_are_at_the_time() -> None:
    track = SimpleNamespace(
        names=("box", "ball"), at=lambda t: np.array([[t, 0.0], [0.0, 2.0 * t]])
    )
    objects = notes_of(data={"objects": track}).at(3.0).objects
    assert {name: row.tolist() for name, row in objects.items()} == {
        "box": [3.0, 0.0],
        "ball": [0.0, 6.0],
    }


def test_points_are_read_anew_every_quarter_of_a_second(monkeypatch) -> None:
    asked = list[float]()
    monkeypatch.setattr(
        RecordedSceneNotes, "_read_clouds", lambda self, t: asked.append(t) or {"c": np.array([t])}
    )
    notes = notes_of()
    assert notes.at(1.0).clouds == {} and asked == []
    notes._sensors = [SimpleNamespace(topic="c")]  # type: ignore[list-item]
    shown = [float(notes.at(t).clouds["c"][0]) for t in (1.0, 1.1, 1.24, 1.25, 0.3)]
    assert shown == [1.0, 1.0, 1.0, 1.25, 0.3] == asked[:1] * 3 + asked[1:]


def test_an_episode_is_flown_again_by_the_policy_that_flew_it_alone(monkeypatch, tmp_path) -> None:
    flown = []
    made: Any = object.__new__(EvaluationTable)
    made._tree = {"arguments": {"name": "hold"}, "policy": {"sha256": "same"}, "engine": "mujoco"}
    made.rows = [{"seed": "7"}, {"seed": "8"}]
    flyer, digest = SimpleNamespace(name="net"), ["same"]
    subjects, engines = "iap_learning.evaluation.subjects", "iap_learning.evaluation.engines"
    monkeypatch.setattr(
        f"{subjects}.subject_of", lambda name: (name, flyer, SimpleNamespace(digest=digest[0]))
    )
    monkeypatch.setattr(f"{engines}.recording_engine", lambda task, engine: engine.upper())
    monkeypatch.setattr(f"{engines}.record_episode", lambda *how: flown.append(how))
    folder = tmp_path / "again"
    folder.mkdir()
    made.fly(1, folder)
    assert flown == [("hold", flyer, "MUJOCO", 8, folder)] and not folder.exists()
    folder.mkdir()
    digest[0] = "other"
    with pytest.raises(BadInput, match="policy 'net' is another one by now: evaluate it again"):
        made.fly(1, folder)
    monkeypatch.setattr(f"{subjects}.subject_of", lambda name: (name, flyer, None))
    made.fly(0, folder)  # no policy, so none that has changed
    assert flown[1][3] == 7


@pytest.mark.parametrize("hindrance", ["", "it stands on the ground"])
def test_a_vehicle_can_be_led_that_nothing_hinders_and_the_panel_says_what_does(hindrance) -> None:
    viewer: Any = object.__new__(LiveViewer)
    viewer._names, viewer._vehicle = ["a", "b"], SimpleNamespace(value="b")
    viewer._hindrance, asked = SimpleNamespace(content="?"), []
    hand = SimpleNamespace(hindrance=lambda number: asked.append(number) or hindrance)
    viewer._flight = SimpleNamespace(hand=hand)
    assert viewer._may_lead() == (hindrance == "")
    assert viewer._hindrance.content == hindrance and asked == [1]
