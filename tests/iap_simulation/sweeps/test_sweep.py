# SPDX-License-Identifier: BSD-3-Clause
"""A sweep's rows are those of single runs; what is done is not done again, and nothing is lost."""

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from iap_bringup.cli import sweep as cli_sweep
from iap_bringup.cli.main import parse
from iap_description.errors import BadInput, IapError
from iap_io.runs.run_folder import load_run
from iap_io.runs.run_meta import COMPLETED
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.sweeps.flying import MEASURED, REFUSED, most_runs
from iap_simulation.sweeps.process_pool import FinishedWork, ProcessPool
from iap_simulation.sweeps.study import Axis, Study, with_values
from iap_simulation.sweeps.sweep import sweep
from iap_simulation.sweeps.sweep_folder import TABLE, SweepFolder, flattened
from iap_simulation.sweeps.sweep_table import alike_for_all_seeds, success

IAP = ["env", "--block-signal=INT,TERM", sys.executable, "-P", "-m", "iap_bringup.cli.main"]
AT_WALL = {  # the rod's tip is some cm off
    "start.lead_in": 0.0,
    "reference.position": [-1.955, 0.0, 2.0],
    "push.at": 0.05,
    "push.ramp": 0.1,
}
LOW = {"reference.duration": 0.1, "reference.position": [0.0, 0.0, 0.3]}
TIMEOUT = 600.0  # after which a command hangs [s]


@pytest.mark.parametrize(
    ("engine", "sensors", "most"),
    [
        ("closed_form", "none", 64),
        ("closed_form", "imu", 10),
        ("pybullet", "none", 10),
        ("mujoco", "none", 10),
    ],
)
def test_worlds_side_by_side_are_many_in_a_piece_of_work_and_single_runs_few(
    engine, sensors, most
):
    _, tree = resolve("hover", Options(engine=engine, sensors=sensors, duration=1.0))
    assert most_runs(tree) == most


def test_a_study_of_nothing_is_one_flight():
    study = Study("hover")
    assert (study.runs, len(study.points()), study.records) == (1, 1, False)


class Here:
    """Does all work in this process; notes what it did."""

    retried = 0

    def __init__(self):
        self.done = []

    def map(self, do, pieces):
        for each in pieces:
            self.done.append(each)
            yield FinishedWork(each, do(each))


def study_of(*axes, seeds=2, **options):
    return Study("hover", Options(**options), tuple(map(Axis.of, axes)), seeds)


def swept(study, out, pool):
    points = study.points()
    return sweep(study, points, SweepFolder.open(out, study, points), pool)


def test_combinations_in_which_seeds_draw_nothing_are_counted(tmp_path):
    study = study_of("draw.position=0,0.1", duration=0.1, seeds=3)
    found = swept(study, tmp_path / "sweep", Here())
    assert alike_for_all_seeds(study.axes, found.rows) == 1
    one_of_each = [found.rows[0], found.rows[3]]
    assert alike_for_all_seeds(study.axes, one_of_each) == 0


def test_rows_are_those_of_single_runs(tmp_path):
    study = study_of("wind.speed=0,4", "control.gains=default,paper", duration=0.5, seed=5)
    out = tmp_path / "sweep"
    found = swept(study, out, Here())
    with (out / TABLE).open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(found.rows) == 8
    row, line = found.rows[7], table[7]
    assert (row["wind.speed"], row["control.gains"], row["seed"]) == (4, "paper", 6)
    settings = {"wind.speed": 4}
    alone = record(
        "hover", folder=tmp_path / "run", duration=0.5, seed=6, gains="paper", settings=settings
    )
    for key, value in flattened(
        {k: v for k, v in alone.metrics.items() if k not in MEASURED}
    ).items():
        assert flattened(row)[key] == value, key
        assert line[key] == ("" if value is None else str(value)), key


@pytest.mark.parametrize(
    ("scenario", "options", "figure"),
    [
        ("wall_push", {"duration": 1.0, "settings": AT_WALL}, "force_max_n"),
        ("beetle_hover", {"settings": LOW}, "landing.force_n"),
    ],
)
def test_rows_in_mujoco_have_what_contact_did(tmp_path, scenario, options, figure):
    settings = options.get("settings", {})
    asked = Options(
        engine="mujoco",
        duration=options.get("duration"),
        assignments=tuple(f"{key}={value}" for key, value in settings.items()),
    )
    row = flattened(swept(Study(scenario, asked), tmp_path / "sweep", Here()).rows[0])
    metrics = record(scenario, folder=tmp_path / "run", engine="mujoco", seed=0, **options).metrics
    alone = flattened({k: v for k, v in metrics.items() if k not in MEASURED})
    assert alone[figure] > 0.0
    assert {key: row[key] for key in alone} == alone


