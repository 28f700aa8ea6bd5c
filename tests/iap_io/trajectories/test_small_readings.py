# SPDX-License-Identifier: BSD-3-Clause
"""Small pieces of the reading of trajectories by hand: maps of tilts, headings, names of bodies, units of times."""

from pathlib import Path

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_io.trajectories.bodies import BodyLabel, one_body
from iap_io.trajectories.headings import headings, largest_tilt, with_heading_alone
from iap_io.trajectories.number_words import numbers
from iap_io.trajectories.points import slerp
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.recorded import RecordedTrajectory
from iap_io.trajectories.samples import continuous
from iap_io.trajectories.tilt_maps import map_between, share
from iap_io.trajectories.time_units import stamps_of

RNG = np.random.default_rng(4)
TILTS = RNG.normal(size=(60, 2))
MIRRORED = "mirrored against its attitudes (as by a roll or pitch of the opposite sign)"


def turn(deg):
    c, s = np.cos(np.radians(deg)), np.sin(np.radians(deg))
    return np.array([[c, -s], [s, c]])


@pytest.mark.parametrize(
    ("map_", "said"),
    [
        (np.eye(2), ""),
        (0.62 * np.eye(2), ""),
        (0.58 * np.eye(2), "0.58 times as large as its tilts say"),
        (1.58 * np.eye(2), ""),
        (1.62 * np.eye(2), "1.6 times as large as its tilts say"),
        (turn(14.0), ""),
        (turn(15.0), "turned by 15 deg about the vertical against its attitudes"),
        (turn(-90.0), "turned by -90 deg about the vertical against its attitudes"),
        (1.38 * turn(90.0), "turned by 90 deg about the vertical against its attitudes"),
        (1.42 * turn(90.0), ""),
        (0.72 * turn(90.0), "turned by 90 deg about the vertical against its attitudes"),
        (0.68 * turn(90.0), ""),
        (turn(90.0) @ np.diag([1.3, 0.8]), "turned by 90 deg about the vertical against its attitudes"),
        (turn(90.0) @ np.diag([1.35, 0.75]), ""),
        (np.diag([1.0, -1.0]), MIRRORED),
        (np.diag([-1.0, 1.0]) @ turn(30.0), MIRRORED),
        (np.diag([1.0, 0.0]), ""),
    ],
)  # fmt: skip
def test_a_map_of_tilts_has_words(map_, said):
    assert map_between(TILTS @ map_.T + [3.0, -2.0], TILTS + [5.0, 1.0]) == said


@pytest.mark.parametrize(("left", "is_mapped"), [(0.14, True), (0.17, False)])
def test_a_map_leaves_at_most_0_15_of_the_variance(left, is_mapped):
    rest = RNG.normal(size=TILTS.shape)
    rest -= rest.mean(axis=0)
    of_tilts = np.column_stack([TILTS, np.ones(len(TILTS))])
    rest -= of_tilts @ np.linalg.lstsq(of_tilts, rest, rcond=None)[0]
    n = (TILTS - TILTS.mean(axis=0)) @ turn(90.0).T
    rest *= np.sqrt(left / (1.0 - left) * np.sum(n**2) / np.sum(rest**2))
    assert share(n + rest, n) == pytest.approx(left)
    assert bool(map_between(n + rest, TILTS)) == is_mapped


def attitudes(*rpy):
    return euler.quaternions_from_rpy(np.radians(np.array(rpy, dtype=float)))


def test_the_largest_tilt_is_that_of_the_z_axis():
    assert largest_tilt(attitudes((0, 0, 90), (10, 0, 0), (0, -25, 40))) == pytest.approx(
        np.radians(25)
    )
    assert largest_tilt(attitudes((180, 0, 0))) == pytest.approx(np.pi)
    assert largest_tilt(attitudes((0, 0, 0))) == 0.0


