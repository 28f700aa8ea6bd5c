# SPDX-License-Identifier: BSD-3-Clause
"""Ranges of bags and of the truth, and the errors of a map of anchors, worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.datasets import range_bag_source, range_checks, virtual_ranges
from iap_estimation.datasets.fleet_bag_source import FleetMap, _TruthOfBody
from iap_estimation.datasets.range_bag_source import RangeMap
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.fleet_data import AircraftData
from iap_estimation.navigation.measurements import Tally
from iap_estimation.virpo.messages import ImuSample, Ranges

FIELDS = {"topic": "/uwb", "anchor": "to.id", "range": "d", "deviation": 0.2}
ANCHORS = [
    {"id": 7, "position": [1.0, 2.0, 3.0], "bias": 0.5},
    {"id": "x", "position": [4.0, 5.0, 6.0]},
]


def mapping(up="z", **fields):
    return RangeMap.model_validate(
        {"imu": "/imu", "ranges": {**FIELDS, **fields}, "anchors": ANCHORS, "up": up}
    )


def part(anchor, d, ok=1):
    return SimpleNamespace(to=SimpleNamespace(id=anchor), d=d, ok=ok)


def read(message, tally=None, **fields):
    made = mapping(**fields)
    anchors = range_bag_source._Anchors.of(made)
    return range_bag_source._round("bag", 1.5, message, made.ranges, anchors, tally or Tally())


@pytest.mark.parametrize(("up", "sign"), [("z", 1.0), ("-z", -1.0)])
def test_an_upside_down_map_is_turned_about_its_x_axis(up, sign):
    anchors = range_bag_source._Anchors.of(mapping(up))
    np.testing.assert_array_equal(
        anchors.p_W, [[1.0, 2.0 * sign, 3.0 * sign], [4.0, 5.0 * sign, 6.0 * sign]]
    )
    assert anchors.numbers == {"7": 0, "x": 1} and anchors.biases.tolist() == [0.5, 0.0]


def test_a_message_of_many_ranges_is_a_round_of_those_that_count():
    tally = Tally()
    parts = [
        part("x", 3000.0),
        part(7, 400.0),
        part(7, 2000.0, ok=0),
        part(9, 1.0),
        part(9, 1.0),
        part("x", np.nan),
        part(7, -1.0),
    ]
    message = SimpleNamespace(all=parts)
    found = read(message, tally, each="all", valid="ok", scale=1e-3)
    assert found.t == 1.5 and found.anchors.tolist() == [1, 0]
    assert found.ranges.tolist() == [3.0, 0.0], "a range less its bias is no less than nothing"
    assert found.p_W.tolist() == [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]
    assert found.deviations.tolist() == [0.2, 0.2]
    assert (tally.unlisted, tally.lengthless) == ({"9": 2}, 2)
    assert read(part(7, 2.0)).ranges.tolist() == [1.5]
    assert read(part(9, 2.0)) is None


def test_stamps_and_fields_are_read_with_dots_into_their_parts():
    stamp = SimpleNamespace(sec=3, nanosec=25)
    message = SimpleNamespace(header=SimpleNamespace(stamp=stamp))
    assert range_bag_source._range_ns("bag", mapping(), message) == 3_000_000_025
    stamp.sec = 2**40
    assert range_bag_source._range_ns("bag", mapping(), message) == 2**62
    stamp.sec = -(2**40)
    assert range_bag_source._range_ns("bag", mapping(), message) == -(2**62)
    for name in ("header.none", "header.__class__", "_x"):
        with pytest.raises(BadInput, match=f"^bag: messages have no field '{name}'"):
            range_bag_source._field(message, name, "bag")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"ranges": {**FIELDS, "antenna": [3.0, 4.0, 1.0]}}, "key 'antenna': 5.1 m from the inertial unit"),
        ({"anchors": [*ANCHORS, {"id": "7", "position": [0, 0, 0]}]}, "key 'anchors': id '7' is given twice"),
    ],
)  # fmt: skip
def test_a_mapping_of_ranges_that_cannot_be_is_refused(keys, words):
    good = {"imu": "/imu", "ranges": {**FIELDS, "antenna": [3.0, 4.0, 0.0]}, "anchors": ANCHORS}
    assert RangeMap.model_validate(good).up == "z"
    with pytest.raises(ValueError, match=words):
        RangeMap.model_validate({**good, **keys})


def test_a_mapping_of_a_fleet_joins_all_of_it():
    aircraft = {name: {"imu": f"/{name}/imu", "left": f"/{name}/left"} for name in ("one", "two")}
    place = [0.0, 0.0, 0.0]
    joints = {"one": place, "two": place}
    made = FleetMap.model_validate(
        {"aircraft": aircraft, "center": {"imu": "/c", "joints": joints}}
    )
    assert made.center is not None and made.center.tilt_deg == 1.0
    assert FleetMap.model_validate({"aircraft": aircraft}).center is None
    with pytest.raises(ValueError, match=r"places of one, two are expected, got one \["):
        FleetMap.model_validate(
            {"aircraft": aircraft, "center": {"imu": "/c", "joints": {"one": place}}}
        )
    with pytest.raises(ValueError, match="'center' is the name of the central body"):
        FleetMap.model_validate({"aircraft": {**aircraft, "center": aircraft["one"]}})
    poses = _TruthOfBody(topic="/t", body="b", frame="f").poses
    assert tuple(poses) == ("/t", "b", "f")


# ranges of a truth

VIRTUAL = virtual_ranges.VirtualAnchors.model_validate(
    {
        "anchors": {"a": [10.0, 0.0, 0.0], "b": [0.0, 0.0, 100.0]},
        "rate": 4.0,
        "antenna": [1.0, 0.0, 0.0],
    }
)
P_W = np.array([[10.0, 0.0, 0.0], [0.0, 0.0, 100.0]])
T = np.array([2.0, 2.19, 2.38, 2.57, 2.78, 2.97, 3.1])
QUARTER = (0.0, 0.0, 0.5**0.5, 0.5**0.5)  # about z


def truth(q=QUARTER, t=T, **keys):
    poses = np.hstack([np.outer(t - 2.0, [1.0, 0.0, 0.0]), np.tile(q, (len(t), 1))])
    return Truth(t, poses, **keys)


def tag(known, virtual=VIRTUAL):
    one = AircraftData("one", None, np.zeros(4), truth=known)
    return virtual_ranges._tag(3, one, P_W, virtual, SimpleNamespace(source="walk"))


def test_distances_of_a_tag_are_those_of_its_antenna_while_the_truth_has_no_hole():
    found = tag(truth())
    # Rounds come four times a second from the truth's begin on; from 2.57 s to 2.78 s nothing is known.
    np.testing.assert_allclose(found.t, [2.0, 2.25, 2.5, 3.0])
    x = found.t - 2.0
    np.testing.assert_allclose(found.distances[:, 0], np.hypot(10.0 - x, 1.0))
    np.testing.assert_allclose(found.distances[:, 1], np.sqrt(x**2 + 1.0 + 1e4))
    assert found.aircraft == 3 and tag(truth(t=T[:2])).t.tolist() == [2.0]
    own = tag(truth(q=[np.nan] * 4, p_BM_B=np.array([1.0, 0.0, 0.0])))
    np.testing.assert_allclose(own.distances[:, 0], 10.0 - x)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (None, "the truth of one of walk is not known"),
        (truth(t=T[:1]), "the truth of one of walk is not known"),
        (truth(is_turned=True), "the truth of one of walk is not known"),
        (truth(q=[np.nan] * 4), r"key 'antenna': the truth of one has no attitude, .* \[0.0, 0.0, 0.0\]"),
    ],
)  # fmt: skip
def test_a_tag_has_a_truth_with_an_attitude(known, words):
    with pytest.raises(BadInput, match=f"^--ranges: {words}"):
        tag(known)


def test_rounds_are_of_anchors_in_reach_and_the_same_each_time():
    found = list(virtual_ranges._rounds(tag(truth()), P_W, VIRTUAL, "one"))
    again = list(virtual_ranges._rounds(tag(truth()), P_W, VIRTUAL, "one"))
    assert [who for who, _ in found] == [3] * 4
    assert [m.anchors.tolist() for _, m in found] == [[0]] * 4, "the other is beyond 50 m"
    assert [m.ranges[0] for _, m in found] == [m.ranges[0] for _, m in again]
    off = np.array([m.ranges[0] for _, m in found]) - tag(truth()).distances[:, 0]
    assert 0.0 < np.abs(off).max() < 0.5 and found[0][1].deviations.tolist() == [0.1]
    assert found[0][1].p_W.tolist() == [[10.0, 0.0, 0.0]]
    far = VIRTUAL.model_copy(update={"range_max": 5.0})
    assert list(virtual_ranges._rounds(tag(truth()), P_W, far, "one")) == []


def test_rounds_come_between_the_samples_of_their_times():
    one = SimpleNamespace(name="one")
    events = [(0, ImuSample(t, np.zeros(3), np.zeros(3))) for t in (1.9, 2.25, 2.3, 2.6)]
    data = SimpleNamespace(aircraft=[None, None, None, one], events=lambda: iter(events))
    found = list(virtual_ranges._events(data, [tag(truth())], P_W, VIRTUAL))
    assert [m.t for _, m in found] == [1.9, 2.0, 2.25, 2.25, 2.3, 2.5, 2.6]
    assert isinstance(found[2][1], ImuSample) and isinstance(found[3][1], Ranges)


# errors of a map

PLACES = np.array(
    [[0.0, 0.0, 0.0], [8.0, 0.0, 3.0], [8.0, 6.0, 0.5], [0.0, 6.0, 2.5], [4.0, 3.0, 4.0]]
)


def moment(t=0.0, p=(2.0, 2.5, 1.0), places=PLACES, off=0.0):
    d = np.linalg.norm(PLACES - p, axis=1) + off
    return Ranges(t, np.arange(5), places.copy(), d, np.full(5, 0.1))


def test_rounds_of_a_moment_are_joined_at_their_mean_time():
    found = range_checks._joined([moment(1.0), moment(1.5, off=0.5)])
    assert found.t == 1.25 and found.anchors.tolist() == [*range(5), *range(5)]
    np.testing.assert_allclose(found.ranges[5:] - found.ranges[:5], 0.5)
    assert found.p_W.shape == (10, 3) and found.deviations.shape == (10,)


def test_ranges_are_scaled_shortened_and_chosen():
    one = moment()
    scaled = range_checks._scaled(one, 0.5)
    np.testing.assert_allclose(scaled.ranges, 0.5 * one.ranges)
    np.testing.assert_allclose(scaled.deviations, 0.05)
    short = range_checks._shortened(one, 4.0)
    np.testing.assert_allclose(short.ranges, np.maximum(one.ranges - 4.0, 0.0))
    assert (short.ranges == 0.0).any()
    some = range_checks._to(one, np.array([True, False, False, True, False]))
    assert some.anchors.tolist() == [0, 3] and some.p_W.tolist() == PLACES[[0, 3]].tolist()
    assert len(some.ranges) == len(some.deviations) == 2


def test_places_are_exchanged_and_found():
    moments = [range_checks._to(moment(), np.array([True, True, True, False, False])), moment()]
    assert range_checks._place(moments, 3).tolist() == PLACES[3].tolist()
    swapped = range_checks._exchanged(moment(), moments, 1, 3)
    assert swapped.p_W.tolist() == PLACES[[0, 3, 2, 1, 4]].tolist()
    assert range_checks._moved([1, 2, 3, 4], [1, 3, 2, 4]) == 2


def test_the_error_of_a_map_is_the_mean_of_medians():
    errors = {0: np.array([1.0, -3.0, 2.0]), 1: np.array([0.0, 0.0, 9.0]), 2: np.array([-4.0])}
    assert range_checks._error(errors) == pytest.approx(2.0)
    found = range_checks._errors([moment(), moment()])
    assert sorted(found) == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(np.concatenate(list(found.values())), 0.0, atol=1e-5)


@pytest.mark.parametrize(
    ("factor", "unit", "scale"),
    [
        (1.0 / 0.3048, "feet", 0.3048),
        (2.0, "ways there and back", 0.5),
        (0.5, "halves of the ways", 2.0),
    ],
)
def test_units_near_a_metre_are_told_by_what_they_leave(factor, unit, scale):
    least, text = range_checks._other_unit([range_checks._scaled(moment(), factor)])
    assert least < 1e-3 and text == f"as {unit}: set key 'ranges.scale' to {scale:g}"
    assert (
        range_checks._other_unit([moment(off=np.array([3.0, 0.0, -2.0, 0.0, 1.0]))])[0] == np.inf
    )


@pytest.mark.parametrize(("off", "way"), [(0.62, "shorter"), (-0.38, "longer")])
def test_a_length_common_to_all_ranges_is_found(off, way):
    points = [(2.0, 2.5, 1.0), (6.0, 1.0, 2.0), (5.0, 5.0, 0.5), (1.0, 4.0, 3.0)]
    least, text = range_checks._excess([moment(p=p, off=off) for p in points])
    assert least < 0.01
    assert text.startswith(
        f"if all were {abs(off):.2f} m {way}, as with a delay of their antennas"
    )
    assert text.endswith(f"set key 'bias' of every anchor to {off:.2f}")


def test_an_exchange_and_a_ring_are_told_by_their_names():
    points = [(2.0, 2.5, 1.0), (6.0, 1.0, 2.0), (5.0, 5.0, 0.5), (1.0, 4.0, 3.0)]
    swapped = [moment(p=p, places=PLACES[[0, 3, 2, 1, 4]]) for p in points]
    least, text = range_checks._exchange(swapped, [0, 1, 3], "abcde")
    assert (
        least < 1e-3 and text == "with two exchanged: b and d; exchange them back in key 'anchors'"
    )
    ringed = [moment(p=p, places=PLACES[[1, 2, 0, 3, 4]]) for p in points]
    least, text = range_checks._ring(ringed, [0, 1, 2], "abcde")
    assert least < 1e-3
    assert (
        text
        == "with several exchanged: a where c is, b where a is, c where b is; write them so in key 'anchors'"
    )
    assert range_checks._ring(ringed, [0, 1], "abcde") == (np.inf, "")


@pytest.mark.parametrize(("away", "is_found"), [(1.2, True), (0.9, False)])
def test_an_anchor_that_stands_elsewhere_is_found_from_a_metre_on(away, is_found):
    points = [(2.0, 2.5, 1.0), (6.0, 1.0, 2.0), (5.0, 5.0, 0.5), (1.0, 4.0, 3.0)]
    places = PLACES.copy()
    places[4, 0] += away
    found = list(
        range_checks._misplaced([moment(p=p, places=places) for p in points], [4], "abcde")
    )
    assert len(found) == is_found
    if is_found:
        assert found[0][0] < 1e-3 and found[0][1].startswith(
            "if e stood 1.2 m from where it is said"
        )
