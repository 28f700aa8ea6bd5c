# SPDX-License-Identifier: BSD-3-Clause
"""Rules by which data sets and estimates are taken, mended or refused, each at its edge."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_up_measurements import tracks

from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_estimation.datasets import loss_checks, range_start
from iap_estimation.datasets.deep_images import ALL_LEVELS, DeepLevels, levels_of
from iap_estimation.datasets.loss_checks import (
    off_ranges,
    range_errors,
    restarting,
    without_tracks,
)
from iap_estimation.datasets.noise_densities import MAX_DENSITIES, plausible
from iap_estimation.datasets.range_checks import _doubted, check_ranges, moments_of
from iap_estimation.evaluation.constant_velocity import constant_velocity
from iap_estimation.navigation.jump_blend import FADING, JumpBlend
from iap_estimation.navigation.measurements import Tally
from iap_estimation.navigation.vision_log import FEWEST_TRACKS, VisionLog
from iap_estimation.virpo.batch.sightings import sightings_of
from iap_estimation.virpo.messages import CENTRE, ImuSample, Ranges, Tracks
from iap_estimation.virpo.spec import load_spec
from iap_estimation.virpo.window.failure_checks import Fault, check, sound
from iap_estimation.virpo.window.window import EstimateLost

# images of 16 bits


def test_few_levels_are_spread_with_a_tenth_of_margin() -> None:
    image = np.linspace(20_000.0, 22_000.0, 400 * 400).reshape(400, 400).astype(np.uint16)
    levels = levels_of([image])
    low, high = np.percentile(image[::4, ::4], [0.5, 99.5])
    assert (levels.black, levels.white) == pytest.approx(
        (low - 0.1 * (high - low), high + 0.1 * (high - low))
    )
    assert (
        levels.note is not None
        and f"levels {levels.black:.0f} to {levels.white:.0f}" in levels.note
    )
    grey = DeepLevels(1000.0, 1510.0).grey(np.array([[500, 1000, 1255, 1510, 9000]], np.uint16))
    assert grey.tolist() == [[0, 0, 128, 255, 255]] and grey.dtype == np.uint8


@pytest.mark.parametrize(("share", "all_"), [(0.49, False), (0.52, True), (0.0, True)])
def test_half_of_all_levels_are_used_as_they_are(share: float, all_: bool) -> None:
    image = np.linspace(0.0, share * 65535.0, 160_000).reshape(400, 400).astype(np.uint16)
    levels = levels_of([image])
    assert (levels == ALL_LEVELS) == all_ and (levels.note is None) == all_
    assert levels.black == 0.0 and levels.white <= 65535.0


def test_images_of_8_bits_stay_as_they_are() -> None:
    small = np.arange(16, dtype=np.uint8).reshape(4, 4)
    assert levels_of([small]) == ALL_LEVELS
    assert DeepLevels(3.0, 9.0).grey(small) is small
    assert ALL_LEVELS.grey(np.array([[256, 65535]], np.uint16)).tolist() == [[1, 255]]


# noise densities


def test_densities_that_no_unit_has_give_way_to_a_small_units() -> None:
    good = np.array([0.001, 0.02, 1e-5, 1e-4])
    assert plausible(good, "x") == (good, None) and plausible(good, "x")[0] is good
    assert plausible(MAX_DENSITIES, "x")[1] is None
    for i in range(4):
        for value in (0.0, 1.01 * MAX_DENSITIES[i], np.nan):
            odd = good.copy()
            odd[i] = value
            taken, text = plausible(odd, "imu.yaml")
            assert text is not None and text.startswith(
                "imu.yaml: no inertial unit has such noise"
            )
            assert text.count("Hz)") == 1 and 0.0 < taken[i] < MAX_DENSITIES[i]
            np.testing.assert_array_equal(np.delete(taken, i), np.delete(good, i))


# what was left out


def test_each_kind_of_message_that_is_left_out_is_counted_in_a_sentence_of_its_own() -> None:
    tally = Tally(
        unpaired=1, repeated=2, late=3, misplaced=4, numberless=5, lengthless=6, blind=7.25
    )
    tally.gaps.append("imu: 0.5 s")
    tally.unlisted.update(b=2, a=1)
    sentences = tally.sentences()
    assert sentences[0] == "imu: 0.5 s: estimators start over where they have to"
    assert [text.split()[0] for text in sentences[1:7]] == ["1", "2", "3", "4", "5", "6"]
    assert "1 to a, 2 to b" in sentences[7] and "the last 7.2 s" in sentences[8]
    tally.clear()
    assert tally.sentences() == [] and tally == Tally()


# ranges

ANCHORS = np.array(
    [[0.0, 0.0, 0.0], [8.0, 0.0, 3.0], [8.0, 6.0, 0.5], [0.0, 6.0, 2.5], [4.0, 3.0, 4.0]]
)
NAMES = ["a", "b", "c", "d", "e"]


def rounds(
    factor: float = 1.0, places: np.ndarray = ANCHORS, count: int = 60, every: float = 0.1
) -> list[Ranges]:
    """Rounds of ranges from a tag that walks through a room."""
    out = []
    for k in range(count):
        p = np.array([2.0 + 0.05 * k, 2.0 + np.sin(0.1 * k), 1.0])
        d = factor * np.linalg.norm(ANCHORS - p, axis=1)
        out.append(Ranges(every * k, np.arange(5), places, d, np.full(5, 0.1)))
    return out


@pytest.mark.parametrize(
    ("factor", "places", "words"),
    [
        (1.0, 1.0, None), (1e3, 1.0, "in mm: set key 'ranges.scale' to 0.001"),
        (1e2, 1.0, "in cm: set key 'ranges.scale' to 0.01"), (1.0, 1e3, "places of key 'anchors' are in mm"),
        (1.0, 1e2, "places of key 'anchors' are in cm"),
    ],
)  # fmt: skip
def test_ranges_in_another_unit_than_their_anchors_are_named(
    factor: float, places: float, words: str | None
) -> None:
    data = rounds(factor, places * ANCHORS)
    if words is None:
        check_ranges(data, NAMES, "map.yaml")
        return
    with pytest.raises(
        BadInput, match=f"map.yaml: ranges do not fit the anchors, but would .*{words}"
    ):
        check_ranges(data, NAMES, "map.yaml")


def test_two_anchors_whose_places_are_exchanged_are_named() -> None:
    with pytest.raises(BadInput, match=r"with two exchanged: .*c and e; exchange them back"):
        check_ranges(rounds(places=ANCHORS[[0, 1, 4, 3, 2]]), NAMES, "map.yaml")
    check_ranges([], NAMES, "map.yaml")


@pytest.mark.parametrize(("every", "count"), [(0.1, 20), (0.24, 20), (0.26, 0)])
def test_a_moment_is_of_fifteen_ranges_within_half_a_second(every: float, count: int) -> None:
    moments = list(moments_of(rounds(every=every)))
    assert len(moments) == count
    assert all(len(moment.ranges) == 15 for moment in moments)


@pytest.mark.parametrize(("worst", "doubted"), [(0.14, []), (0.16, [1, 2, 0])])
def test_anchors_are_doubted_from_15_cm_on_the_worst_first(
    worst: float, doubted: list[int]
) -> None:
    assert (
        _doubted(
            {0: np.array([0.1, -0.1]), 1: np.array([-worst] * 3), 2: np.array([0.12, 9.0, 0.12])}
        )
        == doubted
    )


def test_a_tag_that_goes_on_as_it_went_is_followed_and_a_wild_range_left_out() -> None:
    data = rounds(count=80)
    wild = data[40].ranges.copy()
    wild[2] += 5.0
    data[40] = Ranges(data[40].t, data[40].anchors, data[40].p_W, wild, data[40].deviations)
    t, p = constant_velocity(data, np.array([2.3, 1.8, 1.2]))
    true = np.array([[2.0 + 0.05 * k, 2.0 + np.sin(0.1 * k), 1.0] for k in range(80)])
    np.testing.assert_allclose(t, 0.1 * np.arange(80.0))
    assert np.linalg.norm(p - true, axis=1)[10:].max() < 0.05


def test_a_first_range_corrects_by_its_gain() -> None:
    """Deviations of 1 m along the way and 0.5 m of the range: four fifths of the difference."""
    one = Ranges(
        0.0, np.zeros(1, int), np.array([[0.0, 0.0, 0.0]]), np.array([5.0]), np.array([0.5])
    )
    _, p = constant_velocity([one], np.array([4.0, 0.0, 0.0]))
    np.testing.assert_allclose(p, [[4.8, 0.0, 0.0]])
    far = Ranges(
        0.0, np.zeros(1, int), np.array([[0.0, 0.0, 0.0]]), np.array([8.5]), np.array([0.5])
    )
    np.testing.assert_allclose(
        constant_velocity([far], np.array([4.0, 0.0, 0.0]))[1], [[4.0, 0.0, 0.0]]
    )  # 4 deviations
    moving = Ranges(
        1.0, np.zeros(1, int), np.array([[0.0, 0.0, 0.0]]), np.array([5.0]), np.array([0.5])
    )
    first = Ranges(0.0, np.zeros(0, int), np.zeros((0, 3)), np.zeros(0), np.zeros(0))
    variance = (
        1.0 + 1.0 + 1.0 / 3.0
    )  # of place, of velocity after a second, and of the acceleration
    _, p = constant_velocity([first, moving], np.array([4.0, 0.0, 0.0]))
    assert p[1, 0] == pytest.approx(4.0 + variance / (variance + 0.25))


# losses


def results(**keys: Any) -> Any:
    values = {
        "frontend": SimpleNamespace(tracks=[50] * 10), "dataset": SimpleNamespace(has_ranges=False), "duration": 29.0,
        "methods": {}, "rounds": {},
    }  # fmt: skip
    return SimpleNamespace(**{**values, **keys})


@pytest.mark.parametrize(
    ("method", "blind", "has_ranges", "is_lost"),
    [("vio", 3, False, False), ("vio", 4, False, True), ("vio", 4, True, True), ("batch", 4, False, True),
     ("batch", 4, True, False), ("joint", 10, False, False)],
)  # fmt: skip
def test_a_method_of_images_is_lost_without_tracks_in_three_of_ten(
    method: str, blind: int, has_ranges: bool, is_lost: bool
) -> None:
    tracks = [FEWEST_TRACKS - 1] * blind + [FEWEST_TRACKS] * (10 - blind)
    found = without_tracks(
        results(
            frontend=SimpleNamespace(tracks=tracks), dataset=SimpleNamespace(has_ranges=has_ranges)
        ),
        method,
    )
    assert (found is not None) == is_lost
    assert found is None or f"{10 * blind}% of the images" in found
    assert without_tracks(results(frontend=SimpleNamespace(tracks=[])), "vio") is None


@pytest.mark.parametrize(
    ("faults", "gaps", "duration", "is_lost"),
    [
        (3, 0, 30.0, True),
        (3, 0, 30.1, False),
        (2, 0, 5.0, False),
        (2, 3, 5.0, False),
        (4, 1, 39.0, True),
    ],
)
def test_three_restarts_within_ten_seconds_each_are_a_loss_unless_gaps_explain_them(
    faults: int, gaps: int, duration: float, is_lost: bool
) -> None:
    each = [Fault(1.0 + k, "speed") for k in range(faults)] + [Fault(9.0, loss_checks.GAP)] * gaps
    found = restarting(
        results(duration=duration, methods={"vio": SimpleNamespace(faults=each)}), "vio"
    )
    assert (found is not None) == is_lost
    assert (
        found is None or found == f"restarted {faults} times in {duration:.1f} s: at 1.00 s: speed"
    )


@pytest.mark.parametrize(("off", "is_lost"), [(0.49, False), (0.51, True), (-0.51, True)])
def test_an_estimate_half_a_metre_off_its_ranges_is_lost(off: float, is_lost: bool) -> None:
    """An antenna 1 m ahead on a body that is yawed by 90 deg, so that it is 1 m along y."""
    q = so3.quaternion_exp(np.array([0.0, 0.0, 0.5 * np.pi]))
    pose = np.array([1.0, 2.0, 3.0, *q])
    tag = np.array([1.0, 3.0, 3.0])
    ways = np.linalg.norm(ANCHORS - tag, axis=1)
    inside = Ranges(0.5, np.arange(5), ANCHORS, ways + off, np.ones(5))
    outside = Ranges(2.0, np.arange(5), ANCHORS, ways + 99.0, np.ones(5))
    path = SimpleNamespace(t=np.array([0.0, 1.0]), poses=np.stack([pose, pose]))
    data = SimpleNamespace(
        aircraft=[SimpleNamespace(name="d", p_BA_B=np.array([1.0, 0.0, 0.0]))], anchor_name=lambda i: NAMES[i],
        has_ranges=True,
    )  # fmt: skip
    ran = results(
        dataset=data,
        rounds={0: [inside, outside]},
        methods={"imu_uwb": SimpleNamespace(trajectories={"d": path})},
    )
    errors = range_errors(ran, "imu_uwb")
    assert list(errors) == NAMES
    np.testing.assert_allclose(np.concatenate(list(errors.values())), off)
    for method in loss_checks.BLIND:
        ran.methods[method] = ran.methods["imu_uwb"]
        assert (off_ranges(ran, method) is not None) == is_lost
    assert off_ranges(ran, "vio") is None


# sight


def test_half_a_second_without_tracks_is_a_loss_of_vision_from_the_last_ones_on() -> None:
    log = VisionLog(2)
    for t, owner, count in ((0.4, 0, 9), (0.4, 1, 9), (0.9, 1, 9), (0.9, 0, FEWEST_TRACKS - 1)):
        log.take(owner, tracks(t, count))
    assert log.events == []
    log.take(CENTRE, tracks(0.901, 99))
    assert log.events == [(0.4, "vision lost by aircraft 1")]
    log.take(0, tracks(1.2, FEWEST_TRACKS))
    assert log.events[1:] == [(1.2, "vision regained by aircraft 1")]
    log.note(2.0)
    assert log.events[2:] == [(0.9, "vision lost by aircraft 1, 2")]
    alone = VisionLog(1)
    alone.note(0.501)
    assert alone.events == [(0.0, "vision lost")]


# jumps


def test_a_correction_of_more_than_a_centimetre_fades_in_half_a_second() -> None:
    blend, v = JumpBlend(), np.array([1.0, 0.0, 0.0])

    def row(x: float, y: float) -> np.ndarray:
        out = np.zeros(13)
        out[0], out[1], out[7:10] = x, y, v
        return out

    blend(0.0, row(0.0, 0.0))
    small = row(0.1, 0.0099)
    blend(0.1, small)
    np.testing.assert_allclose(small[:2], [0.1, 0.0099])
    large = row(0.2, 0.5)
    blend(0.2, large)
    offset = 0.0099 - 0.5
    np.testing.assert_allclose(large[:2], [0.2, 0.0099])
    again = row(0.2, 0.5)
    blend(0.2, again)
    np.testing.assert_allclose(again[:2], [0.2, 0.0099])
    later = row(0.7, 0.5)
    blend(0.7, later)
    np.testing.assert_allclose(later[:2], [0.7, 0.5 + offset * np.exp(-0.5 / FADING)])
    assert FADING == 0.5


# states that no aircraft can be in

LIMITS: Any = SimpleNamespace(speed=20.0, gyro_bias=0.5, accel_bias=3.0, jump=1.0)
FLEET: Any = SimpleNamespace(aircraft=[SimpleNamespace(name="one"), SimpleNamespace(name="two")])


@pytest.mark.parametrize(
    ("column", "size", "doubt", "what"),
    [
        (7, 19.9, 0.0, None), (8, 20.1, 0.0, "speed of 20.1"), (10, 0.51, 0.0, "gyroscope bias of 0.51"),
        (15, 3.1, 0.0, "accelerometer bias of 3.1"), (15, 2.9, 0.0, None), (0, 1.01, 0.0, "jump of 1.01"),
        (0, 1.35, 0.1, None), (0, 1.41, 0.1, "jump of 1.41"), (7, np.nan, 0.0, "speed of nan"),
    ],
)  # fmt: skip
def test_an_estimator_begins_anew_where_a_state_is_beyond_its_limit(
    column: int, size: float, doubt: float, what: str | None
) -> None:
    x, predicted, doubts = np.zeros((2, 16)), np.zeros((2, 16)), np.array([0.0, doubt])
    x[1, column] = size
    if what is None:
        check(x, predicted, doubts, FLEET, LIMITS)
        return
    with pytest.raises(EstimateLost, match=f"two: {what}"):
        check(x, predicted, doubts, FLEET, LIMITS)


def test_biases_that_no_unit_has_are_forgotten() -> None:
    x = np.zeros((3, 16))
    x[0, 10], x[1, 11], x[2, 13] = 0.51, 0.49, 3.1
    x[0, 13], x[2, 12] = 2.9, np.nan
    kept = sound(x, LIMITS)
    np.testing.assert_allclose(
        kept[:, 10:], [[0.0, 0.0, 0.0, 2.9, 0.0, 0.0], [0.0, 0.49, 0.0, 0.0, 0.0, 0.0], [0.0] * 6]
    )


# tracks of a whole recording


def test_tracks_of_two_keyframes_and_more_are_sightings_cut_at_the_longest() -> None:
    frames: list[Any] = []
    for k in range(5):
        ids = np.array([7, 9]) if k < 1 else np.array([7])
        one = Tracks(
            float(k), ids, np.full((len(ids), 4), float(k)), np.array([k % 2 == 0] * len(ids))
        )
        frames.append(SimpleNamespace(tracks=one))
    frames.insert(2, SimpleNamespace(tracks=None))
    (whole,) = sightings_of(frames, 9)
    assert whole.frames.tolist() == [0, 1, 3, 4, 5] and whole.views[:, 0].tolist() == [
        0.0,
        1.0,
        2.0,
        3.0,
        4.0,
    ]
    assert whole.sides.tolist() == [3, 1, 3, 1, 3] and not whole.counts
    first, second = sightings_of(frames, 3)
    assert (first.frames.tolist(), second.frames.tolist()) == ([0, 1, 3], [4, 5])
    seen = list(second.counted())
    assert [(frame, side) for frame, side, _ in seen] == [(4, 0), (5, 0), (5, 1)]


def test_a_walk_by_ranges_begins_where_they_meet_level_and_with_the_likeliest_heading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tilt = so3.quaternion_exp(np.array([0.1, -0.05, 0.0]))
    force = so3.rotate(so3.conjugate(tilt), np.array([0.0, 0.0, 9.81]))
    units = [ImuSample(0.01 * k, np.zeros(3), force) for k in range(100)]
    data: Any = SimpleNamespace(
        gravity=9.81,
        source="walk",
        events=lambda: ((0, each) for each in [*units, *rounds(count=9)]),
    )
    headings: list[float] = []

    def cost(_: Any, __: Any, ___: Any, x: np.ndarray, ____: Any) -> float:
        headings.append(float(euler.rpy_from_matrix(so3.matrix_from_quaternion(x[3:7]))[2]))
        return abs(headings[-1] - 2.0)

    monkeypatch.setattr(range_start, "_cost", cost)
    start, deviations = range_start.range_start(data, load_spec())
    x = start(0, None)  # type: ignore[arg-type]
    np.testing.assert_allclose(x[:3], [2.2, 2.386, 1.0], atol=0.02)  # of the middle of nine rounds
    np.testing.assert_allclose(
        so3.matrix_from_quaternion(x[3:7])[2], so3.matrix_from_quaternion(tilt)[2], atol=1e-6
    )
    yaw = euler.rpy_from_matrix(so3.matrix_from_quaternion(x[3:7]))[2]
    assert abs(yaw - 2.0) == pytest.approx(min(abs(each - 2.0) for each in headings), abs=1e-9)
    assert len(headings) == len(range_start.YAWS) and deviations.position == 0.3
    x[:] = 7.0
    assert start(0, None)[0] != 7.0  # type: ignore[arg-type]


def test_a_yaw_is_judged_by_the_later_half_of_its_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """The earlier ones are of the way from a wrong start, the same for all yaws."""
    costs = iter([50.0, 30.0, 4.0, 2.0, 3.0])
    heard = SimpleNamespace(ranges=lambda *_: None, imu=lambda *_: True)
    monkeypatch.setattr(range_start, "UwbLocalizer", lambda *_: heard)
    monkeypatch.setattr(range_start, "mean_cost", lambda _: next(costs))
    units: list[Any] = [ImuSample(0.1 * k, np.zeros(3), np.zeros(3)) for k in range(5)]
    beginning = range_start._Beginning([*units, *rounds(count=2)])
    data: Any = SimpleNamespace(fleet=lambda _: None)
    nothing: Any = None
    assert range_start._cost(data, load_spec(), beginning, np.zeros(17), nothing) == 3.0
    none = range_start._Beginning([])
    assert range_start._cost(data, load_spec(), none, np.zeros(17), nothing) == np.inf
