# SPDX-License-Identifier: BSD-3-Clause
"""`iap train`: what it makes, how it is interrupted and goes on, and what it refuses."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("jax")

from iap_bringup.cli.main import main
from iap_io.runs.run_folder import CHECKPOINT
from iap_learning.training.checkpoints import load
from iap_learning.training.log import read_progress

SMALL = ["--set=worlds=4", "--set=threads=1", "--set=online.together=1"]
SMALL += ["--set=online.ppo.horizon=4", "--set=online.ppo.minibatches=1"]
TIMEOUT = 600.0  # [s]


@pytest.mark.slow
def test_a_task_is_trained_by_its_experiment(tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["train", "hold", *SMALL, "--steps=32", "--seed=3", f"--out={out}"]) == 0
    said = capsys.readouterr().out
    assert "hold: seed 3" in said
    assert "policy.npz" in said
    assert [row["steps"] for row in read_progress(out / "progress.csv")] == [16, 32]


@pytest.mark.slow
def test_an_interrupt_says_how_it_goes_on(tmp_path):
    out = tmp_path / "run"
    command = ["train", "hold", *SMALL, "--steps=100000000", f"--out={out}"]
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "iap_bringup.cli.main", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        until = time.monotonic() + TIMEOUT
        while not (out / "policy.npz").exists():  # the first leg is over
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    line = f"iap: interrupted; iap train --resume {out} goes on from the last checkpoint"
    assert said.splitlines()[-1] == line
    assert load(out / CHECKPOINT).progress.stage == "online"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a task is expected, or --resume FOLDER"),
        (["hold", "--preset=hard"], "unknown experiment 'hold_hard'"),
        (["hold", "--offline=bc"], "has no numbers for it in key 'offline'"),
        (["--resume=nowhere"], "nowhere/experiment.yaml: cannot be read"),
        (["--resume=nowhere", "--seed=3"], "goes on as it began; give nothing else"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(
    arguments, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(["train", *arguments]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "trainings").exists()


@pytest.mark.slow
def test_without_its_libraries_the_line_that_installs_them_is_shown(tmp_path):
    code = (
        "import sys; sys.modules['jax'] = None\n"
        "from iap_bringup.cli.main import main\n"
        "sys.exit(main(['train', 'hold']))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "training needs jax, which is not installed" in done.stderr
    assert done.stderr.strip().endswith("requirements/lock/training.txt")
