# SPDX-License-Identifier: BSD-3-Clause
"""Processor time of an inspection of public flight logs, in the folder that `IAP_FLIGHT_LOGS` names."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_io.flight_logs.inspection import Inspection
from iap_io.trajectories.logged_bags import open_any

SIZE, BAR = 4e6, 1.0  # bytes, and their processor time [s]
LEAST = 1e5  # bytes of a log that counts
COMPILED = 2  # rounds, of which the first compiles


def test_inspection(benchmark, figure):
    """Reading and inspecting each log, its signals and frames; what `iap inspect` tries of it is not in it."""
    folder = os.environ.get("IAP_FLIGHT_LOGS", "")
    if not folder:
        pytest.skip("no folder of public flight logs (set IAP_FLIGHT_LOGS)")
    paths = [
        x for x in sorted(Path(folder).rglob("*")) if x.is_file() and x.stat().st_size > LEAST
    ]
    times = {}

    def inspect():
        for path in paths:
            begin = time.process_time()
            try:
                Inspection.of(open_any(path))
            except BadInput:
                continue
            times[path] = (time.process_time() - begin) * SIZE / path.stat().st_size

    benchmark.pedantic(inspect, rounds=COMPILED, warmup_rounds=0)
    figure("inspection of 4 MB", float(np.median([*times.values()])), "s (median)", 2)
    slowest = max(times, key=times.__getitem__)
    figure("slowest inspection of 4 MB", times[slowest], f"s ({slowest.suffix[1:]})", 2, bar=BAR)
