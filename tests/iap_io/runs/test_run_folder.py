# SPDX-License-Identifier: BSD-3-Clause
"""The run folder: its name, its files, and folders that are none."""

import contextlib
import json
import struct
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from made_up_flights import Record, random_flight, run_meta, steady_flight
from tum_files import read_tum

from iap_description.errors import BadInput
from iap_io.bags.bag_writer import STORAGE, RecordingFailed
from iap_io.recording.recorder import Recorder
from iap_io.runs import topics
from iap_io.runs.columns import joined
from iap_io.runs.run_folder import (
    RunData,
    VehicleRun,
    create_run_folder,
    load_run,
    read_metrics,
    write_config,
    write_metrics,
)
from iap_io.runs.run_meta import Track
from iap_io.runs.run_reader import RunReader, VehicleTracks
from iap_io.runs.topics import BAG
from iap_io.runs.trajectory_files import TrajectoryFiles, write_trajectories


def test_runs_are_counted(tmp_path: Path) -> None:
    names = [create_run_folder(None, "hover", tmp_path / "runs").name for _ in range(3)]
    assert names == ["hover-001", "hover-002", "hover-003"]
    (tmp_path / "runs" / "hover-041").mkdir()
    (tmp_path / "runs" / "hover-later").mkdir()
    assert create_run_folder(None, "hover", tmp_path / "runs").name == "hover-042"
    assert create_run_folder(None, "spiral", tmp_path / "runs").name == "spiral-001"


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    out = create_run_folder(tmp_path / "a" / "b", "hover")
    with pytest.raises(BadInput, match=f"{out}: exists already"):
        create_run_folder(out, "hover")


def test_a_folder_that_cannot_be_made_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="file/run"):
        create_run_folder(tmp_path / "file" / "run", "hover")


def test_config_and_metrics_are_read_back(tmp_path: Path) -> None:
    config = {"scenario": "hover", "vehicles": [{"name": "iap", "offset": [0.0, 1e-7]}]}
    write_config(tmp_path, config)
    assert yaml.safe_load((tmp_path / "config.yaml").read_text()) == config
    write_metrics(tmp_path, {"outcome": "completed", "axis_rmse_deg": None})
    assert read_metrics(tmp_path) == {"outcome": "completed", "axis_rmse_deg": None}
    with pytest.raises(ValueError, match="JSON"):
        write_metrics(tmp_path, {"position_rmse_m": float("nan")})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.yaml", "metrics.json"]


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingFailed, match=r"file/metrics\.json"):
        write_metrics(tmp_path / "file", {})


@pytest.mark.parametrize("text", ["", "[1]", "{"])
def test_damaged_metrics_are_bad_input(text: str, tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text(text)
    with pytest.raises(BadInput, match=r"metrics\.json"):
        read_metrics(tmp_path)


def test_trajectories_of_all_bodies_are_written(tmp_path: Path, recorded: Record) -> None:
    flight = random_flight("two_line", 12)
    write_trajectories(tmp_path, recorded(flight))
    for name, i in (("trajectory_iap", 0), ("trajectory_iap_drone_2", 2)):
        t, poses = read_tum(tmp_path / f"{name}.tum")
        np.testing.assert_allclose(t, flight.t, atol=1e-9)
        np.testing.assert_allclose(poses, flight.x[:, i, :7], atol=1e-9)
    _, reference = read_tum(tmp_path / "reference_iap.tum")
    np.testing.assert_allclose(reference, flight.reference[:, :7], atol=1e-9)


def test_the_reference_trajectory_of_a_replay_is_the_command_as_given(
    tmp_path: Path, recorded: Record
) -> None:
    flight = steady_flight("three_star", 21)
    given = Track(np.array([0.0, 0.025, 0.1]), flight.reference[[0, 5, 20], :7])
    write_trajectories(tmp_path, recorded(flight, tracks={topics.REFERENCE_POSE: given}))
    t, poses = read_tum(tmp_path / "reference_iap.tum")
    np.testing.assert_allclose(t, given.t)
    np.testing.assert_allclose(poses, given.poses)


def columns_in(run: RunData) -> list[np.ndarray]:
    """All arrays of the first vehicle's columns, those of its wrenches too."""
    c = run.vehicles[0].columns
    own = [getattr(c, field.name) for field in fields(c)]
    felt = (
        []
        if c.wrench_record is None
        else [getattr(c.wrench_record, f.name) for f in fields(c.wrench_record)]
    )
    return [each for each in (*own, *felt) if isinstance(each, np.ndarray)]


@pytest.mark.parametrize(("piece", "count"), [(1, 70), (3, 70), (512, 1300), (600, 1300)])
def test_a_run_is_the_same_read_in_pieces(
    piece: int, count: int, tmp_path: Path, recorded: Record
) -> None:
    whole = recorded(random_flight("two_line", count))
    parts = [run[0] for run in RunReader(tmp_path).pieces(piece)]
    assert max(len(part.t) for part in parts) <= piece
    pieces = RunData(whole.meta, (VehicleRun(whole.meta.vehicles[0], joined(parts)),))
    for one, other in zip(columns_in(whole), columns_in(pieces), strict=True):
        np.testing.assert_array_equal(one, other)


def test_of_a_long_run_some_ticks_are_read(tmp_path: Path, recorded: Record) -> None:
    whole = recorded(random_flight("two_line", 1300)).vehicles[0].columns
    few = load_run(tmp_path, at_most=100).vehicles[0].columns
    assert 50 <= len(few.t) <= 100
    np.testing.assert_array_equal(few.x, whole.x[:: round(float(few.k[1]))])


def test_trajectories_of_a_full_disk_leave_nothing(tmp_path: Path, recorded: Record) -> None:
    run = recorded(random_flight("f450", 20))
    with (
        pytest.raises(RecordingFailed),
        TrajectoryFiles(tmp_path, run.meta, [VehicleTracks()]) as files,
    ):
        files.add([run.vehicles[0].columns])
        raise RecordingFailed("full")
    assert sorted(path.name for path in tmp_path.iterdir()) == [BAG]


def test_a_folder_without_a_recording_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no recording of a run"):
        load_run(tmp_path)


def test_a_foreign_bag_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / BAG).mkdir()
    (tmp_path / BAG / "metadata.yaml").write_text("rosbag2_bagfile_information: {version: 9}\n")
    with pytest.raises(BadInput, match="iap_run"):
        load_run(tmp_path)


