# SPDX-License-Identifier: BSD-3-Clause
"""News of the filter of drifts, by whichever sensor they come."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from synthetic_fleet import fleet_of
from whole_estimators import SPEC

from iap_estimation.virpo.messages import ImuSample, Tilt
from iap_estimation.virpo.methods.drift_filter import DriftFilterLocalizer


@pytest.mark.parametrize("is_news", [True, False])
def test_what_a_tilt_ends_the_waiting_for_is_told_with_the_next_inertial_sample(
    monkeypatch: pytest.MonkeyPatch, is_news: bool
) -> None:
    """A tilt returns nothing itself, so that the estimates it makes new are told once, later."""
    localizer = DriftFilterLocalizer(fleet_of(), SPEC, lambda _, __: np.zeros(17), None)
    heard: list[Any] = []
    filtering = SimpleNamespace(tilt=lambda tilt: heard.append(tilt) or is_news)
    monkeypatch.setattr(localizer, "_filter", filtering)
    up = np.array([0.0, 0.0, 9.81])
    tilt = Tilt(0.0, np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), up)
    localizer.tilt(tilt)
    sample = ImuSample(0.0, np.zeros(3), up)
    assert heard == [tilt]
    assert [localizer.imu(0, sample), localizer.imu(0, sample)] == [is_news, False]
