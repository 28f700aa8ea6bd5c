# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of studies that are just within a limit or just beyond, and what they are exactly."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_up_measurements import tracks
from rich.console import Console

from iap_bringup.experiments import convergence, docking, piloted_flights, rays, soak
from iap_bringup.experiments import engines as engine_study
from iap_bringup.experiments.virpo import faults
from iap_description.errors import BadInput
from iap_description.states import W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_learning.evaluation.results import Results


def test_loads_are_of_every_body_and_aircraft_tumble_at_a_rate():
    assembly = Assembly.of(load_platform("three_star"))
    assert all(each.shape == (4, 6) for each in convergence.Loads.none(assembly))
    turns = convergence.tumbling(assembly)[1:, W]
    assert np.linalg.norm(turns, axis=1) == pytest.approx(3.5)


def test_a_drift_of_energy_is_relative_to_the_begin(monkeypatch):
    kept = SimpleNamespace(
        kinetic=np.array([2.0, 1.0, 3.0]), linear=np.array([[3.0, 4.0, 0.0], [3.0, 4.0, 1.0]]),
        angular=np.array([[0.0, 0.0, 2.0], [0.0, 1.0, 2.0], [0.0, 0.0, 2.0]]),
    )  # fmt: skip
    monkeypatch.setattr(convergence, "invariants", lambda *_: kept)
    assert convergence._drifts(None, None) == pytest.approx((0.5, 0.2, 0.5))


def test_the_least_success_of_three_of_four_is_thirty_percent():
    measures = {name: np.ones(4) for name in ("time", "calm_from", "force_peak")}
    success = np.array([True, True, False, True])
    row = docking.row_of(Results(np.arange(4), success, ["docked"] * 4, measures))
    assert row["at_least_%"] == pytest.approx(30.06, abs=0.01)
    assert row["above_60_n_%"] == 0.0 and row["force_max_n"] == 1.0


@pytest.mark.parametrize(
    ("engines", "has_both"), [(("pybullet", "mujoco"), True), (("mujoco",), False)]
)
def test_two_engines_have_a_column_of_their_difference(engines, has_both):
    titles = [column.header for column in engine_study.table([], engines).columns]
    assert titles == ["figure", *engines, *["off by"] * has_both, "bar", "within"]
    with (console := Console(width=80)).capture() as shown:
        console.print(engine_study.table([], engines))
    assert " and ".join(engines) in shown.get()


def test_colours_end_at_their_scale_and_a_normal_without_a_number_is_sky():
    below, least, most, beyond = rays.shaded(np.array([[-3.0, 0.0, 12.0, 13.0]]), 12.0)[0].tolist()
    assert below == least == [68, 1, 84] and most == beyond == [253, 231, 37]
    normals = rays.by_normal(np.array([[[np.nan, 0.0, 0.0], [0.0, 0.0, 1.0]]]))[0].tolist()
    assert normals == [[235] * 3, [127, 127, 255]]


def test_a_folder_of_flights_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r": no such folder$"):
        piloted_flights.recordings(tmp_path / "none")
    with pytest.raises(BadInput, match=r": no rosbag2 folder, \.bag or \.csv file$"):
        piloted_flights.recordings(tmp_path)


def test_the_largest_memory_is_of_the_process_and_the_recording_of_its_bag(monkeypatch):
    def record(scenario, *, folder, duration, progress):
        (folder / "bag").mkdir(parents=True)
        (folder / "bag" / "a.mcap").write_bytes(bytes(2500))
        for t in (0.0, 5.0, 6.0, 10.0):
            progress(t)

    usage = SimpleNamespace(ru_maxrss=1000)  # [KiB]
    monkeypatch.setattr(soak, "record", record)
    monkeypatch.setattr(
        soak, "resource", SimpleNamespace(getrusage=lambda _: usage, RUSAGE_SELF=0)
    )
    monkeypatch.setattr(soak, "ROWS", 1)
    told = []
    rows = soak.in_process(10.0, told.append)
    assert list(rows) == ["5 s", "largest, judged"] and told[1] == "5 of 10 s"
    assert rows["largest, judged"] == {"memory_mb": 1.024, "recording_mb": 0.0025}
    assert rows["5 s"]["memory_mb"] > 1.0


def test_images_are_late_by_a_fifth_of_a_second_and_tracks_after_a_fault_have_new_names():
    marks = [(0, SimpleNamespace(t=t)) for t in (0.19, 0.21)]
    found = faults.delay([(0, tracks(0.0)), *marks])
    assert [each.t for _, each in found] == [0.19, 0.0, 0.21]
    before, after = tracks(7.0), tracks(20.0)
    _, renamed = faults._unseen((0, after), 2.0)
    assert (renamed.ids - after.ids == 10**9).all() and len(renamed.ids)
    assert faults._unseen((0, before), 2.0)[1] is before
    assert len(faults._unseen((0, tracks(9.9)), 2.0)[1].ids) == 0
    assert len(faults._unseen((0, tracks(10.0)), 2.0)[1].ids) > 0
