# SPDX-License-Identifier: BSD-3-Clause
"""Memory, files and threads of a flight, over its time."""

import pytest

from iap_bringup.experiments import soak


@pytest.mark.parametrize(
    ("arguments", "place"), [([], "one process"), (["--nodes"], "nodes in lockstep")]
)
def test_growth_counts_from_the_second_row_on(arguments, place, capsys, monkeypatch):
    rows = {"1 s": 100.0, "2 s": 200.0, "3 s": 210.0, "largest, judged": 999.0}
    table = {name: {"memory_mb": value} for name, value in rows.items()}
    monkeypatch.setattr(soak, "as_nodes" if arguments else "in_process", lambda *_: table)
    assert soak.main(arguments) == 0
    shown = capsys.readouterr().out
    assert f"hover, {place}" in shown
    assert "+5.00 %" in shown


@pytest.mark.slow
def test_descriptors_and_threads_stay_as_they_are_in_flight():
    rows = soak.in_process(20.0, lambda _: None)
    assert len(rows) == soak.ROWS + 1
    flown = [row for name, row in rows.items() if name.endswith(" s")]
    for key in ("open_files", "threads"):
        assert flown[-1][key] <= flown[0][key]
    assert soak.growth_row(rows)["threads"] == "+0.00 %"
    assert rows["largest, judged"]["memory_mb"] >= 0.98 * flown[-1]["memory_mb"]