def test_an_empty_recording_is_bad_input(tmp_path: Path) -> None:
    Recorder(tmp_path, run_meta(random_flight("f450", 1))).close()
    with pytest.raises(BadInput, match="no message on /iap/state"):
        load_run(tmp_path)


def test_names_of_scenarios_are_no_patterns(tmp_path: Path) -> None:
    base = tmp_path / "runs"
    for name in ("a**b", "[x]", "ä b"):
        assert create_run_folder(None, name, base).name == f"{name}-001"
        assert create_run_folder(None, name, base).name == f"{name}-002"


@pytest.mark.parametrize("length", [2**31, 2**40, 2**62, 2**63, 2**64 - 1])
def test_a_damaged_length_is_bad_input(length: int, tmp_path: Path, recorded: Record) -> None:
    recorded(random_flight("f450", 30))
    file = tmp_path / BAG / STORAGE
    sound = file.read_bytes()
    (start,) = struct.unpack_from("<Q", sound, len(sound) - 28)  # of the summary, behind the data
    code = sound.index(b"\x06")  # the chunk
    for at in (code + 1, code + 9 + 16, start + 1):
        file.write_bytes(sound[:at] + struct.pack("<Q", length) + sound[at + 8 :])
        with contextlib.suppress(BadInput):  # the index may do without
            load_run(tmp_path)


def test_messages_of_another_platform_are_bad_input(tmp_path: Path, recorded: Record) -> None:
    recorded(random_flight("three_star", 30))
    meta = run_meta(random_flight("two_line", 1)).model_dump_json()
    _replace_meta(tmp_path, lambda _: json.loads(meta))
    with pytest.raises(BadInput, match="not a readable recording"):
        load_run(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scenario", "../../out"),
        ("vehicles.0.name", "../out"),
        ("vehicles.0.bodies.0", "/out"),
        ("vehicles.0.aircraft", [7]),
        ("vehicles.0.aircraft", []),
        ("vehicles.0.control_hz", 3),
    ],
)
def test_a_damaged_description_is_bad_input(
    key: str, value: object, tmp_path: Path, recorded: Record
) -> None:
    recorded(random_flight("f450", 30))

    def change(meta: Any) -> Any:
        *parents, last = key.split(".")
        node = meta
        for each in parents:
            node = node[int(each) if each.isdigit() else each]
        node[int(last) if last.isdigit() else last] = value
        return meta

    _replace_meta(tmp_path, change)
    with pytest.raises(BadInput, match="custom_data.iap_run"):
        load_run(tmp_path)


def test_states_whose_stamps_go_back_are_bad_input(tmp_path: Path) -> None:
    flight = random_flight("f450", 30)
    flight.t[20] = flight.t[5]
    with Recorder(tmp_path, run_meta(flight)) as recorder:
        for k in range(30):
            flight.record(recorder, k)
    with pytest.raises(BadInput, match="stamps on state go backwards"):
        load_run(tmp_path)


def _replace_meta(folder: Path, change: Callable[[Any], Any]) -> None:
    """Change the description of a run in its bag."""
    file = folder / BAG / "metadata.yaml"
    tree = yaml.safe_load(file.read_text())
    custom = tree["rosbag2_bagfile_information"]["custom_data"]
    custom["iap_run"] = json.dumps(change(json.loads(custom["iap_run"])))
    file.write_text(yaml.safe_dump(tree))


@pytest.mark.parametrize("kept", [0, 5, 500, 5000])
def test_a_truncated_bag_is_bad_input(kept: int, tmp_path: Path, recorded: Record) -> None:
    recorded(random_flight("f450", 30))
    file = tmp_path / BAG / STORAGE
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(BadInput, match="not a readable recording"):
        load_run(tmp_path)
