# SPDX-License-Identifier: BSD-3-Clause
"""The study of landings."""

import json

import pytest

from iap_bringup.experiments import landing
from iap_bringup.experiments.landing import flights, is_soft
from iap_bringup.experiments.table import run_experiment
from iap_description.vehicles.platform import platform_names


def test_every_platform_is_landed_and_a_structure_of_modules():
    names = [flight.name for flight in flights()]
    assert set(platform_names()) < set(names)
    assert "4 joined modules" in names


def test_a_landing_is_soft_if_it_is_slow_weak_and_ends_at_rest():
    row = {"touch_speed_mps": 0.1, "force_n": 99.0, "stands": True}
    assert is_soft(row, 100.0)
    assert not is_soft({**row, "touch_speed_mps": 0.13}, 100.0)
    assert not is_soft({**row, "force_n": 101.0}, 100.0)
    assert not is_soft({**row, "stands": False}, 100.0)
    assert not is_soft({"outcome": "crashed"}, 100.0)


@pytest.mark.slow
def test_it_prints_what_was_measured_as_json(capsys, monkeypatch):
    monkeypatch.setattr(landing, "ENGINES", ("pybullet",))
    run_experiment("landing", quick=True, json=True)
    rows = json.loads(capsys.readouterr().out)
    assert {"f450, pybullet", "2 joined modules, pybullet"} == set(rows)
    assert all(row["passes"] for row in rows.values())
