# SPDX-License-Identifier: BSD-3-Clause
"""Findings and corrections of data sets, of few numbers and to the letter."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.datasets import localization, opening, understanding
from iap_estimation.datasets.data_sample import DataSample, _is_enough, levels_of
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.understanding import Corrections, indistinct_orders, range_doubts
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.measurements import Images
from iap_estimation.virpo.messages import ImuSample, Ranges

GREY = np.zeros((2, 2), np.uint8)
SEEING = (SimpleNamespace(calibration=1),)


def _round(t, off=0.0, anchors=(0, 1, 2, 3)):
    places = np.array([[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 5.0]])[
        list(anchors)
    ]
    d = np.linalg.norm(places - [1.0, 1.0, 1.0], axis=1) + off
    return Ranges(t, np.array(anchors), places, d, np.full(len(d), 0.1))


def dataset(**keys):
    one = SimpleNamespace(name="one", calibration=None, truth=None)
    values = {
        "aircraft": (one,),
        "events": lambda: iter(()),
        "is_foreign": True,
        "has_ranges": False,
    }
    about = {"source": "walk", "name": "walk", "start_ns": 0, "tally": None, "notes": ()}
    return SensorDataset(**{**about, "frontend": None, **values, **keys})


@pytest.mark.parametrize(
    ("methods", "keys", "words"),
    [
        (("vioo",), {}, "no method 'vioo'"),
        (("vio",), {}, "walk: method vio needs images, and there are none: use uwb"),
        (("uwb",), {}, "walk: method uwb needs ranges, and there are none"),
        (("uwb", "uwb"), {"has_ranges": True}, "--method uwb,uwb: name each method once"),
        ((), {}, "--method : name each method once"),
        (("virpo",), {"aircraft": SEEING}, "walk: method virpo needs two or more aircraft .*, but there is 1 alone"),
        (("vio_uwb",), {"aircraft": SEEING}, "walk: method vio_uwb needs ranges"),
    ],
)  # fmt: skip
def test_methods_that_a_data_set_has_not_enough_for_are_refused(methods, keys, words):
    with pytest.raises(BadInput, match=f"^{words}"):
        localization.check_methods(methods, dataset(**keys))
    localization.check_methods(("uwb",), dataset(has_ranges=True))


def test_a_data_set_knows_its_bodies_and_its_anchors():
    truth = Truth(np.arange(2.0), np.zeros((2, 7)))
    one, two = (
        SimpleNamespace(name=n, truth=t, calibration=c)
        for n, t, c in (("one", truth, 1), ("two", None, None))
    )
    data = dataset(aircraft=(one, two), centre=SimpleNamespace(truth=truth), anchors=("a", "b"))
    assert data.bodies == {"one": truth, "two": None, "center": truth}
    assert data.anchor_name(1) == "b" and dataset().anchor_name(1) == "1"
    assert not data.has_cameras and dataset(aircraft=(one,)).has_cameras
    text = localization._nothing_came(data, 1.5, 3.0)
    assert text.startswith(
        "no estimate came: it begins at the truth of one, which is known from 0.0 s to 1.0 s"
    )
    assert text.endswith("while the data last from 1.5 s to 3.0 s")
    assert localization._nothing_came(data, 1.0, 3.0) == "no estimate came"
    assert localization._nothing_came(data, -2.0, 0.0) == "no estimate came"


def test_corrections_scale_samples_and_bring_images_forward():
    events = [
        (0, ImuSample(0.0, np.ones(3), np.ones(3))), (0, Images(0.4, GREY, None)),
        (1, ImuSample(0.3, np.ones(3), np.ones(3))), (0, _round(0.5)),
    ]  # fmt: skip
    data = dataset(events=lambda: iter(events))
    assert understanding.corrected(data, Corrections()) is data
    made = understanding.corrected(data, Corrections(-1.0, 2.0, 0.25, 0.1))
    found = list(made.events())
    assert [(who, type(m).__name__, round(m.t, 9)) for who, m in found] == [
        (0, "Images", 0.15), (1, "ImuSample", 0.3), (0, "Ranges", 0.5)
    ]  # fmt: skip
    assert (found[1][1].w_B[0], found[1][1].f_B[0]) == (2.0, -1.0)
    one = list(understanding.corrected(data, Corrections(gyro_scale=3.0), 1).events())
    assert [m.w_B[0] for _, m in one if isinstance(m, ImuSample)] == [1.0, 3.0]
    assert [m.f_B[0] for _, m in one if isinstance(m, ImuSample)] == [1.0, 1.0]


def test_words_of_delays_rates_and_ranges():
    assert (understanding._late(0.0123), understanding._late(-0.5)) == (
        "12.3 ms late",
        "500.0 ms early",
    )
    assert understanding._rate(np.array([0.0, 0.1, 0.2, 5.0])) == pytest.approx(10.0)
    assert understanding._rate(np.zeros(1)) == 0.0
    sample = DataSample(
        SimpleNamespace(anchors=tuple("abcdef")), rounds=[_round(0.0), _round(0.1, anchors=(0, 1))]
    )
    orders = "which anchor is which cannot be checked: they stand as before if some are exchanged"
    assert (
        understanding._ranges(sample, None)
        == "6 to 4 of 6 anchors; too few at a time to be compared"
    )
    assert understanding._ranges(sample, 0.05) == "6 to 4 of 6 anchors; they meet within 0.05 m"
    flat = [
        Ranges(
            0.0,
            np.arange(4),
            np.array([[0.0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0]]),
            np.ones(4),
            np.full(4, 0.1),
        )
    ]
    assert list(range_doubts(flat, None)) == [orders]


@pytest.mark.parametrize(
    ("off", "said"),
    [
        (0.3, []),
        (0.31, ["off by 0.31 m, which no unit, length or exchange explains: are ids and places right?"]),
        (0.00667, []),
        (0.0, []),
        (1.49, ["off by 1.49 m"]),
        (1.51, ["off by 1.51 m", "their deviation of 0.1 m is far from how they meet, within 1.51 m: is it in"]),
    ],
)  # fmt: skip
def test_errors_that_nothing_explains_and_odd_deviations_are_noted(off, said):
    found = list(range_doubts([_round(0.0)], off))
    assert len(found) == len(said)
    assert all(text.startswith(words) for text, words in zip(found, said, strict=True))


@pytest.mark.parametrize(("length", "count"), [(4.0, 7), (4.29, 7), (4.5, 3)])
def test_anchors_stand_alike_within_three_tenths_of_a_metre(length, count):
    square = np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0], [length, 4.0, 0.0], [0.0, 4.0, 0.0]])
    assert len(indistinct_orders(square)) == count
    assert indistinct_orders(square[:3]) == []
    assert indistinct_orders(np.vstack([square, square + 1.0])) == []


def test_levels_of_an_image_are_of_every_fourth_row_and_column():
    image = np.full((8, 16), 77, np.uint8)
    image[::4, ::4] = [[0, 3, 4, 100], [251, 252, 255, 200]]
    found = levels_of(image)
    assert (found.black, found.saturated, found.median) == (0.25, 0.25, 150.0)
    assert found.low == pytest.approx(0.21) and found.high == pytest.approx(254.79)


@pytest.mark.parametrize(
    ("span", "count", "width", "enough"),
    [(20.0, 240, 1000, False), (20.1, 3, 10, True), (1.0, 241, 10, True), (1.0, 100, 2700, True),
     (1.0, 100, 2600, False)],
)  # fmt: skip
def test_a_beginning_has_an_end(span, count, width, enough):
    left = SimpleNamespace(width=width, height=1000)
    data = SimpleNamespace(aircraft=[SimpleNamespace(cameras=SimpleNamespace(left=left))])
    assert _is_enough(DataSample(data, image_times=[0.0] * count), span) is enough


def test_what_a_path_may_be_is_listed(tmp_path):
    with pytest.raises(BadInput, match="none: no such file or folder$"):
        opening.open_dataset(tmp_path / "none")
    with pytest.raises(
        BadInput, match="not a data set: no run folder, no folder with mav0, no bag$"
    ):
        opening.open_dataset(tmp_path)
    with pytest.raises(BadInput, match="not a bag: --left"):
        opening.open_dataset(tmp_path, opening.Choices(mapping=tmp_path / "map.yaml"))
    for name in ("b", "a"):
        (tmp_path / name / "mav0").mkdir(parents=True)
    with pytest.raises(BadInput, match=r"choose one: .*/a, .*/b$"):
        opening.open_dataset(tmp_path)
