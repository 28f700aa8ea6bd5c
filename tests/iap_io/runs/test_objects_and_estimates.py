# SPDX-License-Identifier: BSD-3-Clause
"""Tracks of objects are read with fewer states, and estimates are written where there are some."""

import numpy as np
import pytest
from made_up_flights import random_flight, run_meta
from tum_files import read_tum

from iap_description.math import so3
from iap_io.recording.note_chunk import Note
from iap_io.recording.recorder import Recorder
from iap_io.runs import topics
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import Track
from iap_io.runs.run_reader import RunReader, VehicleTracks
from iap_io.runs.trajectory_files import TrajectoryFiles
from iap_io.wire.message_views import StateMessage


def test_states_of_objects_are_read_all_or_about_so_many(tmp_path):
    flight = random_flight("three_star", 10)
    meta = run_meta(flight).model_copy(update={"objects": ("box", "ball")})
    message = StateMessage.of_names(meta.objects)
    rows = np.arange(260.0).reshape(10, 2, 13)
    rows[..., 3:7] = 0.0, 0.0, 0.0, 1.0
    with Recorder(tmp_path, meta) as recorder:
        for k, stamp in enumerate(np.rint(flight.t * 1e9).astype(int).tolist()):
            flight.record(recorder, k)
            message.put_rows(rows[k], np.zeros(0))
            message.put_head(stamp, k)
            recorder.note(Note(topics.OBJECTS, stamp, message.dump()))
    reader = RunReader(tmp_path)
    for at_most, every in ((None, 1), (10, 1), (20, 1), (5, 2), (6, 1), (3, 3), (1, 10)):
        track = reader.objects(at_most=at_most)
        assert track.names == ("box", "ball")
        np.testing.assert_allclose(track.t, flight.t[::every], atol=1e-9)
        np.testing.assert_array_equal(track.rows, rows[::every])


def test_without_objects_or_their_states_there_is_no_track(tmp_path):
    flight = random_flight("three_star", 2)
    for name, objects in (("a", ()), ("b", ("box",))):
        meta = run_meta(flight).model_copy(update={"objects": objects})
        with Recorder(tmp_path / name, meta) as recorder:
            flight.record(recorder, 0)
        assert RunReader(tmp_path / name).objects() is None


def rows(vehicle, count, first):
    c = Columns.zeros(count, vehicle)
    rng = np.random.default_rng(first)
    c.t[:] = first + 0.5 * np.arange(count)
    for part in (c.x, c.estimated):
        part[...] = rng.normal(size=part.shape)
        part[..., 3:7] = so3.normalized(part[..., 3:7])
    c.reference[:, :3] = rng.normal(size=(count, 3))
    c.reference[:, 6] = 1.0
    return c


@pytest.mark.parametrize("has_reference", [False, True])
def test_estimates_are_written_where_they_are_numbers(has_reference, tmp_path):
    meta = run_meta(random_flight("three_star", 1))
    vehicle = meta.vehicles[0].model_copy(update={"state_source": "vio"})
    meta = meta.model_copy(update={"vehicles": (vehicle,)})
    first, second = rows(vehicle, 3, 0), rows(vehicle, 2, 5)
    first.estimated[1, 0, 12] = second.estimated[0, 2, 0] = np.nan
    poses = np.tile([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0], (2, 1))
    given = Track(np.array([7.0, 8.0]), poses) if has_reference else None
    with TrajectoryFiles(tmp_path, meta, [VehicleTracks(given)]) as files:
        for each in (first, second):
            files.add([each])
        assert not list(tmp_path.glob("*.tum"))
    t = np.concatenate([first.t, second.t])
    estimated = np.concatenate([first.estimated, second.estimated])
    for i, body in enumerate(vehicle.bodies):
        suffix = "" if i == 0 else f"_{body}"
        found_t, found = read_tum(tmp_path / f"estimate_iap{suffix}.tum")
        known = np.isfinite(estimated[:, i]).all(axis=1)
        assert known.sum() == 5 - (i in (0, 2))
        np.testing.assert_allclose(found_t, t[known])
        np.testing.assert_allclose(found, estimated[known, i, :7], atol=1e-9)
        found_t, found = read_tum(tmp_path / f"trajectory_iap{suffix}.tum")
        np.testing.assert_allclose(found_t, t)
        np.testing.assert_allclose(found, np.concatenate([first.x, second.x])[:, i, :7], atol=1e-9)
    found_t, found = read_tum(tmp_path / "reference_iap.tum")
    expected = (
        poses if has_reference else np.concatenate([first.reference, second.reference])[:, :7]
    )
    np.testing.assert_allclose(found_t, given.t if has_reference else t)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert len(list(tmp_path.iterdir())) == 1 + 2 * len(vehicle.bodies)


def test_an_error_leaves_no_trajectories(tmp_path):
    meta = run_meta(random_flight("three_star", 1))
    with (
        pytest.raises(ZeroDivisionError),
        TrajectoryFiles(tmp_path, meta, [VehicleTracks(None)]) as files,
    ):
        files.add([Columns.zeros(2, meta.vehicles[0])])
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())
