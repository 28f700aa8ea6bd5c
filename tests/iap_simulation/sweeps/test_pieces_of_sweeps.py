# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of sweeps by hand: seeds of a piece of work, rows, counts, names, and frames that are kept."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput, FlightFailed
from iap_sensors.cameras.renderer import Frame
from iap_simulation.scenario.resolving import Options
from iap_simulation.sweeps import flying, study, sweep
from iap_simulation.sweeps.spread_rendering import FrameChunk, FrameFolder, KeptFrames, spread
from iap_simulation.sweeps.study import Axis, Study, SweepPoint, with_values
from iap_simulation.sweeps.sweep_folder import SweepFolder, flattened, study_tree


def test_seeds_go_on_from_piece_to_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "most_runs", lambda tree: 4)
    point = SweepPoint({}, {"scenario": "s", "seed": 99})
    of = Study("hover", Options(seed=7), seeds=10)
    chunks = list(sweep.chunks_of(of, point))
    assert [each.seeds for each in chunks] == [(7, 8, 9, 10), (11, 12, 13, 14), (15, 16)]
    assert all(each.tree is point.tree for each in chunks)
    assert [each.name for each in chunks] == [
        study.fingerprint(point.tree, each.seeds) for each in chunks
    ]
    single = list(sweep.chunks_of(Study("hover", Options(), seeds=2, records=True), point))
    assert [each.seeds for each in single] == [(0,), (1,)]


def test_names_of_work_do_not_depend_on_the_seed_of_the_tree_but_on_all_else() -> None:
    tree = {"a": 1, "seed": 3}
    name = study.fingerprint(tree, (1, 2))
    assert len(name) == 20 and name == study.fingerprint({"seed": 4, "a": 1}, [1, 2])
    others = [
        study.fingerprint({**tree, "a": 2}, (1, 2)),
        study.fingerprint(tree, (1, 3)),
        study.fingerprint(tree, (1,)),
    ]
    assert len({name, *others}) == 4
    assert study.seeds_fingerprint(study.tree_fingerprint(tree), (1, 2)) == name


def test_runs_are_counted_by_their_outcomes() -> None:
    rows = [
        {"outcome": each} for each in ("completed", "crashed", "completed", "completed", "lost")
    ]
    counts = sweep._counts(rows)
    assert (counts["runs"], counts["failed"], counts["success_rate"]) == (5, 2, 0.6)
    assert list(counts["outcomes"].items()) == [("completed", 3), ("crashed", 1), ("lost", 1)]
    assert 0.2 < counts["success_low"] < 0.6 < counts["success_high"] < 0.9


def test_a_run_that_fails_or_is_refused_is_a_row_with_its_reason() -> None:
    scenario: Any = SimpleNamespace(seed=5)

    def fails(error: Exception) -> Any:
        def do(_: Any) -> Any:
            raise error

        return flying._row(do, scenario)

    done = flying._row(
        lambda each: ({"seed": each.seed, "wall_s": 3.0, "x": 1.0}, "why"), scenario
    )
    assert done == {"seed": 5, "x": 1.0, "failure": "why"}
    crashed = fails(FlightFailed("crashed", 1.0, "it hit"))
    assert crashed == {
        "seed": 5,
        "outcome": "crashed",
        "failure": "crashed at t = 1.000 s: it hit",
    }
    assert fails(BadInput("no place")) == {"seed": 5, "outcome": "refused", "failure": "no place"}


