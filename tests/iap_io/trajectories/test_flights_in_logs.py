# SPDX-License-Identifier: BSD-3-Clause
"""Flights out of an autopilot's log: which one, what of it, and in which axes; and notes in a bag's chunk."""

from pathlib import Path

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.frames import swap_attitude, swap_world
from iap_description.math import so3
from iap_io.bags.mcap_format import message_head
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import UNITS, FlightLog, Signal
from iap_io.recording.note_chunk import Note, NoteChunk
from iap_io.trajectories.logged_poses import flight_samples
from iap_io.trajectories.pose_reading import PoseReading

T = 0.02 * np.arange(2000)  # 40 s: two flights, from 2 to 12 s and from 20 to 38 s


def log_of(axes="enu", **changed):
    landed = np.where(((T >= 2.0) & (T < 12.0)) | ((T >= 20.0) & (T < 38.0)), 0.0, 1.0)[:, None]
    p = np.column_stack([np.sin(0.5 * T), 0.3 * T, 5.0 + 0.0 * T])
    v = np.column_stack([0.5 * np.cos(0.5 * T), 0.3 + 0.0 * T, 0.0 * T])
    q = so3.quaternion_exp(np.outer(0.1 * T, [0.0, 0.0, 1.0]))
    values = {
        names.POSITION: p, names.VELOCITY: v, names.ATTITUDE: q, names.LANDED: landed,
        names.POSITION_SETPOINT: p + [0.0, 0.0, 0.5], names.VELOCITY_SETPOINT: v + [0.0, 0.0, 0.1],
        names.ATTITUDE_SETPOINT: q, **changed,
    }  # fmt: skip
    signals = {k: Signal(T, x, k, UNITS[k]) for k, x in values.items() if x is not None}
    return FlightLog(Path("log.ulg"), "ULog", "PX4", signals, axes=axes)


def read(log, topic=None, **reading):
    return flight_samples(log, PoseReading(topic=topic, convention="enu", **reading))


@pytest.mark.parametrize(
    ("topic", "begin", "end"),
    [(None, 20.0, 38.0), ("position:1", 2.0, 12.0), ("position:2", 20.0, 38.0)],
)
def test_the_longest_flight_is_read_unless_another_one_is_asked_for(topic, begin, end):
    samples = read(log_of(), topic)
    t = samples.header_ns * 1e-9
    assert (t[0], t[-1]) == pytest.approx((begin, end), abs=0.05)
    np.testing.assert_allclose(samples.p[:, 1], 0.3 * t, atol=1e-9)
    np.testing.assert_allclose(samples.v[:, 1], 0.3, atol=1e-9)
    (note,) = [each for each in samples.about.notes if each.startswith("in the air")]
    other = "(:1)" if begin == 20.0 else "(:2)"
    assert f"in the air from {t[0]:.1f} to" in note and note.endswith(other) and "not read" in note
    assert samples.about.topic == (topic or "position")


def test_set_points_of_velocity_are_integrated_from_where_the_vehicle_was():
    samples = read(log_of(), names.VELOCITY_SETPOINT)
    t = samples.header_ns * 1e-9
    np.testing.assert_allclose(samples.p[:, 2], 5.0 + 0.1 * (t - t[0]), atol=1e-6)
    np.testing.assert_allclose(samples.p[0, :2], [np.sin(0.5 * t[0]), 0.3 * t[0]], atol=1e-6)
    assert samples.v is None and any(
        "so that positions drift" in each for each in samples.about.notes
    )
    up = read(log_of(), names.POSITION_SETPOINT)
    np.testing.assert_allclose(up.p[:, 2], 5.5)


def test_samples_that_are_none_are_left_out_and_counted_and_no_attitude_is_level():
    p = log_of().signals[names.POSITION].values.copy()
    p[1200:1203] = np.nan
    samples = read(log_of(**{names.POSITION: p, names.ATTITUDE: None}))
    assert "3 set-points without a position left out" in samples.about.notes
    assert f"no {names.ATTITUDE}: level" in samples.about.notes
    np.testing.assert_array_equal(samples.q, np.tile([0.0, 0.0, 0.0, 1.0], (len(samples.q), 1)))


def test_a_log_in_ned_keeps_its_own_axes_until_all_recordings_are_turned():
    plain, ned = read(log_of()), read(log_of("ned"))
    np.testing.assert_allclose(ned.p, swap_world(plain.p), atol=1e-12)
    np.testing.assert_allclose(ned.v, swap_world(plain.v), atol=1e-12)
    turned = swap_attitude(so3.matrix_from_quaternion(plain.q))
    np.testing.assert_allclose(so3.matrix_from_quaternion(ned.q), turned, atol=1e-9)
    assert (plain.about.convention, ned.about.convention) == ("enu", "ned")


@pytest.mark.parametrize(
    ("log", "topic", "said"),
    [
        (log_of(), "altitude", "log.ulg: --topic altitude: of a flight log position or"),
        (log_of(), "position:3", "--topic ...:3: the log has 2 flights, from 1 on"),
        (log_of(**{names.POSITION: None}), None, "no position to fly \\(the log has none\\): log one, by GPS"),
        (log_of(**{names.LANDED: np.ones((2000, 1))}), None, "the vehicle is never in the air: "),
        (log_of(**{names.VELOCITY_SETPOINT: np.full((2000, 3), np.nan)}), names.VELOCITY_SETPOINT,
         "no velocity_setpoint in the air that is a number"),
    ],
)  # fmt: skip
def test_what_of_a_log_cannot_be_flown_is_refused(log, topic, said):
    with pytest.raises(BadInput, match=said):
        read(log, topic)


def test_notes_of_a_chunk_are_indexed_by_their_channels_with_the_places_of_their_heads():
    made = object.__new__(NoteChunk)
    made._channels = {"/a": 3, "/b": 5}
    notes = [Note("/a", 10, b"one"), Note("/b", 11, b"three"), Note("/a", 12, b"2")]
    (data,), index = made.fill(notes, 1000)
    heads = [len(message_head(3, 0, 0))] * 3
    places = np.cumsum([1000, heads[0] + 3, heads[1] + 5])
    assert index.keys() == {3, 5}
    np.testing.assert_array_equal(index[3], [[10, 12], places[[0, 2]]])
    np.testing.assert_array_equal(index[5], [[11], places[[1]]])
    for (topic, stamp, message), at in zip(notes, places - 1000, strict=True):
        head = message_head(made._channels[topic], stamp, len(message))
        assert data[at : at + len(head) + len(message)] == head + message
    assert made.fill([], 0) == ([], {})
