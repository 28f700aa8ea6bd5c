# SPDX-License-Identifier: BSD-3-Clause
"""A recorded flight that is recorded again is the same flight, byte for byte."""

from pathlib import Path

import numpy as np
import pytest
from made_up_flights import Flight, random_flight, run_meta

from iap_description.signals import ForceMode, ForceTask, Reference, WrenchRecord
from iap_io.bags.bag_writer import STORAGE
from iap_io.recording.recorder import Recorder
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import BAG


def _wrench_record(flight: Flight, has_task: bool) -> Flight:
    rng = np.random.default_rng(5)
    flight.meta = flight.meta.model_copy(update={"feels": True})
    flight.wrench_record = []
    for row in flight.reference:
        mode = ForceMode(int(rng.integers(2)))
        task = ForceTask(mode, *rng.normal(size=(2, 6)), rng.random(6) < 0.5)
        felt = WrenchRecord(
            *rng.normal(size=(3, 6)), Reference(row + 0.1), task if has_task else None
        )
        flight.wrench_record.append(felt)
    return flight


@pytest.mark.parametrize("feels", ["nothing", "wrenches", "a task"])
def test_a_flight_is_recorded_again(feels: str, tmp_path: Path) -> None:
    flight = random_flight("three_star", 40)
    if feels != "nothing":
        flight = _wrench_record(flight, feels == "a task")
    with Recorder(tmp_path / "a", run_meta(flight)) as recorder:
        for k in range(40):
            flight.record(recorder, k)
    run = load_run(tmp_path / "a")
    with Recorder(tmp_path / "b", run.meta) as recorder:
        for k in range(40):
            recorder.record(0, run.vehicles[0].columns.step(k))
    a, b = ((tmp_path / name / BAG / STORAGE).read_bytes() for name in "ab")
    assert a == b
