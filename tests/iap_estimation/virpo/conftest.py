# SPDX-License-Identifier: BSD-3-Clause
"""Made-up flights that whole estimators and the drift filter are tried on."""

from dataclasses import replace

import pytest
from drifting import NOISE, WALKS, ErrorLog, fed, messages
from synthetic import Flight
from synthetic_fleet import TABLE_VI
from whole_estimators import SECONDS

from iap_estimation.virpo.drift.filter import DriftFilter
from iap_estimation.virpo.drift.spec import load_spec


@pytest.fixture(scope="session")
def flight() -> Flight:
    return Flight.of(SECONDS, noise=replace(TABLE_VI, gyro_bias=0.0, accel_bias=0.0), seed=3)


@pytest.fixture(scope="session")
def stream(flight) -> list:
    return list(flight.stream())


@pytest.fixture(scope="session")
def ranged_flight() -> Flight:
    return Flight.of(30.0, noise=NOISE, seed=3, points=1, range_rate=50.0)


@pytest.fixture(scope="session")
def arrivals(ranged_flight) -> list:
    """Of three odometries that drift as the filter believes."""
    return messages(ranged_flight, WALKS)


@pytest.fixture(scope="session")
def walking(ranged_flight, arrivals) -> tuple[DriftFilter, ErrorLog]:
    """A drift filter that has heard them in time, and its errors."""
    watch = ErrorLog(ranged_flight)
    return fed(DriftFilter(ranged_flight.fleet, load_spec()), arrivals, watch), watch
