# SPDX-License-Identifier: BSD-3-Clause
"""Bars of the study of modules: what is measured of flights' rows, and what passes."""

from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from iap_bringup.experiments.modules.cases import COMPLETED, cases
from iap_bringup.experiments.modules.recorded_bars import TITLE, bar_cases, recorded_bars
from iap_bringup.experiments.rows import Bar, bar_table

SMALL = 1e-4  # error of every axis [m], [rad]
GROWN = {"force_n": 2.0, "force_first_n": 0.5}


def row(label: str, outcome: str = COMPLETED) -> dict:
    """Metrics of a flight of four modules, with small errors throughout."""
    wanted = [5.1, 0.0, 0.0, 0.0, 1.01, 0.0]
    joint = {
        **GROWN,
        "wrench": wanted,
        "caught_s": 5.0,
        "force_after_catch_n": 0.1,
        "force_rms_n": 0.2,
        "torque_rms_nm": 0.1,
        "released": {"position_m": 0.03 if "none" in label else 0.003, "rotation_rad": 0.002},
    }
    errors = {f"m{k}": [SMALL] * 6 for k in range(1, 9)}
    return {
        "outcome": outcome,
        "modules": {
            "rmse": errors,
            "rmse_steady": errors,
            "joint_force_n": 0.02,
            "joint_torque_nm": 0.005,
            "joints": {"j1": joint},
        },
    }


def found(*, quick: bool) -> dict:
    rows = {}
    for case in [*cases(quick=quick), *bar_cases(quick=quick)]:
        outcome = "diverged" if case.label == "printed" else COMPLETED
        rows[case.name] = [row(case.label, outcome) for _ in case.seeds]
    return rows


@pytest.mark.parametrize("quick", [True, False])
def test_flights_that_do_well_reach_all_bars(quick):
    reached = list(recorded_bars(found(quick=quick), quick=quick))
    assert len({bar.what for bar in reached}) == len(reached)
    assert [bar.what for bar in reached if not bar.passes] == []


def test_a_flight_that_does_not_come_to_its_end_misses_what_it_was_flown_for():
    rows = found(quick=True)
    for name in (f"{TITLE} square", f"{TITLE} release"):
        rows[name] = [row(name, "crashed")]
    missed = [bar for bar in recorded_bars(rows, quick=True) if not bar.passes]
    assert {bar.what.split(":")[0] for bar in missed} == {"square of four", "release"}
    assert all(np.isinf(bar.measured) or bar.at_least for bar in missed)


def test_the_table_says_pass_or_miss():
    text = StringIO()
    table = bar_table([Bar("force, N", 0.05, 0.1), Bar("speed", 2.0, 3.0, at_least=True)])
    Console(file=text, width=100).print(table)
    first, second = (line for line in text.getvalue().splitlines() if "│" in line)
    assert "0.05" in first and "<= 0.1" in first and "pass" in first
    assert ">= 3" in second and "miss" in second
