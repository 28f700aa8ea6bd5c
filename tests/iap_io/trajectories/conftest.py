# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures that the replay tests share."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flight_bags import ROOT, BagMaker, Motion, motion

REAL_FLIGHT = Path(os.environ.get("IAP_REAL_FLIGHT", ROOT.parent / "shared/data/real_flight"))


@pytest.fixture
def bag_maker(tmp_path: Path) -> Callable[[str], BagMaker]:
    """Makes a `BagMaker` for a format."""
    return lambda kind: BagMaker(tmp_path, kind)


@pytest.fixture
def mcap(bag_maker: Callable[[str], BagMaker]) -> BagMaker:
    """Writes mcap bags."""
    return bag_maker("mcap")


@pytest.fixture
def flight() -> Motion:
    """Ten seconds of the motion at 40 Hz."""
    return motion(np.arange(0.0, 10.0, 0.025))


@pytest.fixture(scope="session")
def real_flight() -> Path:
    """The folder of the real flights, which are not part of the repository."""
    if not REAL_FLIGHT.is_dir():
        pytest.skip(f"no real flights at {REAL_FLIGHT} (set IAP_REAL_FLIGHT)")
    return REAL_FLIGHT
