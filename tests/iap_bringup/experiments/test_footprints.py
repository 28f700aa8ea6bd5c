# SPDX-License-Identifier: BSD-3-Clause
"""Footprints of processes, and how they grow."""

import gc
import mmap
import os
from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.experiments import (
    soak,
)
from iap_bringup.experiments.footprint import Footprint, processor_time


def quiet(_):
    """Tell nobody."""


@pytest.mark.slow
def test_a_footprint_is_of_its_process_and_its_time_goes_on():
    gc.collect()  # files that nobody has closed
    before = Footprint.of("self")
    kept = [open(os.devnull) for _ in range(5)]  # noqa: SIM115
    pages = mmap.mmap(
        -1, 64_000_000
    )  # new memory, where an array may lie in what was freed before
    pages.write(b"1" * 64_000_000)
    after = Footprint.of(os.getpid())
    assert after.open_files == before.open_files + 5
    assert after.threads >= 1
    assert after.memory_mb - before.memory_mb > 30.0
    for each in kept:
        each.close()
    pages.close()
    block = np.ones(1_000_000)
    began = processor_time(os.getpid())
    while sum(os.times()[:2]) < began + 0.1:
        block.sum()
    assert processor_time(os.getpid()) == pytest.approx(sum(os.times()[:2]), abs=0.05)


def test_growth_is_from_the_second_footprint_to_the_last():
    rows = {
        "1 s": {"memory_mb": 50.0},
        "2 s": {"memory_mb": 100.0},
        "3 s": {"memory_mb": 104.0},
        "largest, judged": {"memory_mb": 999.0},
    }
    assert soak.growth_row(rows) == {"memory_mb": "+4.00 %"}
    processes = {
        "sim": SimpleNamespace(pid=os.getpid()),
        "control": SimpleNamespace(pid=os.getpid()),
    }
    row, one = soak._footprint_row(processes), Footprint.of("self")
    assert row["sim"] == pytest.approx(one.memory_mb, rel=0.02)
    assert row["open_files"] == 2 * one.open_files and row["threads"] == 2 * one.threads


def test_footprints_are_noted_ten_times_at_equal_distances(monkeypatch):
    def record(name, *, folder, duration, progress):
        (folder / "bag").mkdir(parents=True)
        (folder / "bag" / "bag_0.mcap").write_bytes(bytes(2_500_000))
        for k in range(1, 111):
            progress(0.1 * k)

    monkeypatch.setattr(soak, "record", record)
    rows = soak.in_process(11.0, quiet)
    assert list(rows) == [*(f"{k} s" for k in range(1, 11)), "largest, judged"]
    assert rows["largest, judged"]["recording_mb"] == 2.5
    assert 10.0 < rows["1 s"]["memory_mb"] <= 1.05 * rows["largest, judged"]["memory_mb"]


@pytest.mark.parametrize(("words", "fly"), [([], "in_process"), (["--nodes"], "as_nodes")])
def test_the_program_soaks_as_it_is_asked_and_refuses_in_a_line(words, fly, monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(
        soak,
        "show_soak",
        lambda console, measured, duration: shown.append((measured.__name__, duration)),
    )
    assert soak.main([*words, "--duration", "12.5"]) == 0 and soak.main(words) == 0
    assert shown == [(fly, 12.5), (fly, 3600.0)]

    def refuse(*_):
        raise soak.BadInput("no ROS")

    monkeypatch.setattr(soak, "show_soak", refuse)
    assert soak.main(words) == 2
    assert capsys.readouterr().err == "soak: no ROS\n"
