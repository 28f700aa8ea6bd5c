# SPDX-License-Identifier: BSD-3-Clause
"""Records made-up flights."""

from pathlib import Path

import pytest
from made_up_flights import Flight, Record, run_meta

from iap_bringup.records.recorder import Recorder, Track
from iap_bringup.records.runfolder import RunData, load_run


@pytest.fixture
def recorded(tmp_path: Path) -> Record:
    """Record flights into the test's folder and read them back."""

    def record(*flights: Flight, tracks: dict[str, Track] | None = None) -> RunData:
        with Recorder(tmp_path, run_meta(*flights)) as recorder:
            for name, track in (tracks or {}).items():
                recorder.add_track(0, name, track)
            for k in range(len(flights[0].t)):
                for i, flight in enumerate(flights):
                    flight.record(recorder, k, i)
        return load_run(tmp_path)

    return record
