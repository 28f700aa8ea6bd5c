# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C and SIGTERM at random moments from the start of a command to its end: one line, an exit code, nothing lost.

Each command once and each signal twice by default; IAP_MOMENTS says how many moments.
"""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iap_description.errors import BadInput
from iap_io.runs.run_folder import load_run
from iap_sensors.cameras.make import make_renderer
from iap_simulation.runs.run import record

MOMENTS = int(os.environ.get("IAP_MOMENTS", "4"))
TIMEOUT = 600.0  # after which a command hangs [s]
# ./iap starts the command line so, since Python itself answers neither signal while it starts.
IAP = ["env", "--block-signal=INT,TERM", sys.executable, "-P", "-m", "iap_bringup.cli.main"]
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
SAMPLE = Path(__file__).parents[3] / "iap_bringup/iap_bringup/data/sample_flight"


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """Arguments of each command; a new folder is appended to those that make one."""
    flown = tmp_path_factory.mktemp("flown") / "run"
    sensors = "stereo" if can_draw() else "imu"
    settings = {"recording.euroc": False}
    record("hover", folder=flown, duration=1.0, sensors=sensors, settings=settings)
    short = ["--realtime", "--duration", "2", "--out"]
    found = {
        "run": ["run", "three_star_spiral", *short],
        "replay": ["replay", str(SAMPLE), "--actual-topic", "/actual/pose", *short],
        "plot": ["plot", str(flown)],
    }
    return found | ({"localize": ["localize", str(flown), "--out"]} if can_draw() else {})


def can_draw():
    try:
        make_renderer("opengl").close()
    except BadInput:
        return False
    return True


def call(arguments, out, after=None, number=signal.SIGINT):
    """Run a command and, `after` some seconds, send it a signal; None where it had ended before."""
    to = [str(out)] if arguments[-1] == "--out" else []
    with subprocess.Popen(
        [*IAP, *arguments, *to],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=out.parent,
        start_new_session=True,
    ) as process:
        if after is not None:
            try:
                process.wait(after)
                return None
            except subprocess.TimeoutExpired:
                process.send_signal(number)
        output, complaint = process.communicate(timeout=TIMEOUT)
    return process.returncode, output, complaint


@pytest.mark.slow
def test_random_moments(commands, tmp_path):
    draw, problems = random.Random(12), []
    began = time.monotonic()
    assert call(commands["run"], tmp_path / "whole")[0] == 0
    took = dict.fromkeys(commands, time.monotonic() - began)
    turns = [(name, k + turn) for turn in range(2) for k, name in enumerate(commands)]
    kinds = itertools.cycle([(name, [*WORDS][k % 2]) for name, k in turns])
    attempts, done = itertools.count(), 0
    while done < MOMENTS:
        name, number = next(kinds)
        after, out = draw.uniform(0.0, took[name]), tmp_path / f"{name}-{next(attempts)}"
        began = time.monotonic()
        found = call(commands[name], out, after, number)
        if found is None or (found[0] == 0 and not found[2]):  # its work was done by then
            took[name] = 0.95 * min(took[name], time.monotonic() - began)
            continue
        done += 1
        wrong = wrong_of(found, number, out, name)
        if wrong:
            problems.append(f"{name}, {WORDS[number]} after {after:.3f} s: {wrong}\n{found}")
        if out.exists():
            shutil.rmtree(out)
    assert not problems, f"{len(problems)} of {MOMENTS}\n" + "\n".join(problems)


def wrong_of(found, number, out, name):
    """Faults of a command that was interrupted, if any."""
    code, _, complaint = found
    if code != 128 + number:
        return f"exit code {code}"
    if not complaint.startswith(f"iap: {WORDS[number]}") or complaint.count("\n") != 1:
        return "not one line"
    if name in ("run", "replay") and out.exists():
        try:
            if not len(load_run(out).vehicles[0].columns.t):
                return "an empty recording"
        except BadInput as error:
            return str(error)
    return None