def test_a_heading_is_the_yaw_of_a_body_that_leans_and_counts_turns():
    yaw = np.arange(0.0, 800.0, 20.0)
    t = np.arange(len(yaw)) * 0.5
    q = continuous(attitudes(*((30, 20, each) for each in yaw)))
    np.testing.assert_allclose(headings(t, q), np.radians(yaw), atol=1e-9)
    recorded = RecordedTrajectory(
        t, np.zeros((len(t), 3)), q, "flight", "header", 0, w_WP_P=np.ones((len(t), 3))
    )
    level = with_heading_alone(recorded)
    assert level.w_WP_P is None and level.alpha_WP_P is None
    np.testing.assert_allclose(
        np.abs(np.sum(level.q_WP * attitudes(*((0, 0, each) for each in yaw)), axis=1)), 1.0
    )


def test_a_heading_goes_on_through_a_loop():
    """Pitched over its back, a body of constant heading has a yaw that leaps by half a turn; its heading does not."""
    pitch = np.arange(0.0, 361.0, 10.0)
    about_y = so3.quaternion_exp(np.radians(pitch)[:, None] * np.array([0.0, 1.0, 0.0]))
    q = continuous(so3.multiply(attitudes((0, 0, 40)), about_y))
    found = headings(np.arange(len(pitch)) * 0.1, q)
    assert np.ptp(found) < np.radians(5.0) and found[0] == pytest.approx(np.radians(40.0))


LABELS = [BodyLabel("map", "cf1")] * 3 + [BodyLabel("map", "cf2")] + [BodyLabel("", "")] * 2


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"body": "cf1"}, BodyLabel("map", "cf1")),
        ({"body": "/cf2/"}, BodyLabel("map", "cf2")),
        ({"frame": "map", "body": "cf2"}, BodyLabel("map", "cf2")),
        ({"frame": ""}, BodyLabel("", "")),
    ],
)
def test_a_body_is_found_by_its_names(asked, found):
    assert one_body("bag", LABELS, PoseReading(**asked)) == found


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "bag: 3 bodies; choose one with --body: a body without a name in a frame without a name"
         " (2 samples), cf1 in map (3 samples), cf2 in map (1 samples)"),
        ({"frame": "map"}, "bag: 2 bodies; choose one with --body: a body without"),
        ({"body": "cf3", "frame": "map"}, "bag: --body cf3 --frame map: it has a body without"),
        ({"frame": "odom"}, "bag: --frame odom: it has a body without"),
    ],
)  # fmt: skip
def test_several_bodies_are_listed_with_their_numbers(asked, said):
    with pytest.raises(BadInput) as refused:
        one_body("bag", LABELS, PoseReading(**asked))
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("count", "end"), [(12, "b11 in f (1 samples)"), (13, "b11 in f (1 samples), and 1 more")]
)
def test_at_most_twelve_bodies_are_listed(count, end):
    with pytest.raises(BadInput) as refused:
        one_body("bag", [BodyLabel("f", f"b{k:02d}") for k in range(count)], PoseReading())
    assert str(refused.value).endswith(end)


def test_one_body_in_two_frames_is_told_apart_by_the_frame():
    with pytest.raises(BadInput, match="2 bodies; choose one with --frame: cf in map"):
        one_body("bag", [BodyLabel("map", "cf"), BodyLabel("odom", "cf")], PoseReading())


def stamps(texts, usual="s", **options):
    found, note = stamps_of("file", list(enumerate(texts, 5)), usual, PoseReading(**options))
    return found.tolist(), note


@pytest.mark.parametrize(
    ("texts", "usual", "unit", "first"),
    [
        (["0.5", "0.51"], "s", "s", 500_000_000),
        (["0.5", "2.6"], "s", "ms", 500_000),  # 0.48 Hz is too slow
        (["500", "510"], "s", "ms", 500_000_000),
        (["500000", "510000"], "ns", "us", 500_000_000),
        (["500000000", "510000000"], "s", "ns", 500_000_000),
        (["1", "2"], "ms", "ms", 1_000_000),
        (["1", "2"], "ns", "s", 1_000_000_000),
        (["1600000000", "1600000001"], "ms", "s", 1_600_000_000_000_000_000),
        (["1600000000000", "1600000000001"], "s", "ms", 1_600_000_000_000_000_000),
        (["640000000", "640000001"], "ms", "s", 640_000_000_000_000_000),
        (["620000000", "620000001"], "ms", "ms", 620_000_000_000_000),
        (["7"], "ms", "ms", 7_000_000),
        (["0.003", "0.001", "0.002"], "s", "s", 3_000_000),  # in any order
    ],
)  # fmt: skip
def test_a_unit_of_times_makes_them_sound(texts, usual, unit, first):
    found, note = stamps(texts, usual)
    assert found[0] == first
    assert note == (
        () if unit == usual else (f"times taken as {unit} (--time-unit), not as {usual}",)
    )


