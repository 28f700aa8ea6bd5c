# SPDX-License-Identifier: BSD-3-Clause
"""The quick form of `iap experiment virpo_tables`, from flights to files."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from iap_bringup.experiments.table import run_experiment
from iap_bringup.experiments.virpo import cases as virpo_cases
from iap_bringup.experiments.virpo.cases import CASES, METHODS
from iap_bringup.experiments.virpo.flights import observe
from iap_bringup.experiments.virpo.runs import settings_of, with_pixel_noise
from iap_bringup.experiments.virpo.study import run_tables
from iap_description.errors import BadInput
from iap_estimation.navigation.settings import load_settings
from iap_estimation.virpo.messages import Tracks

pytestmark = pytest.mark.slow


def test_the_quick_tables_reach_what_is_published(tmp_path, monkeypatch):
    monkeypatch.setattr(virpo_cases, "QUICK_SECONDS", 2.0)
    console = Console(record=True, width=200)
    run_tables(console, quick=True, out=tmp_path / "tables")
    with (tmp_path / "tables" / "tables.csv").open() as file:
        rows = list(csv.DictReader(file))
    scenes = [row for row in rows if row["table"] == "iap_simulator TABLE VIII"]
    assert {row["method"] for row in scenes} >= {"vio", "vio_uwb", "virpo", "joint"}
    assert all(row["measured"] for row in scenes), "none has failed"
    judged = [row for row in scenes if row["passed"]]
    assert len(judged) > 10
    assert all(row["passed"] == "True" for row in judged)
    assert (tmp_path / "tables" / "localized.png").stat().st_size > 10_000
    assert "published" in console.export_text()


def test_methods_of_the_tables_are_settings_of_the_estimators():
    assert settings_of(METHODS["virpo_paper"]).range_deviation == 0.05
    assert settings_of(METHODS["self_phy"]).physical.sharing == "self"
    assert settings_of(METHODS["size_3"]).physical.instants == 3
    terms = settings_of(METHODS["pos_drift"]).physical
    assert (terms.position, terms.velocity, terms.attitude, terms.drift) == (1, 0, 0, 1)


def test_tracks_with_noise_are_off_by_as_many_pixels():
    flown = observe(
        replace(CASES[1], duration=0.2), 1, load_settings().frontend, None, lambda _: None
    )
    focal = flown.own.aircraft[1].calibration.left.focal[0]
    views = np.zeros((2000, 4))
    clean = Tracks(0.1, np.arange(2000), views, np.ones(2000, dtype=bool))
    ((_, noisy),) = with_pixel_noise(flown, [(1, clean)], 1.5)
    assert focal * noisy.views.std() == pytest.approx(1.5, rel=0.03)
    ((_, again),) = with_pixel_noise(flown, [(1, clean)], 1.5)
    np.testing.assert_array_equal(noisy.views, again.views)
    assert not clean.views.any()


def test_other_studies_take_no_options():
    with pytest.raises(BadInput, match="experiment contact: --quick"):
        run_experiment("contact", quick=True)


def test_flights_must_be_there(tmp_path):
    with pytest.raises(BadInput, match=str(tmp_path)):
        run_experiment("virpo_tables", flights=tmp_path, out=tmp_path / "out")
