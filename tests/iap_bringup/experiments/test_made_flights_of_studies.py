# SPDX-License-Identifier: BSD-3-Clause
"""Flights of modules and of localisation: their seeds, noise, lengths and processes."""

import os
from dataclasses import replace

import numpy as np
import pytest

from iap_bringup.experiments.modules.cases import WHITE_NOISE, assembly, hover, white
from iap_bringup.experiments.modules.flight_bars import _end
from iap_bringup.experiments.modules.recorded_bars import bar_cases
from iap_bringup.experiments.virpo import light, runs
from iap_bringup.experiments.virpo.cases import METHODS, study

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def test_white_noise_of_an_assembly_has_no_share_that_flights_of_one_body_have():
    one, many = white(hover(3, "default")), white(assembly())
    assert WHITE_NOISE.format(0.03) in one.assignments and one.label.endswith(", white noise")
    assert WHITE_NOISE.format(0.0) in many.assignments


def test_a_wrench_at_the_end_is_of_the_last_quarter_of_a_hover():
    columns = {
        "t": np.arange(0.0, 8.0, 0.5),
        "joint_wrenches": np.arange(16.0)[:, None, None] * np.ones((16, 2, 6)),
    }
    columns["joint_wrenches"][:, 1] = 99.0
    assert _end(columns, 8.0).tolist() == [14.0] * 6  # from 6.5 s on


def test_flights_of_bars_have_their_seeds_and_quick_ones_a_single_one():
    seeds = {case.label: len(case.seeds) for case in bar_cases(quick=False)}
    assert seeds["gusts"] == 20 and seeds["release"] > 1
    assert {label: n for label, n in seeds.items() if n == 1}.keys() == {
        "breeze", "release, none", "printed", "wanted", "square",
    }  # fmt: skip
    assert {len(case.seeds) for case in bar_cases(quick=True)} == {1}


def test_every_method_of_localisation_has_its_own_terms_and_pixels():
    plain, ablated = (runs.settings_of(METHODS[name]) for name in ("virpo", "pos_drift"))
    assert ablated.physical.position and ablated.physical.drift
    assert not ablated.physical.velocity and not ablated.physical.attitude
    noisy = runs.settings_of(replace_pixels("virpo", 2.5))
    assert noisy.pixels == 2.5 != plain.pixels
    assert runs.settings_of(replace_pixels("virpo", None)).pixels == plain.pixels


def replace_pixels(name, pixels):
    """A method with another noise of its tracks [px]."""
    method = METHODS[name]
    return (
        method._replace(pixels=pixels)
        if hasattr(method, "_replace")
        else replace(method, pixels=pixels)
    )


def test_flights_of_light_are_short_only_where_they_are_quick():
    lengths = [{c.duration for c in light.light_study(quick=q).cases} for q in (True, False)]
    assert lengths == [{light.QUICK_SECONDS}, {light.SECONDS}]
    assert light.QUICK_SECONDS < light.SECONDS


@pytest.mark.parametrize("processors", [1, 1000])
def test_no_more_processes_fly_than_there_are_flights_or_processors(processors, monkeypatch):
    made = []

    class Pool:
        def __init__(self, count):
            made.append(count)

        def map(self, *_):
            yield from ()

    monkeypatch.setattr(runs, "ProcessPool", Pool)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(processors - pid))
    what = study(quick=True)
    assert list(runs.run_study(what, print)) == []
    assert made == [min(processors, len(what.cases))]
