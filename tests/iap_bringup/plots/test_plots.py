# SPDX-License-Identifier: BSD-3-Clause
"""Plots are drawn for every kind of platform and for flights that ended early."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from made_up_flights import Record, random_flight, steady_flight

from iap_bringup.plots.flight import draw_thrusts
from iap_bringup.plots.flight_curves import flight_curves
from iap_bringup.plots.plot import FLIGHT, Plot, RenderedPlot
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import PLOTS, write_named_plots, write_plots
from iap_description.errors import BadInput
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.plots import plot_style
from iap_io.runs import topics
from iap_io.runs.run_folder import RunData
from iap_io.runs.run_meta import Track

pytestmark = pytest.mark.filterwarnings("error")
NAMES = ["overview", "path3d", "pose", "errors", "thrusts"]


@pytest.fixture(autouse=True)
def _coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot_style, "DPI", 50)


ONLY_THRUSTS = (Plot("thrusts", FLIGHT, draw_thrusts),)


def write(folder: Path, run: RunData, plots: Sequence[Plot | RenderedPlot] = PLOTS) -> list[Path]:
    return write_plots(RecordedRun(folder, run), plots)


def _is_png(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5_000


def test_a_run_gets_its_plots(tmp_path: Path, recorded: Record) -> None:
    paths = write(tmp_path, recorded(steady_flight("two_line", 50)))
    assert [path.name for path in paths] == [f"{name}.png" for name in NAMES]
    assert all(map(_is_png, paths))


@pytest.mark.slow
def test_a_replay_shows_the_real_flight(tmp_path: Path, recorded: Record) -> None:
    flight = steady_flight("f450", 50)
    track = Track(flight.t[::5], flight.reference[::5, :7])
    tracks = {topics.REFERENCE_POSE: track, topics.ACTUAL: track}
    paths = write(tmp_path, recorded(flight, tracks=tracks))
    assert tmp_path / "plots" / "difference.png" in paths


@pytest.mark.slow
def test_one_tick_is_enough(tmp_path: Path, recorded: Record) -> None:
    assert len(write(tmp_path, recorded(random_flight("three_star", 1)))) == len(NAMES)


def test_no_state_no_plot(tmp_path: Path, recorded: Record) -> None:
    flight = steady_flight("three_star", 5)
    flight.x[:] = np.nan
    assert write(tmp_path, recorded(flight)) == []


def test_each_vehicle_gets_its_own_files(tmp_path: Path, recorded: Record) -> None:
    left, right = steady_flight("f450", 3, "left"), steady_flight("f450", 3, "right")
    names = [path.stem for path in write(tmp_path, recorded(left, right), ONLY_THRUSTS)]
    assert names == ["thrusts_left", "thrusts_right"]


def test_equal_runs_give_equal_plots(tmp_path: Path, recorded: Record) -> None:
    run = recorded(steady_flight("f450", 3))
    first, second = (write(tmp_path, run, ONLY_THRUSTS)[0].read_bytes() for _ in range(2))
    assert first == second


def test_a_failed_flight_says_so_in_the_title(recorded: Record) -> None:
    run = recorded(steady_flight("f450", 3))
    assert "crashed" in flight_curves(run.meta, run.vehicles[0], "crashed").title
    assert "completed" not in flight_curves(run.meta, run.vehicles[0]).title


def test_a_plot_that_cannot_be_written_is_one_line(tmp_path: Path, recorded: Record) -> None:
    run = recorded(steady_flight("f450", 3))
    (tmp_path / "plots").write_text("")
    with pytest.raises(RecordingFailed, match="plots"):
        write(tmp_path, run, ONLY_THRUSTS)


def test_yaw_is_drawn_on_the_turn_of_the_flight(recorded: Record) -> None:
    flight = steady_flight("three_star", 400)
    yaw = np.linspace(np.deg2rad(170.0), np.deg2rad(400.0), 400)
    for rows, angles in ((flight.x[:, 0], yaw), (flight.reference, yaw + np.deg2rad(12.0))):
        rows[:, 3], rows[:, 4] = 0.0, 0.0
        rows[:, 5], rows[:, 6] = np.sin(0.5 * angles), np.cos(0.5 * angles)
    run = recorded(flight)
    drawn = flight_curves(run.meta, run.vehicles[0])
    np.testing.assert_allclose(drawn.reference.angles[:, 2] - drawn.simulated.angles[:, 2], 12.0)


def test_matplotlib_waits_until_it_is_needed() -> None:
    code = "import sys, iap_bringup.plots.table; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_plots_are_drawn_by_their_names_alone(tmp_path: Path, recorded: Record) -> None:
    run = RecordedRun(tmp_path, recorded(steady_flight("f450", 3)))
    assert [path.name for path in write_named_plots(run, ["thrusts"])] == ["thrusts.png"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("joints", "plot joints: .* has not an arm"),
        ("modules", "plot modules: .* has not joined modules"),
        ("speed", "plot 'speed': unknown .choices: overview, path3d"),
        ("iap_bringup.plots.plot:FLIGHT", "is no iap_bringup.plots.plot.Plot"),
    ],
)
def test_a_plot_that_a_run_cannot_have_says_so(
    tmp_path: Path, recorded: Record, name: str, complaint: str
) -> None:
    run = RecordedRun(tmp_path, recorded(steady_flight("f450", 3)))
    with pytest.raises(BadInput, match=complaint):
        write_named_plots(run, [name])
