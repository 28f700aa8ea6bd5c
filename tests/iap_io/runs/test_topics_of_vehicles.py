# SPDX-License-Identifier: BSD-3-Clause
"""Topics and frames of every kind of vehicle, and folders at their edges."""

from pathlib import Path

import numpy as np
import pytest
from made_up_flights import random_flight

from iap_description.errors import BadInput
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.runs import topics
from iap_io.runs.run_folder import (
    CHECKPOINT,
    CONFIG,
    METRICS,
    SENSORS,
    create_run_folder,
    empty_folder,
    new_folder,
    remove_folder,
    write_config,
    write_file,
)  # fmt: skip
from iap_io.runs.vehicle_meta import VehicleMeta

META = random_flight("three_star", 2, name="crew").meta
BODIES = META.bodies


def text(layout: object) -> str:
    """The strings of a message."""
    return bytes(layout.template).decode("latin-1")  # type: ignore[attr-defined]


def meta(**changes: object) -> VehicleMeta:
    return META.model_copy(update=changes)


@pytest.mark.parametrize("is_estimated", [False, True])
@pytest.mark.parametrize("feels", [False, True])
@pytest.mark.parametrize("arm", [(), ("elbow",)])
def test_a_vehicle_has_the_topics_of_what_it_is(
    is_estimated: bool, feels: bool, arm: tuple[str, ...]
) -> None:
    vehicle = meta(state_source="virpo" if is_estimated else "truth", feels=feels, arm_joints=arm)
    others = BODIES[1:]
    expected = {"state", "reference", "command", "odom", *(f"{body}/odom" for body in others)}
    if feels:
        expected |= {"wrench/raw", "wrench/filtered", "wrench/estimated", "wrench/reference"}
        expected |= {"reference/revised", "wrench/task"}
    if arm:
        expected |= {"joint_states", "joints/command"}
    if is_estimated:
        expected |= {"virpo/odometry", *(f"{body}/virpo/odometry" for body in others)}
    layouts = topics.layouts(vehicle)
    assert {*layouts} == expected
    for body in BODIES:
        assert f"crew/{body}\0" in text(layouts[topics.odometry_topic(body)])
    covariances = topics.covariance_topics(vehicle)
    assert covariances == (
        {body: f"/crew/{'' if body == 'base_link' else f'{body}/'}virpo/pose" for body in BODIES}
        if is_estimated
        else {}
    )


def test_frames_are_of_the_map_and_of_each_vehicle_s_central_body() -> None:
    """Those of a vehicle that flies on an estimate are named after the truth."""
    layout = topics.frames_layout([META, meta(name="guide", state_source="virpo")])
    named = [
        each for each in text(layout).replace("\0", " ").split() if "map" in each or "/" in each
    ]
    named = ["".join(c for c in each if c.isalnum() or c in "/_") for each in named]
    expected = []
    for space in ("crew", "guide/truth"):
        base, *others = (f"{space}/{body}" for body in BODIES)
        expected += ["map", base]
        for other in others:
            expected += [base, other]
    assert named == expected
    assert len(layout.quaternions) == 2 * len(BODIES)
    assert topics.topic("crew", "state") == "/crew/state"


def test_a_folder_below_a_file_and_one_that_is_there_are_distinguished(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        BadInput, match=f"--out {tmp_path}/file/run: cannot be made: {tmp_path}/file is no folder"
    ):
        create_run_folder(tmp_path / "file" / "run", "hover")
    with pytest.raises(BadInput, match=f"--out {tmp_path}/file: exists already"):
        create_run_folder(tmp_path / "file", "hover")
    with pytest.raises(BadInput, match=f"--out {tmp_path}/file: exists already"):
        create_run_folder(None, "hover", tmp_path / "file")
    (tmp_path / "runs").mkdir()
    for name in ("hover-7", "hover-1234567890", "hover-9b", "hovering-20"):
        (tmp_path / "runs" / name).mkdir()
    assert create_run_folder(None, "hover", tmp_path / "runs").name == "hover-008"
    (tmp_path / "runs" / "hover-123456789").mkdir()
    assert create_run_folder(None, "hover", tmp_path / "runs").name == "hover-123456790"


def test_a_folder_is_emptied_and_removed_with_all_that_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    (folder / "bag" / "deep").mkdir(parents=True)
    for name in (CONFIG, SENSORS, "bag/deep/file"):
        (folder / name).write_text("text")
    empty_folder(folder)
    assert folder.is_dir() and not [*folder.iterdir()]
    (folder / CONFIG).write_text("text")
    remove_folder(folder)
    assert not folder.exists()
    remove_folder(folder)  # there is none: nothing to do


@pytest.mark.parametrize(
    ("name", "after_refusal", "after_error"),
    [(CHECKPOINT, True, True), (METRICS, False, True), (CONFIG, False, False)],
)
def test_what_can_be_gone_on_with_outlives_a_refusal(
    name: str, after_refusal: bool, after_error: bool, tmp_path: Path
) -> None:
    for error, stays in ((BadInput("no"), after_refusal), (ValueError("no"), after_error)):
        out = tmp_path / type(error).__name__
        with pytest.raises(type(error)), new_folder(out, "training") as folder:
            (folder / name).write_text("")
            raise error
        assert out.exists() == stays


def test_a_file_is_written_whole_and_leaves_no_part(tmp_path: Path) -> None:
    write_file(tmp_path / "new" / "file", b"one")
    write_file(tmp_path / "new" / "file", b"two")
    assert (tmp_path / "new" / "file").read_bytes() == b"two"
    assert [each.name for each in (tmp_path / "new").iterdir()] == ["file"]
    np.testing.assert_equal(sorted(each.name for each in tmp_path.iterdir()), ["new"])


def test_a_file_that_cannot_take_its_name_leaves_no_part(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(
        RecordingFailed, match=f"{tmp_path}/file: cannot be written: Is a directory"
    ):
        write_file(tmp_path / "file", b"one")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_configuration_is_written_as_it_is_ordered_and_spelt(tmp_path: Path) -> None:
    write_config(tmp_path, {"zone": "Zürich", "area": [1, 2.5]})
    assert (tmp_path / CONFIG).read_text("utf-8").startswith("zone: Zürich\narea:\n")
    assert not (tmp_path / SENSORS).exists()
