# SPDX-License-Identifier: BSD-3-Clause
"""Ranges in other units, to exchanged anchors, around bodies: refused with what mends it, or left out one by one."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from range_bag import ANCHORS, mapping, pose, write_bag

from iap_bringup.cli import main
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_estimation.datasets.range_bag_source import RangeMap
from iap_estimation.datasets.range_checks import check_ranges
from iap_estimation.datasets.understanding import indistinct_orders, range_doubts
from iap_estimation.virpo.messages import Ranges

NAMES = tuple(map(str, ANCHORS))
PLACES = np.array(list(ANCHORS.values())) * [1.0, -1.0, -1.0]


def _rounds(detours: float = 0.0, exchanged: tuple[int, int] | None = None) -> list[Ranges]:
    """Ranges of the walk; a share of them is 0.5 to 3 m too long."""
    t = np.arange(0.0, 20.0, 1.0 / 16.0)
    rng = np.random.default_rng(4)
    ways = np.linalg.norm(pose(t)[0][:, None] - PLACES, axis=2)
    ways = ways + 0.06 * rng.standard_normal(ways.shape)
    ways += (rng.random(ways.shape) < detours) * rng.uniform(0.5, 3.0, ways.shape)
    places = PLACES.copy()
    if exchanged is not None:
        places[list(exchanged)] = places[list(exchanged)[::-1]]
    sigma, numbers = np.full(len(places), 0.1), np.arange(len(places))
    return [Ranges(each, numbers, places, row, sigma) for each, row in zip(t, ways, strict=True)]


@pytest.mark.parametrize("detours", [0.0, pytest.param(0.3, marks=pytest.mark.slow), 0.45])
def test_ranges_that_fit_are_taken_though_some_went_around_a_body(detours: float) -> None:
    check_ranges(_rounds(detours), NAMES, "tag")


@pytest.mark.parametrize(
    "exchanged",
    [
        (0, 1),
        pytest.param((1, 3), marks=pytest.mark.slow),
        pytest.param((2, 4), marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("detours", [pytest.param(0.0, marks=pytest.mark.slow), 0.2])
def test_two_anchors_that_are_exchanged_are_named(
    exchanged: tuple[int, int], detours: float
) -> None:
    with pytest.raises(BadInput, match="^tag: ranges do not fit the anchors") as refused:
        check_ranges(_rounds(detours, exchanged), NAMES, "tag")
    assert all(NAMES[one] in str(refused.value) for one in exchanged)


@pytest.mark.slow
@pytest.mark.parametrize("detours", [0.0, 0.3])
def test_ids_that_are_exchanged_in_a_ring_are_named(detours: float) -> None:
    rounds = [replace(one, p_W=PLACES[[0, 2, 3, 4, 1]]) for one in _rounds(detours)]
    with pytest.raises(BadInput, match=r"with several exchanged: .* where .* is, .*'anchors'"):
        check_ranges(rounds, NAMES, "tag")


def test_anchors_that_stand_alike_in_another_order_are_found_by_their_places() -> None:
    """A room that is the same from two sides; its ranges fit either order."""
    assert [1, 0, 3, 2, 4] in map(list, indistinct_orders(PLACES))
    assert any("cannot be checked" in each for each in range_doubts(_rounds(), 0.05))
    uneven = PLACES + np.outer([0.0, 0.4, 0.9, 1.5, 2.2], [0.3, 1.0, 0.5])
    assert indistinct_orders(uneven) == []
    square = np.array([[1.0, 1, 0], [1, -1, 0], [-1, -1, 0], [-1, 1, 0]])
    assert len(indistinct_orders(square)) == 7  # the symmetries of a square but for the identity


def test_ranges_that_nothing_explains_are_said_to_be_off() -> None:
    assert any("off by 0.57 m" in each for each in range_doubts(_rounds(), 0.57))
    assert not any("off by" in each for each in range_doubts(_rounds(), 0.28))


@pytest.mark.parametrize(
    ("anchor", "way"),
    [
        (2, (0.0, 0.0, 3.0)),
        pytest.param(3, (0.8, 0.8, 0.0), marks=pytest.mark.slow),
    ],
)
def test_an_anchor_that_stands_elsewhere_is_named(
    anchor: int, way: tuple[float, float, float]
) -> None:
    """Where the other four cannot meet in a place beside the right one that fits nearly as well."""
    places = PLACES.copy()
    places[anchor] += way
    rounds = [replace(one, p_W=places) for one in _rounds()]
    with pytest.raises(BadInput, match=f"would .* if {NAMES[anchor]} stood .* or leave it out"):
        check_ranges(rounds, NAMES, "tag")


@pytest.mark.parametrize(
    ("on_ranges", "on_places", "remedy"),
    [
        (1e3, 1.0, "set key 'ranges.scale' to 0.001"),
        (1e2, 1.0, "set key 'ranges.scale' to 0.01"),
        (1.0, 1e3, "'anchors' are in mm"),
    ],
)
def test_another_unit_than_metres_is_named(
    on_ranges: float, on_places: float, remedy: str
) -> None:
    rounds = [
        replace(one, ranges=on_ranges * one.ranges, p_W=on_places * one.p_W) for one in _rounds()
    ]
    with pytest.raises(BadInput, match="^tag: ") as refused:
        check_ranges(rounds, NAMES, "tag")
    assert remedy in str(refused.value)


@pytest.mark.parametrize("dead", [(1,), (0, 1, 2, 3, 4)])
def test_a_range_that_never_changes_is_refused_by_its_anchor(dead: tuple[int, ...]) -> None:
    rounds = [
        replace(one, ranges=np.where(np.isin(one.anchors, dead), 4.2, one.ranges))
        for one in _rounds()
    ]
    with pytest.raises(BadInput, match=f"one number in all: .*4.2 m to {NAMES[1]}"):
        check_ranges(rounds, NAMES, "tag")


@pytest.mark.parametrize(("factor", "odd"), [(1.0, False), (50.0, True), (0.01, True)])
def test_a_deviation_far_from_how_ranges_meet_is_noted(factor: float, odd: bool) -> None:
    rounds = [replace(one, deviations=factor * one.deviations) for one in _rounds()]
    assert any("their deviation of" in each for each in range_doubts(rounds, 0.05)) == odd


def test_an_antenna_metres_away_is_no_antenna() -> None:
    tree = {"topic": "/r", "anchor": "id", "range": "d", "deviation": 0.1}
    about = {"imu": "/imu", "anchors": [{"id": 1, "position": [0.0, 0.0, 0.0]}]}
    validate(RangeMap, about | {"ranges": tree | {"antenna": [0.1, 0.0, 1.2]}}, source="map")
    with pytest.raises(BadInput, match="antenna.*103 m from the inertial unit.*in mm"):
        validate(
            RangeMap, about | {"ranges": tree | {"antenna": [100.0, 25.0, 0.0]}}, source="map"
        )


@pytest.mark.parametrize(
    ("factor", "unit"), [(0.3048, "feet"), (0.5, "ways there and back"), (2.0, "halves")]
)
def test_a_unit_that_is_near_a_metre_is_named_with_its_scale(factor: float, unit: str) -> None:
    rounds = [replace(one, ranges=one.ranges / factor) for one in _rounds()]
    with pytest.raises(BadInput, match=f"would .* as {unit}.*'ranges.scale' to {factor:g}"):
        check_ranges(rounds, NAMES, "tag")


@pytest.mark.parametrize("excess", [0.45, pytest.param(-0.3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("detours", [pytest.param(0.0, marks=pytest.mark.slow), 0.2])
def test_ranges_that_are_too_long_throughout_are_named_with_the_length(
    excess: float, detours: float
) -> None:
    rounds = [replace(one, ranges=one.ranges + excess) for one in _rounds(detours)]
    with pytest.raises(BadInput, match="^tag: ranges do not fit the anchors") as refused:
        check_ranges(rounds, NAMES, "tag")
    bias = float(str(refused.value).rpartition("every anchor to ")[2])
    assert bias == pytest.approx(excess, abs=0.05)
    off = check_ranges([replace(one, ranges=one.ranges - bias) for one in rounds], NAMES, "tag")
    assert off is not None and off < 0.1


def _localized(bag: Path, file: Path, out: Path) -> tuple[int, dict]:
    words = ["localize", str(bag), "--map", str(file), "--method", "uwb", "--no-plot"]
    code = main.main([*words, "--out", str(out)])
    return code, json.loads((out / "metrics.json").read_text())


@pytest.mark.slow
def test_a_third_of_detours_leaves_the_method_better_than_ranges_alone_and_scaled_ones_too(
    tmp_path: Path,
) -> None:
    def in_mm(d: float, rng: np.random.Generator) -> float:
        return 1e3 * (d + rng.uniform(0.5, 3.0) if rng.random() < 0.3 else d)

    bag, file = write_bag(tmp_path, 12.0, in_mm), mapping(tmp_path)
    text = file.read_text()
    file.write_text(text.replace("  range: range", "  range: range\n  scale: 0.001"))
    code, told = _localized(bag, file, tmp_path / "out")
    uwb = told["estimation"]["tag"]["uwb"]
    assert code == 0 and uwb["outcome"] == "completed"
    assert uwb["ate_se3_rmse_m"] < uwb["constant_velocity_rmse_m"]
    off = told["methods"]["uwb"]["ranges_off_m"]
    assert set(off) == set(NAMES)
    assert all(abs(one["median_m"]) < 0.3 for one in off.values())
    assert told["understood"]["lines"]["ranges"]


@pytest.mark.slow
def test_a_map_of_another_room_ends_as_lost(tmp_path: Path, capsys) -> None:
    bag = write_bag(tmp_path, 6.0)
    shifted = [
        {"id": one, "position": [p[0] * (1.6 if k % 2 else 0.6), p[1] + 3.0 * (k == 2), p[2]]}
        for k, (one, p) in enumerate(ANCHORS.items())
    ]
    code, told = _localized(bag, mapping(tmp_path, anchors=shifted), tmp_path / "out")
    assert code == 1
    assert told["methods"]["uwb"]["outcome"].startswith("lost: ")
    assert "lost" in capsys.readouterr().err
