# SPDX-License-Identifier: BSD-3-Clause
"""Tables of localisation from made-up results: means, gains, bars, rankings and failures are what they say."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
import yaml
from rich.console import Console

from iap_bringup.experiments.virpo.cases import CASES, METHODS, SEQUENCES, LocalizationStudy, study
from iap_bringup.experiments.virpo.published import COLUMNS, FILE, PublishedTables, published
from iap_bringup.experiments.virpo.scores import (
    EstimateKey,
    FailedEstimate,
    Ranking,
    SeedMean,
    TrajectoryScore,
    gain_of,
    mean_of,
)
from iap_bringup.experiments.virpo.sequences import FIG_5C, TABLE_I, TABLE_II
from iap_bringup.experiments.virpo.study import as_csv, as_markdown, show_tables, write_tables
from iap_bringup.experiments.virpo.tables import (
    ATTITUDE,
    CONSISTENCY,
    GAIN,
    GAIN_NOISY,
    POSITION,
    TABLE_VII,
    TABLE_VIII,
    _with_noise,
    tables,
)
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import validate
from iap_description.errors import BadInput

# As in the papers: every method better than the last.
LEVEL = {
    "vio": 0.20,
    "vio_uwb": 0.08,
    "anchors_1": 0.18,
    "anchors_2": 0.15,
    "anchors_3": 0.10,
    "virpo": 0.06,
    "virpo_paper": 0.07,
    "joint": 0.04,
    "drift_filter": 0.065,
    "self_phy": 0.07,
    "pos_drift": 0.078,
    "pos_velo_drift": 0.074,
    "pos_att_drift": 0.066,
    "all_kin": 0.068,
    "size_1": 0.075,
    "size_3": 0.07,
    "size_5": 0.065,
    "vio_1px": 0.30,
    "vio_uwb_1px": 0.10,
    "virpo_1px": 0.07,
    "joint_1px": 0.05,
}


def score(ate):
    return TrajectoryScore(
        ate, 0.8 * ate, 0.6 * ate, (0.0, 0.5 * ate, ate, 1.2 * ate, 2.0 * ate), 3.0 * ate
    )


def made_up(plan, change=None):
    results = {}
    for case in plan.cases:
        for method in case.methods:
            for seed in plan.seeds:
                for body in case.bodies:
                    ate = LEVEL[method] * (1.0 + 0.01 * (seed - 2))
                    results[EstimateKey(case.name, method, seed, body)] = score(ate)
    results.update(change or {})
    return results


def cell(made, table, row, method):
    (found,) = [c for c in made.cells if (c.table, c.row, c.method) == (table, row, method)]
    return found


@pytest.fixture(scope="module")
def whole():
    plan = study()
    return tables(made_up(plan), plan, published())


def test_scores_are_of_the_errors():
    errors = np.array([[0.3, 0.4, 0.0], [0.0, 0.0, 1.2]])
    turns = np.deg2rad([[0.6, 0.0, 0.8], [0.0, 0.0, 0.0]])
    found = TrajectoryScore.of(errors, turns, attitude_nees=1.5)
    assert found.ate == pytest.approx(np.sqrt((0.25 + 1.44) / 2))
    assert found.horizontal == pytest.approx(np.sqrt(0.125))
    assert found.vertical == pytest.approx(np.sqrt(0.72))
    assert found.attitude == pytest.approx(np.sqrt(0.5))
    assert (found.nees, found.attitude_nees) == (None, 1.5)
    assert found.quartiles == pytest.approx((0.5, 0.675, 0.85, 1.025, 1.2))


def test_means_are_over_bodies_and_seeds_and_a_failure_is_never_a_number():
    results = {
        EstimateKey("a1", "virpo", seed, body): score(ate)
        for seed, pair in ((1, (0.1, 0.3)), (2, (0.2, 0.4)))
        for body, ate in zip(("drone_1", "drone_2"), pair, strict=True)
    }
    mean = mean_of(results, "a1", "virpo", ("drone_1", "drone_2"))
    assert (mean.measured, mean.seeds, mean.failed) == (pytest.approx(0.25), 2, 0)
    assert mean.spread == pytest.approx(0.1 / np.sqrt(2.0))
    results[EstimateKey("a1", "virpo", 2, "drone_1")] = FailedEstimate("it jumped")
    mean = mean_of(results, "a1", "virpo", ("drone_1", "drone_2"))
    assert (mean.measured, mean.failed) == (None, 1)


def test_gains_are_means_of_shares():
    ates = {"drone_1": (0.2, 0.1), "drone_2": (0.1, 0.09)}
    results = {
        EstimateKey("a1", method, 1, body): score(pair[k])
        for body, pair in ates.items()
        for k, method in enumerate(("vio_uwb", "virpo"))
    }
    gain = gain_of(results, [("a1", body) for body in ates], "virpo")
    assert gain.measured == pytest.approx(30.0)


def test_the_papers_own_gain_comes_out_of_their_table():
    papers = published()
    results = {
        EstimateKey(case, method, 1, body): score(papers.error("scenes", case, body, method))
        for case, bodies in papers.scenes.items()
        for body in bodies
        for method in ("vio_uwb", "virpo")
    }
    pairs = [(case, body) for case, bodies in papers.scenes.items() for body in bodies]
    gain = gain_of(results, pairs, "virpo")
    assert gain.measured == pytest.approx(100.0 * papers.gains.iap_simulator, abs=0.05)
    plan = LocalizationStudy(tuple(case for case in CASES if case.name in papers.scenes), (1,))
    made = tables(results, plan, papers)
    for row in made.pivot(TABLE_VIII):
        name, _, body = row.partition(" ")
        if "," not in row:
            assert cell(made, TABLE_VIII, row, "virpo").passed
            assert papers.error("scenes", name, body, "virpo") is not None


def test_tables_set_measured_beside_published_and_judge(whole):
    virpo = cell(whole, TABLE_VIII, "a1 drone_1", "virpo")
    assert (virpo.published, virpo.bar, virpo.passed) == (0.093, 0.093, True)
    assert virpo.text == "0.060 (0.093) ok"
    assert cell(whole, TABLE_VIII, "a1 drone_1", "joint").bar == 0.05
    assert cell(whole, TABLE_VIII, "a3 drone_1", "joint").bar is None
    by_hand = cell(whole, TABLE_VIII, "b center, horizontal", "joint")
    assert (by_hand.bar, by_hand.measured) == (0.10, pytest.approx(0.032))
    assert cell(whole, TABLE_VIII, "b center, vertical", "joint").bar is None
    assert cell(whole, GAIN, "all drones", "virpo").measured == pytest.approx(25.0)
    assert cell(whole, GAIN, "all drones", "joint").text == "50.0 ok"
    assert cell(whole, GAIN, "all drones", "virpo_paper").passed is None
    assert cell(whole, GAIN, "all drones", "virpo").published == pytest.approx(25.2, abs=0.05)
    assert cell(whole, GAIN_NOISY, "gain, drones", "virpo_1px").text == "30.0"
    assert cell(whole, GAIN_NOISY, "a1 center, RMSE", "vio_1px").measured == pytest.approx(0.30)
    away = cell(whole, POSITION, "b drones, horizontal", "joint")
    assert (away.measured, away.published, away.bar) == (pytest.approx(0.032), None, None)
    mean = cell(whole, POSITION, "a1 drones", "virpo")
    each = [published().error("scenes", "a1", f"drone_{k}", "virpo") or 0.0 for k in (1, 2, 3)]
    assert (mean.measured, mean.published) == pytest.approx((0.06, sum(each) / 3.0))
    assert cell(whole, POSITION, "b center", "vio").published is None
    turned = cell(whole, ATTITUDE, "a1 drones", "joint")
    assert (turned.unit, turned.bar, turned.passed) == ("deg", 0.3, True)
    assert cell(whole, ATTITUDE, "a1 drones", "vio").passed is None
    assert not whole.missed
    assert all(order.text == "as published" for order in whole.orders if order.group == "SIAP-1")


@pytest.mark.parametrize(
    ("table", "key", "method"),
    [
        (TABLE_I, "neighbours", "self_phy"),
        (TABLE_II, "terms", "all_kin"),
        (TABLE_II, "terms", "virpo"),
    ],
)
def test_each_body_of_a_sequence_stands_beside_what_is_published_of_it(whole, table, key, method):
    plan, papers = study(), published()
    rows = [each.row for each in whole.cells if (each.table, each.method) == (table, method)]
    cases = {sequence: plan.case(name) for sequence, name in SEQUENCES.items()}
    expected = [f"{s} {body}" for s, case in cases.items() if case for body in case.drones]
    assert rows == expected
    for row in rows:
        sequence, body = row.split()
        one = cell(whole, table, row, method)
        assert one.measured == pytest.approx(LEVEL[method]) and one.bar is None
        assert one.published == papers.error(key, sequence, body, method)
    assert {c.method for c in whole.cells if c.table == table} == set(COLUMNS[key])


def test_numbers_of_constraints_are_columns_of_one_sequence(whole):
    shown = [each for each in whole.cells if each.table == FIG_5C]
    assert {each.row for each in shown} == {f"SIAP-1 drone_{k}" for k in (1, 2, 3)}
    found = {each.method: each.measured for each in shown}
    methods = {"F_k 1": "size_1", "F_k 3": "size_3", "F_k 5": "size_5", "F_k all": "virpo"}
    assert found == {name: pytest.approx(LEVEL[method]) for name, method in methods.items()}


def test_consistency_is_the_mean_over_drones_and_seeds():
    plan = study()
    sure = {
        key: replace(each, nees=0.4 if key.seed == 1 else 0.7, attitude_nees=2.5, biases=0.98)
        for key, each in made_up(plan).items()
    }
    made = tables(sure, plan, published())
    for name, value, least, bar in (
        ("NEES, at most", 0.6, False, 2.0),
        ("NEES, at least", 0.6, True, 0.5),
        ("attitude NEES, at most", 2.5, False, 2.0),
        ("attitude NEES, at least", 2.5, True, 0.5),
        ("biases within 3 sigma", 0.98, True, 0.99),
    ):
        one = cell(made, CONSISTENCY, name, "joint")
        assert (one.measured, one.at_least, one.bar) == (pytest.approx(value), least, bar)
        assert one.passed == (value >= bar if least else value <= bar) and one.unit == ""
        assert cell(made, CONSISTENCY, name, "virpo").bar is None
    assert not [
        c for c in tables(made_up(plan), plan, published()).cells if c.table == CONSISTENCY
    ]


def test_what_is_worse_or_failed_is_said():
    plan = study()
    change = {EstimateKey("a1", "virpo", seed, "drone_1"): score(0.2) for seed in plan.seeds}
    change |= {EstimateKey("a2", "joint", 2, "drone_2"): FailedEstimate("no keyframe for 1 s")}
    change |= {
        EstimateKey("single", "vio_uwb", seed, "drone_1"): score(0.12) for seed in plan.seeds
    }
    made = tables(made_up(plan, change), plan, published())
    missed = {(each.table, each.row, each.method): each.text for each in made.missed}
    assert missed[TABLE_VIII, "a1 drone_1", "virpo"] == "0.200 (0.093) MISSED"
    assert missed[TABLE_VIII, "a2 drone_2", "joint"] == "failed 1 of 3 MISSED"
    assert missed[ATTITUDE, "a2 drones", "joint"] == "failed 1 of 3 MISSED"
    assert (TABLE_VII, "not above", "4 anchors") in missed
    assert missed[GAIN, "all drones", "joint"] == "failed 1 of 3 MISSED"
    assert missed[GAIN, "all drones", "virpo"].startswith("15.3 (25.2)")
    assert len(missed) == 6


def test_what_was_not_flown_is_left_out():
    plan = study(quick=True)
    made = tables(made_up(plan), plan, published())
    assert {each.row.split()[0] for each in made.cells if each.table == TABLE_VIII} == {"a2", "b"}
    assert made.names == [TABLE_VIII, GAIN, POSITION, ATTITUDE]  # which hold what MAIN estimates
    assert tables({}, LocalizationStudy((), ()), published()).cells == ()


def test_a_ranking_names_the_pairs_that_differ_by_more_than_noise():
    papers = (("vio", 0.4), ("vio_uwb", 0.2), ("virpo", 0.1))
    here = (("vio", 0.3), ("vio_uwb", 0.05), ("virpo", 0.06))
    assert Ranking("", "", here, papers, noise=0.02).text == "as published"
    against = Ranking("", "", here, papers, noise=0.005).text
    assert against == "vio_uwb 0.050, virpo 0.060"
    falling = (("size_1", 0.1), ("size_3", 0.12), ("virpo", 0.08))
    assert Ranking("", "", falling, (), noise=0.01).text == "size_1 0.100, size_3 0.120"


def test_reports_hold_every_figure(whole, tmp_path):
    rows = list(csv.DictReader(io.StringIO(as_csv(whole))))
    assert len(rows) == len(whole.cells)
    assert {row["passed"] for row in rows} == {"True", ""}
    text = as_markdown(whole, notes="Because.")
    assert "| a1 drone_1 | 0.200 (0.276) | 0.080 (0.193) | 0.060 (0.093) ok |" in text
    assert text.endswith("Because.")
    console = Console(record=True, width=160, file=io.StringIO())
    show_tables(console, whole)
    assert "bars reached" in console.export_text()
    assert [path.read_text() for path in write_tables(tmp_path, whole, "Because.")][1] == text


def test_a_ranking_that_is_not_as_published_has_its_reason():
    plan = study()
    change = {
        EstimateKey(case.name, "all_kin", seed, body): score(0.09)
        for case in plan.cases
        for seed in plan.seeds
        for body in case.bodies
    }
    text = as_markdown(tables(made_up(plan, change), plan, published()))
    assert "pos_velo_drift 0.074, all_kin 0.090 (all_kin has no r_drift" in text


def test_published_numbers_are_complete_and_their_keys_are_strict():
    papers = published()
    assert [len(papers.scenes), len(papers.neighbours), len(papers.terms)] == [6, 6, 6]
    assert papers.error("scenes", "b", "center", "virpo") == 0.245
    assert papers.error("scenes", "b", "center", "vio") is None
    assert papers.error("neighbours", "LIAP-2", "drone_1", "vio") is None
    assert papers.error("terms", "SIAP-4", "drone_2", "all_kin") == 0.308
    for sequence, bodies in papers.terms.items():  # the last column of TABLE II is TABLE I's
        for body in bodies:
            full = papers.error("neighbours", sequence, body, "virpo")
            assert papers.error("terms", sequence, body, "virpo") == pytest.approx(
                full, abs=0.0061
            )
    tree = read_yaml(FILE)
    with pytest.raises(BadInput, match="unknown key 'scene'"):
        validate(PublishedTables, {**tree, "scene": {}}, source="file")
    with pytest.raises(BadInput, match="scenes.e"):
        validate(PublishedTables, {**tree, "scenes": {"e": {}}}, source="file")
    assert yaml.safe_load(FILE.read_text()).keys() == PublishedTables.model_fields.keys()
    assert COLUMNS["neighbours"][-1] == COLUMNS["terms"][-1] == "virpo"


def test_every_case_is_a_flight_of_the_bodies_that_it_judges():
    for case in CASES:
        scenario, _ = case.resolve(seed=1)
        assert set(case.methods) <= set(METHODS)
        assert scenario.world.scene == case.scene
        assert len(case.drones) == scenario.vehicles[0].platform.count
        heights = [anchor.position[0] for anchor in scenario.vehicles[0].sensors.uwb.anchors]
        assert (max(map(abs, heights)) > 30.0) == case.is_piloted
    assert set(SEQUENCES.values()) <= {case.name for case in CASES}


def test_a_mean_is_no_larger_than_another_within_two_of_the_errors_of_both_means():
    fewer, more = SeedMean(0.10, 0.03, 9, 0), SeedMean(0.12, 0.04, 4, 1)
    assert _with_noise(fewer, more) == pytest.approx(0.10 + 2.0 * 0.05 / 2.0)
    assert _with_noise(fewer._replace(spread=None), more) == pytest.approx(0.10 + 2.0 * 0.02)