def test_a_recording_is_kept_as_a_whole_or_not_at_all(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = flying.RecordedChunks(tmp_path)
    scenario: Any = SimpleNamespace(seed=3)

    def record(one: Any, folder: Any) -> Any:
        assert folder.name == "name_3.tmp" and not list(folder.iterdir())
        (folder / "metrics.json").write_text("{}")
        return {"seed": one.seed}, ""

    monkeypatch.setattr(flying, "_recorded", record)
    for left in ("name_3.tmp", "name_3"):
        (tmp_path / left).mkdir()
        (tmp_path / left / "old").write_text("")
    assert kept._kept("name", scenario) == {"seed": 3, "failure": "", "folder": "name_3"}
    assert [each.name for each in tmp_path.iterdir()] == ["name_3"]
    assert [each.name for each in (tmp_path / "name_3").iterdir()] == ["metrics.json"]

    def refuse(one: Any, folder: Any) -> Any:
        (folder).rmdir()
        raise BadInput("no")

    monkeypatch.setattr(flying, "_recorded", refuse)
    row = kept._kept("name", scenario)
    assert row["folder"] is None and row["outcome"] == "refused" and not list(tmp_path.iterdir())


def test_a_tree_is_one_row_with_dots() -> None:
    tree = {"a": 1, "b": {"c": [2, {"d": 3}], "e": None}, "f": []}
    assert flattened(tree) == {"a": 1, "b.c.0": 2, "b.c.1.d": 3, "b.e": None}
    assert flattened({"a": 1}, "x.") == {"x.a": 1}


def test_a_study_s_file_has_its_axes_seeds_and_first_run() -> None:
    of = Study("hover", Options(seed=4), (Axis("k", (1, 2)),), seeds=3, records=True)
    assert study_tree(of, [SweepPoint({"k": 1}, {"seed": 0, "x": 1})]) == {
        "scenario": "hover", "vary": {"k": [1, 2]}, "seeds": 3, "first_seed": 4, "records": True,
        "first_run": {"seed": 4, "x": 1},
    }  # fmt: skip


def test_a_table_has_the_columns_of_all_rows_and_a_folder_without_parts_is_removed(
    tmp_path: Any,
) -> None:
    folder = SweepFolder(tmp_path / "s")
    (folder.path / "parts").mkdir(parents=True)
    path = folder.write_table([{"a": 1, "b": {"c": 2}}, {"a": 3, "d": None}])
    assert path.read_text() == "a,b.c,d\n1,2,\n3,,\n"
    folder.write_summary({"runs": 2})
    assert (folder.path / "summary.json").read_text() == '{"runs": 2}\n'
    assert not folder.has("one")
    folder.add("one", [{"seed": 0, "outcome": "completed", "failure": ""}])
    folder.remove_unused()
    assert folder.has("one") and folder.rows("one", [0])[0]["outcome"] == "completed"
    (folder.path / "parts" / "one.json").unlink()
    folder.remove_unused()
    assert not folder.path.exists()


def test_values_of_presets_are_options_and_of_a_combination_a_line() -> None:
    chosen = with_values(
        Options(seed=3, assignments=("a=1",)),
        {"world.scene": "office", "control.gains": {"k": 1}, "x": "y"},
    )
    assert (chosen.scene, chosen.gains, chosen.seed) == ("office", None, 0)
    assert chosen.assignments == ("a=1", 'control.gains={"k": 1}', 'x="y"')
    assert study.label({"a": 1, "b": "c"}) == "a = 1, b = 'c'"


# frames


def chunk(name: str, *instants: int) -> FrameChunk:
    return FrameChunk(name, None, "", instants)  # type: ignore[arg-type]


def test_frames_are_kept_with_what_each_has(tmp_path: Any) -> None:
    folder = FrameFolder(tmp_path / "frames")
    one = chunk("one", 0, 1)
    first = Frame(mono=np.full((2, 3), 7, np.uint8), luminance=2.5)
    second = Frame(depth=np.full((2, 3), np.inf, np.float32))
    assert not folder.has(one)
    folder.add(one, [first, second])
    assert folder.has(one)
    a, b = folder.frames(one)
    assert a.mono is not None and (a.mono == 7).all() and a.luminance == 2.5 and a.depth is None
    assert (
        b.depth is not None and np.isinf(b.depth).all() and b.mono is None and b.luminance is None
    )
    kept = KeptFrames(folder, [one, one])
    shots: Any = [1, 2, 3]
    assert [each.mono is None for each in kept.render(shots, np.zeros((0, 7)))] == [
        False,
        True,
        False,
    ]
    (tmp_path / "frames" / "one.npz").write_bytes(b"PK broken")
    with pytest.raises(BadInput, match=r"one\.npz: damaged \(.*\); remove it to render it again$"):
        list(folder.frames(one))


def test_chunks_that_are_missing_are_rendered_and_counted_by_their_instants(tmp_path: Any) -> None:
    folder = FrameFolder(tmp_path)
    done, two, three = chunk("done", 0, 1, 2, 3), chunk("two", 4, 5, 6, 7), chunk("three", 8)
    folder.add(done, [])
    asked: list[str] = []

    def work(do: Any, pieces: Any) -> Any:
        for each in pieces:
            asked.append(each.name)
            yield each, 3

    said: list[str] = []
    assert spread([done, two, three], folder, SimpleNamespace(map=work), said.append) == 6  # type: ignore[arg-type]
    assert asked == ["two", "three"] and said == ["4 of 5 instants", "5 of 5 instants"]
