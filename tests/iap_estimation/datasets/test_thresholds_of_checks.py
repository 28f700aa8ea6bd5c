# SPDX-License-Identifier: BSD-3-Clause
"""Words of checks just below and just above their thresholds, by stand-ins of their measurements."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.datasets import (
    data_sample,
    euroc_source,
    image_checks,
    inertial_checks,
    range_motion,
    stereo_scale,
    stream_checks,
    understanding,
)
from iap_estimation.datasets.accelerometer_axes import axes_text
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.dead_ranges import check_alive
from iap_estimation.datasets.image_rotation import Delay
from iap_estimation.datasets.understanding import Corrections, DatasetSummary
from iap_estimation.evaluation.truth import Truth
from iap_estimation.frontend.calibration import CameraCalibration
from iap_estimation.navigation.fleet_data import AircraftData
from iap_estimation.navigation.measurements import Images
from iap_estimation.virpo.messages import Ranges

SOURCE = SimpleNamespace(source="tag")
XY, Z, DOWN = range_motion.LEVEL[1:]
SIDE = next(name for name in range_motion.MAPS if name not in range_motion.LEVEL)
FELT = "they move as the inertial unit feels it"
STILL = "they move too little or too straight to say whether the anchors' map is mirrored"
LEAPS = "where they meet leaps: whether the anchors' map is mirrored cannot be checked"


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"as it is": 10.0}, FELT),
        ({"as it is": 10.0, Z: 20.0}, f"{FELT}, but for heights, which do not tell"),
        ({"as it is": 10.0, XY: 23.0}, STILL),
        ({"as it is": 10.0, XY: 23.5}, FELT),
        ({"as it is": 100.0, XY: 50.0}, STILL),
        ({"as it is": 200.0, XY: 50.0}, XY),
        ({"as it is": 200.0, Z: 59.0}, Z),
        ({"as it is": 200.0, Z: 61.0}, f"{FELT}, but for heights, which do not tell"),
        ({"as it is": 200.0, DOWN: 59.0}, DOWN),
        ({"as it is": 200.0, DOWN: 30.0, Z: 71.0}, DOWN),
        ({"as it is": 200.0, DOWN: 30.0, Z: 69.0}, Z),
        ({"as it is": 10.0, SIDE: 1.4}, SIDE),
        ({"as it is": 10.0, SIDE: 1.6}, FELT),
        ({"as it is": 179.0}, FELT),
        ({"as it is": 181.0}, LEAPS),
        ({"as it is": 11.0, XY: 8.9}, STILL),
    ],
)
def test_a_map_is_judged_by_the_squares_that_each_leaves(monkeypatch, left, said):
    """Of thirty numbers: a map fits below 180, heights count below 60, and what is sure is 4/3 of the least."""
    one = SimpleNamespace(places=np.zeros((10, 3)))
    names = {id(H): name for name, H in range_motion.MAPS.items()}
    monkeypatch.setattr(range_motion, "_windows", lambda sample: [one])
    monkeypatch.setattr(range_motion, "_left", lambda window, H: left.get(names[id(H)], 1000.0))
    sample = SimpleNamespace(dataset=SOURCE)
    if said in range_motion.MAPS:
        with pytest.raises(BadInput) as refused:
            range_motion.check_motion(sample)
        assert f"if the anchors' map is {said}; or the axes" in str(refused.value)
    else:
        assert range_motion.check_motion(sample) == said
    monkeypatch.setattr(range_motion, "_windows", lambda sample: [])
    assert range_motion.check_motion(sample) is None


@pytest.mark.parametrize(
    ("fits", "said"),
    [
        ([(1.0, 0.1), (1.2, 0.2)], "within 9 %"),
        ([(1.45, 0.1)], "within 45 %"),
        ([(1.6, 0.16)], "within 60 %"),
        ([(1.6, 0.14)], None),
        ([(0.68, 0.05)], "within 32 %"),
        ([(0.65, 0.05)], None),
        ([(1.0, 0.149)], "within 15 %"),
        ([(1.0, 0.151)], "too little"),
        ([], "too little"),
    ],
)
def test_a_distance_of_a_pair_is_another_one_beyond_half_as_much_again(monkeypatch, fits, said):
    pair = SimpleNamespace(right=1, p_RL_R=np.array([-0.1, 0.0, 0.0]))
    data = SimpleNamespace(source="walk", aircraft=[SimpleNamespace(calibration=pair)])
    sample = SimpleNamespace(dataset=data, turns_can_be_seen=True)
    monkeypatch.setattr(stereo_scale, "_ways", lambda sample: None)
    monkeypatch.setattr(stereo_scale, "_windows", lambda ways: [*fits, (9.0, None)])
    made = stereo_scale._ScaleFit
    monkeypatch.setattr(
        stereo_scale, "_fit", lambda sample, one: None if one[1] is None else made(*one)
    )
    if said is None:
        with pytest.raises(BadInput, match="^walk: "):
            stereo_scale.distance_of_pair(sample)
    else:
        assert said in stereo_scale.distance_of_pair(sample)
    sample.turns_can_be_seen = False
    assert stereo_scale.distance_of_pair(sample) is None
    pair.right, sample.turns_can_be_seen = None, True
    assert stereo_scale.distance_of_pair(sample) is None


@pytest.mark.parametrize(
    ("lag", "said"),
    [
        ((0.05, 0.95, 0.5), "the truth is 50 ms late by its turns and the gyroscope's: taken out"),
        ((-0.041, 0.91, 0.8), "the truth is 41 ms early by its turns and the gyroscope's: taken out"),
        ((0.039, 0.95, 0.5), None), ((0.05, 0.89, 0.5), None), ((0.05, 0.95, 0.86), None), (None, None),
    ],
)  # fmt: skip
def test_a_lag_of_the_truth_is_taken_out_where_it_is_long_and_sure(monkeypatch, lag, said):
    found = None if lag is None else stream_checks._Lag(*lag)
    monkeypatch.setattr(stream_checks, "_lag_of_turns", lambda *_: found)
    truth = Truth(np.array([1.0, 2.0]), np.zeros((2, 7)))
    data = dataset(truth)
    sample = SimpleNamespace(dataset=data, samples=[None] * 50, t=None, w_B=None)
    assert stream_checks.truth_in_time(sample) == said
    t = sample.dataset.aircraft[0].truth.t
    np.testing.assert_allclose(t, [1.0, 2.0] if said is None else np.array([1.0, 2.0]) - lag[0])
    sample.samples = [None] * 49
    assert stream_checks.truth_in_time(sample) is None


def dataset(truth=None):
    about = {
        "source": "walk",
        "name": "walk",
        "start_ns": 0,
        "notes": (),
        "frontend": None,
        "tally": None,
    }
    return SensorDataset(
        **about, aircraft=(AircraftData("one", None, np.zeros(4), truth=truth),), events=None
    )


BY = " by their turns and the gyroscope's: "
OPEN = "nothing turns enough to say whether images are late: --image-delay SECONDS, if so"


@pytest.mark.parametrize(
    ("found", "delay", "said"),
    [
        (Delay(0.0051, 0.0016), 0.0051, "images 5.1 ms late +- 1.6 ms" + BY + "taken out (--image-delay 0 leaves it)"),
        (Delay(-0.03, 0.019), 0.0, "images 30.0 ms early +- 19.0 ms" + BY + "left as they are"),
        (Delay(-0.06, 0.019), -0.06, "images 60.0 ms early +- 19.0 ms" + BY + "taken out"),
        (Delay(0.0049, 0.001), 0.0, "images 4.9 ms late +- 1.0 ms" + BY + "left as they are"),
        (Delay(0.2, 0.0205), 0.0, OPEN), (None, 0.0, OPEN),
    ],
)  # fmt: skip
def test_a_delay_of_images_is_taken_out_where_it_is_long_and_sure(monkeypatch, found, delay, said):
    monkeypatch.setattr(image_checks, "delay_of", lambda sample: found)
    sample, lines = SimpleNamespace(image_times=[0.0]), []
    taken, record = understanding._clock(sample, Corrections(), lines)
    assert taken == delay and len(lines) == 1 and lines[0].startswith(said)
    if said is OPEN:
        assert record == {"image_delay_s": None}
    else:
        values = (found.value, found.deviation, delay)
        names = ("image_delay_s", "image_delay_deviation_s", "image_delay_taken_out_s")
        assert record == dict(zip(names, values, strict=True))
    lines.clear()
    given = understanding._clock(sample, Corrections(image_delay=-0.02), lines)
    assert given == (0.0, {"image_delay_s": -0.02}) and lines == ["images 20.0 ms early, as given"]
    assert understanding._clock(SimpleNamespace(image_times=[]), Corrections(), lines) == (0.0, {})


@pytest.mark.parametrize(
    ("by_half_turns", "found"), [(True, ("-x, -y, z", 0.3)), (False, ("y, -x, z", 0.2))]
)
def test_other_axes_of_a_unit_are_turns_of_it_and_never_mirrored(by_half_turns, found):
    left = {"-x, y, z": 0.1, "y, -x, z": 0.2, "-x, -y, z": 0.3}

    def misfits(axes):
        return SimpleNamespace(least=left.get(axes_text(np.array(axes)), 9.0))

    sample = SimpleNamespace(misfits=misfits)
    assert inertial_checks._other_axes(sample, by_half_turns=by_half_turns) == found


@pytest.mark.parametrize(
    ("now", "degrees", "is_refused"),
    [(14.9, 0.1, False), (15.1, 4.5, True), (15.1, 4.6, False), (None, 1.0, False), (90.0, None, False)],
)  # fmt: skip
def test_rates_in_degrees_are_told_by_where_gravity_goes(monkeypatch, now, degrees, is_refused):
    def gravity_of(sample, factor):
        size = now if factor == 1.0 else degrees
        return None if size is None else SimpleNamespace(misses=lambda: size)

    monkeypatch.setattr(inertial_checks, "gravity_of", gravity_of)
    assert inertial_checks.rate_unit(SimpleNamespace(samples=[0])) is None
    sample = SimpleNamespace(dataset=SOURCE, samples=[0, 1], pairs=[])
    if is_refused:
        words = "^tag: the gyroscope does not fit where gravity goes in the body's axes in rad/s, but in deg/s:"
        with pytest.raises(BadInput, match=words + " --gyro-scale 0.0174533$"):
            inertial_checks.rate_unit(sample)
    else:
        assert inertial_checks.rate_unit(sample) is None


def test_each_aircraft_of_a_fleet_is_understood_by_itself(monkeypatch):
    truth = Truth(np.array([1.0, 2.0]), np.zeros((2, 7)))
    parts = dataset(truth), dataset()
    summaries = [
        DatasetSummary(parts[0], {"lines": {"clock": ["late"]}, "image_delay_taken_out_s": 0.25}),
        DatasetSummary(parts[1], {"lines": {"clock": [], "images": ["dark"]}}),
    ]
    whole = understanding.understand
    monkeypatch.setattr(
        understanding, "understand", lambda part, corrections: summaries[parts.index(part)]
    )
    one, two = (replace(parts[0].aircraft[0], name=name, truth=None) for name in ("a", "b"))
    events = [(k, Images(0.5, np.zeros((1, 1), np.uint8), None)) for k in (0, 1)]
    found = whole(
        replace(parts[0], aircraft=(one, two), parts=parts, events=lambda: iter(events)),
        Corrections(),
    )
    assert found.lines == ["a, clock: late", "b, images: dark"]
    assert found.record["aircraft"] == {"a": {"image_delay_taken_out_s": 0.25}, "b": {}}
    assert found.dataset.aircraft[0].truth is truth and found.dataset.aircraft[1].truth is None
    assert sorted((who, measured.t) for who, measured in found.dataset.events()) == [
        (0, 0.25),
        (1, 0.5),
    ]


def heard(count, span, *, is_other_alive=True):
    """Rounds in which the first anchor says 4 m for ever, and the second changes by a span."""
    other = np.linspace(7.0, 7.0 + span, count) if is_other_alive else np.full(count, 7.0)
    places = np.zeros((2, 3))
    return [
        Ranges(0.1 * k, np.arange(2), places, np.array([4.0, d]), np.ones(2))
        for k, d in enumerate(other)
    ]


@pytest.mark.parametrize(
    ("rounds", "said"),
    [
        (heard(50, 0.51), "4 m to a: "), (heard(49, 0.51), None), (heard(50, 0.49), None), ([], None),
        (heard(50, 0.0, is_other_alive=False), "4 m to a, 7 m to b: "),
    ],
)  # fmt: skip
def test_fifty_ranges_of_one_number_beside_others_that_change_are_dead(rounds, said):
    if said is None:
        check_alive(rounds, "ab", "tag")
    else:
        with pytest.raises(
            BadInput, match=f"^tag: ranges are one number in all: {said}another field"
        ):
            check_alive(rounds, "ab", "tag")


@pytest.mark.parametrize(("count", "read"), [(7, 7), (19, 19), (25, 13), (0, 0)])
def test_images_that_show_the_levels_are_spread_over_the_table(monkeypatch, tmp_path, count, read):
    (tmp_path / "cam0/data").mkdir(parents=True)
    names = [f"{k}.png" for k in range(count)]
    for name in names:
        (tmp_path / "cam0/data" / name).write_text("")
    monkeypatch.setattr(euroc_source, "_read", lambda path: path.name)
    tables = [
        SimpleNamespace(names=names),
        SimpleNamespace(names=names),
    ]  # of the second camera none is there
    found = list(euroc_source._first_images(tmp_path, tables))
    assert len(found) == read and found == names[:: max(1, count // 10)]


def test_corners_that_a_fisheye_sees_too_far_aside_have_no_direction():
    K = [[100.0, 0.0, 200.0], [0.0, 100.0, 150.0], [0.0, 0.0, 1.0]]
    wide = CameraCalibration.of((400, 300), K, np.zeros(4), model="equidistant", source="x")
    inside, aside = [210.0, 150.0], [310.0, 150.0]
    pixels = np.array([[inside, inside, aside], [inside, aside, inside]])
    rays, good = data_sample._rays(wide, np.array([0.0, 0.0, 0.0, 1.0]), pixels)
    assert good.tolist() == [True, False, False] and rays.shape == (2, 1, 3)
    np.testing.assert_allclose(rays[1, 0], [np.sin(0.1), 0.0, np.cos(0.1)], atol=1e-6)
