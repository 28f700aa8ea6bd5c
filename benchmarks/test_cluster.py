# SPDX-License-Identifier: BSD-3-Clause
"""Cost of Ray over a pool of processes in a sweep of many pieces of one run each; skipped without Ray."""

import os
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from iap_simulation.scenario.resolving import Options
from iap_simulation.sweeps.cluster import ClusterPool
from iap_simulation.sweeps.flying import Chunk, fly
from iap_simulation.sweeps.process_pool import ProcessPool, WorkPool
from iap_simulation.sweeps.study import Study
from iap_simulation.sweeps.sweep import chunks_of

PIECES = 1000
BARS = {"ray": (5.0, 10.0)}  # share beside flights [%], seconds until the first piece is done
TICK = 1.0 / os.sysconf("SC_CLK_TCK")  # of the times in /proc [s]


def processes() -> Iterator[tuple[int, int, float]]:
    """Number, parent and seconds of the processor of every process; those of its ended children count, too."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        yield int(stat.parent.name), int(fields[1]), TICK * sum(map(int, fields[11:15]))


def seconds_of_all() -> float:
    """Of this process and of all that it has begun."""
    rows = list(processes())
    mine, found = {os.getpid()}, 0
    while len(mine) > found:
        found = len(mine)
        mine |= {number for number, parent, _ in rows if parent in mine}
    return sum(seconds for number, _, seconds in rows if number in mine)


def timed(piece: Chunk) -> float:
    """Fly a piece; seconds of the processor that this takes by itself."""
    began = time.process_time()
    fly(piece)
    return time.process_time() - began


def cost(pool: WorkPool) -> tuple[float, float, float]:
    """Seconds until the first piece is done; of the processor until the last is, and how many of these fly."""
    # of a single run each, as where recordings are kept: smaller than others, whose share is less
    study = Study("hover", Options(), seeds=PIECES, records=True)
    (point,) = study.points()
    pieces = list(chunks_of(study, point))
    assert len(pieces) == PIECES
    before, began, first, flown = seconds_of_all(), time.monotonic(), 0.0, []
    for _, seconds in pool.map(timed, pieces):
        first = first or time.monotonic() - began
        flown.append(seconds)
        if len(flown) == PIECES:  # all processes are still there
            return first, seconds_of_all() - before, sum(flown)
    raise AssertionError(len(flown))


@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_share_of_ray(benchmark, figure, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)  # of `timed`
    found: dict[str, tuple[float, float, float]] = {}

    def measure() -> None:
        for name, pool in (("pool", ProcessPool(2)), ("ray", ClusterPool("local"))):
            found[name] = cost(pool)

    benchmark.pedantic(measure, rounds=1)
    for name, (first, whole, flown) in found.items():
        beside = whole - flown
        what, (most, latest) = f"{PIECES} pieces by {name}", BARS.get(name, (None, None))
        figure(what, whole, "s of processors")
        figure(f"{what}, beside flights", 100 * beside / whole, "%", 1, bar=most)
        figure(f"{what}, beside flights, a piece", 1e3 * beside / PIECES, "ms")
        figure(f"{what}, the first is done", first, "s", 1, bar=latest)