def test_times_are_exact_to_the_nanosecond():
    assert stamps(["1600000000.123456789", "1600000000.2"])[0][0] == 1_600_000_000_123_456_789
    assert stamps([" 12.000000001 ", "12.5", "1.2e1"])[0] == [
        12_000_000_001,
        12_500_000_000,
        12_000_000_000,
    ]
    found, note = stamps(["a", "b", "c"], rate=40.0)
    assert (found, note) == (
        [0, 25_000_000, 50_000_000],
        ("times are those of 40 lines a second (--rate)",),
    )


@pytest.mark.parametrize("odd", ["-0.1", "nan", "1e11"])
def test_a_time_that_is_no_stamp_is_refused_with_its_line(odd):
    with pytest.raises(BadInput, match=f"^file: line 6: time is {odd}, not a stamp in s$"):
        stamps(["0.1", odd], time_unit="s")


@pytest.mark.parametrize(("different", "is_read"), [(7, True), (6, False)])
def test_a_third_of_twenty_times_differ(different, is_read):
    texts = [f"{min(k, different - 1) * 0.01:.2f}" for k in range(20)]
    assert stamps(texts[:19] if is_read else texts[-19:])  # fewer are not looked at
    if is_read:
        stamps(texts)
        return
    with pytest.raises(
        BadInput, match="^file: its 20 lines have 6 different times: were they written"
    ):
        stamps(texts)


@pytest.mark.parametrize("first", [0, 1])
def test_times_that_count_lines_need_a_rate(first):
    texts = [str(first + k) for k in range(20)]
    said = f"^file: its times {first}, {first + 1}, {first + 2} ... count lines: --rate HZ"
    with pytest.raises(BadInput, match=said):
        stamps(texts)
    assert stamps(texts, time_unit="s")[0][1] == (first + 1) * 10**9
    assert stamps([str(2 + k) for k in range(20)])[0][0] == 2 * 10**9


def test_between_attitudes_the_way_is_a_great_circle_and_beyond_them_the_ends_hold():
    q = attitudes((0, 0, 0), (0, 0, 90), (60, 0, 90))
    found = slerp(np.array([-1.0, 0.5, 1.0, 2.0, 4.0, 9.0]), np.array([0.0, 1.0, 5.0]), q)
    expected = attitudes((0, 0, 0), (0, 0, 45), (0, 0, 90), (15, 0, 90), (45, 0, 90), (60, 0, 90))
    np.testing.assert_allclose(np.abs(np.sum(found * expected, axis=1)), 1.0, atol=1e-12)


def test_a_word_among_numbers_is_named_with_its_line_and_column():
    assert numbers(Path("a.csv"), 4, ["1", "2d3"], ("x", "y")) == [1.0, 2000.0]
    with pytest.raises(BadInput, match=r"^a\.csv: line 4: y is 'up', not a number$"):
        numbers(Path("a.csv"), 4, ["1", "up"], ("x", "y"))


@pytest.mark.parametrize(("text", "what"), [("", "missing"), ("NaN", "NaN"), ("n/a", "n/a")])
def test_a_missing_time_is_refused_with_its_line(text, what):
    times = [(2, "0.1"), (3, text), (4, "0.3")]
    with pytest.raises(BadInput, match=f"^x.csv: line 3: time is {what}, not a stamp in s$"):
        stamps_of("x.csv", times, "s", PoseReading())


def test_times_are_read_in_all_words_that_numbers_have():
    times = [(1, "0.1"), (2, "2d-1"), (3, "3E-1")]
    stamps, _ = stamps_of("x.csv", times, "s", PoseReading())
    assert stamps.tolist() == [100_000_000, 200_000_000, 300_000_000]
