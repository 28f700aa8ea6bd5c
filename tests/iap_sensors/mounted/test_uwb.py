# SPDX-License-Identifier: BSD-3-Clause
"""Ranges: true distances, white noise, and every way in which they go wrong."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math.random_streams import stream
from iap_description.sensors.readings import SensorSource
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_sensors.mounted.uwb import ANCHOR_PRESETS as ANCHORS
from iap_sensors.mounted.uwb import (
    PRESETS,
    UwbSpec,
    UwbTag,
    UwbTags,
    anchor_trees,
    clear_lines,
)

SOURCE = SensorSource("/iap/drone_1/uwb", "iap/drone_1_uwb")
PLACE = np.array([1.0, 2.0, 3.0])
ROUNDS = 4000


def spec(preset="perfect", **changes):
    tree = {**PRESETS.tree(preset), **changes}
    return validate(UwbSpec, {**tree, "anchors": anchor_trees(tree["anchors"])}, source="test")


def tag(one, partners=None, seed=1):
    ids = [anchor.id for anchor in one.anchors] if partners is None else partners
    return UwbTag(SOURCE, one, ids, stream(seed, "uwb"))


def rounds(one, count=ROUNDS, is_clear=True, seed=1, period=0.0):
    """Errors (count, n) of many rounds from one place, NaN where there was no range."""
    sensor, places = tag(one, seed=seed), np.array([anchor.position for anchor in one.anchors])
    free = np.full(len(places), is_clear)
    readings = [sensor.measure(k * period, PLACE, places, free) for k in range(count)]
    return np.array([each.ranges for each in readings]) - np.linalg.norm(places - PLACE, axis=1)


@pytest.mark.parametrize("name", PRESETS.names())
def test_every_preset_is_complete(name):
    assert spec(name).anchors


def test_anchors_are_those_of_the_tables():
    assert set(ANCHORS.names()) == {"low_and_high", "paper_figure_eight", "paper_manual"}
    figure_eight, manual = (anchor_trees(f"paper_{name}") for name in ("figure_eight", "manual"))
    assert figure_eight[2]["position"] == [8.76, 6.12, 1.59]
    assert manual[1]["position"] == [32.93, -36.65, 3.3]


@pytest.mark.parametrize(
    ("name", "height", "least", "most"),
    [
        ("paper_figure_eight", 1.5, 10.0, 30.0),
        ("paper_figure_eight", 4.1, 1.0, 2.0),
        ("low_and_high", 1.5, 1.0, 3.0),
    ],
)
def test_how_much_of_a_height_ranges_say(name, height, least, most):
    """The vertical dilution of precision: anchors near a plane say nothing of the way across it."""
    away = np.array([anchor["position"] for anchor in anchor_trees(name)]) - [0.0, 0.0, height]
    directions = away / np.linalg.norm(away, axis=1)[:, None]
    assert least < np.sqrt(np.linalg.inv(directions.T @ directions)[2, 2]) < most


def test_a_perfect_range_is_the_distance():
    np.testing.assert_allclose(rounds(spec(), 3), 0.0, atol=1e-12)


def test_a_reading_names_its_partners_where_they_stand_and_how_good_it_is():
    one = spec("paper")
    places = np.array([anchor.position for anchor in one.anchors])
    reading = tag(one).measure(0.25, PLACE, places, np.ones(4, dtype=bool))
    assert (reading.source, reading.t, reading.ids[0]) == (SOURCE, 0.25, "anchor_1")
    np.testing.assert_array_equal(reading.p_W, places)
    np.testing.assert_array_equal(reading.deviations, 0.7071)
    assert reading.valid.all()


def test_white_noise_has_the_deviation_of_table_vi():
    errors = rounds(spec("paper"))
    assert errors.std(axis=0) == pytest.approx(0.7071, rel=0.05)
    assert abs(errors.mean(axis=0)).max() < 0.04
    assert abs(np.corrcoef(errors[:-1, 0], errors[1:, 0])[0, 1]) < 0.05


def test_a_walks_ranges_have_the_deviation_and_the_memory_that_were_measured():
    one = spec("walk", outliers={"share": 0.0, "size": 0.0}, dropout=0.0)
    errors = rounds(one, 20_000, period=1.0 / one.rate)
    own = errors - errors.mean(axis=0)
    assert own.std(axis=0) == pytest.approx(one.noise, rel=0.05)
    assert 0.06 < own.std() < 0.09
    for lag in (1, 2, 4):
        found = np.sum(own[lag:] * own[:-lag], axis=0) / np.sum(own * own, axis=0)
        assert found == pytest.approx(np.exp(-lag / (one.rate * one.memory)), abs=0.05)
    assert 0.5 < np.exp(-1.0 / (one.rate * one.memory)) < 0.9
    assert abs(errors.mean(axis=0)).max() < 4.0 * one.bias


def test_a_walks_ranges_are_too_long_as_often_as_was_measured():
    errors = rounds(spec("walk"), 20_000, period=0.0625)
    late = errors - np.nanmedian(errors, axis=0)
    assert 0.01 < np.nanmean(late > 0.4) < 0.07
    assert np.nanmax(errors) < 25.0


def test_noise_that_remembers_averages_slower_than_white_noise():
    kept = spec("walk", outliers={"share": 0.0, "size": 0.0}, dropout=0.0, bias=0.0)
    means = {}
    for name, one in (("white", kept.model_copy(update={"memory": None})), ("kept", kept)):
        errors = rounds(one, 16_000, period=1.0 / one.rate)[:, 0]
        means[name] = errors.reshape(-1, 16).mean(axis=1).std()
    share = np.exp(-1.0 / (kept.rate * kept.memory))
    assert means["white"] == pytest.approx(kept.noise / 4.0, rel=0.1)
    assert means["kept"] > 0.8 * means["white"] * np.sqrt((1.0 + share) / (1.0 - share))


def test_a_bias_is_constant_and_each_partners_own():
    errors = rounds(spec(bias=0.1), 5)
    np.testing.assert_allclose(errors, errors[:1].repeat(5, axis=0))
    assert np.ptp(errors[0]) > 0.01


def test_outliers_are_too_long_in_their_share_of_ranges():
    errors = rounds(spec(outliers={"share": 0.1, "size": 5.0}))
    assert errors.min() > -1e-9
    assert (errors > 1e-9).mean() == pytest.approx(0.1, abs=0.01)
    assert errors[errors > 1e-9].mean() == pytest.approx(5.0, rel=0.1)


def test_what_drops_out_or_is_too_far_is_not_valid_and_no_number():
    assert np.isnan(rounds(spec(dropout=0.3))).mean() == pytest.approx(0.3, abs=0.02)
    one = spec(range_max=9.0)
    places = np.array([anchor.position for anchor in one.anchors])
    reading = tag(one).measure(0.0, PLACE, places, np.ones(4, dtype=bool))
    np.testing.assert_array_equal(reading.valid, np.linalg.norm(places - PLACE, axis=1) <= 9.0)
    np.testing.assert_array_equal(np.isnan(reading.ranges), ~reading.valid)
    assert 0 < reading.valid.sum() < 4


def test_tags_range_to_each_other_and_none_to_itself():
    one, star = spec(between_aircraft=True), Assembly.of(load_platform("three_star"), "iap")
    rows = np.zeros((4, 13))
    rows[:, :3], rows[:, 6] = np.diag([1.0, 2.0, 3.0, 4.0])[:, :3], 1.0
    tags = UwbTags(one, star, seed=1, control_hz=100.0)
    readings = [each for k in range(100) for each in tags.sample(k, 0.01 * k, rows, None)][:3]
    frames = [each.source.frame for each in readings]
    for reading in readings:
        others = [frame for frame in frames if frame != reading.source.frame]
        assert list(reading.ids[len(one.anchors) :]) == others
        assert reading.ranges[len(one.anchors) :].min() > 1.0


def test_what_is_in_the_way_delays_or_blocks():
    through = {"obstruction": {"lost": 0.5, "delay": 0.4, "noise": 0.2}}
    np.testing.assert_allclose(rounds(spec(**through), 3), 0.0, atol=1e-12)
    errors = rounds(spec(**through), is_clear=False)
    assert np.isnan(errors).mean() == pytest.approx(0.5, abs=0.02)
    assert np.nanmean(errors) == pytest.approx(0.4, abs=0.02)
    assert np.nanstd(errors) == pytest.approx(0.2, rel=0.05)


def test_other_tags_are_ranged_to_but_nobody_knows_where_they_are():
    one = spec()
    places = np.vstack([[anchor.position for anchor in one.anchors], [[4.0, 2.0, 3.0]]])
    sensor = tag(one, [*(anchor.id for anchor in one.anchors), "iap/drone_2_uwb"])
    reading = sensor.measure(0.0, PLACE, places, np.ones(5, dtype=bool))
    assert reading.ranges[-1] == pytest.approx(3.0)
    assert np.isnan(reading.p_W[-1]).all()


def test_equal_seeds_give_equal_ranges_and_others_do_not():
    one = spec("dw1000")
    np.testing.assert_array_equal(rounds(one, 20), rounds(one, 20))
    assert not np.array_equal(rounds(one, 20), rounds(one, 20, seed=2))


class WallAtX:
    """Casts rays in a world with a wall across the x axis."""

    def __init__(self, x):
        self.x, self.asked = x, []

    def ray_cast(self, starts_W, ends_W, *, world_only=False):
        self.asked.append(world_only)
        share = (self.x - starts_W[:, 0]) / (ends_W[:, 0] - starts_W[:, 0])
        return np.where((share >= 0.0) & (share <= 1.0), share, 1.0)


def test_a_line_of_sight_is_cut_by_the_world_alone_and_not_by_what_a_tag_is_fixed_to():
    rays = WallAtX(2.0)
    ends = np.array([[3.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    np.testing.assert_array_equal(clear_lines(rays, np.zeros((3, 3)), ends), [False, True, True])
    assert rays.asked == [True]


def bad(tmp_path, text):
    path = tmp_path / "anchors.yaml"
    path.write_text(text)
    return str(path)


def test_an_anchor_file_with_an_id_twice_is_refused_by_name(tmp_path):
    twice = "anchors:\n" + 2 * "  - {id: a, position: [0.0, 0.0, 1.0]}\n"
    with pytest.raises(BadInput, match=r"anchors.yaml: key 'anchors': id 'a' is given twice"):
        anchor_trees(bad(tmp_path, twice))


def test_what_is_no_list_of_anchors_is_refused(tmp_path):
    with pytest.raises(BadInput, match="a list of"):
        anchor_trees(bad(tmp_path, "anchors: 3\n"))
    with pytest.raises(
        BadInput, match=r"anchors.yaml: unknown key 'bias': only 'anchors' is read"
    ):
        anchor_trees(bad(tmp_path, "anchors: []\nbias: 0.1\n"))
    with pytest.raises(BadInput, match="no anchors 'none'"):
        anchor_trees("none")
    anchor = {"id": "a", "position": [0.0, 0.0, 1.0]}
    with pytest.raises(BadInput, match="id 'a' is given twice"):
        spec(anchors=[anchor, anchor])
    with pytest.raises(BadInput, match="key 'anchors.0.position.1'"):
        spec(anchors=[{"id": "a", "position": [0.0, float("nan"), 1.0]}])


@pytest.mark.parametrize(
    ("obstruction", "needs"), [(None, False), ({"lost": 0.1, "delay": 0.3, "noise": 0.1}, True)]
)
def test_rays_are_cast_where_an_obstruction_is_modelled(obstruction, needs):
    assert UwbTags.needs_rays.fget(SimpleNamespace(spec=spec(obstruction=obstruction))) == needs