def test_a_finished_sweep_flies_nothing_again(tmp_path):
    study, out = study_of(seeds=12, duration=0.1), tmp_path / "sweep"
    first = swept(study, out, Here())
    table = (out / TABLE).read_bytes()
    (out / TABLE).unlink()
    idle = Here()
    again = swept(study, out, idle)
    assert idle.done == []
    assert (out / TABLE).read_bytes() == table
    assert again.rows == first.rows
    next((out / "parts").iterdir()).unlink()
    swept(study, out, idle)
    assert len(idle.done) == 1
    assert (out / TABLE).read_bytes() == table


def test_a_crash_is_a_row(tmp_path):
    study = study_of("platform.center.mass=1.3,30", seeds=1, duration=2.0)
    found = swept(study, tmp_path / "sweep", Here())
    light, heavy = found.rows
    assert light["outcome"] == "completed"
    assert light["failure"] == ""
    assert heavy["outcome"] != "completed"
    assert heavy["failure"]
    assert found.summary["failed"] == 1
    assert found.summary["success_rate"] == 0.5


def test_a_start_that_is_impossible_is_a_row(tmp_path):
    """Some of the drawn starts are inside the wall: those runs are refused, the others flown."""
    options = Options(duration=0.1, assignments=("draw.position=1.5",))
    found = swept(Study("wall_push", options, seeds=4), tmp_path / "sweep", Here())
    assert [row["outcome"] for row in found.rows] == [REFUSED, "completed"] * 2
    for row in found.rows:
        assert ("inside the object 'wall'" in row["failure"]) == (row["outcome"] == REFUSED)


def test_a_data_set_keeps_every_recording(tmp_path):
    """Readable, with the metrics of its row; what was left half done is made anew."""
    study, out = replace(study_of(duration=0.2, sensors="imu"), records=True), tmp_path / "set"
    points = study.points()
    folder = SweepFolder.open(out, study, points)
    found = sweep(study, points, folder, Here())
    names = [row["folder"] for row in found.rows]
    assert sorted(names) == sorted(each.name for each in (out / "runs").iterdir())
    for row in found.rows:
        run = out / "runs" / row["folder"]
        assert json.loads((run / "metrics.json").read_text())["seed"] == row["seed"]
        assert len(load_run(run).vehicles[0].columns.t) == 41
    table = (out / TABLE).read_bytes()
    (out / "parts" / f"{names[1].rpartition('_')[0]}.json").unlink()
    (out / "runs" / names[1]).rename(out / "runs" / f"{names[1]}.tmp")
    (out / "runs" / f"{names[1]}.tmp" / "metrics.json").unlink()
    sweep(study, points, folder, Here())
    assert sorted(names) == sorted(each.name for each in (out / "runs").iterdir())
    assert (out / TABLE).read_bytes() == table


@pytest.mark.parametrize("error", [IapError("processes died"), ConnectionError("timed out")])
def test_a_cluster_that_flies_nothing_leaves_no_folder(tmp_path, monkeypatch, error):
    class Silent:
        def __init__(self, address):
            self.retried = 0

        def map(self, do, pieces):
            raise error
            yield

    monkeypatch.setattr(cli_sweep, "ClusterPool", Silent)
    arguments = ["sweep", "hover", "--engine", "closed_form", "--duration", "0.03"]
    out = tmp_path / "o"
    options = parse([*arguments, "--cluster", "head:6379", "--out", str(out)])
    with pytest.raises(type(error)):
        cli_sweep.run(options)
    assert not out.exists()


def test_another_sweeps_folder_is_refused(tmp_path):
    out = tmp_path / "sweep"
    swept(study_of(duration=0.1), out, Here())
    with pytest.raises(BadInput, match="another sweep"):
        swept(study_of(duration=0.1, seeds=3), out, Here())
    with pytest.raises(BadInput, match="another sweep"):
        swept(replace(study_of(duration=0.1), records=True), out, Here())
    (tmp_path / "taken").mkdir()
    with pytest.raises(BadInput, match="exists already"):
        swept(study_of(duration=0.1), tmp_path / "taken", Here())


def test_a_damaged_part_is_named(tmp_path):
    study, out = study_of(duration=0.1), tmp_path / "sweep"
    swept(study, out, Here())
    part = next((out / "parts").iterdir())
    part.write_text("[{")
    with pytest.raises(BadInput, match=part.name):
        swept(study, out, Here())


