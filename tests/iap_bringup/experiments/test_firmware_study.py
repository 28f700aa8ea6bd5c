# SPDX-License-Identifier: BSD-3-Clause
"""The study of flights by firmware, on a program that speaks Betaflight's packets."""

import pytest
from firmwares import fake_betaflight

from iap_bringup.experiments import firmware as study
from iap_bringup.experiments.rows import silent


@pytest.mark.slow
def test_bars_are_the_worst_of_all_flights_and_count_those_that_differ(monkeypatch):
    monkeypatch.setattr(study, "CASES", study.CASES[:1])
    bars = study.firmware_bars(silent, quick=True, firmware=fake_betaflight())
    position, attitude, differing, speed = bars
    assert position.what == "f450, hover: position (m)"
    assert 0.0 < position.measured <= position.limit
    assert 0.0 < attitude.measured <= attitude.limit
    assert differing.measured == 0.0
    assert speed.at_least
    assert speed.measured > 0.0
