# SPDX-License-Identifier: BSD-3-Clause
"""A made-up flight that whole estimators are tried on."""

from dataclasses import replace

import pytest
from synthetic import Flight
from synthetic_crew import TABLE_VI
from whole_estimators import SECONDS


@pytest.fixture(scope="session")
def flight() -> Flight:
    return Flight.of(SECONDS, noise=replace(TABLE_VI, gyro_bias=0.0, accel_bias=0.0), seed=3)


@pytest.fixture(scope="session")
def stream(flight) -> list:
    return list(flight.stream())