@pytest.mark.slow
def test_processes_make_the_table_of_one(tmp_path):
    study = study_of("wind.speed=0,4", seeds=12, duration=0.2)
    swept(study, tmp_path / "one", Here())
    swept(study, tmp_path / "many", ProcessPool(2))
    assert (tmp_path / "one" / TABLE).read_bytes() == (tmp_path / "many" / TABLE).read_bytes()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A sweep of six parts that nothing happened to."""
    out = tmp_path_factory.mktemp("undisturbed") / "sweep"
    return swept(study_of(seeds=60, duration=0.5), out, Here()), (out / TABLE).read_bytes()


ENDS = (signal.SIGKILL, signal.SIGINT)


def ended(command, parts, number):
    """Exit code and complaint of a sweep that a signal ends as soon as one more part is there."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        before, until = len(list(parts.glob("*.json"))), time.monotonic() + TIMEOUT
        while len(list(parts.glob("*.json"))) == before and process.poll() is None:
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(number)
        complaint = process.communicate(timeout=TIMEOUT)[1]
    return process.returncode, complaint


@pytest.mark.slow
def test_a_sweep_that_was_killed_and_then_interrupted_goes_on(undisturbed, tmp_path):
    """The driver ends twice in the middle, and the same command completes the table of an undisturbed sweep."""
    arguments = "sweep hover --seeds 60 --duration 0.5 --workers 2 --no-plot --out".split()
    for attempt in range(
        20
    ):  # on a busy machine a sweep may be over before it is seen to have begun
        out = tmp_path / f"sweep_{attempt}"
        command = [*IAP, *arguments, str(out)]
        endings = [ended(command, out / "parts", number) for number in ENDS]
        if (out / TABLE).exists():
            continue
        assert 2 <= len(list((out / "parts").glob("*.json"))) < 6
        break
    complaint = f"iap: interrupted; the same command with --out {out} goes on\n"
    assert [code for code, _ in endings] == [-signal.SIGKILL, 130]
    assert endings[-1][1] == complaint
    output = subprocess.run([*command, "--json"], check=True, capture_output=True).stdout
    summary = json.loads(output)
    assert (summary["runs"], summary["failed"], summary["retried"]) == (60, 0, 0)
    assert (out / TABLE).read_bytes() == undisturbed[1]


@pytest.mark.slow
def test_a_killed_worker_changes_no_row(undisturbed, tmp_path):
    study = study_of(seeds=60, duration=0.5)
    pool, killed = ProcessPool(2), []

    def kill_one(done):
        if done and not killed:  # what is told first is what was there before
            children = _children()
            killed.append(children[-1])
            os.kill(children[-1], signal.SIGKILL)

    points = study.points()
    folder = SweepFolder.open(tmp_path / "sweep", study, points)
    found = sweep(study, points, folder, pool, kill_one)
    assert pool.retried >= 1
    assert found.rows == undisturbed[0].rows
    assert found.summary["retried"] == pool.retried


def _children():
    """Processes of the pool, without the one that tracks resources."""
    import multiprocessing

    return [each.pid for each in multiprocessing.active_children()]


@pytest.mark.parametrize(
    "text",
    [
        "null", "3.0", "[]", "[1, 2]", '{"seed": 0}', "[" * 5000, '[{"seed": 0}, {"seed": 1}]', "[NaN]",
        '[{"seed": "0", "outcome": "completed", "failure": ""}, {"seed": 1, "outcome": "completed", "failure": ""}]',
        '[{"seed": 0, "outcome": "completed", "failure": ""}, {"seed": 7, "outcome": "completed", "failure": ""}]',
        '[{"seed": 0, "outcome": "completed", "failure": "", "position_rmse_m": "x"}]',
    ],
)  # fmt: skip
def test_a_damaged_part_is_refused_with_its_file_and_what_to_do(tmp_path, text):
    folder = SweepFolder(tmp_path)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"part\.json: .*; remove it to fly it again$"):
        folder.rows("part", [0, 1])


def test_success_is_the_share_of_completed_runs_within_its_interval():
    rows = [{"outcome": outcome} for outcome in [COMPLETED, COMPLETED, COMPLETED, "collision"]]
    share, low, high = success(rows)
    assert share == 0.75
    # Wilson's interval of 3 of 4 by its formula with z = 1.96.
    z, n = 1.959964, 4
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    assert (low, high) == pytest.approx((middle - half, middle + half), abs=1e-6)


def test_names_of_files_are_options_and_all_other_values_are_set():
    options = with_values(Options(), {"platform": "f450", "wind.speed": 2.0})
    assert options.platform == "f450"
    assert options.assignments == ("wind.speed=2.0",)
    whole = with_values(Options(), {"platform": {"name": "own"}})
    assert whole.platform is None
    assert whole.assignments == ('platform={"name": "own"}',)
