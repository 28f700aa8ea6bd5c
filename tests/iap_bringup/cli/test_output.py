# SPDX-License-Identifier: BSD-3-Clause
"""Standard output that is closed or takes nothing: no traceback."""

import subprocess
import sys

from iap_bringup.cli.main import main

LIST = [sys.executable, "-P", "-m", "iap_bringup.cli.main", "list"]


def test_closed_output_is_no_fault(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["list"]) == 0


def test_a_full_output_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(LIST, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "iap: standard output: No space left on device\n"


def test_an_output_that_nobody_reads_is_no_traceback():
    with subprocess.Popen(LIST, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as done:
        done.stdout.close()
        complaint = done.stderr.read()
    assert done.returncode == 1
    assert complaint.count("\n") <= 1
