# SPDX-License-Identifier: BSD-3-Clause
"""A sweep in the viewer: its runs are sorted and filtered by metrics, and a click shows one as it was flown."""

import threading

import pytest
from viewer_client import ViewerClient

from iap_bringup.cli.main import main
from iap_bringup.viewing.run_table import Selection, table_of
from iap_bringup.viewing.run_viewer import GHOST_OPACITY, RunViewer
from iap_bringup.viewing.source import RunSource
from iap_bringup.viewing.table_viewer import TableViewer
from iap_bringup.viewing.viser_stage import ALONE, open_server
from iap_description.config.json_files import read_json
from iap_description.errors import BadInput
from iap_io.runs.run_folder import METRICS
from iap_simulation.sweeps.sweep_folder import TABLE

RMSE = "position_rmse_m"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """Two gains, two winds and two seeds of a short flight without recordings."""
    folder = tmp_path_factory.mktemp("table") / "sweep"
    vary = ("--vary", "control.gains=default,paper", "--vary", "wind.speed=0,5")
    arguments = (
        *vary,
        "--seeds",
        "2",
        "--seed",
        "3",
        "--workers",
        "1",
        "--set",
        "duration=0.5",
        "--no-plot",
    )
    engine = ("--engine", "closed_form")
    assert main(["sweep", "figure_eight", *engine, *arguments, "--out", str(folder)]) == 0
    return folder


@pytest.mark.slow
def test_a_run_without_a_recording_is_flown_again_as_it_was(sweep, tmp_path):
    table = table_of(sweep)
    number = len(table.rows) - 1
    row = table.rows[number]
    assert (row["control.gains"], row["wind.speed"], row["seed"]) == ("paper", "5", "4")
    assert table.recorded(number) is None
    folder = tmp_path / "again"
    folder.mkdir()
    table.fly(number, folder)
    metrics = read_json(folder / METRICS)
    assert metrics["seed"] == 4
    assert metrics[RMSE] == pytest.approx(float(row[RMSE]), rel=1e-9)


def test_runs_are_sorted_and_filtered_by_a_metric_and_those_without_come_last():
    rows = [{"m": "2.0"}, {"m": ""}, {"m": "10.0"}, {"m": "1.0"}]
    assert Selection("m", descends=False, column="m").rows(rows) == [3, 0, 2, 1]
    assert Selection("m", descends=True, column="m").rows(rows) == [2, 0, 3, 1]
    assert Selection("m", descends=False, column="m", least=1.5).rows(rows) == [0, 2]


@pytest.mark.slow
def test_a_click_on_a_run_shows_its_platform(sweep, tmp_path):
    server, stop = open_server(port=0), threading.Event()
    table = table_of(sweep)
    viewer = TableViewer(server, table, tmp_path)
    thread = threading.Thread(target=viewer.run, args=(stop,), daemon=True)
    thread.start()
    try:
        with ViewerClient(f"http://{ALONE}:{server.get_port()}") as client:
            assert client.wait(lambda: len(client.labels) == len(table.rows), 20.0)
            names = list(client.labels)
            client.click(names[0])
            assert client.wait(lambda: client.names["/world/bodies/iap/base_link"] > 10)
            stop.set()
            client.click(names[1])  # leaves the run
            thread.join(60.0)
    finally:
        server.stop()
    assert not thread.is_alive()


@pytest.mark.slow
def test_a_sweep_that_is_not_complete_says_so(sweep, tmp_path):
    (tmp_path / "study.yaml").write_text((sweep / "study.yaml").read_text())
    with pytest.raises(BadInput, match="table.csv: not there yet"):
        table_of(tmp_path)


@pytest.mark.parametrize("table", [b"seed,a\n1,2\nx,3\n", b"sede,a\n1,2\n", b"seed\n\xff\n"])
def test_a_damaged_table_of_a_sweep_is_refused_by_its_name(tmp_path, table):
    (tmp_path / "study.yaml").write_text("scenario: hover\n")
    (tmp_path / TABLE).write_bytes(table)
    with pytest.raises(BadInput, match=f"{TABLE}: "):
        table_of(tmp_path)


def test_a_run_over_another_one_is_paler_and_beside_it_is_not(tmp_path):
    run = tmp_path / "run"
    arguments = ["hover", "--duration", "0.1", "--engine", "closed_form", "--no-plot", "--no-view"]
    assert main(["run", *arguments, "--out", str(run)]) == 0
    body = "bodies/iap/base_link/0"
    for beside, expected in (((0.0, 0.0, 0.0), GHOST_OPACITY), ((0.0, 3.0, 0.0), 1.0)):
        server = open_server(port=0)
        RunViewer(server, [RunSource.of_folder(run)] * 2, beside)
        with ViewerClient(f"http://{ALONE}:{server.get_port()}") as client:
            assert client.wait(lambda c=client: c.names[f"/run_1/{body}"])
        server.stop()
        ratio = client.opacities[f"/run_1/{body}"] / client.opacities[f"/world/{body}"]
        assert ratio == pytest.approx(expected)


@pytest.mark.slow
def test_an_episode_of_an_evaluation_is_flown_again_by_its_seed(tmp_path):
    folder = tmp_path / "evaluation"
    arguments = ("--task", "docking", "--episodes", "2", "--no-plot", "--no-record")
    assert main(["evaluate", "script", *arguments, "--seed", "5", "--out", str(folder)]) == 0
    table = table_of(folder)
    assert [row["seed"] for row in table.rows] == ["5", "6"]
    assert table.recorded(1) is None
    again = tmp_path / "again"
    again.mkdir()
    table.fly(1, again)
    metrics = read_json(again / METRICS)
    assert metrics["seed"] == 6
    assert metrics["docking"]["success"]
    assert len(RunSource.of_folder(again).paths[0]) == 2  # chaser and target


def test_a_damaged_evaluation_is_refused_in_a_line(tmp_path, capsys):
    (tmp_path / "evaluation.json").write_text('{"policy": {"name": "x"}}')
    assert main(["view", str(tmp_path), "--no-browser"]) == 2
    assert "no key 'arguments'; evaluate again" in capsys.readouterr().err
